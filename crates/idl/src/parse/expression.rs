//! Constant expressions.

use super::{Parse, Parser};
use crate::lex::TokenKind;
use crate::syntax::{Binary, Expression, ExpressionKind, Unary};

/// Binary operators with how tightly they bind.
const BINARY: [(&str, u8, Binary); 10] = [
    ("|", 1, Binary::Or),
    ("^", 2, Binary::Xor),
    ("&", 3, Binary::And),
    ("<<", 4, Binary::ShiftLeft),
    (">>", 4, Binary::ShiftRight),
    ("+", 5, Binary::Add),
    ("-", 5, Binary::Subtract),
    ("*", 6, Binary::Multiply),
    ("/", 6, Binary::Divide),
    ("%", 6, Binary::Remainder),
];

/// Operators of one expression: each may make the tree deeper.
const MAX_OPERATORS: usize = 400;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parse<Expression> {
        self.operators = 0;
        self.nested(|it| it.binary(0, true))
    }

    /// An expression within angle brackets, where `>>` closes two of them.
    pub(super) fn bound_expression(&mut self) -> Parse<Expression> {
        self.operators = 0;
        self.nested(|it| it.binary(0, false))
    }

    fn binary(&mut self, least: u8, shift_right: bool) -> Parse<Expression> {
        let mut left = self.nested(Self::unary)?;
        while self.operators < MAX_OPERATORS {
            let TokenKind::Punctuator(text) = self.peek().kind else { return Ok(left) };
            let Some((_, strength, operator)) = BINARY.iter().find(|(it, ..)| *it == text) else {
                return Ok(left);
            };
            if *strength <= least || (text == ">>" && !shift_right) {
                return Ok(left);
            }
            self.bump();
            self.operators += 1;
            let right = self.nested(|it| it.binary(*strength, shift_right))?;
            let span = left.span.to(right.span);
            left =
                Expression { kind: ExpressionKind::Binary(*operator, Box::new(left), Box::new(right)), span };
        }
        self.unexpected("a shorter expression")
    }

    fn unary(&mut self) -> Parse<Expression> {
        let start = self.span();
        let operator = match self.peek().kind {
            TokenKind::Punctuator("+") => Unary::Plus,
            TokenKind::Punctuator("-") => Unary::Minus,
            TokenKind::Punctuator("~") => Unary::Complement,
            _ => return self.primary(),
        };
        self.bump();
        let operand = self.nested(Self::unary)?;
        let span = start.to(operand.span);
        Ok(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span })
    }

    fn primary(&mut self) -> Parse<Expression> {
        let span = self.span();
        let kind = match &self.peek().kind {
            TokenKind::Integer(value) => ExpressionKind::Integer(*value),
            TokenKind::Float(value) => ExpressionKind::Float(*value),
            TokenKind::Fixed(value) => ExpressionKind::Fixed(*value),
            TokenKind::Char(value) => ExpressionKind::Char(*value),
            TokenKind::WideChar(value) => ExpressionKind::WideChar(*value),
            TokenKind::String(value) => ExpressionKind::String(value.as_str().into()),
            TokenKind::WideString(value) => ExpressionKind::WideString(value.as_slice().into()),
            TokenKind::Broken => ExpressionKind::Broken,
            TokenKind::Keyword("TRUE") => ExpressionKind::Boolean(true),
            TokenKind::Keyword("FALSE") => ExpressionKind::Boolean(false),
            TokenKind::Identifier { .. } | TokenKind::Punctuator("::") => {
                let name = self.scoped_name("a value")?;
                let span = name.span;
                return Ok(Expression { kind: ExpressionKind::Name(name), span });
            }
            TokenKind::Punctuator("(") => {
                self.bump();
                let inner = self.nested(|it| it.binary(0, true))?;
                let close = self.expect(")", "to close the parenthesis")?;
                return Ok(Expression { span: span.to(close), ..inner });
            }
            _ => return self.unexpected("a value"),
        };
        self.bump();
        Ok(Expression { kind, span })
    }
}
