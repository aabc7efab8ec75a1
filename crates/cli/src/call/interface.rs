//! Which interface an object has, and which of its operations is meant.

use std::borrow::Cow;

use serde_json::json;
use throughline::{ObjectRef, SystemException};
use throughline_idl::model::{DefId, Feature, InterfaceKind, Kind, Signature};
use throughline_idl::{Model, Options, compile_text_to_model, compile_to_model, nearest};

use super::Arguments;
use crate::dynamic::Types;
use crate::failure::{Failure, Result};
use crate::output::{self, line};

/// What every object has. On the wire the names begin with an underscore, which no name in IDL can.
const STANDARD: &str = "module CORBA { interface AnyObject {
  boolean is_a(in string repository_id);
  boolean non_existent();
  string repository_id();
  Object _interface();
  Object component();
}; };";

/// What the names of these are on the wire.
const STANDARD_NAMES: [&str; 5] = ["_is_a", "_non_existent", "_repository_id", "_interface", "_component"];

/// The interfaces that are known.
pub struct Interfaces {
    model: Model,
    /// No IDL was given: only what every object has is known.
    standard: bool,
}

/// An operation of an interface.
pub struct Called<'m> {
    /// The interface in whose operation table `index` is.
    pub interface: DefId,
    pub index: u32,
    pub signature: Signature<'m>,
}

impl Interfaces {
    /// Reads the IDL, unless what every object has is asked for.
    pub fn read(arguments: &Arguments) -> Result<Self> {
        let standard = arguments.operation.as_deref().is_some_and(|it| STANDARD_NAMES.contains(&it));
        let options = Options {
            include_dirs: arguments.include.clone(),
            defines: arguments.define.clone(),
            ..Options::default()
        };
        let (checked, name) = match &arguments.idl {
            Some(file) if !standard => (compile_to_model(file, &options), file.display().to_string()),
            None if !standard => {
                let what = match &arguments.operation {
                    Some(operation) => format!("nothing is known of `{operation}`"),
                    None => "nothing is known of the object's interface".to_owned(),
                };
                return Err(
                    Failure::usage(what).next("name the IDL file that defines the interface with --idl")
                );
            }
            _ => {
                let options = Options::default();
                (compile_text_to_model("CORBA", STANDARD, &options), "CORBA".to_owned())
            }
        };
        let checked = checked.map_err(|diagnostics| {
            output::tell(&diagnostics.to_string());
            Failure::usage(format!("{name} cannot be used"))
                .next("correct it; `throughline idl` checks it again")
        })?;
        Ok(Self { model: checked.model, standard })
    }

    /// The types.
    pub fn types(&self) -> Types<'_> {
        Types { model: &self.model }
    }

    /// The operation that is meant by a name and a number of arguments.
    pub fn find(
        &self,
        interface: Option<&str>,
        object: &ObjectRef,
        operation: &str,
        arguments: usize,
    ) -> Result<Called<'_>> {
        if self.standard {
            return self.standard_operation(operation);
        }
        if let Some(id) = self.known(interface, object)? {
            let called = self.called(id, operation, arguments);
            return called.ok_or_else(|| self.no_operation(&[id], operation));
        }
        let all: Vec<_> = self.all().collect();
        let having: Vec<_> = all.iter().filter_map(|id| self.called(*id, operation, arguments)).collect();
        let Some(first) = having.first() else { return Err(self.no_operation(&all, operation)) };
        // Inherited from one interface, it is the same for all.
        let owner = first.signature.owner;
        if having.iter().all(|it| it.signature.owner == owner) {
            return self
                .called(owner, operation, arguments)
                .ok_or_else(|| self.no_operation(&all, operation));
        }
        let candidates: Vec<_> = having.iter().map(|it| it.interface).collect();
        let id = self.ask(&candidates, object)?;
        having.into_iter().find(|it| it.interface == id).ok_or_else(|| self.no_operation(&all, operation))
    }

    fn standard_operation(&self, name: &str) -> Result<Called<'_>> {
        let called = self.all().next().and_then(|id| self.called(id, name.trim_start_matches('_'), 0));
        let mut called = called.ok_or_else(|| self.no_operation(&[], name))?;
        called.signature.wire_name = Cow::Owned(name.to_owned());
        // Where it stands depends on the object's interface.
        called.index = u32::MAX;
        Ok(called)
    }

    /// Prints what can be called.
    pub fn list(&self, interface: Option<&str>, object: &ObjectRef, json: bool) -> Result {
        let id = match self.known(interface, object)? {
            Some(id) => id,
            None => self.ask(&self.all().collect::<Vec<_>>(), object)?,
        };
        let declarations: Vec<_> =
            self.model.features(id).map(|(_, feature)| self.model.declaration(feature)).collect();
        if json {
            output::json_line(
                &json!({"interface": self.model.get(id).repository_id, "operations": declarations}),
            );
            return Ok(());
        }
        line(&format!("{}  {}", self.model.scoped_name(id), self.model.get(id).repository_id));
        declarations.iter().for_each(|it| line(&format!("  {it}")));
        Ok(())
    }

    /// Interfaces whose objects can be called, those of the main file first.
    fn all(&self) -> impl Iterator<Item = DefId> {
        let interfaces = || {
            self.model
                .iter()
                .filter(|(_, it)| matches!(&it.kind, Kind::Interface(it) if it.kind != InterfaceKind::Local))
        };
        let main = interfaces().filter(|(_, it)| it.is_in_main_file());
        main.chain(interfaces().filter(|(_, it)| !it.is_in_main_file())).map(|(id, _)| id)
    }

    /// The interface by the name that was given, or by the type that the reference tells.
    fn known(&self, name: Option<&str>, object: &ObjectRef) -> Result<Option<DefId>> {
        let Some(name) = name else {
            return Ok(self.all().find(|id| self.model.get(*id).repository_id == object.type_id()));
        };
        let bare = name.trim_start_matches("::");
        let exact =
            |id: &DefId| self.model.scoped_name(*id) == bare || self.model.get(*id).repository_id == name;
        let last = |id: &DefId| self.model.get(*id).name == bare;
        let found = self.all().find(exact).or_else(|| self.all().find(last));
        found.map(Some).ok_or_else(|| {
            let names: Vec<_> = self.all().map(|id| self.model.scoped_name(id)).collect();
            let near = nearest(bare, names.iter().map(String::as_str));
            let next = match near {
                Some(near) => format!("did you mean {near}?"),
                None => format!("the IDL defines {}", names.join(", ")),
            };
            Failure::usage(format!("there is no interface {name}")).next(next)
        })
    }

    /// Asks the object of which of several interfaces it is. Derived ones come behind their bases in IDL.
    fn ask(&self, candidates: &[DefId], object: &ObjectRef) -> Result<DefId> {
        for id in candidates.iter().rev() {
            match object.is_a(&self.model.get(*id).repository_id) {
                Ok(true) => return Ok(*id),
                Ok(false) => {}
                Err(e) => return Err(unknown(&e, object)),
            }
        }
        let told = if object.type_id().is_empty() { "nothing" } else { object.type_id() };
        Err(Failure::usage("the object is of no interface in the IDL")
            .because(format!("its reference tells {told} of its type, and it says no to all of them"))
            .next("name the right file with --idl, or an interface with --interface"))
    }

    /// The operation of an interface; an attribute's getter without, its setter with arguments.
    fn called(&self, interface: DefId, name: &str, arguments: usize) -> Option<Called<'_>> {
        let mut signatures = self.model.signatures(interface);
        let half = if arguments == 0 { "_get_" } else { "_set_" };
        let exact = signatures.iter().position(|it| it.wire_name == name);
        let at = exact.or_else(|| {
            signatures.iter().position(|it| it.wire_name.strip_prefix(half).is_some_and(|rest| rest == name))
        })?;
        Some(Called { interface, index: u32::try_from(at).ok()?, signature: signatures.swap_remove(at) })
    }

    fn no_operation(&self, interfaces: &[DefId], name: &str) -> Failure {
        let features = interfaces.iter().flat_map(|id| self.model.features(*id));
        let features: Vec<_> = features.map(|(_, feature)| feature).collect();
        let what = match interfaces {
            [only] => self.model.scoped_name(*only),
            _ => "the IDL".to_owned(),
        };
        let readonly = |it: &&&Feature| matches!(it, Feature::Attribute(a) if a.readonly && a.name == name);
        if let Some(feature) = features.iter().find(readonly) {
            return Failure::usage(format!("`{name}` cannot be set"))
                .next(format!("it is declared as {}", self.model.declaration(feature)));
        }
        let failure = Failure::usage(format!("{what} has no operation `{name}`"));
        match nearest(name, features.iter().map(|it| it.name())) {
            Some(near) => failure.next(format!("did you mean `{near}`?")),
            None => failure.next("see what there is: the same command without an operation"),
        }
    }
}

fn unknown(exception: &SystemException, object: &ObjectRef) -> Failure {
    Failure::new("the object cannot be asked for its interface")
        .because(format!("{exception}{}", crate::ways::tried(object)))
        .next("check that the server runs, or name the interface with --interface")
}
