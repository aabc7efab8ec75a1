//! System exceptions, as callers and servants see them; and what user exceptions have in common.

use std::fmt;

use throughline_cdr::{Decode, DecodeError, Encode, EncodeError, ErrorClass, Reader};
use throughline_giop::exception::{CompletionStatus, Foreign, SystemException as OnTheWire};

use crate::servant::{Dispatched, ServerCall};

pub use throughline_giop::exception::{CompletionStatus as Completion, SystemExceptionKind as Kind};

/// Minor codes of this ORB. Those with the OMG's prefix are the standard's (CORBA 3.3, part 2, annex A).
pub mod minor {
    /// The prefix of this ORB's own codes: "TL", shifted as a vendor's minor code set.
    pub const THROUGHLINE: u32 = 0x544c_0000;
    /// The OMG's prefix.
    pub const OMG: u32 = 0x4f4d_0000;

    /// COMM_FAILURE: the connection ended while a reply was awaited.
    pub const CONNECTION_LOST: u32 = THROUGHLINE | 1;
    /// COMM_FAILURE: the peer sent bytes that are no GIOP message.
    pub const PEER_TALKS_NONSENSE: u32 = THROUGHLINE | 2;
    /// COMM_FAILURE: the peer answered with MessageError.
    pub const PEER_REFUSED_MESSAGE: u32 = THROUGHLINE | 3;
    /// TRANSIENT: no address of the reference could be connected to.
    pub const CONNECT_FAILED: u32 = THROUGHLINE | 1;
    /// TRANSIENT: the server closed the connection, again and again, before it took the request; or a future was forwarded to a
    /// server with other code sets, and nobody knows how to marshal its arguments anew.
    pub const SERVER_CLOSING: u32 = THROUGHLINE | 2;
    /// TRANSIENT: forwarded in a circle.
    pub const TOO_MANY_FORWARDS: u32 = THROUGHLINE | 3;
    /// TRANSIENT: the lane for requests of this priority is full (standard code 1: discarded because of resource exhaustion).
    pub const LANE_FULL: u32 = OMG | 1;
    /// TIMEOUT: no reply within the request's time.
    pub const REPLY_TIMEOUT: u32 = THROUGHLINE | 1;
    /// NO_RESOURCES: as many requests as a connection may have are under way, or wait for a server that reads none of them.
    pub const TOO_MANY_REQUESTS: u32 = THROUGHLINE | 1;
    /// NO_RESOURCES: a servant wanted to activate an object, or to make an adapter, and the table was full.
    pub const TOO_MANY_OBJECTS: u32 = THROUGHLINE | 2;
    /// MARSHAL: the message is malformed. The low byte of other codes tells how, see `decode_minor`.
    pub const MALFORMED: u32 = THROUGHLINE | 0x100;
    /// MARSHAL: a message larger than GIOP can tell, or than the limit.
    pub const TOO_LARGE: u32 = THROUGHLINE | 0x200;
    /// MARSHAL: wide text without a code set for it, as in GIOP 1.0 (standard code 5).
    pub const NO_WIDE_CODE_SET: u32 = OMG | 5;
    /// BAD_OPERATION: the interface has no such operation (standard code 2).
    pub const NO_SUCH_OPERATION: u32 = OMG | 2;
    /// OBJECT_NOT_EXIST: no such active object, or no such adapter. The standard has a code for the latter alone (2: failed to
    /// create or locate an object adapter); most keys do not tell which it is.
    pub const NO_SUCH_OBJECT: u32 = OMG | 2;
    /// UNKNOWN: a user exception that the operation's signature does not list (standard code 1).
    pub const UNLISTED_USER_EXCEPTION: u32 = OMG | 1;
    /// UNKNOWN: a system exception that is not in the standard (standard code 2). The detail tells which, and with which code.
    pub const NOT_STANDARD: u32 = throughline_giop::exception::NOT_STANDARD;
    /// UNKNOWN: the servant panicked.
    pub const SERVANT_PANICKED: u32 = THROUGHLINE | 1;
    /// INV_OBJREF: no profile of the reference can be used here.
    pub const NO_USABLE_PROFILE: u32 = THROUGHLINE | 1;
    /// INV_OBJREF: the reference does not tell the server's code set for wide text (standard code 1).
    pub const WIDE_CODE_SET_NOT_TOLD: u32 = OMG | 1;
    /// INV_OBJREF: a nil reference was called or narrowed.
    pub const NIL: u32 = THROUGHLINE | 2;
    /// CODESET_INCOMPATIBLE: the client chose a code set that was not offered (standard code 2).
    pub const UNKNOWN_CODE_SET: u32 = OMG | 2;
    /// BAD_INV_ORDER: the ORB has shut down (standard code 4).
    pub const SHUT_DOWN: u32 = OMG | 4;
}

/// A CORBA system exception: what any call can end with.
///
/// Two exceptions are equal when kind, minor code and completion are; the detail is for people.
#[derive(Clone)]
pub struct SystemException {
    /// Which of the standard's exceptions.
    pub kind: Kind,
    /// The vendor's or the standard's code for the reason, see [`minor`].
    pub minor: u32,
    /// Whether the operation ran.
    pub completed: Completion,
    /// What happened, where and what to do, if it is known on this side. It does not travel.
    detail: Option<Box<str>>,
}

impl SystemException {
    /// An exception with completion `No` and no detail.
    pub const fn new(kind: Kind, minor: u32) -> Self {
        Self { kind, minor, completed: Completion::No, detail: None }
    }

    /// The same with another completion status.
    #[must_use]
    pub fn completed(self, completed: Completion) -> Self {
        Self { completed, ..self }
    }

    /// The same with a text for people.
    #[must_use]
    pub fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into().into_boxed_str()), ..self }
    }

    /// The text for people, if there is one.
    pub fn detail_text(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    pub(crate) fn object_not_exist() -> Self {
        Self::new(Kind::ObjectNotExist, minor::NO_SUCH_OBJECT)
    }

    pub(crate) fn bad_operation() -> Self {
        Self::new(Kind::BadOperation, minor::NO_SUCH_OPERATION)
    }

    pub(crate) fn no_implement() -> Self {
        Self::new(Kind::NoImplement, minor::THROUGHLINE)
    }

    pub(crate) fn no_resources() -> Self {
        Self::new(Kind::NoResources, minor::TOO_MANY_REQUESTS)
    }

    pub(crate) fn bad_param() -> Self {
        Self::new(Kind::BadParam, minor::THROUGHLINE)
    }

    pub(crate) fn shut_down() -> Self {
        Self::new(Kind::BadInvOrder, minor::SHUT_DOWN).detail("the ORB has been shut down")
    }

    pub(crate) fn unknown() -> Self {
        Self::new(Kind::Unknown, minor::SERVANT_PANICKED)
    }

    pub(crate) fn marshal() -> Self {
        Self::new(Kind::Marshal, minor::TOO_LARGE)
    }

    pub(crate) fn inv_objref(minor: u32) -> Self {
        Self::new(Kind::InvObjref, minor)
    }

    pub(crate) fn on_the_wire(&self) -> OnTheWire {
        OnTheWire { kind: self.kind, minor: self.minor, completed: self.completed }
    }

    /// Reads what a server ended a call with.
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (e, foreign) = OnTheWire::read(r)?;
        let exception = Self { kind: e.kind, minor: e.minor, completed: e.completed, detail: None };
        Ok(match foreign {
            None => exception,
            Some(Foreign { id, minor }) => {
                let id = shown(&id);
                exception
                    .detail(format!("the server's exception is no standard one: {id}, minor {minor:#010x}"))
            }
        })
    }
}

/// A name that a peer has made up, for people: the beginning is enough to know it by, and it does nothing to a terminal or a log.
pub(crate) fn shown(name: &str) -> String {
    const ENOUGH: usize = 256;
    name.chars().take(ENOUGH).flat_map(char::escape_debug).collect()
}

impl PartialEq for SystemException {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.minor, self.completed) == (other.kind, other.minor, other.completed)
    }
}

impl Eq for SystemException {}

impl fmt::Display for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let completed = match self.completed {
            CompletionStatus::Yes => "completed",
            CompletionStatus::No => "not completed",
            CompletionStatus::Maybe => "perhaps completed",
        };
        write!(f, "{} (minor {:#010x}, {completed})", self.kind.name(), self.minor)?;
        self.detail.as_deref().map_or(Ok(()), |detail| write!(f, ": {detail}"))
    }
}

impl fmt::Debug for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for SystemException {}

impl From<Kind> for SystemException {
    fn from(kind: Kind) -> Self {
        Self::new(kind, 0)
    }
}

/// What cannot be read was sent wrong: nothing has been done with it.
impl From<DecodeError> for SystemException {
    #[cold]
    fn from(error: DecodeError) -> Self {
        let kind = kind_of(error.class());
        let minor = match error {
            DecodeError::NoWideCharSet => minor::NO_WIDE_CODE_SET,
            _ => minor::MALFORMED | decode_minor(&error),
        };
        Self::new(kind, minor).detail(error.to_string())
    }
}

/// What cannot be written was passed wrong.
impl From<EncodeError> for SystemException {
    #[cold]
    fn from(error: EncodeError) -> Self {
        let minor = match error {
            EncodeError::NoWideCharSet => minor::NO_WIDE_CODE_SET,
            _ => minor::MALFORMED,
        };
        Self::new(kind_of(error.class()), minor).detail(error.to_string())
    }
}

fn kind_of(class: ErrorClass) -> Kind {
    match class {
        ErrorClass::Marshal => Kind::Marshal,
        ErrorClass::DataConversion => Kind::DataConversion,
        ErrorClass::BadParam => Kind::BadParam,
    }
}

/// The low byte of MARSHAL's minor code: what was wrong with the bytes.
fn decode_minor(error: &DecodeError) -> u32 {
    match error {
        DecodeError::Truncated { .. } => 1,
        DecodeError::LengthTooLarge { .. } => 2,
        DecodeError::BoundExceeded { .. } => 3,
        DecodeError::InvalidBoolean { .. } => 4,
        DecodeError::InvalidEnum { .. } => 5,
        DecodeError::InvalidTerminator { .. } => 6,
        DecodeError::InvalidWideLength { .. } => 7,
        DecodeError::TooDeep => 8,
        DecodeError::InvalidEncapsulation { .. } => 9,
        DecodeError::InvalidText { .. } => 10,
        _ => 0,
    }
}

/// A user exception: a struct that an IDL `exception` became.
pub trait UserException: Encode + for<'a> Decode<'a> + std::error::Error {
    /// `IDL:Module/Name:1.0`.
    const REPOSITORY_ID: &'static str;
}

/// What an operation can fail with: the user exceptions that its IDL lists, or a system exception.
pub trait OperationError: From<SystemException> {
    /// Reads the members of the user exception `id`; none when the operation's IDL does not list it.
    fn decode_user(id: &str, r: &mut Reader<'_>) -> Option<Result<Self, DecodeError>>;

    /// Ends a call with this error.
    ///
    /// # Errors
    /// The system exception, if it is one, or if encoding fails.
    fn raise(self, call: &mut ServerCall<'_>) -> Dispatched;
}

impl OperationError for SystemException {
    fn decode_user(_id: &str, _r: &mut Reader<'_>) -> Option<Result<Self, DecodeError>> {
        None
    }

    fn raise(self, _call: &mut ServerCall<'_>) -> Dispatched {
        Err(self)
    }
}
