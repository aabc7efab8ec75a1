//! System exceptions on the wire (section 9.4.3.2).

use std::fmt;

use throughline_cdr::{Decode, DecodeError, Encode, EncodeError, ErrorClass, Reader, Writer};

/// The upper 20 bits of minor codes that OMG assigns; the lower 12 are the number in the standard.
pub const OMG_VMCID: u32 = 0x4F4D_0000;

const PREFIX: &str = "IDL:omg.org/CORBA/";
const SUFFIX: &str = ":1.0";

macro_rules! kinds {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// The standard's system exceptions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SystemExceptionKind {
            $(#[doc = $doc] $variant,)*
        }

        impl SystemExceptionKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in IDL, such as `COMM_FAILURE`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The repository id, such as `IDL:omg.org/CORBA/COMM_FAILURE:1.0`.
            pub const fn repository_id(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!("IDL:omg.org/CORBA/", $name, ":1.0"),)*
                }
            }

            fn from_name(name: &str) -> Option<Self> {
                Some(match name {
                    $($name => Self::$variant,)*
                    _ => return None,
                })
            }
        }
    };
}

kinds! {
    Unknown "UNKNOWN" "An exception that is not known here.",
    BadParam "BAD_PARAM" "An argument that is not allowed.",
    NoMemory "NO_MEMORY" "Out of memory.",
    ImpLimit "IMP_LIMIT" "A limit of the implementation.",
    CommFailure "COMM_FAILURE" "The connection failed after the request had been sent.",
    InvObjref "INV_OBJREF" "A malformed object reference.",
    NoPermission "NO_PERMISSION" "The caller may not do this.",
    Internal "INTERNAL" "An error within the ORB.",
    Marshal "MARSHAL" "A message that cannot be decoded, or a value that cannot be encoded.",
    Initialize "INITIALIZE" "The ORB could not be initialised.",
    NoImplement "NO_IMPLEMENT" "The operation is not implemented.",
    BadTypecode "BAD_TYPECODE" "A malformed type code.",
    BadOperation "BAD_OPERATION" "No such operation.",
    NoResources "NO_RESOURCES" "Too few resources for the request.",
    NoResponse "NO_RESPONSE" "The response is not there yet.",
    PersistStore "PERSIST_STORE" "Persistent storage failed.",
    BadInvOrder "BAD_INV_ORDER" "Called in the wrong order.",
    Transient "TRANSIENT" "The server cannot be reached now; try again.",
    FreeMem "FREE_MEM" "Memory could not be freed.",
    InvIdent "INV_IDENT" "A malformed identifier.",
    InvFlag "INV_FLAG" "An invalid flag.",
    IntfRepos "INTF_REPOS" "The interface repository failed.",
    BadContext "BAD_CONTEXT" "A malformed context.",
    ObjAdapter "OBJ_ADAPTER" "The object adapter failed.",
    DataConversion "DATA_CONVERSION" "A character that the other code set lacks.",
    ObjectNotExist "OBJECT_NOT_EXIST" "The object does not exist, for good.",
    TransactionRequired "TRANSACTION_REQUIRED" "The operation needs a transaction.",
    TransactionRolledback "TRANSACTION_ROLLEDBACK" "The transaction was rolled back.",
    InvalidTransaction "INVALID_TRANSACTION" "The transaction is invalid.",
    InvPolicy "INV_POLICY" "Policies that do not agree.",
    CodesetIncompatible "CODESET_INCOMPATIBLE" "Client and server have no code set in common.",
    Rebind "REBIND" "The reference would have to be rebound, which a policy forbids.",
    Timeout "TIMEOUT" "The request took too long.",
    TransactionUnavailable "TRANSACTION_UNAVAILABLE" "The transaction service cannot be reached.",
    TransactionMode "TRANSACTION_MODE" "The transaction policies do not agree.",
    BadQos "BAD_QOS" "The quality of service cannot be given.",
    InvalidActivity "INVALID_ACTIVITY" "The activity is invalid.",
    ActivityCompleted "ACTIVITY_COMPLETED" "The activity has been completed.",
    ActivityRequired "ACTIVITY_REQUIRED" "The operation needs an activity.",
    ThreadCancelled "THREAD_CANCELLED" "The thread was cancelled.",
}

impl SystemExceptionKind {
    /// The kind with this repository id. Unknown ones stand for [`Unknown`](Self::Unknown), by the caller's choice.
    pub fn from_repository_id(id: &str) -> Option<Self> {
        Self::from_name(id.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?)
    }
}

/// How far the operation had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompletionStatus {
    /// It was completed.
    Yes = 0,
    /// It was never started, or had no effect.
    No = 1,
    /// Nobody knows.
    Maybe = 2,
}

impl Encode for CompletionStatus {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_u32(*self as u32);
        Ok(())
    }
}

impl Decode<'_> for CompletionStatus {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match r.read_u32()? {
            0 => Ok(Self::Yes),
            1 => Ok(Self::No),
            2 => Ok(Self::Maybe),
            value => Err(DecodeError::InvalidEnum { value }),
        }
    }
}

/// A system exception, as the body of a reply has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SystemException {
    /// Which one.
    pub kind: SystemExceptionKind,
    /// Details: OMG's codes start at [`OMG_VMCID`], others are the vendor's.
    pub minor: u32,
    /// How far the operation had come.
    pub completed: CompletionStatus,
}

impl SystemException {
    /// An exception of this kind.
    pub const fn new(kind: SystemExceptionKind, minor: u32, completed: CompletionStatus) -> Self {
        Self { kind, minor, completed }
    }

    /// The same, with another completion status.
    pub const fn with_completion(self, completed: CompletionStatus) -> Self {
        Self { completed, ..self }
    }
}

impl Encode for SystemException {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_string(self.kind.repository_id())?;
        w.write_u32(self.minor);
        self.completed.encode(w)
    }
}

/// The minor code of `UNKNOWN` for a system exception that is not in the standard.
pub const NOT_STANDARD: u32 = OMG_VMCID | 2;

/// A system exception that is not in the standard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its repository id.
    pub id: String,
    /// Its minor code, which only whoever made the exception up can read.
    pub minor: u32,
}

impl SystemException {
    /// Reads one. A repository id that is not in the standard becomes `UNKNOWN`, as the standard says; it is told as well.
    pub fn read(r: &mut Reader<'_>) -> Result<(Self, Option<Foreign>), DecodeError> {
        let id = r.read_string()?;
        let (minor, completed) = (r.read_u32()?, Decode::decode(r)?);
        Ok(match SystemExceptionKind::from_repository_id(&id) {
            Some(kind) => (Self { kind, minor, completed }, None),
            None => {
                let unknown = Self { kind: SystemExceptionKind::Unknown, minor: NOT_STANDARD, completed };
                (unknown, Some(Foreign { id: id.into_owned(), minor }))
            }
        })
    }
}

impl Decode<'_> for SystemException {
    const MIN_SIZE: usize = 12;
    /// As [`read`](Self::read).
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::read(r).map(|(exception, _)| exception)
    }
}

impl fmt::Display for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let completed = match self.completed {
            CompletionStatus::Yes => "completed",
            CompletionStatus::No => "not completed",
            CompletionStatus::Maybe => "maybe completed",
        };
        match self.minor & !0xFFF {
            OMG_VMCID => write!(f, "{} (OMG minor {}, {completed})", self.kind.name(), self.minor & 0xFFF),
            _ => write!(f, "{} (minor 0x{:x}, {completed})", self.kind.name(), self.minor),
        }
    }
}

impl std::error::Error for SystemException {}

const fn of_class(class: ErrorClass) -> SystemExceptionKind {
    match class {
        ErrorClass::Marshal => SystemExceptionKind::Marshal,
        ErrorClass::DataConversion => SystemExceptionKind::DataConversion,
        ErrorClass::BadParam => SystemExceptionKind::BadParam,
    }
}

impl From<DecodeError> for SystemException {
    /// Not completed: what a server cannot decode it does not carry out.
    fn from(error: DecodeError) -> Self {
        let minor = match error {
            // OMG's MARSHAL minor 5: wide text from a client over GIOP 1.0.
            DecodeError::NoWideCharSet => OMG_VMCID | 5,
            _ => 0,
        };
        Self::new(of_class(error.class()), minor, CompletionStatus::No)
    }
}

impl From<EncodeError> for SystemException {
    /// Not completed: what a client cannot encode it does not send.
    fn from(error: EncodeError) -> Self {
        Self::new(of_class(error.class()), 0, CompletionStatus::No)
    }
}
