//! Definitions of files and modules.

use super::{Parse, Parser, Place};
use crate::diagnostic::Report;
use crate::lex::TokenKind;
use crate::model::InterfaceKind;
use crate::syntax::{ItemKind, ModuleItem};

/// Constructs of CORBA 3 that begin with a word which older IDL uses as a name.
const REFUSED: [(&str, &str); 8] = [
    ("import", "`import` declarations are not supported"),
    ("component", "components are not supported"),
    ("home", "component homes are not supported"),
    ("eventtype", "event types are not supported"),
    ("porttype", "port types are not supported"),
    ("connector", "connectors are not supported"),
    ("bitset", "bit sets (IDL 4) are not supported"),
    ("bitmask", "bit masks (IDL 4) are not supported"),
];

impl Parser<'_> {
    /// One item of the kind the place takes.
    pub(super) fn item(&mut self, place: Place) -> Parse<ItemKind> {
        match place {
            Place::File | Place::Module => self.definition(),
            Place::Interface => self.export(),
            Place::Value => self.value_element(),
        }
    }

    fn definition(&mut self) -> Parse<ItemKind> {
        let TokenKind::Keyword(word) = self.peek().kind else { return self.other_definition() };
        match word {
            "module" => self.module(),
            "interface" => self.interface(InterfaceKind::Normal),
            "local" => {
                self.bump();
                self.interface(InterfaceKind::Local)
            }
            "abstract" => {
                self.bump();
                if self.is_keyword("valuetype") {
                    self.value(true, false)
                } else {
                    self.interface(InterfaceKind::Abstract)
                }
            }
            "custom" => {
                self.bump();
                self.value(false, true)
            }
            "valuetype" => self.value(false, false),
            _ => match self.type_or_constant()? {
                Some(item) => Ok(item),
                None => self.not_a_definition(),
            },
        }
    }

    /// What may also stand in an interface: types, constants, exceptions. `None` if the keyword begins none of them.
    pub(super) fn type_or_constant(&mut self) -> Parse<Option<ItemKind>> {
        let TokenKind::Keyword(word) = self.peek().kind else { return self.type_id() };
        let item = match word {
            "typedef" => self.typedef()?,
            "struct" => self.struct_definition()?,
            "union" => self.union_definition()?,
            "enum" => ItemKind::Enum(self.enumeration()?),
            "const" => self.constant()?,
            "exception" => self.exception()?,
            "native" => {
                self.bump();
                ItemKind::Native(self.name("the native type's name")?)
            }
            _ => return Ok(None),
        };
        let context = match &item {
            ItemKind::Typedef { .. } => "after the typedef",
            ItemKind::Struct(_) | ItemKind::ForwardStruct(_) => "after the struct",
            ItemKind::Union(_) | ItemKind::ForwardUnion(_) => "after the union",
            ItemKind::Enum(_) => "after the enum",
            ItemKind::Constant { .. } => "after the constant",
            ItemKind::Exception(_) => "after the exception",
            _ => "after the native type",
        };
        self.semicolon(context)?;
        Ok(Some(item))
    }

    /// `typeid` and `typeprefix`.
    fn type_id(&mut self) -> Parse<Option<ItemKind>> {
        let is_id = self.is_word("typeid");
        if !is_id && !self.is_word("typeprefix") {
            return Ok(None);
        }
        self.bump();
        let name = self.scoped_name("the name that gets the id")?;
        let text = self.string("a string literal")?;
        self.semicolon(if is_id { "after the typeid" } else { "after the typeprefix" })?;
        Ok(Some(match is_id {
            true => ItemKind::TypeId { name, id: text },
            false => ItemKind::TypePrefix { name, prefix: text },
        }))
    }

    fn other_definition(&mut self) -> Parse<ItemKind> {
        if let Some(item) = self.type_id()? {
            return Ok(item);
        }
        let refused = REFUSED.iter().find(|(word, _)| self.is_word(word));
        if let Some((_, message)) = refused
            && matches!(self.peek_at(1), TokenKind::Identifier { .. } | TokenKind::Punctuator("::"))
        {
            return self.fail(Report::error(self.span(), *message));
        }
        self.not_a_definition()
    }

    fn not_a_definition(&mut self) -> Parse<ItemKind> {
        if let TokenKind::Keyword(word @ ("oneway" | "attribute" | "readonly")) = self.peek().kind {
            let message = format!("`{word}` belongs into an interface");
            return self.fail(Report::error(self.span(), message));
        }
        let looks_like_operation = matches!(self.peek_at(2), TokenKind::Punctuator("("));
        if looks_like_operation {
            let report = Report::error(self.span(), "operations belong into an interface");
            return self.fail(report);
        }
        self.unexpected("a definition (`module`, `interface`, `struct`, ...)")
    }

    fn module(&mut self) -> Parse<ItemKind> {
        self.bump();
        let name = self.name("the module's name")?;
        self.expect("{", "to open the module")?;
        let items = self.items(Place::Module);
        if !items.iter().any(|it| !matches!(it.kind, ItemKind::Event(_)))
            && self.is("}")
            && self.last_was("{")
        {
            let message = format!("module `{}` is empty", name.name);
            let report = Report::error(name.span, message).help("a module holds at least one definition");
            self.report(report);
        }
        self.close_brace("module", &name)?;
        self.semicolon("after the module")?;
        Ok(ItemKind::Module(ModuleItem { name, items }))
    }

    fn last_was(&self, punctuator: &str) -> bool {
        self.at > 0 && self.tokens[self.at - 1].kind == TokenKind::Punctuator(one_of(punctuator))
    }

    /// The `}` of a construct; at the end of the file the message names what is open.
    pub(super) fn close_brace(&mut self, what: &str, name: &crate::syntax::Ident) -> Parse<()> {
        if self.is_end() {
            let message = format!("{what} `{}` is never closed", name.name);
            let report =
                Report::error(name.span, message).help("a `}` is missing before the end of the file");
            return self.fail(report);
        }
        self.expect("}", &format!("to close {what} `{}`", name.name)).map(drop)
    }
}

/// The static spelling of the braces that are asked for.
fn one_of(punctuator: &str) -> &'static str {
    if punctuator == "{" { "{" } else { "}" }
}
