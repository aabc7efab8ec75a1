//! `corbaloc:` references: addresses and an object key that people can read and type (section 7.6.10.1).
//!
//! Understood are `iiop` (also written as nothing), `rir`, and omniORB's `omniunix`, whose address is
//! `[version@]path:`, as in `corbaloc:omniunix:/run/bank.sock:/key`. The native protocol is not among them: its servers find
//! objects by a handle, which only the profiles of an `IOR:` carry ([`crate::NativeProfile`]), and not by a key.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use throughline_cdr::EncodeError;

use crate::component::{self, TaggedComponent};
use crate::escape::{escape, unescape};
use crate::header::Version;
use crate::ior::Ior;
use crate::profile::IiopProfile;

/// The TCP port of an address without one.
pub const DEFAULT_PORT: u16 = 2809;
/// The key of a `rir:` or `corbaname:` reference without one.
pub const DEFAULT_KEY: &str = "NameService";
/// More addresses than anybody needs.
const MAX_ADDRESSES: usize = 64;

/// An address in a `corbaloc:` reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CorbalocAddress {
    /// `iiop:` or `:`.
    Iiop {
        /// The highest version to use; 1.0 unless given.
        version: Version,
        /// Name or address, IPv6 without brackets.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// `omniunix:`.
    Unix {
        /// The path of a Unix-domain socket on this machine.
        path: String,
    },
}

/// A `corbaloc:` reference. `Display` and `FromStr` are its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Corbaloc {
    /// `rir:`, what `resolve_initial_references` finds under this name.
    Rir(String),
    /// An object by its key, at any of these addresses.
    Addresses {
        /// At least one.
        addresses: Vec<CorbalocAddress>,
        /// The object key, unescaped.
        key: Vec<u8>,
    },
}

/// Why a text is no reference of the form `corbaloc:` or `corbaname:`. Places are octets from its start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseLocError {
    /// It does not start with this scheme.
    #[error("does not start with {0}")]
    NoPrefix(&'static str),
    /// A protocol other than `iiop`, `rir` and `omniunix`.
    #[error("unknown protocol {0:?}")]
    UnknownProtocol(String),
    /// The native protocol, over shared memory or UDP.
    #[error("{0}: finds objects by the handle in an IOR:, and has no use for the key of a corbaloc:")]
    ByHandle(&'static str),
    /// `rir:` together with another address.
    #[error("rir: stands alone")]
    RirNotAlone,
    /// A version that is no GIOP version of ours.
    #[error("unsupported version {0:?}")]
    BadVersion(String),
    /// An address without a host or path, or with stray characters.
    #[error("malformed address {0:?}")]
    BadAddress(String),
    /// A port that is no number up to 65535.
    #[error("malformed port {0:?}")]
    BadPort(String),
    /// More addresses than are accepted.
    #[error("too many addresses")]
    TooManyAddresses,
    /// No `/` with a key after the addresses.
    #[error("no object key")]
    NoKey,
    /// A character that must be escaped, or a malformed escape.
    #[error("character {0} must be escaped as %xx, or is a malformed escape")]
    BadEscape(usize),
    /// A key or name that is not text where it must be.
    #[error("not valid UTF-8")]
    NotText,
    /// A malformed stringified name.
    #[error("malformed name: {0}")]
    BadName(&'static str),
}

const SCHEME: &str = "corbaloc:";

/// What follows a scheme, which may be in either case.
pub(crate) fn strip_scheme<'t>(text: &'t str, scheme: &'static str) -> Result<&'t str, ParseLocError> {
    match text.split_at_checked(scheme.len()) {
        Some((prefix, rest)) if prefix.eq_ignore_ascii_case(scheme) => Ok(rest),
        _ => Err(ParseLocError::NoPrefix(scheme)),
    }
}

impl FromStr for Corbaloc {
    type Err = ParseLocError;
    fn from_str(text: &str) -> Result<Self, ParseLocError> {
        Self::parse_after_scheme(strip_scheme(text, SCHEME)?, SCHEME.len(), None)
    }
}

impl Corbaloc {
    /// Parses what stands after the scheme, `offset` octets into the whole.
    pub(crate) fn parse_after_scheme(
        text: &str,
        offset: usize,
        default_key: Option<&str>,
    ) -> Result<Self, ParseLocError> {
        let mut rest = text;
        let mut addresses = Vec::new();
        let mut rir = false;
        loop {
            match take_address(&mut rest)? {
                Some(address) => addresses.push(address),
                None => rir = true,
            }
            if addresses.len() > MAX_ADDRESSES {
                return Err(ParseLocError::TooManyAddresses);
            }
            match rest.strip_prefix(',') {
                Some(more) if !rir => rest = more,
                Some(_) => return Err(ParseLocError::RirNotAlone),
                None => break,
            }
        }
        let default_key = default_key.or(if rir { Some(DEFAULT_KEY) } else { None });
        let key = match rest.strip_prefix('/') {
            Some(key) => {
                let at = offset + text.len() - key.len();
                unescape(key).map_err(|place| ParseLocError::BadEscape(at + place))?
            }
            None if rest.is_empty() => default_key.ok_or(ParseLocError::NoKey)?.as_bytes().to_vec(),
            None => return Err(ParseLocError::BadAddress(rest.to_owned())),
        };
        match (rir, addresses.is_empty()) {
            (false, _) => Ok(Self::Addresses { addresses, key }),
            (true, true) if key.is_empty() => Ok(Self::Rir(DEFAULT_KEY.to_owned())),
            (true, true) => String::from_utf8(key).map(Self::Rir).map_err(|_| ParseLocError::NotText),
            (true, false) => Err(ParseLocError::RirNotAlone),
        }
    }

    /// The same as an IOR, unless it is `rir:`. Every IIOP address gets a profile of its own; addresses of Unix-domain
    /// sockets are components, for which `this_host` is the name of this machine.
    pub fn to_ior(&self, this_host: &str) -> Result<Option<Ior>, EncodeError> {
        self.to_ior_with(this_host, &[])
    }

    /// As [`to_ior`](Self::to_ior), with components that the text cannot say, for every profile that can have them (those
    /// of IIOP 1.0 cannot).
    pub fn to_ior_with(
        &self,
        this_host: &str,
        components: &[TaggedComponent],
    ) -> Result<Option<Ior>, EncodeError> {
        let Self::Addresses { addresses, key } = self else { return Ok(None) };
        let mut ior = Ior::NIL;
        for address in addresses {
            let mut profile = address.to_profile(key, this_host)?;
            if profile.version > Version::V1_0 {
                profile.components.extend_from_slice(components);
            }
            ior.profiles.push(profile.to_tagged()?);
        }
        Ok(Some(ior))
    }
}

impl CorbalocAddress {
    /// The profile of an object at this address.
    pub fn to_profile(&self, key: &[u8], this_host: &str) -> Result<IiopProfile, EncodeError> {
        let object_key = key.to_vec();
        Ok(match self {
            Self::Iiop { version, host, port } => IiopProfile {
                version: *version,
                host: host.clone(),
                port: *port,
                object_key,
                components: Vec::new(),
            },
            Self::Unix { path } => {
                let host = this_host.to_owned();
                let address = component::Address::Unix { host: host.clone(), path: path.clone() };
                let components = vec![address.to_component()?];
                IiopProfile { version: Version::V1_2, host, port: 0, object_key, components }
            }
        })
    }
}

/// Takes an address off the front; `None` is `rir:`.
fn take_address(rest: &mut &str) -> Result<Option<CorbalocAddress>, ParseLocError> {
    let bad = |text: &str| ParseLocError::BadAddress(text.to_owned());
    let (protocol, address) = rest.split_once(':').ok_or_else(|| bad(rest))?;
    *rest = address;
    match protocol {
        "" | "iiop" => take_iiop(rest).map(Some),
        "omniunix" => take_unix(rest).map(Some),
        "rir" => Ok(None),
        "shm" => Err(ParseLocError::ByHandle("shm")),
        "udp" => Err(ParseLocError::ByHandle("udp")),
        other => Err(ParseLocError::UnknownProtocol(other.chars().take(32).collect())),
    }
}

/// Splits at the first of these characters, which stays with the second part.
fn split_before<'t>(text: &'t str, stops: &[char]) -> (&'t str, &'t str) {
    text.split_at(text.find(stops).unwrap_or(text.len()))
}

/// Takes `1.2@` off the front, if it is there.
fn take_version(rest: &mut &str) -> Result<Option<Version>, ParseLocError> {
    let (before, after) = split_before(rest, &['@', ':', ',', '/', '[']);
    let Some(after) = after.strip_prefix('@') else { return Ok(None) };
    let minor = before.strip_prefix("1.").and_then(number);
    *rest = after;
    match minor {
        Some(minor) => Ok(Some(Version::from_minor_at_most_1_2(minor))),
        None => Err(ParseLocError::BadVersion(before.to_owned())),
    }
}

fn take_iiop(rest: &mut &str) -> Result<CorbalocAddress, ParseLocError> {
    let version = take_version(rest)?.unwrap_or(Version::V1_0);
    let host = match rest.strip_prefix('[') {
        Some(inside) => {
            let bad = || ParseLocError::BadAddress(split_before(inside, &[',', '/']).0.to_owned());
            let (host, after) = inside.split_once(']').ok_or_else(bad)?;
            // A zone, as in fe80::1%eth0, is for the resolver to judge.
            let valid = |c: char| c.is_ascii_alphanumeric() || ":.%_-".contains(c);
            if host.is_empty() || !host.chars().all(valid) {
                return Err(bad());
            }
            *rest = after;
            host
        }
        None => {
            let (host, after) = split_before(rest, &[':', ',', '/']);
            // With an `@` in it, the first part would be a version when it is read again.
            if host.contains(|c: char| c == '@' || c.is_whitespace() || c.is_control()) {
                return Err(ParseLocError::BadAddress(host.to_owned()));
            }
            *rest = after;
            // As with omniORB, no host is this one.
            if host.is_empty() { "localhost" } else { host }
        }
    };
    let port = match rest.strip_prefix(':') {
        Some(after) => {
            let (port, after) = split_before(after, &[',', '/']);
            *rest = after;
            match port {
                "" => DEFAULT_PORT,
                digits => parse_port(digits)?,
            }
        }
        None => DEFAULT_PORT,
    };
    Ok(CorbalocAddress::Iiop { version, host: host.to_owned(), port })
}

fn parse_port(digits: &str) -> Result<u16, ParseLocError> {
    number(digits).ok_or_else(|| ParseLocError::BadPort(digits.to_owned()))
}

/// A number of digits alone, without a sign.
fn number<T: FromStr>(digits: &str) -> Option<T> {
    digits.parse().ok().filter(|_| digits.bytes().all(|octet| octet.is_ascii_digit()))
}

fn take_unix(rest: &mut &str) -> Result<CorbalocAddress, ParseLocError> {
    // A path may contain an `@`; it counts as a version's only after a number.
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        take_version(rest)?;
    }
    let (path, after) = split_before(rest, &[':', ',']);
    if path.is_empty() {
        return Err(ParseLocError::BadAddress((*rest).to_owned()));
    }
    *rest = after.strip_prefix(':').unwrap_or(after);
    Ok(CorbalocAddress::Unix { path: path.to_owned() })
}

impl fmt::Display for CorbalocAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iiop { version, host, port } => {
                f.write_str("iiop:")?;
                if *version != Version::V1_0 {
                    write!(f, "{version}@")?;
                }
                if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
            }
            // What stands before an `@` counts as a version after a number.
            Self::Unix { path } if path.starts_with(|c: char| c.is_ascii_digit()) => {
                write!(f, "omniunix:{}@{path}:", Version::V1_2)
            }
            Self::Unix { path } => write!(f, "omniunix:{path}:"),
        }
    }
}

impl Corbaloc {
    /// Writes everything after the scheme.
    pub(crate) fn fmt_after_scheme(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = match self {
            Self::Rir(name) => {
                f.write_str("rir:")?;
                name.as_bytes()
            }
            Self::Addresses { addresses, key } => {
                for (index, address) in addresses.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{address}")?;
                }
                key
            }
        };
        f.write_str("/")?;
        escape(key, f)
    }
}

impl fmt::Display for Corbaloc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEME)?;
        self.fmt_after_scheme(f)
    }
}
