//! Structs, exceptions, unions, enums, typedefs, constants.

use super::{Broken, Parse, Parser};
use crate::diagnostic::Report;
use crate::lex::TokenKind;
use crate::syntax::{CaseItem, Declarator, EnumItem, ItemKind, Label, MemberItem, StructItem, UnionItem};

impl Parser<'_> {
    pub(super) fn typedef(&mut self) -> Parse<ItemKind> {
        self.bump();
        let ty = self.type_spec("a type to name")?;
        let declarators = self.list(|it| it.declarator("the new type's name"))?;
        Ok(ItemKind::Typedef { ty, declarators })
    }

    pub(super) fn constant(&mut self) -> Parse<ItemKind> {
        self.bump();
        let ty = self.constant_type()?;
        let name = self.name("the constant's name")?;
        self.expect("=", "and the constant's value")?;
        let value = self.expression()?;
        Ok(ItemKind::Constant { ty, name, value })
    }

    /// A struct's definition, or its announcement.
    pub(super) fn struct_definition(&mut self) -> Parse<ItemKind> {
        if matches!(self.peek_at(2), TokenKind::Punctuator(";")) {
            self.bump();
            return Ok(ItemKind::ForwardStruct(self.name("the struct's name")?));
        }
        Ok(ItemKind::Struct(self.structure()?))
    }

    pub(super) fn structure(&mut self) -> Parse<StructItem> {
        self.bump();
        let item = self.members_of("struct")?;
        if item.members.is_empty() {
            let report = Report::error(item.name.span, format!("struct `{}` has no members", item.name.name));
            self.report(report.help("give it at least one member"));
        }
        Ok(item)
    }

    pub(super) fn exception(&mut self) -> Parse<ItemKind> {
        self.bump();
        Ok(ItemKind::Exception(self.members_of("exception")?))
    }

    /// Name, braces and members. A broken member costs itself alone.
    fn members_of(&mut self, what: &str) -> Parse<StructItem> {
        let name = self.name(&format!("the {what}'s name"))?;
        self.expect("{", &format!("to open the {what}"))?;
        let mut members = Vec::new();
        let mut broken = false;
        while !self.is("}") && !self.is_end() {
            let start = self.at;
            match self.nested(Self::member) {
                Ok(member) => members.push(member),
                Err(Broken) => {
                    broken = true;
                    self.recover(start);
                    if self.begins_definition() {
                        return Err(Broken);
                    }
                }
            }
        }
        self.close_brace(what, &name)?;
        if broken && members.is_empty() {
            self.last_broken = Some(self.at);
        }
        Ok(StructItem { name, members })
    }

    fn member(&mut self) -> Parse<MemberItem> {
        let doc = self.peek().doc.clone();
        let ty = self.type_spec("a member's type")?;
        let declarators = self.list(|it| it.declarator("the member's name"))?;
        self.semicolon("after the member")?;
        Ok(MemberItem { doc, ty, declarators })
    }

    /// A name with array dimensions.
    pub(super) fn declarator(&mut self, what: &str) -> Parse<Declarator> {
        let name = self.name(what)?;
        let mut dimensions = Vec::new();
        while self.accept("[") {
            if self.is("]") {
                let report = Report::error(self.last_span().to(self.span()), "this array has no size");
                return self.fail(report.help("for any number of elements use `sequence<T>`"));
            }
            dimensions.push(self.expression()?);
            self.expect("]", "after the array's size")?;
        }
        Ok(Declarator { name, dimensions })
    }

    /// A union's definition, or its announcement.
    pub(super) fn union_definition(&mut self) -> Parse<ItemKind> {
        if matches!(self.peek_at(2), TokenKind::Punctuator(";")) {
            self.bump();
            return Ok(ItemKind::ForwardUnion(self.name("the union's name")?));
        }
        Ok(ItemKind::Union(self.union()?))
    }

    pub(super) fn union(&mut self) -> Parse<UnionItem> {
        self.bump();
        let name = self.name("the union's name")?;
        self.expect_keyword("switch", "and the discriminator's type")?;
        self.expect("(", "before the discriminator's type")?;
        let discriminator = self.type_spec("the discriminator's type")?;
        self.expect(")", "after the discriminator's type")?;
        self.expect("{", "to open the union")?;
        let mut cases = Vec::new();
        let mut broken = false;
        while !self.is("}") && !self.is_end() {
            let start = self.at;
            match self.nested(Self::case) {
                Ok(case) => cases.push(case),
                Err(Broken) => {
                    broken = true;
                    self.recover(start);
                    if self.begins_definition() {
                        return Err(Broken);
                    }
                }
            }
        }
        self.close_brace("union", &name)?;
        if cases.is_empty() && !broken {
            let report = Report::error(name.span, format!("union `{}` has no members", name.name));
            self.report(report.help("give it at least one case"));
        }
        Ok(UnionItem { name, discriminator, cases })
    }

    fn case(&mut self) -> Parse<CaseItem> {
        let doc = self.peek().doc.clone();
        let mut labels = Vec::new();
        loop {
            if self.is_keyword("default") {
                labels.push(Label::Default(self.span()));
                self.bump();
            } else if self.accept_keyword("case") {
                labels.push(Label::Value(self.expression()?));
            } else {
                break;
            }
            self.expect(":", "after the label")?;
        }
        if labels.is_empty() {
            return self.unexpected("`case` or `default`");
        }
        let ty = self.type_spec("the type of the union's member")?;
        let declarator = self.declarator("the name of the union's member")?;
        if self.is(",") {
            let report = Report::error(self.span(), "a case of a union has one member");
            return self.fail(report.help("put several values into a struct"));
        }
        self.semicolon("after the union's member")?;
        Ok(CaseItem { doc, labels, ty, declarator })
    }

    pub(super) fn enumeration(&mut self) -> Parse<EnumItem> {
        self.bump();
        let name = self.name("the enum's name")?;
        self.expect("{", "to open the enum")?;
        let mut enumerators = Vec::new();
        loop {
            if self.is("}") {
                let span = self.last_span();
                let report = match enumerators.is_empty() {
                    true => Report::error(span, format!("enum `{}` has no enumerators", name.name)),
                    false => {
                        Report::error(span, "a comma must be followed by an enumerator").help("remove it")
                    }
                };
                self.report(report);
                break;
            }
            let doc = self.peek().doc.clone();
            enumerators.push((doc, self.name("an enumerator's name")?));
            if self.is("=") {
                let report = Report::error(self.span(), "enumerators have no values in CORBA's IDL");
                return self
                    .fail(report.help("their order numbers them, from 0; use constants for other values"));
            }
            if !self.accept(",") {
                break;
            }
        }
        self.close_brace("enum", &name)?;
        Ok(EnumItem { name, enumerators })
    }
}
