//! Interfaces, operations, attributes.

use super::{Parse, Parser, Place};
use crate::diagnostic::Report;
use crate::lex::TokenKind;
use crate::model::{Direction, InterfaceKind};
use crate::syntax::{AttributeItem, InterfaceItem, ItemKind, OperationItem, ParameterItem, ScopedName};

/// Parts of components that may stand where an operation may.
const COMPONENT_PARTS: [&str; 5] = ["provides", "uses", "emits", "publishes", "consumes"];

impl Parser<'_> {
    /// `interface` and what follows.
    pub(super) fn interface(&mut self, kind: InterfaceKind) -> Parse<ItemKind> {
        self.expect_keyword("interface", "here")?;
        let name = self.name("the interface's name")?;
        if self.accept(";") {
            return Ok(ItemKind::ForwardInterface { name, kind });
        }
        let bases =
            if self.accept(":") { self.list(|it| it.scoped_name("a base interface"))? } else { Vec::new() };
        self.expect("{", "to open the interface")?;
        let items = self.items(Place::Interface);
        self.close_brace("interface", &name)?;
        self.semicolon("after the interface")?;
        Ok(ItemKind::Interface(InterfaceItem { name, kind, bases, items }))
    }

    /// Something inside an interface.
    pub(super) fn export(&mut self) -> Parse<ItemKind> {
        if let Some(item) = self.type_or_constant()? {
            return Ok(item);
        }
        match self.peek().kind {
            TokenKind::Keyword("readonly" | "attribute") => self.attribute(),
            TokenKind::Keyword(
                word @ ("module" | "interface" | "valuetype" | "local" | "abstract" | "custom"),
            ) => {
                let noun = if matches!(word, "module" | "valuetype") { word } else { "interface" };
                let report = Report::error(
                    self.span(),
                    format!("{} cannot be defined inside an interface", with_article(noun)),
                );
                self.fail(report.help("is a `}` missing before it?"))
            }
            TokenKind::Keyword("public" | "private" | "factory") => {
                let report = Report::error(self.span(), "state and factories belong into a valuetype");
                self.fail(report)
            }
            _ => self.operation(),
        }
    }

    pub(super) fn attribute(&mut self) -> Parse<ItemKind> {
        let readonly = self.accept_keyword("readonly");
        self.expect_keyword("attribute", "after `readonly`")?;
        let ty = self.parameter_type("the attribute's type")?;
        let names = self.list(|it| it.name("the attribute's name"))?;
        let (mut get_raises, mut set_raises) = (Vec::new(), Vec::new());
        if self.is_keyword("raises") {
            if !readonly {
                let report = Report::error(self.span(), "an attribute that can be set has no `raises`");
                return self.fail(report.help("write `getraises (..)` and `setraises (..)`"));
            }
            get_raises = self.raises()?;
        }
        if self.is_word("getraises") {
            get_raises = self.attribute_raises(readonly)?;
        }
        if self.is_word("setraises") {
            set_raises = self.attribute_raises(readonly)?;
        }
        self.semicolon("after the attribute")?;
        Ok(ItemKind::Attribute(AttributeItem { readonly, ty, names, get_raises, set_raises }))
    }

    fn attribute_raises(&mut self, readonly: bool) -> Parse<Vec<ScopedName>> {
        if readonly {
            let report =
                Report::error(self.span(), "a read-only attribute takes `raises (..)` for its exceptions");
            return self.fail(report);
        }
        self.bump();
        self.exception_list()
    }

    pub(super) fn operation(&mut self) -> Parse<ItemKind> {
        if let Some(word) = COMPONENT_PARTS.iter().find(|it| self.is_word(it))
            && !matches!(self.peek_at(2), TokenKind::Punctuator("("))
        {
            let report = Report::error(self.span(), format!("`{word}` belongs into a component"));
            return self.fail(report.help("components are not supported"));
        }
        let oneway = self.is_keyword("oneway").then(|| self.span());
        if oneway.is_some() {
            self.bump();
        }
        let result = if self.accept_keyword("void") {
            None
        } else {
            Some(self.parameter_type("an operation or attribute")?)
        };
        let name = self.name("the operation's name")?;
        self.expect("(", "and the operation's parameters")?;
        let mut parameters = Vec::new();
        if !self.is(")") {
            parameters = self.list(Self::parameter)?;
        }
        self.expect(")", "after the parameters")?;
        let raises = if self.is_keyword("raises") { self.raises()? } else { Vec::new() };
        let mut context = Vec::new();
        if self.accept_keyword("context") {
            self.expect("(", "before the context names")?;
            context = self.list(|it| it.string("a context name in quotes"))?;
            self.expect(")", "after the context names")?;
        }
        self.semicolon("after the operation")?;
        Ok(ItemKind::Operation(OperationItem { name, oneway, result, parameters, raises, context }))
    }

    pub(super) fn parameter(&mut self) -> Parse<ParameterItem> {
        self.correct_case();
        let direction_span = self.span();
        let direction = match self.peek().kind {
            TokenKind::Keyword("in") => Direction::In,
            TokenKind::Keyword("out") => Direction::Out,
            TokenKind::Keyword("inout") => Direction::InOut,
            TokenKind::Punctuator(_) | TokenKind::End => return self.unexpected("a parameter"),
            _ => {
                let report = Report::error(direction_span, "a parameter begins with `in`, `out` or `inout`");
                return self.fail(report);
            }
        };
        self.bump();
        let ty = self.parameter_type("the parameter's type")?;
        let name = self.name("the parameter's name")?;
        if self.is("[") {
            let report = Report::error(self.span(), "a parameter has no array dimensions");
            return self.fail(report.help("name the array type with `typedef`, and use the name"));
        }
        Ok(ParameterItem { name, direction, direction_span, ty })
    }

    pub(super) fn raises(&mut self) -> Parse<Vec<ScopedName>> {
        self.bump();
        self.exception_list()
    }

    fn exception_list(&mut self) -> Parse<Vec<ScopedName>> {
        self.expect("(", "before the exceptions")?;
        let names = self.list(|it| it.scoped_name("an exception's name"))?;
        self.expect(")", "after the exceptions")?;
        Ok(names)
    }
}

fn with_article(noun: &str) -> String {
    format!("{} {noun}", if noun == "interface" { "an" } else { "a" })
}
