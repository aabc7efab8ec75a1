//! Constants: expressions evaluated for the type they are for.
//!
//! Integers are evaluated within 64 bits, signed or not, and the result is held against the type; `~` takes the width
//! of the type. No value is converted from one kind to another: a float constant takes no integer literal.

use std::rc::Rc;

use super::Resolver;
use super::draft::State;
use super::fixed;
use super::scope::{Entry, Target, a};
use crate::diagnostic::Report;
use crate::model::{Constant, DefId, FixedValue, Kind, Primitive, Type, Value};
use crate::source::Span;
use crate::syntax::{Binary, Expression, ExpressionKind, Ident, ScopedName, TypeKind, TypeSpec, Unary};

impl Resolver<'_> {
    pub(super) fn constant(
        &mut self,
        doc: Option<&Rc<str>>,
        spec: &TypeSpec,
        name: &Ident,
        value: &Expression,
    ) {
        let (ty, value) = match self.constant_value(spec, value) {
            Some((ty, value)) => (ty, Some(value)),
            None => (Type::Any, None),
        };
        let broken = value.is_none();
        let value = value.unwrap_or(Value::Integer(0));
        let id = self.define(doc, name, Kind::Constant(Constant { ty, value }));
        if let Some(id) = id.filter(|_| broken) {
            self.drafts[id.index()].state = State::Broken;
        }
    }

    fn constant_value(&mut self, spec: &TypeSpec, value: &Expression) -> Option<(Type, Value)> {
        if let TypeKind::Fixed(None) = spec.kind {
            let value = self.fixed(value)?;
            let ty = Type::Fixed { digits: fixed::digits(value), scale: value.scale };
            return Some((ty, Value::Fixed(value)));
        }
        let ty = self.complete_type(spec)?;
        let allowed = match self.unaliased(&ty) {
            Type::Primitive(_) | Type::String { .. } | Type::WString { .. } | Type::Fixed { .. } => true,
            Type::Named(id) => matches!(self.drafts[id.index()].kind, Kind::Enum(_)),
            _ => false,
        };
        if !allowed {
            let message = format!("a constant cannot be of type `{}`", self.describe(&ty));
            self.error(spec.span, message);
            return None;
        }
        let value = self.evaluate(value, &ty)?;
        Some((ty, value))
    }

    /// The value of an expression for a type. `None` if it has none (reported).
    pub(super) fn evaluate(&mut self, expression: &Expression, ty: &Type) -> Option<Value> {
        let ty = self.unaliased(ty).clone();
        match &ty {
            Type::Primitive(primitive) => self.primitive(expression, *primitive),
            Type::String { bound } => {
                let value = self.simple(expression, "a string", |value| matches!(value, Value::String(_)))?;
                let length = if let Value::String(text) = &value { text.chars().count() } else { 0 };
                self.fits_bound(expression.span, length, *bound).then_some(value)
            }
            Type::WString { bound } => {
                let value =
                    self.simple(expression, "a wide string", |value| matches!(value, Value::WString(_)))?;
                let length = if let Value::WString(units) = &value { units.len() } else { 0 };
                self.fits_bound(expression.span, length, *bound).then_some(value)
            }
            Type::Fixed { digits, scale } => {
                let value = self.fixed(expression)?;
                match fixed::fit(value, *digits, *scale) {
                    Some(value) => Some(Value::Fixed(value)),
                    None => {
                        self.error(
                            expression.span,
                            format!("{value} does not fit `fixed<{digits}, {scale}>`"),
                        );
                        None
                    }
                }
            }
            Type::Named(id) => self.enumerator(expression, *id),
            _ => None,
        }
    }

    fn primitive(&mut self, expression: &Expression, primitive: Primitive) -> Option<Value> {
        match primitive {
            Primitive::Boolean => {
                self.simple(expression, "a boolean", |value| matches!(value, Value::Boolean(_)))
            }
            Primitive::Char => {
                self.simple(expression, "a character", |value| matches!(value, Value::Char(_)))
            }
            Primitive::WChar => {
                self.simple(expression, "a wide character", |value| matches!(value, Value::WChar(_)))
            }
            Primitive::Float | Primitive::Double | Primitive::LongDouble => {
                let value = self.float(expression)?;
                if primitive != Primitive::Float {
                    return Some(Value::Float(value));
                }
                let rounded = value as f32;
                if rounded.is_infinite() {
                    self.error(expression.span, format!("{value:e} is out of range for `float`"));
                    return None;
                }
                Some(Value::Float(f64::from(rounded)))
            }
            _ => {
                let value = self.integer_for(expression, primitive)?;
                let (least, greatest) = primitive.integer_range()?;
                if (least..=greatest).contains(&value) {
                    return Some(Value::Integer(value));
                }
                let message = format!("{value} is out of range for `{}`", primitive.keyword());
                let report = Report::error(expression.span, message);
                self.sink.push(report.help(format!("its values are {least} to {greatest}")));
                None
            }
        }
    }

    fn fits_bound(&mut self, span: Span, length: usize, bound: Option<u32>) -> bool {
        let Some(bound) = bound.filter(|bound| length > *bound as usize) else { return true };
        self.error(span, format!("this string has {length} characters, and its type takes {bound}"));
        false
    }

    /// The constant or enumerator that a name leads to.
    fn named_value(&mut self, name: &ScopedName, wanted: &str) -> Option<(Value, Entry)> {
        let entry = self.lookup(name)?;
        match &entry.target {
            Target::Enumerator { enumeration, index } => {
                let value = Value::Enumerator { enumeration: *enumeration, index: *index };
                return Some((value, entry));
            }
            Target::Definition(id) => {
                let draft = &self.drafts[id.index()];
                if let Kind::Constant(constant) = &draft.kind {
                    // A broken constant was reported where it is defined.
                    return (draft.state != State::Broken).then(|| (constant.value.clone(), entry));
                }
            }
            _ => {}
        }
        let message = format!("{wanted} is needed here, and `{name}` is {}", a(entry.noun));
        let report = Report::error(name.span, message);
        self.sink.push(with_place(report, &entry));
        None
    }

    /// A value that takes no operators: a literal, or the name of a constant.
    fn simple(
        &mut self,
        expression: &Expression,
        wanted: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        let value = match &expression.kind {
            ExpressionKind::Name(name) => {
                let (value, entry) = self.named_value(name, wanted)?;
                if !fits(&value) {
                    let message =
                        format!("{wanted} is needed here, and `{name}` is {}", kind_of(&value, wanted));
                    self.sink.push(with_place(Report::error(name.span, message), &entry));
                    return None;
                }
                return Some(value);
            }
            ExpressionKind::Boolean(value) => Value::Boolean(*value),
            ExpressionKind::Char(value) => Value::Char(*value),
            ExpressionKind::WideChar(value) => Value::WChar(*value),
            ExpressionKind::String(value) => Value::String(value.to_string()),
            ExpressionKind::WideString(value) => Value::WString(value.to_vec()),
            _ => return self.mismatch(expression, wanted),
        };
        if fits(&value) { Some(value) } else { self.mismatch(expression, wanted) }
    }

    /// Reports a literal or operator of the wrong kind.
    fn mismatch<T>(&mut self, expression: &Expression, wanted: &str) -> Option<T> {
        let found = match &expression.kind {
            ExpressionKind::Integer(_) => "an integer",
            ExpressionKind::Float(_) => "a floating-point number",
            ExpressionKind::Fixed(_) => "a fixed-point number",
            ExpressionKind::Char(_) => "a character",
            ExpressionKind::WideChar(_) => "a wide character",
            ExpressionKind::String(_) => "a string",
            ExpressionKind::WideString(_) => "a wide string",
            ExpressionKind::Boolean(_) => "a boolean",
            ExpressionKind::Name(_) => "a name",
            ExpressionKind::Broken => return None,
            ExpressionKind::Unary(..) | ExpressionKind::Binary(..) => {
                let message = format!("{wanted} is needed here, and this operator does not give one");
                self.error(expression.span, message);
                return None;
            }
        };
        let report = Report::error(expression.span, format!("{wanted} is needed here, not {found}"));
        let help = match (wanted, &expression.kind) {
            ("a floating-point number", ExpressionKind::Integer(value)) => Some(format!("write `{value}.0`")),
            ("a fixed-point number", ExpressionKind::Integer(value)) => Some(format!("write `{value}d`")),
            ("a fixed-point number", ExpressionKind::Float(value)) => Some(format!("write `{value}d`")),
            ("a boolean", ExpressionKind::Integer(_)) => Some("write `TRUE` or `FALSE`".to_owned()),
            ("a wide character" | "a wide string", ExpressionKind::Char(_) | ExpressionKind::String(_)) => {
                Some("put an `L` before the literal".to_owned())
            }
            ("a character" | "a string", ExpressionKind::WideChar(_) | ExpressionKind::WideString(_)) => {
                Some("remove the `L` before the literal".to_owned())
            }
            _ => None,
        };
        self.sink.push(match help {
            Some(help) => report.help(help),
            None => report,
        });
        None
    }

    fn enumerator(&mut self, expression: &Expression, enumeration: DefId) -> Option<Value> {
        let name = self.drafts[enumeration.index()].name.clone();
        let wanted = format!("an enumerator of `{name}`");
        let fits =
            |value: &Value| matches!(value, Value::Enumerator { enumeration: it, .. } if *it == enumeration);
        self.simple(expression, &wanted, fits)
    }

    /// An integer of any size up to 64 bits; `~` is done for `primitive`.
    pub(super) fn integer_for(&mut self, expression: &Expression, primitive: Primitive) -> Option<i128> {
        let wanted = "an integer";
        match &expression.kind {
            ExpressionKind::Integer(value) => Some(i128::from(*value)),
            ExpressionKind::Name(name) => match self.named_value(name, wanted)? {
                (Value::Integer(value), _) => Some(value),
                (other, entry) => {
                    let message =
                        format!("{wanted} is needed here, and `{name}` is {}", kind_of(&other, wanted));
                    self.sink.push(with_place(Report::error(name.span, message), &entry));
                    None
                }
            },
            ExpressionKind::Unary(operator, operand) => {
                let value = self.integer_for(operand, primitive)?;
                let result = match operator {
                    Unary::Plus => value,
                    Unary::Minus => -value,
                    Unary::Complement => complement(value, primitive),
                };
                self.within_64_bits(result, expression.span)
            }
            ExpressionKind::Binary(operator, left, right) => {
                let left = self.integer_for(left, primitive);
                let right_value = self.integer_for(right, primitive);
                match integer_operation(*operator, left?, right_value?) {
                    Ok(result) => self.within_64_bits(result, expression.span),
                    Err(message) => {
                        self.error(right.span, message);
                        None
                    }
                }
            }
            _ => self.mismatch(expression, wanted),
        }
    }

    fn within_64_bits(&mut self, value: i128, span: Span) -> Option<i128> {
        if (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value) {
            return Some(value);
        }
        self.error(span, "the result does not fit 64 bits");
        None
    }

    fn float(&mut self, expression: &Expression) -> Option<f64> {
        let wanted = "a floating-point number";
        let value = match &expression.kind {
            ExpressionKind::Float(value) => *value,
            ExpressionKind::Name(name) => match self.named_value(name, wanted)? {
                (Value::Float(value), _) => value,
                (other, entry) => {
                    let message =
                        format!("{wanted} is needed here, and `{name}` is {}", kind_of(&other, wanted));
                    self.sink.push(with_place(Report::error(name.span, message), &entry));
                    return None;
                }
            },
            ExpressionKind::Unary(Unary::Plus, operand) => self.float(operand)?,
            ExpressionKind::Unary(Unary::Minus, operand) => -self.float(operand)?,
            ExpressionKind::Binary(operator, left, right) => {
                let left_value = self.float(left);
                let (left_value, right_value) = (left_value?, self.float(right)?);
                match operator {
                    Binary::Add => left_value + right_value,
                    Binary::Subtract => left_value - right_value,
                    Binary::Multiply => left_value * right_value,
                    Binary::Divide if right_value == 0.0 => {
                        self.error(right.span, "division by zero");
                        return None;
                    }
                    Binary::Divide => left_value / right_value,
                    _ => return self.mismatch(expression, wanted),
                }
            }
            _ => return self.mismatch(expression, wanted),
        };
        if !value.is_finite() {
            self.error(expression.span, "the result is out of range for `double`");
            return None;
        }
        Some(value)
    }

    fn fixed(&mut self, expression: &Expression) -> Option<FixedValue> {
        let wanted = "a fixed-point number";
        match &expression.kind {
            ExpressionKind::Fixed(value) => Some(*value),
            ExpressionKind::Name(name) => match self.named_value(name, wanted)? {
                (Value::Fixed(value), _) => Some(value),
                (other, entry) => {
                    let message =
                        format!("{wanted} is needed here, and `{name}` is {}", kind_of(&other, wanted));
                    self.sink.push(with_place(Report::error(name.span, message), &entry));
                    None
                }
            },
            ExpressionKind::Unary(Unary::Plus, operand) => self.fixed(operand),
            ExpressionKind::Unary(Unary::Minus, operand) => {
                self.fixed(operand).map(|it| FixedValue { unscaled: -it.unscaled, ..it })
            }
            ExpressionKind::Binary(operator, left, right) => {
                let left_value = self.fixed(left);
                let (left_value, right_value) = (left_value?, self.fixed(right)?);
                let result = match operator {
                    Binary::Add => fixed::add(left_value, right_value),
                    Binary::Subtract => {
                        fixed::add(left_value, FixedValue { unscaled: -right_value.unscaled, ..right_value })
                    }
                    Binary::Multiply => fixed::multiply(left_value, right_value),
                    Binary::Divide if right_value.unscaled == 0 => {
                        self.error(right.span, "division by zero");
                        return None;
                    }
                    Binary::Divide => fixed::divide(left_value, right_value),
                    _ => return self.mismatch(expression, wanted),
                };
                if result.is_none() {
                    self.error(expression.span, "the result has more than 31 digits");
                }
                result
            }
            _ => self.mismatch(expression, wanted),
        }
    }
}

fn with_place(report: Report, entry: &Entry) -> Report {
    match entry.span {
        Some(span) => report.note(span, format!("`{}` is defined here", entry.name)),
        None => report,
    }
}

/// What sort of value it is, in a sentence.
fn kind_of(value: &Value, wanted: &str) -> &'static str {
    match value {
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a floating-point number",
        Value::Boolean(_) => "a boolean",
        Value::Char(_) => "a character",
        Value::WChar(_) => "a wide character",
        Value::String(_) => "a string",
        Value::WString(_) => "a wide string",
        Value::Enumerator { .. } if wanted.starts_with("an enumerator") => "one of another enum",
        Value::Enumerator { .. } => "an enumerator",
        Value::Fixed(_) => "a fixed-point number",
    }
}

/// `~`: all bits of an unsigned type turned, or -(value + 1).
fn complement(value: i128, primitive: Primitive) -> i128 {
    match primitive {
        Primitive::ULongLong if value >= 0 => i128::from(u64::MAX) - value,
        Primitive::ULong | Primitive::UShort | Primitive::Octet
            if (0..=i128::from(u32::MAX)).contains(&value) =>
        {
            i128::from(u32::MAX) - value
        }
        _ => -(value + 1),
    }
}

fn integer_operation(operator: Binary, left: i128, right: i128) -> Result<i128, &'static str> {
    Ok(match operator {
        Binary::Or => left | right,
        Binary::Xor => left ^ right,
        Binary::And => left & right,
        Binary::ShiftLeft | Binary::ShiftRight if !(0..64).contains(&right) => {
            return Err("a shift is by 0 to 63 places");
        }
        // Operands have 65 bits at most, so 127 bits hold every result; those beyond 64 are refused afterwards.
        Binary::ShiftLeft => left.checked_mul(1 << right).unwrap_or(i128::MAX),
        Binary::ShiftRight => left >> right,
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left.checked_mul(right).unwrap_or(i128::MAX),
        Binary::Divide | Binary::Remainder if right == 0 => return Err("division by zero"),
        Binary::Divide => left / right,
        Binary::Remainder => left % right,
    })
}
