//! Object references: what a client holds, and where it leads.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use throughline_cdr::{Decode, DecodeError, Encode, EncodeError, Nilable, Reader, Writer};
use throughline_giop::Ior;

use crate::binding::Binding;
use crate::exception::{Kind, SystemException, minor, shown};
use crate::interface::{Interface, Operation};
use crate::orb::{Orb, WeakOrb};
use crate::priority::{self, Priority};

/// The repository id that every object answers to.
pub const OBJECT_ID: &str = "IDL:omg.org/CORBA/Object:1.0";

/// A reference to a CORBA object, of any interface, in this process or elsewhere. Cheap to clone; equal to another
/// when both have the same contents.
#[derive(Clone)]
pub struct ObjectRef(Arc<Inner>);

struct Inner {
    orb: Orb,
    ior: Arc<Ior>,
    /// What its adapter knows the object by, of one whose profiles do not tell.
    key: Option<Arc<[u8]>>,
    /// Where its own profiles lead.
    own: Arc<Binding>,
    /// Where it leads at present, if that is elsewhere.
    forwarded: ArcSwapOption<Binding>,
    /// Whether it is: what every call looks at.
    is_forwarded: AtomicBool,
    /// As long as a call may take; none for the ORB's default.
    timeout: Option<Duration>,
    /// How urgent calls are; none for the calling thread's.
    priority: Option<Priority>,
    /// Calls may take as long as they do, and are as urgent as the thread: what every call looks at.
    ordinary: bool,
}

impl Inner {
    fn new(orb: Orb, ior: Arc<Ior>, own: Arc<Binding>) -> Self {
        let (forwarded, is_forwarded) = (ArcSwapOption::empty(), AtomicBool::new(false));
        let ordinary = orb.call_timeout().is_none();
        Self { orb, ior, key: None, own, forwarded, is_forwarded, timeout: None, priority: None, ordinary }
    }
}

/// Where a reference leads at present.
pub(crate) enum Present<'r> {
    Own(&'r Arc<Binding>),
    Forwarded(Arc<Binding>),
}

impl Deref for Present<'_> {
    type Target = Arc<Binding>;

    #[inline]
    fn deref(&self) -> &Arc<Binding> {
        match self {
            Self::Own(own) => own,
            Self::Forwarded(elsewhere) => elsewhere,
        }
    }
}

impl ObjectRef {
    pub(crate) fn new(orb: &Orb, ior: Ior) -> Self {
        let ior = Arc::new(ior);
        let own = Arc::new(Binding::new(orb, &ior));
        Self(Arc::new(Inner::new(orb.clone(), ior, own)))
    }

    /// As [`new`](Self::new), of an object of this ORB that is reached by its handle alone.
    pub(crate) fn by_handle(orb: &Orb, ior: Ior, key: &[u8]) -> Self {
        let ior = Arc::new(ior);
        let own = Arc::new(Binding::new(orb, &ior));
        Self(Arc::new(Inner { key: Some(key.into()), ..Inner::new(orb.clone(), ior, own) }))
    }

    /// The ORB that calls through this reference.
    pub fn orb(&self) -> &Orb {
        &self.0.orb
    }

    /// The reference as data.
    pub fn ior(&self) -> &Ior {
        &self.0.ior
    }

    /// The repository id of the interface, as far as the reference tells; may be empty.
    pub fn type_id(&self) -> &str {
        &self.0.ior.type_id
    }

    /// What the server knows the object by.
    pub fn object_key(&self) -> Vec<u8> {
        match &self.0.key {
            Some(key) => key.to_vec(),
            None => Binding::new(&self.0.orb, &self.0.ior).key().to_vec(),
        }
    }

    /// The same reference, whose calls may take at most `timeout` each.
    ///
    /// A call that takes longer ends with `TIMEOUT`, or with `TRANSIENT` if the server could not be connected to in that time; the
    /// server is not interrupted. With a timeout of zero, which does not stand for none, it ends at once, and may have been sent all
    /// the same where a connection was open. A blocking call of an object in this
    /// process runs on the caller's thread and has no limit: it returns when the servant does. Its future has one.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        self.changed(|same| same.timeout = Some(timeout))
    }

    /// The same reference, whose calls have this priority, whatever that of the calling thread is.
    ///
    /// A typed reference gets one by `AccountRef::from_object(account.as_object().with_priority(urgent))`.
    #[must_use]
    pub fn with_priority(&self, priority: Priority) -> Self {
        self.changed(|same| same.priority = Some(priority))
    }

    fn changed(&self, change: impl FnOnce(&mut Inner)) -> Self {
        let Inner { orb, ior, key, own, timeout, priority, .. } = &*self.0;
        let mut same = Inner::new(orb.clone(), Arc::clone(ior), Arc::clone(own));
        same.key = key.clone();
        (same.timeout, same.priority) = (*timeout, *priority);
        change(&mut same);
        same.ordinary &= same.timeout.is_none() && same.priority.is_none();
        let same = Self(Arc::new(same));
        same.lead_to(self.0.forwarded.load_full());
        same
    }

    /// The priority of a call that is made now: the reference's own, or that of the calling thread.
    #[inline]
    pub fn priority(&self) -> Option<Priority> {
        self.0.priority.or_else(priority::current)
    }

    /// Whether a call that is made now has neither a limit nor a priority, as most.
    #[inline]
    pub(crate) fn is_ordinary(&self) -> bool {
        self.0.ordinary && priority::current().is_none()
    }

    /// How long a call may take; none for ever.
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout.or(self.0.orb.call_timeout())
    }

    pub(crate) fn binding(&self) -> Arc<Binding> {
        Arc::clone(&self.present_binding())
    }

    /// As [`binding`](Self::binding), for a while only: no count of references is touched.
    #[inline]
    pub(crate) fn present_binding(&self) -> Present<'_> {
        let inner = &self.0;
        // What it was forwarded to a moment ago may be missed: a call that is under way misses it too.
        if inner.is_forwarded.load(Ordering::Relaxed) {
            Present::Forwarded(inner.forwarded.load_full().unwrap_or_else(|| Arc::clone(&inner.own)))
        } else {
            Present::Own(&inner.own)
        }
    }

    /// Where its own profiles lead.
    #[inline(always)]
    pub(crate) fn own_binding(&self) -> &Arc<Binding> {
        &self.0.own
    }

    /// From now on calls go where `ior` leads.
    pub(crate) fn rebind(&self, ior: &Ior) -> Arc<Binding> {
        let binding = Arc::new(Binding::new(&self.0.orb, ior));
        self.lead_to(Some(Arc::clone(&binding)));
        binding
    }

    /// Calls go to the reference's own profiles again. Returns none when they do so already.
    pub(crate) fn unbind(&self, from: &Binding) -> Option<Arc<Binding>> {
        from.is_forwarded(&self.0.ior).then(|| {
            self.lead_to(None);
            Arc::clone(&self.0.own)
        })
    }

    /// Elsewhere than its own profiles say, or there again.
    fn lead_to(&self, elsewhere: Option<Arc<Binding>>) {
        let is_forwarded = elsewhere.is_some();
        self.0.forwarded.store(elsewhere);
        self.0.is_forwarded.store(is_forwarded, Ordering::Release);
    }

    /// Asks the object whether it is of the interface `repository_id` or one derived from it.
    ///
    /// # Errors
    /// What the call fails with.
    pub fn is_a(&self, repository_id: &str) -> Result<bool, SystemException> {
        if self.type_id() == repository_id || repository_id == OBJECT_ID {
            return Ok(true);
        }
        self.call(Operation::new("_is_a", u32::MAX), |w| repository_id.encode(w), read_bool)
    }

    /// Asks the server whether the object is gone for good.
    ///
    /// # Errors
    /// What the call fails with, `OBJECT_NOT_EXIST` aside.
    pub fn non_existent(&self) -> Result<bool, SystemException> {
        let operation = Operation::new("_non_existent", u32::MAX);
        match self.call(operation, |_| Ok(()), read_bool) {
            Err(SystemException { kind: Kind::ObjectNotExist, .. }) => Ok(true),
            other => other,
        }
    }

    /// The same object, if the two references say so; false may mean that it cannot be known.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        self == other || self.binding().same_object(&other.binding())
    }

    /// Turns the reference into one of a typed kind, asking the object if the type id alone does not tell.
    ///
    /// # Errors
    /// What the question fails with. An object of another interface is not an error but none.
    pub fn narrow<R: TypedReference>(&self) -> Result<Option<R>, SystemException> {
        let known = R::interface().is_a(self.type_id()) && self.type_id() == R::REPOSITORY_ID;
        if known || self.is_a(R::REPOSITORY_ID)? {
            return Ok(Some(R::from_object(self.clone())));
        }
        Ok(None)
    }
}

/// A function of any lifetime, which the method is not.
fn read_bool(r: &mut Reader<'_>) -> Result<bool, DecodeError> {
    r.read_bool()
}

impl PartialEq for ObjectRef {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.ior == other.0.ior
    }
}

impl Eq for ObjectRef {}

impl std::hash::Hash for ObjectRef {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // As equality: by contents, not by where the reference leads at present.
        let ior = &self.0.ior;
        ior.type_id.hash(state);
        for profile in &ior.profiles {
            (profile.tag, &profile.data).hash(state);
        }
    }
}

/// `IOR:` and hexadecimal digits: the form that every CORBA client reads.
impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.ior.fmt(f)
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectRef({} at {})", self.type_id(), &*self.present_binding())
    }
}

impl Encode for ObjectRef {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.0.ior.encode(w)
    }
}

impl Nilable for ObjectRef {
    fn encode_nilable(value: Option<&Self>, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        value.map_or(&Ior::NIL, |v| v.ior()).encode(w)
    }

    fn decode_nilable(r: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        let ior = Ior::decode(r)?;
        if ior.is_nil() {
            return Ok(None);
        }
        let orb = r.context::<WeakOrb>().and_then(WeakOrb::upgrade);
        let orb = orb.ok_or(DecodeError::Invalid { what: "an object reference outside of any ORB" })?;
        Ok(Some(Self::new(&orb, ior)))
    }
}

/// A reference whose interface is known at compile time. Generated code implements it.
pub trait TypedReference: Clone + Send + Sync + 'static {
    /// `IDL:Module/Name:1.0`.
    const REPOSITORY_ID: &'static str;

    /// What is known of the interface.
    fn interface() -> &'static Interface;

    /// Takes the object's word for its interface: no question is asked. See [`ObjectRef::narrow`].
    fn from_object(object: ObjectRef) -> Self;

    /// The untyped reference.
    fn as_object(&self) -> &ObjectRef;
}

/// A reference of no particular interface: IDL's `Object`.
impl TypedReference for ObjectRef {
    const REPOSITORY_ID: &'static str = OBJECT_ID;

    fn interface() -> &'static Interface {
        crate::interface::object()
    }

    fn from_object(object: ObjectRef) -> Self {
        object
    }

    fn as_object(&self) -> &ObjectRef {
        self
    }
}

/// Writes a typed reference, or nil: the body of [`Nilable::encode_nilable`] in generated code.
///
/// # Errors
/// As [`Encode::encode`].
pub fn encode_reference<R: TypedReference>(value: Option<&R>, w: &mut Writer<'_>) -> Result<(), EncodeError> {
    ObjectRef::encode_nilable(value.map(R::as_object), w)
}

/// Reads a typed reference, or nil, trusting the sender for its interface.
///
/// # Errors
/// As [`Decode::decode`]; a reference cannot be read outside of an ORB.
pub fn decode_reference<R: TypedReference>(r: &mut Reader<'_>) -> Result<Option<R>, DecodeError> {
    Ok(ObjectRef::decode_nilable(r)?.map(R::from_object))
}

impl ObjectRef {
    pub(crate) fn no_usable_profile(&self) -> SystemException {
        if let Some(why) = self.binding().native_failure() {
            // It is no longer looked for then.
            if let Err(down) = self.orb().check_up() {
                return down;
            }
            return SystemException::new(Kind::Transient, minor::CONNECT_FAILED).detail(why);
        }
        let interface = shown(self.type_id());
        SystemException::inv_objref(minor::NO_USABLE_PROFILE)
            .detail(format!("the reference to {interface} has no profile for TCP or Unix sockets"))
    }
}
