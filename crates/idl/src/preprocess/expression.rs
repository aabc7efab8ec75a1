//! The integer expressions of `#if` and `#elif`: 64 bits, unsigned where an operand is, as in C.

use super::scan::{PpKind, PpToken};
use crate::diagnostic::Report;
use crate::source::Span;

const MAX_DEPTH: usize = 64;

/// A value of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    bits: u64,
    unsigned: bool,
}

impl Number {
    fn signed(value: i64) -> Self {
        Number { bits: value as u64, unsigned: false }
    }

    fn truth(value: bool) -> Self {
        Self::signed(i64::from(value))
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// Whether a condition holds. Macros are expanded and `defined` is replaced already; words left over count as 0.
///
/// # Errors
/// What is wrong with the expression.
pub(super) fn evaluate(tokens: &[PpToken], at: Span) -> Result<bool, Report> {
    if tokens.is_empty() {
        return Err(Report::error(at, "this condition has no expression"));
    }
    let mut parser = Parser { tokens, at: 0, depth: 0, place: at };
    let value = parser.conditional(true)?;
    match parser.peek() {
        None => Ok(value.is_true()),
        Some(extra) => Err(Report::error(extra.span, format!("unexpected `{}` in a condition", extra.text))),
    }
}

struct Parser<'t> {
    tokens: &'t [PpToken],
    at: usize,
    depth: usize,
    place: Span,
}

/// Binary operators with how tightly they bind.
const BINARY: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("==", 6),
    ("!=", 6),
    ("<", 7),
    (">", 7),
    ("<=", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t PpToken> {
        self.tokens.get(self.at)
    }

    fn accept(&mut self, punctuator: &str) -> bool {
        let found = self.peek().is_some_and(|it| it.is(punctuator));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, punctuator: &str) -> Result<(), Report> {
        if self.accept(punctuator) {
            return Ok(());
        }
        let place = self.peek().map_or(self.place, |it| it.span);
        Err(Report::error(place, format!("expected `{punctuator}` in this condition")))
    }

    /// `live` is off in the half of `&&`, `||`, `?:` that does not count: there a division by zero is no error.
    fn conditional(&mut self, live: bool) -> Result<Number, Report> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Report::error(self.place, "this condition is nested too deeply"));
        }
        let condition = self.binary(0, live)?;
        let result = if self.accept("?") {
            let yes = self.conditional(live && condition.is_true())?;
            self.expect(":")?;
            let no = self.conditional(live && !condition.is_true())?;
            if condition.is_true() { yes } else { no }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(result)
    }

    fn binary(&mut self, least: u8, live: bool) -> Result<Number, Report> {
        let mut left = self.unary(live)?;
        while let Some(token) = self.peek() {
            let Some((operator, strength)) = BINARY.iter().find(|(text, _)| token.is(text)) else { break };
            if *strength <= least {
                break;
            }
            self.at += 1;
            let live = live
                && match *operator {
                    "&&" => left.is_true(),
                    "||" => !left.is_true(),
                    _ => true,
                };
            let right = self.binary(*strength, live)?;
            left = apply(operator, left, right, live)
                .ok_or_else(|| Report::error(token.span, "division by zero in a condition"))?;
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<Number, Report> {
        let Some(token) = self.peek() else {
            let message = "this condition ends in the middle of an expression";
            return Err(Report::error(self.place, message));
        };
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Report::error(token.span, "this condition is nested too deeply"));
        }
        let value = match (token.kind, &*token.text) {
            (PpKind::Punctuator, "(") => {
                let value = self.conditional(live)?;
                self.expect(")")?;
                value
            }
            (PpKind::Punctuator, "!") => Number::truth(!self.unary(live)?.is_true()),
            (PpKind::Punctuator, "+") => self.unary(live)?,
            (PpKind::Punctuator, "-") => {
                let value = self.unary(live)?;
                Number { bits: value.bits.wrapping_neg(), ..value }
            }
            (PpKind::Punctuator, "~") => {
                let value = self.unary(live)?;
                Number { bits: !value.bits, ..value }
            }
            (PpKind::Number, text) => number(text).ok_or_else(|| {
                Report::error(token.span, format!("`{text}` is no integer; a condition takes integers only"))
            })?,
            (PpKind::Char, text) => match crate::lex::literal::character(text) {
                Ok(c) => Number::signed(i64::from(c)),
                Err(problem) => return Err(Report::error(token.span, problem)),
            },
            (PpKind::Identifier, _) => Number::signed(0),
            (_, text) => {
                return Err(Report::error(token.span, format!("unexpected `{text}` in a condition")));
            }
        };
        self.depth -= 1;
        Ok(value)
    }
}

fn number(text: &str) -> Option<Number> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = &text[digits.len()..];
    if suffix.len() > 3 {
        return None;
    }
    let bits = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok()?,
        None => digits.parse().ok()?,
    };
    Some(Number { bits, unsigned: suffix.contains(['u', 'U']) || bits > i64::MAX as u64 })
}

/// `None` is a division by zero that counts.
fn apply(operator: &str, left: Number, right: Number, live: bool) -> Option<Number> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (signed_a, signed_b) = (a as i64, b as i64);
    let less =
        |a: Number, b: Number| if unsigned { a.bits < b.bits } else { (a.bits as i64) < b.bits as i64 };
    let bits = |bits| Number { bits, unsigned };
    Some(match operator {
        "||" => Number::truth(left.is_true() || right.is_true()),
        "&&" => Number::truth(left.is_true() && right.is_true()),
        "|" => bits(a | b),
        "^" => bits(a ^ b),
        "&" => bits(a & b),
        "==" => Number::truth(a == b),
        "!=" => Number::truth(a != b),
        "<" => Number::truth(less(left, right)),
        ">" => Number::truth(less(right, left)),
        "<=" => Number::truth(!less(right, left)),
        ">=" => Number::truth(!less(left, right)),
        "<<" => Number { bits: a.checked_shl(b.min(64) as u32).unwrap_or(0), unsigned: left.unsigned },
        ">>" if left.unsigned => {
            Number { bits: a.checked_shr(b.min(64) as u32).unwrap_or(0), unsigned: true }
        }
        ">>" => Number::signed(signed_a >> b.min(63)),
        "+" => bits(a.wrapping_add(b)),
        "-" => bits(a.wrapping_sub(b)),
        "*" => bits(a.wrapping_mul(b)),
        _ if b == 0 => return (!live).then_some(bits(0)),
        "/" if unsigned => bits(a / b),
        "/" => bits(signed_a.wrapping_div(signed_b) as u64),
        _ if unsigned => bits(a % b),
        _ => bits(signed_a.wrapping_rem(signed_b) as u64),
    })
}
