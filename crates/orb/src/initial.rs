//! References from text, and the names that everybody knows.

use std::collections::HashMap;
use std::sync::Mutex;

use throughline_cdr::{Encode, Nilable, Writer};
use throughline_giop::Ior;
use throughline_giop::codeset::CodeSetComponentInfo;
use throughline_giop::corbaloc::Corbaloc;
use throughline_giop::corbaname::{Corbaname, NameComponent, parse_name};

use crate::exception::{Kind, OperationError, SystemException, minor, shown};
use crate::interface::Operation;
use crate::orb::{Orb, host_name};
use crate::reference::ObjectRef;
use crate::transport::reactor::lock;

/// Names of well-known objects and where they are. Kept as data: a reference would keep the ORB alive.
#[derive(Debug)]
pub(crate) struct InitialReferences {
    configured: HashMap<String, String>,
    registered: Mutex<HashMap<String, Ior>>,
}

impl InitialReferences {
    pub(crate) fn new(configured: &[(String, String)]) -> Self {
        Self { configured: configured.iter().cloned().collect(), registered: Mutex::default() }
    }

    pub(crate) fn register(&self, name: &str, object: &ObjectRef) {
        lock(&self.registered).insert(name.to_owned(), object.ior().clone());
    }

    pub(crate) fn resolve(&self, orb: &Orb, name: &str) -> Result<ObjectRef, SystemException> {
        let registered = lock(&self.registered).get(name).cloned();
        if let Some(ior) = registered {
            return Ok(orb.reference(ior));
        }
        match self.configured.get(name) {
            Some(_) if self.leads_back(name) => Err(bad_param(format!(
                "the initial reference `{name}` leads back to itself, as it is configured"
            ))),
            Some(text) => string_to_object(orb, text),
            None => Err(bad_param(format!(
                "no initial reference `{name}` is configured; give one, such as {name}=corbaloc::host:port/{name}"
            ))),
        }
    }

    /// Whether one is never found by following it: it may be configured as, or below, another, and that one as a third.
    fn leads_back(&self, name: &str) -> bool {
        let mut name = name.to_owned();
        for _ in 0..=self.configured.len() {
            if lock(&self.registered).contains_key(&name) {
                return false;
            }
            match self.configured.get(&name).and_then(|text| base_of(text)) {
                Some(base) => name = base,
                None => return false,
            }
        }
        true
    }
}

/// The initial reference that a text begins at, if any.
fn base_of(text: &str) -> Option<String> {
    let text = text.trim();
    let context = text.parse::<Corbaname>().map(|name| name.context);
    match context.or_else(|_| text.parse()) {
        Ok(Corbaloc::Rir(name)) => Some(name),
        _ => None,
    }
}

pub(crate) fn string_to_object(orb: &Orb, text: &str) -> Result<ObjectRef, SystemException> {
    let text = text.trim();
    let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("ior") => {
            let ior: Ior = text.parse().map_err(|e| bad_param(format!("{e}")))?;
            if ior.is_nil() {
                return Err(SystemException::inv_objref(minor::NIL).detail("the reference is nil"));
            }
            Ok(orb.reference(ior))
        }
        Some("corbaloc") => {
            let location: Corbaloc = text.parse().map_err(|e| bad_param(format!("{e}")))?;
            locate(orb, &location)
        }
        Some("corbaname") => {
            let name: Corbaname = text.parse().map_err(|e| bad_param(format!("{e}")))?;
            let context = locate(orb, &name.context)?;
            if name.name.is_empty() {
                return Ok(context);
            }
            resolve(&context, &parse_name(&name.name).map_err(|e| bad_param(format!("{e}")))?)
        }
        _ => Err(bad_param(format!(
            "`{text}` is no reference: it begins with none of IOR:, corbaloc:, corbaname:"
        ))),
    }
}

fn locate(orb: &Orb, location: &Corbaloc) -> Result<ObjectRef, SystemException> {
    match location {
        Corbaloc::Rir(name) => {
            orb.resolve_initial_reference(if name.is_empty() { "NameService" } else { name })
        }
        Corbaloc::Addresses { .. } => {
            // The text has no place for code sets. Without any, wide text could not be sent to anybody.
            let code_sets = CodeSetComponentInfo::assumed().to_component()?;
            match location.to_ior_with(&host_name(), &[code_sets])? {
                Some(ior) => Ok(orb.reference(ior)),
                None => Err(bad_param("the corbaloc has no address".to_owned())),
            }
        }
    }
}

/// Asks a naming context (`CosNaming::NamingContext::resolve`) for a name.
fn resolve(context: &ObjectRef, name: &[NameComponent]) -> Result<ObjectRef, SystemException> {
    let encode = |w: &mut Writer<'_>| {
        w.write_length(name.len())?;
        name.iter().try_for_each(|component| {
            component.id.encode(w)?;
            component.kind.encode(w)
        })
    };
    let found: Result<Option<ObjectRef>, Unresolved> =
        context.call(Operation::new("resolve", u32::MAX), encode, ObjectRef::decode_nilable);
    match found {
        Ok(Some(object)) => Ok(object),
        Ok(None) => Err(SystemException::inv_objref(minor::NIL).detail("the name is bound to nil")),
        Err(Unresolved(exception)) => Err(exception),
    }
}

/// Any failure of `resolve`, its user exceptions included, as a system exception with the reason in words.
struct Unresolved(SystemException);

impl From<SystemException> for Unresolved {
    fn from(exception: SystemException) -> Self {
        Self(exception)
    }
}

impl OperationError for Unresolved {
    fn decode_user(
        id: &str,
        _r: &mut throughline_cdr::Reader<'_>,
    ) -> Option<Result<Self, throughline_cdr::DecodeError>> {
        let why = format!("the name service answered {}", shown(id));
        Some(Ok(Self(SystemException::new(Kind::BadParam, minor::THROUGHLINE | 2).detail(why))))
    }

    fn raise(self, _call: &mut crate::servant::ServerCall<'_>) -> crate::servant::Dispatched {
        Err(self.0)
    }
}

fn bad_param(detail: String) -> SystemException {
    SystemException::bad_param().detail(detail)
}
