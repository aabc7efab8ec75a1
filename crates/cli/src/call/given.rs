//! The arguments of a call as they were given.

use std::path::Path;

use serde_json::{Map, Value as Json};
use throughline_idl::model::Signature;
use throughline_idl::nearest;

use crate::dynamic::{self, Mismatch, Resolve, Types, Value};
use crate::failure::{CHECK_FILE, Failure, Result};

/// Arguments, not checked yet.
pub enum Given {
    /// From the command line.
    Texts(Vec<String>),
    /// From a file, in order.
    List(Vec<Json>),
    /// From a file, by name.
    Named(Map<String, Json>),
}

impl Given {
    /// Reads the arguments from a file if there is one.
    pub fn read(texts: &[String], file: Option<&Path>) -> Result<Self> {
        let Some(file) = file else { return Ok(Self::Texts(texts.to_vec())) };
        let text = match file.as_os_str().to_str() {
            Some("-") => std::io::read_to_string(std::io::stdin()),
            _ => std::fs::read_to_string(file),
        };
        let wrong = |what: &str, why: &dyn std::fmt::Display, next| {
            Failure::usage(format!("the arguments in {} {what}", file.display())).because(why).next(next)
        };
        let text = text.map_err(|e| wrong("cannot be read", &e, CHECK_FILE))?;
        let next = "write a JSON array of them, or an object with their names";
        match dynamic::parse(&text) {
            Ok(Json::Array(items)) => Ok(Self::List(items)),
            Ok(Json::Object(fields)) => Ok(Self::Named(fields)),
            Ok(_) => Err(wrong("make no sense", &"a JSON array or object is wanted", next)),
            Err(e) => Err(wrong("are no JSON", &e, next)),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Texts(it) => it.len(),
            Self::List(it) => it.len(),
            Self::Named(it) => it.len(),
        }
    }

    /// Checks the arguments of an operation.
    pub fn check(
        &self,
        types: Types<'_>,
        signature: &Signature<'_>,
        resolve: Resolve<'_>,
    ) -> Result<Vec<Value>> {
        let wanted: Vec<_> = signature.inputs().collect();
        let declaration = types.model.declaration(signature.feature);
        let wrong = |it: Box<Mismatch>| {
            let hint = it.hint.clone().map_or(String::new(), |hint| format!("{hint} "));
            Failure::usage(format!("argument {it}")).next(format!("{hint}it is declared as {declaration}"))
        };
        if let Self::Named(fields) = self
            && let Some(unknown) = fields.keys().find(|name| !wanted.iter().any(|it| it.name == *name))
        {
            let failure = Failure::usage(format!("there is no parameter `{unknown}` to pass"));
            let near = nearest(unknown, wanted.iter().map(|it| it.name));
            let hint = near.map_or(String::new(), |it| format!("did you mean `{it}`? "));
            return Err(failure.next(format!("{hint}it is declared as {declaration}")));
        }
        if self.len() != wanted.len() {
            let names: Vec<_> = wanted.iter().map(|it| it.name).collect();
            let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            let arguments = if wanted.len() == 1 { "argument" } else { "arguments" };
            let what = format!("{} {arguments}{names} wanted, {} given", wanted.len(), self.len());
            return Err(Failure::usage(what).next(format!("it is declared as {declaration}")));
        }
        let check = |(at, parameter): (usize, &&throughline_idl::model::SignatureParameter<'_>)| {
            let (name, ty) = (parameter.name, parameter.ty);
            match self {
                Self::Texts(texts) => types.check_text(name, ty, &texts[at], resolve),
                Self::List(items) => types.check(name, ty, &items[at], resolve),
                Self::Named(fields) => types.check(name, ty, &fields[name], resolve),
            }
        };
        wanted.iter().enumerate().map(|it| check(it).map_err(wrong)).collect()
    }
}
