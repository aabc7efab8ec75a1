//! Types.

use super::{Parse, Parser};
use crate::diagnostic::Report;
use crate::lex::TokenKind;
use crate::model::Primitive;
use crate::syntax::{Expression, TypeKind, TypeSpec};

/// Type names of IDL 4 that older IDL takes as ordinary names.
const IDL_4: [&str; 9] = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "map"];

impl Parser<'_> {
    /// Any type, also a struct, union or enum defined in place.
    pub(super) fn type_spec(&mut self, what: &str) -> Parse<TypeSpec> {
        self.nested(|it| it.type_spec_inner(what))
    }

    fn type_spec_inner(&mut self, what: &str) -> Parse<TypeSpec> {
        let (start, idl_4) = (self.span(), self.is_idl_4_use());
        let kind = match &self.peek().kind {
            TokenKind::Keyword("struct") => TypeKind::Struct(Box::new(self.structure()?)),
            TokenKind::Keyword("union") => TypeKind::Union(Box::new(self.union()?)),
            TokenKind::Keyword("enum") => TypeKind::Enum(Box::new(self.enumeration()?)),
            TokenKind::Keyword(_) => self.keyword_type(what)?,
            TokenKind::Identifier { name, .. } if idl_4 => {
                let message = format!("`{name}` is a type of IDL 4; this compiler reads CORBA's IDL 2 and 3");
                let report = Report::error(start, message);
                return self.fail(match idl_2(name) {
                    Some(old) => report.help(format!("write `{old}`")),
                    None => report,
                });
            }
            TokenKind::Identifier { .. } | TokenKind::Punctuator("::") => {
                TypeKind::Named(self.scoped_name(what)?)
            }
            _ => return self.unexpected(what),
        };
        let span = match &kind {
            TypeKind::Struct(it) => it.name.span,
            TypeKind::Union(it) => it.name.span,
            TypeKind::Enum(it) => it.name.span,
            _ => start.to(self.last_span()),
        };
        Ok(TypeSpec { kind, span })
    }

    /// `int32 name` rather than a user's own type of that name: only known once names are resolved, so a definition
    /// of that name anywhere before wins.
    fn is_idl_4_use(&mut self) -> bool {
        let listed = |name: &str| IDL_4.contains(&name);
        let named =
            matches!(&self.peek().kind, TokenKind::Identifier { name, escaped: false, .. } if listed(name));
        if !named || matches!(self.peek_at(1), TokenKind::Punctuator("::")) {
            return false;
        }
        while self.searched + 1 < self.at {
            let pair = &self.tokens[self.searched..self.searched + 2];
            self.searched += 1;
            if let TokenKind::Identifier { name, .. } = &pair[0].kind
                && listed(name)
                && matches!(pair[1].kind, TokenKind::Punctuator(";" | "{" | ":" | "[" | ","))
            {
                self.own_types.insert(name.clone());
            }
        }
        let TokenKind::Identifier { name, .. } = &self.peek().kind else { return false };
        !self.own_types.contains(name)
    }

    fn keyword_type(&mut self, what: &str) -> Parse<TypeKind> {
        let TokenKind::Keyword(word) = self.peek().kind else { return self.unexpected(what) };
        let simple = match word {
            "float" => TypeKind::Primitive(Primitive::Float),
            "double" => TypeKind::Primitive(Primitive::Double),
            "short" => TypeKind::Primitive(Primitive::Short),
            "boolean" => TypeKind::Primitive(Primitive::Boolean),
            "char" => TypeKind::Primitive(Primitive::Char),
            "wchar" => TypeKind::Primitive(Primitive::WChar),
            "octet" => TypeKind::Primitive(Primitive::Octet),
            "any" => TypeKind::Any,
            "Object" => TypeKind::Object,
            "ValueBase" => TypeKind::ValueBase,
            "long" => return Ok(TypeKind::Primitive(self.long())),
            "unsigned" => return self.unsigned(),
            "string" | "wstring" => return self.string_type(word),
            "sequence" => return self.sequence(),
            "fixed" => return self.fixed(),
            "void" => {
                let report = Report::error(self.span(), "`void` is no type; only an operation can return it");
                return self.fail(report);
            }
            _ => return self.unexpected(what),
        };
        self.bump();
        Ok(simple)
    }

    /// `long`, `long long`, `long double`.
    fn long(&mut self) -> Primitive {
        self.bump();
        if self.accept_keyword("long") {
            Primitive::LongLong
        } else if self.accept_keyword("double") {
            Primitive::LongDouble
        } else {
            Primitive::Long
        }
    }

    fn unsigned(&mut self) -> Parse<TypeKind> {
        self.bump();
        if self.accept_keyword("short") {
            return Ok(TypeKind::Primitive(Primitive::UShort));
        }
        self.expect_keyword("long", "or `short` after `unsigned`")?;
        let long_long = self.accept_keyword("long");
        Ok(TypeKind::Primitive(if long_long { Primitive::ULongLong } else { Primitive::ULong }))
    }

    fn string_type(&mut self, word: &str) -> Parse<TypeKind> {
        self.bump();
        let bound = if self.accept("<") { Some(Box::new(self.bound(word)?)) } else { None };
        Ok(if word == "string" { TypeKind::String(bound) } else { TypeKind::WString(bound) })
    }

    /// A bound with the closing angle bracket. A shift operator in it needs parentheses.
    fn bound(&mut self, of: &str) -> Parse<Expression> {
        let bound = self.bound_expression()?;
        self.close_angle(of)?;
        Ok(bound)
    }

    fn sequence(&mut self) -> Parse<TypeKind> {
        self.bump();
        if !self.is("<") {
            return self.unexpected("`<` and the element type, as in `sequence<long>`");
        }
        self.bump();
        // What it defines is of use to what follows, and no reason for more messages.
        if let Some(report) = self.definition_in_place("as the element of a sequence") {
            self.sink.push(report);
        }
        let element = self.type_spec("the sequence's element type")?;
        let bound = if self.accept(",") { Some(Box::new(self.bound_expression()?)) } else { None };
        self.close_angle("sequence")?;
        Ok(TypeKind::Sequence(Box::new(element), bound))
    }

    /// What to say of a struct, union or enum that begins where only the name of one can stand.
    fn definition_in_place(&self, place: &str) -> Option<Report> {
        let in_place = ["a struct", "a union", "an enum"];
        let what =
            in_place.iter().find(|it| it.split(' ').next_back().is_some_and(|it| self.is_keyword(it)))?;
        let report = Report::error(self.span(), format!("{what} cannot be defined {place}"));
        Some(report.help("define it before, and use its name"))
    }

    fn fixed(&mut self) -> Parse<TypeKind> {
        self.bump();
        if !self.accept("<") {
            return Ok(TypeKind::Fixed(None));
        }
        let digits = self.bound_expression()?;
        self.expect(",", "between digits and scale")?;
        let scale = self.bound_expression()?;
        self.close_angle("fixed")?;
        Ok(TypeKind::Fixed(Some(Box::new((digits, scale)))))
    }

    /// A `>`. Of a `>>` one half is taken, the other left for the enclosing type.
    fn close_angle(&mut self, of: &str) -> Parse<()> {
        if self.is(">>") {
            // What comes out of a macro stands where the macro's name does, which has no halves.
            let written = self.sources.text(self.span()).starts_with('>');
            let token = &mut self.tokens[self.at];
            token.kind = TokenKind::Punctuator(">");
            token.span.start += u32::from(written);
            return Ok(());
        }
        self.expect(">", &format!("to close the `{of}`")).map(drop)
    }

    /// The type of a constant.
    pub(super) fn constant_type(&mut self) -> Parse<TypeSpec> {
        let in_place = ["struct", "union", "enum"].iter().find(|it| self.is_keyword(it));
        if let Some(word) = in_place {
            let report = Report::error(self.span(), format!("a constant cannot define a {word} in place"));
            return self.fail(report);
        }
        self.type_spec("the constant's type")
    }

    /// The type of a parameter, result or attribute.
    pub(super) fn parameter_type(&mut self, what: &str) -> Parse<TypeSpec> {
        if let Some(report) = self.definition_in_place("here") {
            return self.fail(report);
        }
        let ty = self.type_spec(what)?;
        if let TypeKind::Sequence(..) | TypeKind::Fixed(_) = ty.kind {
            let report =
                Report::warning(ty.span, "CORBA's grammar has no unnamed sequence or fixed type here");
            self.sink.push(report.help("give it a name with `typedef`; other IDL compilers insist on it"));
        }
        Ok(ty)
    }
}

/// What CORBA's IDL calls a type of IDL 4.
fn idl_2(name: &str) -> Option<&'static str> {
    Some(match name {
        "uint8" => "octet",
        "int16" => "short",
        "uint16" => "unsigned short",
        "int32" => "long",
        "uint32" => "unsigned long",
        "int64" => "long long",
        "uint64" => "unsigned long long",
        _ => return None,
    })
}
