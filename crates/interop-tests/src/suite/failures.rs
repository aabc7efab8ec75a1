//! The ways in which a call ends.

use std::thread;
use std::time::Duration;

use throughline::{Kind, SystemException};

use super::SuiteServant;
use crate::interop::{
    ByColour, Colour, Completion, Empty, Failures, FailuresRaiseBesideError, FailuresRaiseUserError, Nested,
    Point, Refused,
};

impl Failures for SuiteServant {
    fn raise_user(&self, which: i32) -> Result<i32, FailuresRaiseUserError> {
        match which {
            1 => Err(Empty.into()),
            2 => Err(refused(77).into()),
            3 => Err(nested().into()),
            _ => Ok(42),
        }
    }

    fn raise_beside(&self, which: i32, text: &mut String) -> Result<(i32, u32), FailuresRaiseBesideError> {
        match which {
            1 => return Err(Empty.into()),
            2 => return Err(refused(77).into()),
            3 => return Err(nested().into()),
            _ => {}
        }
        *text = text.repeat(2);
        Ok((42, text.len() as u32))
    }

    fn raise_system(&self, name: &str, minor_code: u32, done: Completion) -> Result<(), SystemException> {
        let kind = Kind::ALL.iter().copied().find(|kind| kind.name() == name);
        Err(SystemException::new(kind.unwrap_or(Kind::Unknown), minor_code).completed(match done {
            Completion::CompletedYes => throughline::Completion::Yes,
            Completion::CompletedNo => throughline::Completion::No,
            Completion::CompletedMaybe => throughline::Completion::Maybe,
        }))
    }

    fn sleep(&self, ms: u32) -> Result<(), SystemException> {
        thread::sleep(Duration::from_millis(ms.into()));
        Ok(())
    }
}

/// The `Refused` of the suite's description.
pub(crate) fn refused(code: i32) -> Refused {
    Refused {
        code,
        reason: "refused".to_owned(),
        paint: Colour::Green,
        details: vec!["a".to_owned(), String::new()],
        place: Point { x: 1, y: -1 },
    }
}

/// The `Nested` of the suite's description.
pub(crate) fn nested() -> Nested {
    Nested { choice: ByColour::Names(vec!["n".to_owned()]), crowd: Vec::new() }
}
