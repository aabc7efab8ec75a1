//! Types as they are used.

use super::Resolver;
use super::draft::{Draft, State};
use super::scope::{Target, a};
use crate::diagnostic::Report;
use crate::model::{DefId, Kind, Primitive, Type, Value, behind_typedefs};
use crate::source::Span;
use crate::syntax::{Declarator, Expression, ScopedName, TypeKind, TypeSpec};

/// Elements of one array; more cannot be marshaled.
const MAX_ARRAY: u64 = u32::MAX as u64;

/// What keeps a type from being used: a struct or union whose members are not known yet.
#[derive(Clone, Copy)]
pub(super) struct Gap {
    pub definition: DefId,
    /// Reached without a sequence in between.
    direct: bool,
}

impl Draft {
    pub(super) fn is_forward(&self) -> bool {
        self.state == State::Forward
    }
}

impl Resolver<'_> {
    /// A type for a member, parameter, result or constant: nothing in it may be incomplete, except that a struct or
    /// union may hold sequences of itself. `None` if something is wrong (reported).
    pub(super) fn complete_type(&mut self, spec: &TypeSpec) -> Option<Type> {
        let ty = self.type_of(spec)?;
        if let Some(gap) = self.gap(&ty) {
            let open = self.drafts[gap.definition.index()].state == State::Open;
            if gap.direct || !open {
                self.report_gap(&gap, spec.span);
                return None;
            }
            self.drafts[gap.definition.index()].recursive = true;
        }
        Some(ty)
    }

    /// A type to be named: a sequence of something incomplete will do.
    pub(super) fn named_type(&mut self, spec: &TypeSpec) -> Option<Type> {
        let ty = self.type_of(spec)?;
        match self.gap(&ty) {
            Some(gap) if gap.direct => {
                self.report_gap(&gap, spec.span);
                None
            }
            _ => Some(ty),
        }
    }

    /// The array that a declarator makes of a type.
    pub(super) fn dimensioned(&mut self, ty: Type, declarator: &Declarator) -> Option<Type> {
        if declarator.dimensions.is_empty() {
            return Some(ty);
        }
        let mut dimensions = Vec::with_capacity(declarator.dimensions.len());
        let mut total = 1u64;
        for expression in &declarator.dimensions {
            let size = self.size(expression, "the size of an array")?;
            total = total.saturating_mul(u64::from(size));
            dimensions.push(size);
        }
        if total > MAX_ARRAY {
            let message = format!("array `{}` has more than 2^32 elements", declarator.name.name);
            self.error(declarator.name.span, message);
            return None;
        }
        Some(Type::Array { element: Box::new(ty), dimensions })
    }

    /// The type, complete or not.
    fn type_of(&mut self, spec: &TypeSpec) -> Option<Type> {
        Some(match &spec.kind {
            TypeKind::Primitive(primitive) => Type::Primitive(*primitive),
            TypeKind::Any => Type::Any,
            TypeKind::Object => Type::Object,
            TypeKind::ValueBase => Type::ValueBase,
            TypeKind::Fixed(parts) => self.fixed_type(parts.as_deref(), spec.span)?,
            TypeKind::String(bound) => Type::String { bound: self.bound(bound.as_deref(), "string")? },
            TypeKind::WString(bound) => Type::WString { bound: self.bound(bound.as_deref(), "wstring")? },
            TypeKind::Sequence(element, bound) => {
                let element = Box::new(self.type_of(element)?);
                Type::Sequence { element, bound: self.bound(bound.as_deref(), "sequence")? }
            }
            TypeKind::Named(name) => self.type_named(name)?,
            TypeKind::Struct(it) => Type::Named(self.structure(None, it)?),
            TypeKind::Union(it) => Type::Named(self.union(None, it)?),
            TypeKind::Enum(it) => Type::Named(self.enumeration(None, it)?),
        })
    }

    fn type_named(&mut self, name: &ScopedName) -> Option<Type> {
        let entry = self.lookup(name)?;
        match entry.target {
            Target::TypeCode => return Some(Type::TypeCode),
            Target::Principal => {
                let message = "`CORBA::Principal` is obsolete and not supported";
                self.error(name.span, message);
                return None;
            }
            Target::Definition(id) => {
                let draft = &self.drafts[id.index()];
                match draft.kind {
                    Kind::Module(_) | Kind::Constant(_) | Kind::Exception(_) => {}
                    _ if draft.state == State::Broken => return None,
                    _ => return Some(Type::Named(id)),
                }
            }
            _ => {}
        }
        let mut report = Report::error(name.span, format!("`{name}` is {}, not a type", a(entry.noun)));
        if let Some(span) = entry.span {
            report = report.note(span, format!("`{}` is defined here", entry.name));
        }
        self.sink.push(match entry.noun {
            "exception" => report.help("an exception stands in a `raises` clause only"),
            _ => report,
        });
        None
    }

    fn fixed_type(&mut self, parts: Option<&(Expression, Expression)>, span: Span) -> Option<Type> {
        let Some((digits_expression, scale_expression)) = parts else {
            let report = Report::error(span, "this fixed type has no digits and scale");
            self.sink
                .push(report.help("write `fixed<digits, scale>`; only a constant's type is plain `fixed`"));
            return None;
        };
        let digits = self.unsigned(digits_expression)?;
        let scale = self.unsigned(scale_expression)?;
        if !(1..=31).contains(&digits) {
            self.error(digits_expression.span, format!("a fixed type has 1 to 31 digits, not {digits}"));
            return None;
        }
        if scale > digits {
            let message =
                format!("a fixed type of {digits} digits cannot have {scale} of them behind the point");
            self.error(scale_expression.span, message);
            return None;
        }
        Some(Type::Fixed { digits: digits as u16, scale: scale as u16 })
    }

    fn bound(&mut self, bound: Option<&Expression>, of: &str) -> Option<Option<u32>> {
        match bound {
            None => Some(None),
            Some(expression) => self.size(expression, &format!("the bound of a {of}")).map(Some),
        }
    }

    /// A bound or array size: at least 1.
    fn size(&mut self, expression: &Expression, what: &str) -> Option<u32> {
        let value = self.integer_for(expression, Primitive::ULong)?;
        match u32::try_from(value) {
            Ok(size) if size > 0 => Some(size),
            Ok(_) => {
                self.error(expression.span, format!("{what} is at least 1"));
                None
            }
            Err(_) => {
                let message = format!("{what} is 1 to {}, not {value}", u32::MAX);
                self.error(expression.span, message);
                None
            }
        }
    }

    fn unsigned(&mut self, expression: &Expression) -> Option<u32> {
        match self.evaluate(expression, &Type::Primitive(Primitive::ULong))? {
            Value::Integer(value) => u32::try_from(value).ok(),
            _ => None,
        }
    }

    /// The type behind typedefs.
    pub(super) fn unaliased<'t>(&'t self, ty: &'t Type) -> &'t Type {
        behind_typedefs(ty, |id| &self.drafts[id.index()].kind)
    }

    /// The last of a chain of typedefs that begins with a type.
    pub(super) fn last_typedef(&self, ty: &Type) -> Option<DefId> {
        let Type::Named(id) = ty else { return None };
        let Kind::Typedef(it) = &self.drafts[id.index()].kind else { return None };
        it.last.or(Some(*id))
    }

    /// The incomplete struct or union in a type, if there is one.
    fn gap(&self, ty: &Type) -> Option<Gap> {
        let incomplete =
            |it: &Gap| matches!(self.drafts[it.definition.index()].state, State::Forward | State::Open);
        self.constructed_in(ty).filter(incomplete)
    }

    /// The struct or union in a type, if there is one, complete or not.
    pub(super) fn constructed_in(&self, ty: &Type) -> Option<Gap> {
        let (mut ty, mut direct) = (ty, true);
        loop {
            match ty {
                Type::Sequence { element, .. } => {
                    direct = false;
                    ty = element;
                }
                Type::Array { element, .. } => ty = element,
                Type::Named(id) => {
                    let draft = &self.drafts[id.index()];
                    return match &draft.kind {
                        // Found when it was defined.
                        Kind::Typedef(_) => {
                            draft.constructed.map(|it| Gap { direct: direct && it.direct, ..it })
                        }
                        Kind::Struct(_) | Kind::Union(_) => Some(Gap { definition: *id, direct }),
                        _ => None,
                    };
                }
                _ => return None,
            }
        }
    }

    fn report_gap(&mut self, gap: &Gap, span: Span) {
        let draft = &self.drafts[gap.definition.index()];
        let (noun, name) = (draft.kind.noun(), &draft.name);
        let report = if draft.state == State::Open {
            Report::error(span, format!("{noun} `{name}` contains itself"))
                .note(draft.span, format!("`{name}` begins here"))
                .help(format!("a `sequence<{name}>` can stand here"))
        } else {
            Report::error(span, format!("{noun} `{name}` is used before it is defined"))
                .note(draft.span, "it is only declared here")
                .help("until then only a sequence of it can be named, with `typedef`")
        };
        self.sink.push(report);
    }

    /// Whether values of a type cannot leave their process; the definition to blame.
    pub(super) fn is_local(&self, ty: &Type) -> bool {
        let mut ty = ty;
        loop {
            match ty {
                Type::Sequence { element, .. } | Type::Array { element, .. } => ty = element,
                Type::Named(id) => return self.drafts[id.index()].local,
                _ => return false,
            }
        }
    }

    /// The type in IDL's words.
    pub(super) fn describe(&self, ty: &Type) -> String {
        match ty {
            Type::Primitive(primitive) => primitive.keyword().to_owned(),
            Type::Any => "any".to_owned(),
            Type::Object => "Object".to_owned(),
            Type::TypeCode => "CORBA::TypeCode".to_owned(),
            Type::ValueBase => "ValueBase".to_owned(),
            Type::Fixed { digits, scale } => format!("fixed<{digits}, {scale}>"),
            Type::String { .. } => "string".to_owned(),
            Type::WString { .. } => "wstring".to_owned(),
            Type::Sequence { .. } => "sequence".to_owned(),
            Type::Array { .. } => "array".to_owned(),
            Type::Named(id) => self.drafts[id.index()].name.to_string(),
        }
    }
}
