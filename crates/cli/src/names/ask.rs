//! The client side of `throughline names`, for any CosNaming server.

use std::fmt;
use std::time::Duration;

use serde_json::json;
use throughline::{Kind, ObjectRef, Orb, SystemException, TypedReference};
use throughline_naming::client;
use throughline_naming::cos_naming::{Binding, BindingType, Name, NamingContextRef};

use super::told::{Told, failure, not};
use crate::failure::{Failure, Result};
use crate::output;
use crate::reference;
use crate::ways::Ways;

/// Where to ask.
#[derive(clap::Args)]
struct Service {
    /// The name service, as a reference, or @FILE for a file that has it
    #[arg(long, value_name = "REF", default_value = "corbaloc::localhost:2809/NameService")]
    service: String,
    #[command(flatten)]
    ways: Ways,
    /// Seconds to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Tell on standard error which way the name service was called
    #[arg(short, long)]
    verbose: bool,
}

/// A name service that answers.
struct Session<'s> {
    service: &'s Service,
    orb: Orb,
    root: NamingContextRef,
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.tell(&self.root);
    }
}

/// What to do about a name that is bound to something else than wanted.
const UNBIND: &str =
    "see what names stand for: throughline names resolve; unbind or rebind those that are wrong";

impl Session<'_> {
    /// Says which way a context was called.
    fn tell(&self, context: &NamingContextRef) {
        if self.service.verbose
            && let Some(way) = context.as_object().way()
        {
            output::tell(&format!("called over {way}"));
        }
    }

    /// The context of a path; the root's is empty.
    fn context(&self, path: &str) -> Result<NamingContextRef> {
        if path.is_empty() {
            return Ok(self.root.clone());
        }
        let what = format!("`{path}` cannot be used as a context");
        let failed = |cause: &dyn fmt::Display, next| Failure::new(&what).because(cause).next(next);
        let found = self.root.resolve(&name(path)?).map_err(|e| failure(&what, e))?;
        let found = found.ok_or_else(|| failed(&"it is bound to nil", UNBIND))?;
        let gone =
            "check that the server of that context runs; if the context is gone for good, unbind the name";
        let found = self.service.ways.keep(&found)?.narrow().map_err(|e| failed(&e, gone))?;
        found.ok_or_else(|| failed(&"it is bound to an object that is no context", UNBIND))
    }
}

impl Service {
    fn open(&self) -> Result<Session<'_>> {
        let orb = self.ways.orb(Duration::from_secs(self.timeout))?;
        let object = self.ways.keep(&reference::object(&orb, &self.service)?)?;
        let root = object.narrow().map_err(|e| self.silent(&e))?;
        let other = || {
            Failure::new(format!("`{}` is no naming context", self.service))
                .next("say with --service where the name service is")
        };
        let root = root.ok_or_else(other)?;
        Ok(Session { service: self, orb, root })
    }

    fn silent(&self, exception: &SystemException) -> Failure {
        if exception.kind == Kind::ObjectNotExist {
            return Failure::new(format!("there is no name service at {}", self.service))
                .because(exception)
                .next("say with --service where it is: the server there runs, but knows no such object");
        }
        Failure::new(format!("the name service at {} does not answer", self.service))
            .because(exception)
            .next("start one with `throughline names serve`, or say with --service where it is")
    }
}

/// List the bindings of a context; contexts end with a `/`
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  throughline names list\n  throughline names list --json bank")]
pub struct List {
    /// The context; the root if not given
    #[arg(default_value = "")]
    path: String,
    /// One JSON object per binding
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: Service,
}

/// Print the reference that a name is bound to
#[derive(clap::Args)]
#[command(after_help = "Example:\n  throughline names resolve bank/teller.object")]
pub struct Resolve {
    /// The name
    path: String,
    #[command(flatten)]
    service: Service,
}

/// Bind a name that is free
#[derive(clap::Args)]
#[command(after_help = "Example:\n  throughline names bind bank/teller.object IOR:0100...")]
pub struct Bind {
    #[command(flatten)]
    binding: NewBinding,
}

/// Bind a name, whether it is free or not
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  throughline names rebind bank/teller.object corbaloc::localhost:4000/teller"
)]
pub struct Rebind {
    #[command(flatten)]
    binding: NewBinding,
}

#[derive(clap::Args)]
struct NewBinding {
    /// The name
    path: String,
    /// The object, in any textual form, or @FILE
    #[arg(value_name = "REF")]
    object: String,
    /// The object is a naming context through which names are to lead
    #[arg(long)]
    context: bool,
    #[command(flatten)]
    service: Service,
}

/// Remove a binding; what it was bound to stays as it is
#[derive(clap::Args)]
#[command(after_help = "Example:\n  throughline names unbind bank/teller.object")]
pub struct Unbind {
    /// The name
    path: String,
    #[command(flatten)]
    service: Service,
}

/// Make a context and bind it to a name
#[derive(clap::Args)]
#[command(after_help = "Example:\n  throughline names new-context --parents bank/branches/17")]
pub struct NewContext {
    /// The name
    path: String,
    /// Make missing contexts on the way, and accept one that is there
    #[arg(short, long)]
    parents: bool,
    #[command(flatten)]
    service: Service,
}

/// Destroy an empty context and remove its binding
#[derive(clap::Args)]
#[command(after_help = "Example:\n  throughline names destroy bank/branches")]
pub struct Destroy {
    /// The name
    path: String,
    #[command(flatten)]
    service: Service,
}

fn name(path: &str) -> Result<Name> {
    client::parse_name(path).map_err(|e| {
        let next =
            "write components divided by `/`, and `\\` before a `/`, `.` or `\\` that is part of a name";
        Failure::usage(format!("`{path}` is not a name")).because(e).next(next)
    })
}

/// Lists.
pub fn list(arguments: &List) -> Result {
    let session = arguments.service.open()?;
    let context = session.context(&arguments.path)?;
    let failed = |e: SystemException| failure("the listing broke off", e);
    for binding in client::list(&context).map_err(failed)? {
        print(&binding.map_err(failed)?, arguments.json);
    }
    if !arguments.path.is_empty() {
        session.tell(&context);
    }
    Ok(())
}

fn print(binding: &Binding, json: bool) {
    let text = client::name_to_string(&binding.binding_name);
    let is_context = binding.binding_type == BindingType::Ncontext;
    if !json {
        return output::one_line(&format!("{text}{}", if is_context { "/" } else { "" }));
    }
    let (id, kind) = binding.binding_name.first().map_or(("", ""), |c| (&c.id, &c.kind));
    output::json_line(&json!({"name": text, "id": id, "kind": kind, "context": is_context}));
}

/// Resolves.
pub fn resolve(arguments: &Resolve) -> Result {
    let session = arguments.service.open()?;
    let found = session.root.resolve(&name(&arguments.path)?);
    let found = found.map_err(|e| not("resolved", &arguments.path, e))?;
    output::line(&found.map_or("nil".to_owned(), |object| object.to_string()));
    Ok(())
}

impl NewBinding {
    fn prepare(&self) -> Result<(Session<'_>, Name, ObjectRef)> {
        let session = self.service.open()?;
        let object = reference::object(&session.orb, &self.object)?;
        Ok((session, name(&self.path)?, object))
    }

    /// The object as a context: its own word is not needed, the name service will find out.
    fn as_context(object: ObjectRef) -> NamingContextRef {
        TypedReference::from_object(object)
    }
}

/// Binds.
pub fn bind(Bind { binding }: &Bind) -> Result {
    let (session, name, object) = binding.prepare()?;
    if binding.context {
        let bound = session.root.bind_context(&name, Some(&NewBinding::as_context(object)));
        return bound.map_err(|e| not("bound", &binding.path, e));
    }
    session.root.bind(&name, Some(&object)).map_err(|e| not("bound", &binding.path, e))
}

/// Binds in any case.
pub fn rebind(Rebind { binding }: &Rebind) -> Result {
    let (session, name, object) = binding.prepare()?;
    if binding.context {
        let bound = session.root.rebind_context(&name, Some(&NewBinding::as_context(object)));
        return bound.map_err(|e| not("bound", &binding.path, e));
    }
    session.root.rebind(&name, Some(&object)).map_err(|e| not("bound", &binding.path, e))
}

/// Unbinds.
pub fn unbind(arguments: &Unbind) -> Result {
    let session = arguments.service.open()?;
    session.root.unbind(&name(&arguments.path)?).map_err(|e| not("unbound", &arguments.path, e))
}

/// Makes a context.
pub fn new_context(arguments: &NewContext) -> Result {
    let session = arguments.service.open()?;
    let name = name(&arguments.path)?;
    let failed = |e: Told| not("made", &arguments.path, e);
    if arguments.parents {
        client::make_path(&session.root, &name).map_err(|e| failed(e.into()))?;
    } else {
        session.root.bind_new_context(&name).map_err(|e| failed(e.into()))?;
    }
    Ok(())
}

/// Destroys a context.
pub fn destroy(arguments: &Destroy) -> Result {
    // No name would be the root, which some name services let go of.
    let name = name(&arguments.path)?;
    let session = arguments.service.open()?;
    let found = session.context(&arguments.path)?;
    found.destroy().map_err(|e| not("destroyed", &arguments.path, e))?;
    session.root.unbind(&name).map_err(|e| not("unbound", &arguments.path, e))
}
