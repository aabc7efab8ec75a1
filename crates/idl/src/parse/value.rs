//! Value types and value boxes.

use super::{Parse, Parser, Place};
use crate::diagnostic::Report;
use crate::lex::TokenKind;
use crate::model::{Direction, ValueKind};
use crate::syntax::{ItemKind, ValueItem};

impl Parser<'_> {
    /// `valuetype` and what follows; `abstract` or `custom` before it is read already.
    pub(super) fn value(&mut self, is_abstract: bool, custom: bool) -> Parse<ItemKind> {
        self.expect_keyword("valuetype", "here")?;
        let name = self.name("the valuetype's name")?;
        if !custom && self.accept(";") {
            return Ok(ItemKind::ForwardValue { name, is_abstract });
        }
        let plain = !custom && !is_abstract;
        let has_header = self.is(":") || self.is_keyword("supports") || self.is("{");
        if plain && !has_header {
            let ty = self.type_spec("`{`, or the type in the value box")?;
            self.semicolon("after the value box")?;
            return Ok(ItemKind::ValueBox { name, ty });
        }
        let (mut truncatable, mut bases, mut supports) = (false, Vec::new(), Vec::new());
        if self.accept(":") {
            let span = self.span();
            truncatable = self.accept_keyword("truncatable");
            if truncatable && !plain {
                let kind = if custom { "a custom" } else { "an abstract" };
                self.sink.push(Report::error(span, format!("{kind} valuetype cannot be truncatable")));
            }
            bases = self.list(|it| it.scoped_name("a base valuetype"))?;
        }
        if self.accept_keyword("supports") {
            supports = self.list(|it| it.scoped_name("a supported interface"))?;
        }
        self.expect("{", "to open the valuetype")?;
        let items = self.items(Place::Value);
        self.close_brace("valuetype", &name)?;
        self.semicolon("after the valuetype")?;
        let kind = match (is_abstract, custom) {
            (true, _) => ValueKind::Abstract,
            (_, true) => ValueKind::Custom,
            _ => ValueKind::Normal,
        };
        if is_abstract {
            self.refuse_state(&items);
        }
        Ok(ItemKind::Value(ValueItem { name, kind, truncatable, bases, supports, items }))
    }

    fn refuse_state(&mut self, items: &[crate::syntax::Item]) {
        for item in items {
            let span = match &item.kind {
                ItemKind::State { declarators, .. } => declarators[0].name.span,
                ItemKind::Factory { name, .. } => name.span,
                _ => continue,
            };
            self.sink.push(Report::error(span, "an abstract valuetype has neither state nor factories"));
        }
    }

    /// Something inside a value type.
    pub(super) fn value_element(&mut self) -> Parse<ItemKind> {
        match self.peek().kind {
            TokenKind::Keyword(word @ ("public" | "private")) => {
                self.bump();
                let ty = self.type_spec("the state member's type")?;
                let declarators = self.list(|it| it.declarator("the state member's name"))?;
                self.semicolon("after the state member")?;
                Ok(ItemKind::State { public: word == "public", ty, declarators })
            }
            TokenKind::Keyword("factory") => self.factory(),
            _ => self.export(),
        }
    }

    fn factory(&mut self) -> Parse<ItemKind> {
        self.bump();
        let name = self.name("the factory's name")?;
        self.expect("(", "and the factory's parameters")?;
        let mut parameters = Vec::new();
        if !self.is(")") {
            parameters = self.list(Self::parameter)?;
        }
        self.expect(")", "after the parameters")?;
        for parameter in &parameters {
            if parameter.direction != Direction::In {
                let report = Report::error(parameter.direction_span, "a factory takes `in` parameters only");
                self.sink.push(report);
            }
        }
        let raises = if self.is_keyword("raises") { self.raises()? } else { Vec::new() };
        self.semicolon("after the factory")?;
        Ok(ItemKind::Factory { name, parameters, raises })
    }
}
