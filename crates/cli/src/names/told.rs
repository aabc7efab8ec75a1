//! What a name service answered, for people.

use throughline::{Kind, SystemException};
use throughline_naming::client;
use throughline_naming::cos_naming::naming_context::{CannotProceed, NotFound, NotFoundReason};
use throughline_naming::cos_naming::{
    NamingContextBindContextError, NamingContextBindError, NamingContextBindNewContextError,
    NamingContextDestroyError, NamingContextRebindContextError, NamingContextRebindError,
    NamingContextResolveError, NamingContextUnbindError,
};

use crate::failure::Failure;

/// The failure of an operation on `path`.
pub fn not(done: &str, path: &str, error: impl Into<Told>) -> Failure {
    failure(&format!("`{path}` was not {done}"), error)
}

/// What went wrong, and what the name service answered.
pub fn failure(what: &str, error: impl Into<Told>) -> Failure {
    let Told { cause, next } = error.into();
    let failure = Failure::new(what).because(cause);
    match next {
        Some(next) => failure.next(next),
        None => failure,
    }
}

/// What a name service answered, in words.
pub struct Told {
    cause: String,
    next: Option<&'static str>,
}

impl Told {
    fn plain(cause: &str, next: &'static str) -> Self {
        Self { cause: cause.to_owned(), next: Some(next) }
    }

    fn not_found(e: &NotFound) -> Self {
        let rest = client::name_to_string(&e.rest_of_name);
        let (cause, next) = match e.why {
            NotFoundReason::MissingNode => {
                ("nothing is bound there", "see what there is: throughline names list")
            }
            // Only a context to be replaced is the last of a name.
            NotFoundReason::NotContext if e.rest_of_name.len() == 1 => {
                ("an object is bound there", "rebind it without --context, or unbind it")
            }
            NotFoundReason::NotContext => ("a context is needed there", "names lead through contexts only"),
            NotFoundReason::NotObject => {
                ("a context is bound there", "rebind it with --context, or unbind it")
            }
        };
        Self { cause: format!("not found, from `{rest}` on: {cause}"), next: Some(next) }
    }

    fn cannot_proceed(e: &CannotProceed) -> Self {
        let rest = client::name_to_string(&e.rest_of_name);
        Self::plain(
            &format!("the name service cannot reach the context in which `{rest}` is"),
            "check that the server of that context runs",
        )
    }

    fn system(e: &SystemException) -> Self {
        let next = match e.kind {
            Kind::Transient | Kind::CommFailure => Some("check that the name service runs"),
            Kind::Timeout => Some("try again with a longer --timeout"),
            Kind::DataConversion => Some(
                "name the service by the IOR that it printed: a corbaloc tells no code sets, and ISO 8859-1 has not all characters",
            ),
            Kind::PersistStore => Some(
                "see whether the disk of the name service has room, then try again; if that does not help, start it anew",
            ),
            _ => None,
        };
        Self { cause: e.to_string(), next }
    }
}

/// The errors of the operations, each with its own selection of exceptions.
macro_rules! told {
    ($($error:ident $(: $exception:ident $cause:literal $next:literal)?;)*) => {$(
        impl From<$error> for Told {
            fn from(error: $error) -> Self {
                match error {
                    $error::NotFound(e) => Self::not_found(&e),
                    $error::CannotProceed(e) => Self::cannot_proceed(&e),
                    $error::InvalidName(_) => Self::plain("it is not a valid name", "write components divided by `/`"),
                    $($error::$exception(_) => Self::plain($cause, $next),)?
                    $error::System(e) => Self::system(&e),
                }
            }
        }
    )*};
}

told! {
    NamingContextBindError: AlreadyBound "the name is taken" "use rebind to replace it";
    NamingContextBindContextError: AlreadyBound "the name is taken" "use rebind to replace it";
    NamingContextBindNewContextError: AlreadyBound "the name is taken" "use --parents to accept a context that is there";
    NamingContextRebindError;
    NamingContextRebindContextError;
    NamingContextResolveError;
    NamingContextUnbindError;
}

impl From<SystemException> for Told {
    fn from(exception: SystemException) -> Self {
        Self::system(&exception)
    }
}

impl From<NamingContextDestroyError> for Told {
    fn from(error: NamingContextDestroyError) -> Self {
        match error {
            NamingContextDestroyError::NotEmpty(_) => {
                Self::plain("the context is not empty", "unbind what is in it")
            }
            NamingContextDestroyError::System(e) => Self::system(&e),
        }
    }
}
