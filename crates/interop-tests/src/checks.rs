//! The checks that a client makes of a suite, by the names that omniORB's client gives them, and those of futures
//! besides.

#[macro_use]
mod macros;

mod answers;
mod basics;
mod composites;
mod futures;
mod objects;
mod references;

use std::error::Error;
use std::fmt::Debug;

use throughline::{ObjectRef, Orb, Version};

use crate::interop::{ByLong, Colour, CounterRef, Person, Point, SuiteRef};

/// What every check has.
pub struct Context {
    /// Listens, so that it can be called back.
    pub orb: Orb,
    /// What is checked.
    pub suite: SuiteRef,
    /// The GIOP version that both sides speak.
    pub version: Version,
    /// Strings travel in Unicode.
    pub negotiated: bool,
    /// There is a code set for wide characters.
    pub wide: bool,
    /// The peer's own strings hold ISO 8859-1 only.
    pub latin_peer: bool,
    /// The peer has wide characters in GIOP 1.2 only.
    pub wide_in_12_only: bool,
}

/// What a check needs; where it is missing the check is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing in particular.
    Nothing,
    /// Wide characters.
    Wide,
    /// Strings beyond ISO 8859-1 at both sides and between.
    Unicode,
    /// A peer whose strings hold less than ours, reached in Unicode.
    LatinPeer,
    /// Strings that travel in ISO 8859-1.
    LatinWire,
}

/// One check.
pub struct Check {
    /// `group.name`.
    pub name: &'static str,
    need: Need,
    run: fn(&Context) -> Outcome,
}

/// Why a check failed.
#[derive(Debug)]
pub struct Failed(String);

type Outcome = Result<(), Failed>;

impl<E: Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// How a check went.
#[derive(Debug)]
pub enum Verdict {
    /// As it should.
    Ok,
    /// Otherwise.
    Failed(String),
    /// It makes no sense here.
    Skipped(&'static str),
}

/// All checks, group by group.
pub fn all() -> impl Iterator<Item = &'static Check> {
    let groups = [
        basics::CHECKS,
        composites::CHECKS,
        answers::CHECKS,
        references::CHECKS,
        objects::CHECKS,
        futures::CHECKS,
    ];
    groups.into_iter().flatten()
}

impl Check {
    /// Makes the check.
    pub fn run(&self, c: &Context) -> Verdict {
        if let Some(why) = c.lack(self.need) {
            return Verdict::Skipped(why);
        }
        match (self.run)(c) {
            Ok(()) => Verdict::Ok,
            Err(Failed(why)) => Verdict::Failed(why),
        }
    }
}

impl Context {
    fn lack(&self, need: Need) -> Option<&'static str> {
        match need {
            Need::Wide if !self.wide => Some("no code set for wide characters was agreed upon"),
            Need::Wide if self.wide_in_12_only && self.version < Version::V1_2 => {
                Some("the peer has wide characters in GIOP 1.2 only")
            }
            Need::Unicode | Need::LatinPeer if !self.negotiated => Some("strings travel in ISO 8859-1"),
            Need::Unicode if self.latin_peer => Some("the peer's strings are ISO 8859-1"),
            Need::LatinPeer if !self.latin_peer => Some("the peer's strings are Unicode"),
            Need::LatinWire if self.negotiated => Some("strings travel in Unicode"),
            _ => None,
        }
    }

    /// A reference newly made of its text, that nothing is known about.
    fn fresh(&self, object: &ObjectRef) -> Result<ObjectRef, Failed> {
        Ok(self.orb.string_to_object(&object.to_string())?)
    }

    fn counter(&self, start: i32) -> Result<CounterRef, Failed> {
        some(self.suite.make_counter(start)?)
    }
}

/// What must not be nil.
fn some<T>(value: Option<T>) -> Result<T, Failed> {
    value.ok_or_else(|| Failed("an unexpected nil".to_owned()))
}

/// Equal to the last bit, where `==` takes 0.0 for -0.0 and no NaN for another.
fn same<T: Debug + ?Sized>(a: &T, b: &T) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}

// Two different ones of each.

fn points() -> [Point; 2] {
    [Point { x: 1, y: -2 }, Point { x: i16::MIN, y: i16::MAX }]
}

fn people() -> Result<[Person; 2], Failed> {
    let [here, there] = points();
    let ada = Person {
        name: "Ada".to_owned(),
        age: 36,
        address: here,
        aliases: strings(&["Countess", "", "of Lovelace"]),
        favourite: Colour::Blue,
        tag: "sixteen letters.".try_into()?,
        flags: [0, 1, 2],
    };
    let nobody = Person {
        name: String::new(),
        age: u32::MAX,
        address: there,
        aliases: Vec::new(),
        favourite: Colour::Red,
        tag: "x".try_into()?,
        flags: [255, 254, 253],
    };
    Ok([ada, nobody])
}

fn choices() -> [ByLong; 2] {
    let [place, _] = points();
    [
        ByLong::Text { discriminator: -2, value: "chosen".to_owned() },
        ByLong::Place { discriminator: 99, value: place },
    ]
}
