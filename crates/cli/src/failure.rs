//! What a command ends with when it fails: what went wrong and where, why, and what to do next.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::output::shown;

/// What to do next about a file that cannot be read.
pub const CHECK_FILE: &str = "check the name and the permissions";

/// A failure, told to a person.
#[derive(Debug)]
pub struct Failure {
    what: String,
    cause: Option<String>,
    next: Option<String>,
    status: u8,
}

impl Failure {
    /// A failure of what was asked for: status 1.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), cause: None, next: None, status: 1 }
    }

    /// A request that makes no sense: status 2, as for options that clap refuses.
    pub fn usage(what: impl Into<String>) -> Self {
        Self { status: 2, ..Self::new(what) }
    }

    /// Part of what was asked for is done, and what is missing is told: status 3.
    pub fn partly(what: impl Into<String>) -> Self {
        Self { status: 3, ..Self::new(what) }
    }

    /// An exception that an object raised, as its IDL says that it may: status 4.
    pub fn raised(what: impl Into<String>) -> Self {
        Self { status: 4, ..Self::new(what) }
    }

    /// A failure that has been told already.
    pub fn told() -> Self {
        Self::new("")
    }

    /// Adds the reason.
    #[must_use]
    pub fn because(self, cause: impl fmt::Display) -> Self {
        Self { cause: Some(cause.to_string()), ..self }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn next(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }

    /// The reason, or what failed if none was given.
    pub fn cause(&self) -> &str {
        self.cause.as_deref().unwrap_or(&self.what)
    }

    /// The same, told already: only the status is left.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { what: String::new(), ..self }
    }

    /// Prints the failure to standard error. Where that fails as well, the status is all that can be told.
    pub fn report(self) -> ExitCode {
        if !self.what.is_empty() {
            let _ = write!(io::stderr(), "{}", shown(&self.to_string()));
        }
        ExitCode::from(self.status)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.what)?;
        if let Some(cause) = &self.cause {
            writeln!(f, "  cause: {}", cause.trim_end().replace('\n', "\n         "))?;
        }
        self.next.as_ref().map_or(Ok(()), |next| writeln!(f, "  next:  {next}"))
    }
}

/// How commands end.
pub type Result<T = ()> = std::result::Result<T, Failure>;
