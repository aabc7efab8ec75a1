//! Who may tell routes: passwords (RFC 2453) and keyed digests (RFC 2082, RFC 4822).

use std::fmt;

use md5::{Digest, Md5};
use ring::{digest, hmac};
use throughline_stack::smoltcp::wire::IpAddress;

/// How messages of an interface are shown to come from a neighbour.
#[derive(Clone, Debug, Default)]
pub enum Authentication {
    /// Not at all.
    #[default]
    None,
    /// By a password that everybody on the link can read, padded with zeros.
    Password(Password),
    /// By a digest with a secret. The first key signs, all are accepted; without any, nothing is.
    Keyed(Vec<Key>),
}

/// A password of RIP.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub [u8; 16]);

/// A shared secret.
#[derive(Clone)]
pub struct Key {
    /// Tells the keys apart that are in use at a time.
    pub id: u8,
    /// How the digest is computed.
    pub algorithm: Algorithm,
    /// Only its first 16 octets count for [`Algorithm::KeyedMd5`].
    pub secret: Vec<u8>,
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, {:?})", self.id, self.algorithm)
    }
}

/// Digests of authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RFC 2082, which is what FRR's ripd has.
    KeyedMd5,
    /// RFC 4822.
    HmacSha1,
    /// RFC 4822.
    HmacSha256,
    /// RFC 4822.
    HmacSha384,
    /// RFC 4822.
    HmacSha512,
}

impl Authentication {
    /// As the router with this address signs [our own messages](crate::threaded::message): by keys that are made of those
    /// which all have, and of its address. So what one has signed for one link is nobody else's message, and no other link's
    /// (RFC 7474, 5, has the source address signed for that reason).
    pub fn of(&self, sender: IpAddress) -> Self {
        let octets = match sender {
            IpAddress::Ipv4(sender) => sender.octets().to_vec(),
            IpAddress::Ipv6(sender) => sender.octets().to_vec(),
        };
        let made = |key: &Key| {
            let shared = hmac::Key::new(hmac::HMAC_SHA256, &key.secret);
            Key { secret: hmac::sign(&shared, &octets).as_ref().to_vec(), ..key.clone() }
        };
        match self {
            Self::Keyed(keys) => Self::Keyed(keys.iter().map(made).collect()),
            other => other.clone(),
        }
    }
}

/// Octets that the digest is computed over in its own place (RFC 4822, 2.5).
const APAD: [u8; 4] = [0x87, 0x8f, 0xe1, 0xf3];

impl Algorithm {
    /// Octets of a digest.
    pub fn size(self) -> usize {
        match self {
            Self::KeyedMd5 => 16,
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
            Self::HmacSha384 => 48,
            Self::HmacSha512 => 64,
        }
    }

    fn sha(self) -> Option<(hmac::Algorithm, &'static digest::Algorithm)> {
        match self {
            Self::KeyedMd5 => None,
            Self::HmacSha1 => Some((hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &digest::SHA1_FOR_LEGACY_USE_ONLY)),
            Self::HmacSha256 => Some((hmac::HMAC_SHA256, &digest::SHA256)),
            Self::HmacSha384 => Some((hmac::HMAC_SHA384, &digest::SHA384)),
            Self::HmacSha512 => Some((hmac::HMAC_SHA512, &digest::SHA512)),
        }
    }
}

impl Key {
    /// Appends the digest of a message to it.
    pub(crate) fn sign(&self, message: &mut Vec<u8>) {
        let digest = self.digest(message);
        message.extend(digest);
    }

    /// Whether what stands behind a message is its digest. In the same time wherever they differ.
    pub(crate) fn verify(&self, message: &[u8], digest: &[u8]) -> bool {
        let expected = self.digest(message);
        let differences = expected.iter().zip(digest).fold(0, |all, (a, b)| all | (a ^ b));
        expected.len() == digest.len() && differences == 0
    }

    fn digest(&self, message: &[u8]) -> Vec<u8> {
        let Some((hmac, plain)) = self.algorithm.sha() else {
            let mut secret = [0; 16];
            let length = self.secret.len().min(16);
            secret[..length].copy_from_slice(&self.secret[..length]);
            return Md5::new().chain_update(message).chain_update(secret).finalize().to_vec();
        };
        let size = self.algorithm.size();
        // Secrets longer than the digest are digested first (RFC 4822, 2.5), not only those longer than a block.
        let digested = (self.secret.len() > size).then(|| digest::digest(plain, &self.secret));
        let secret = digested.as_ref().map_or(&*self.secret, AsRef::as_ref);
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac, secret));
        context.update(message);
        for _ in 0..size / APAD.len() {
            context.update(&APAD);
        }
        context.sign().as_ref().to_vec()
    }
}
