//! From what went wrong inside to the exceptions that each operation may raise.

use throughline::{Kind, SystemException};

use crate::cos_naming::naming_context::{
    AlreadyBound, CannotProceed, InvalidName, NotEmpty, NotFound, NotFoundReason,
};
use crate::cos_naming::{
    NameComponent, NamingContextBindContextError, NamingContextBindError, NamingContextBindNewContextError,
    NamingContextDestroyError, NamingContextExtResolveStrError, NamingContextRebindContextError,
    NamingContextRebindError, NamingContextRef, NamingContextResolveError, NamingContextUnbindError,
};
use crate::tree::Refused;

/// All that an operation on a context can end with.
#[derive(Debug)]
pub(crate) enum Failure {
    NotFound(NotFound),
    CannotProceed(CannotProceed),
    InvalidName,
    AlreadyBound,
    NotEmpty,
    System(SystemException),
}

impl Failure {
    /// The first component of `rest` is what is wrong.
    pub(crate) fn not_found(why: NotFoundReason, rest: &[NameComponent]) -> Self {
        Self::NotFound(NotFound { why, rest_of_name: rest.to_vec() })
    }

    /// The client may go on at `context`.
    pub(crate) fn cannot_proceed(context: &NamingContextRef, rest: &[NameComponent]) -> Self {
        Self::CannotProceed(CannotProceed { cxt: Some(context.clone()), rest_of_name: rest.to_vec() })
    }

    /// What the tree says about `rest`, the last component of a name.
    pub(crate) fn refused(refused: Refused, rest: &[NameComponent], wanted_context: bool) -> Self {
        let other = if wanted_context { NotFoundReason::NotContext } else { NotFoundReason::NotObject };
        match refused {
            Refused::Missing => Self::not_found(NotFoundReason::MissingNode, rest),
            Refused::OtherType => Self::not_found(other, rest),
            Refused::Bound => Self::AlreadyBound,
            Refused::NotEmpty => Self::NotEmpty,
            Refused::NoContext => Self::System(Kind::ObjectNotExist.into()),
            Refused::Full => {
                Self::System(SystemException::from(Kind::ImpLimit).detail("the name service is full"))
            }
            Refused::Store(error) => {
                tracing::error!(%error, "the store refused a change");
                Self::System(SystemException::from(Kind::PersistStore).detail(error.to_string()))
            }
        }
    }
}

impl From<SystemException> for Failure {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// The errors of one operation, made from a failure, and told apart when another server answered with one.
pub(crate) trait Raised: From<Failure> {
    /// Whether it is a system exception: the other server did not do its part.
    fn is_system(&self) -> bool;
}

/// A failure that an operation does not raise is our own error; its client gets `INTERNAL`.
fn unexpected(what: &str) -> SystemException {
    SystemException::from(Kind::Internal).detail(format!("{what} where it cannot be"))
}

/// The exceptions of an operation, beside system exceptions: those of all that take a name, and further ones.
macro_rules! raises {
    ($($error:ident: $($pattern:pat => $value:expr),*;)*) => {$(
        impl From<Failure> for $error {
            fn from(failure: Failure) -> Self {
                match failure {
                    Failure::System(exception) => Self::System(exception),
                    $($pattern => Self::from($value),)*
                    other => Self::System(unexpected(&format!("{other:?}"))),
                }
            }
        }

        impl Raised for $error {
            fn is_system(&self) -> bool {
                matches!(self, Self::System(_))
            }
        }
    )*};
    (names $($error:ident $(, $pattern:pat => $value:expr)*;)*) => {
        raises! {$(
            $error:
            Failure::NotFound(e) => e,
            Failure::CannotProceed(e) => e,
            Failure::InvalidName => InvalidName
            $(, $pattern => $value)*;
        )*}
    };
}

raises! { names
    NamingContextBindError, Failure::AlreadyBound => AlreadyBound;
    NamingContextBindContextError, Failure::AlreadyBound => AlreadyBound;
    NamingContextBindNewContextError, Failure::AlreadyBound => AlreadyBound;
    NamingContextRebindError;
    NamingContextRebindContextError;
    NamingContextResolveError;
    NamingContextExtResolveStrError;
    NamingContextUnbindError;
}

raises! {
    NamingContextDestroyError: Failure::NotEmpty => NotEmpty;
}
