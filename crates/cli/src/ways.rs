//! The ways to an object that its reference offers: which of them a command may take, and which of them work.

use std::time::Duration;

use throughline::{Ior, Kind, ObjectRef, Orb, OrbConfig};
use throughline_giop::profile::TAG_INTERNET_IOP;
use throughline_giop::{IiopProfile, NativeAddress, NativeProfile, TaggedProfile};

use crate::failure::{Failure, Result};
use crate::ior::{address_text, native_text};

/// How long a way may take to answer when it is asked whether it works.
const PATIENCE: Duration = Duration::from_secs(2);

/// What may carry calls.
#[derive(clap::Args, Clone, Debug)]
pub struct Ways {
    /// What may carry the calls: auto, or some of iiop, shm, udp with commas. Of those that the reference offers the fastest
    /// that works is taken
    #[arg(
        long,
        value_name = "WAYS",
        value_delimiter = ',',
        default_value = "auto",
        hide_possible_values = true
    )]
    transport: Vec<Choice>,
}

/// A word of `--transport`.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Auto,
    Iiop,
    Shm,
    Udp,
}

impl Choice {
    /// What a profile is for, if it is known.
    fn of(profile: &TaggedProfile) -> Option<Self> {
        if profile.tag == TAG_INTERNET_IOP {
            return Some(Self::Iiop);
        }
        match NativeProfile::from_tagged(profile)?.ok()?.address {
            NativeAddress::Shm { .. } => Some(Self::Shm),
            NativeAddress::Udp { .. } => Some(Self::Udp),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Iiop => "iiop",
            Self::Shm => "shm",
            Self::Udp => "udp",
        }
    }
}

impl Ways {
    fn allow(&self, way: Choice) -> bool {
        self.transport.contains(&Choice::Auto) || self.transport.contains(&way)
    }

    /// An ORB for a command, whose calls may take `timeout` each.
    pub fn orb(&self, timeout: Duration) -> Result<Orb> {
        let native = self.allow(Choice::Shm) || self.allow(Choice::Udp);
        // It has no objects of its own.
        let config =
            OrbConfig { max_objects: 16, call_timeout: Some(timeout), native, ..OrbConfig::default() };
        Orb::start(config).map_err(|e| Failure::new("cannot start an ORB").because(e))
    }

    /// The reference with those ways only that may be taken.
    pub fn keep(&self, object: &ObjectRef) -> Result<ObjectRef> {
        if self.transport.contains(&Choice::Auto) {
            return Ok(object.clone());
        }
        let allowed = |profile: &&TaggedProfile| Choice::of(profile).is_some_and(|way| self.allow(way));
        let ior = object.ior();
        let profiles: Vec<_> = ior.profiles.iter().filter(allowed).cloned().collect();
        if profiles.is_empty() {
            let wanted: Vec<_> = self.transport.iter().map(|way| way.name()).collect();
            return Err(Failure::usage(format!("the reference offers no {}", wanted.join(" or ")))
                .because(format!("it offers {}", offered(ior)))
                .next("leave --transport out, or take the reference that the server printed: a corbaloc tells iiop only"));
        }
        Ok(object.orb().reference(Ior { type_id: ior.type_id.clone(), profiles }))
    }
}

/// What a reference offers, in words.
pub fn offered(ior: &Ior) -> String {
    let ways: Vec<_> = ior.profiles.iter().filter_map(address).collect();
    if ways.is_empty() { "no way that is known here".to_owned() } else { ways.join(", ") }
}

/// Where a profile leads.
fn address(profile: &TaggedProfile) -> Option<String> {
    if let Some(native) = NativeProfile::from_tagged(profile) {
        return native.ok().map(|native| native_text(&native.address));
    }
    let iiop = IiopProfile::from_octets(&profile.data).ok().filter(|_| profile.tag == TAG_INTERNET_IOP)?;
    let addresses: Vec<_> = iiop.addresses().iter().map(address_text).collect();
    Some(format!("iiop at {}", addresses.join(" and ")))
}

/// What a way led to that was tried by itself.
pub struct Tried {
    pub address: String,
    /// Whether the server answered, whatever it said of the object.
    pub answers: bool,
    pub said: String,
}

/// Tries every way by itself.
pub fn each(object: &ObjectRef) -> Vec<Tried> {
    let ior = object.ior();
    let outcome = |profile: &TaggedProfile| {
        let address = address(profile)?;
        let alone = Ior { type_id: ior.type_id.clone(), profiles: vec![profile.clone()] };
        let (answers, said) = match object.orb().reference(alone).with_timeout(PATIENCE).non_existent() {
            Ok(true) => (true, "answers that there is no such object".to_owned()),
            Ok(false) => (true, "answers".to_owned()),
            Err(e) if e.kind == Kind::InvObjref => (false, "cannot be reached from this machine".to_owned()),
            Err(e) => (false, e.detail_text().map_or_else(|| e.to_string(), str::to_owned)),
        };
        Some(Tried { address, answers, said })
    };
    ior.profiles.iter().filter_map(outcome).collect()
}

/// What each way leads to by itself, in lines below an error's cause; nothing where there is only one.
pub fn tried(object: &ObjectRef) -> String {
    if object.ior().profiles.len() < 2 {
        return String::new();
    }
    let lines: String = each(object).iter().map(|it| format!("\n  {}: {}", it.address, it.said)).collect();
    format!("\neach way by itself:{lines}")
}
