//! Keys of sealed sessions, agreed upon by other means.

use std::fmt;

use ring::aead::{
    AES_128_GCM, AES_256_GCM, Algorithm, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, UnboundKey,
};

/// Bytes of keying material that begin the nonces (RFC 4106, 4; RFC 7634, 2).
const SALT: usize = 4;
const LONGEST: usize = 32 + SALT;

/// How messages are sealed: authenticated encryption with associated data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aead {
    /// AES-GCM with a key of 128 bits.
    Aes128Gcm,
    /// AES-GCM with a key of 256 bits.
    Aes256Gcm,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305,
}

impl Aead {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];

    /// Bytes of keying material: the key, and four bytes of salt behind it, as IPsec has them.
    pub const fn material(self) -> usize {
        match self {
            Self::Aes128Gcm => 16 + SALT,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32 + SALT,
        }
    }

    fn algorithm(self) -> &'static Algorithm {
        match self {
            Self::Aes128Gcm => &AES_128_GCM,
            Self::Aes256Gcm => &AES_256_GCM,
            Self::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        }
    }
}

/// Why keys are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Nobody's id is 0.
    #[error("the id of a key is not 0")]
    Id,
    /// Keying material of another length: so many bytes are wanted.
    #[error("the cipher takes {0} bytes of keying material")]
    Length(usize),
    /// Both ends would seal with one key, and so different messages with one nonce.
    #[error("each direction has a key of its own")]
    Shared,
}

/// The key of one direction of a session, and its id, which every message bears: IPsec's security parameter index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    id: u32,
    aead: Aead,
    material: [u8; LONGEST],
}

impl Key {
    /// A key of this id, which the receiver chose: it is unique among those of his host.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn new(id: u32, aead: Aead, material: &[u8]) -> Result<Self, KeyError> {
        if id == 0 {
            return Err(KeyError::Id);
        }
        if material.len() != aead.material() {
            return Err(KeyError::Length(aead.material()));
        }
        let mut own = [0; LONGEST];
        own[..material.len()].copy_from_slice(material);
        Ok(Self { id, aead, material: own })
    }

    /// What messages call it.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// For the library; and the nonce of message number 0.
    pub(crate) fn ready(&self) -> (LessSafeKey, [u8; NONCE_LEN]) {
        let (key, salt) = self.material[..self.aead.material()].split_at(self.aead.material() - SALT);
        let key = UnboundKey::new(self.aead.algorithm(), key).expect("the length was checked");
        let mut nonce = [0; NONCE_LEN];
        nonce[..SALT].copy_from_slice(salt);
        (LessSafeKey::new(key), nonce)
    }
}

/// Without the secret.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:#x}, {:?})", self.id, self.aead)
    }
}

/// The keys of a sealed session: IPsec's two security associations.
///
/// They are for one session or listener, once: a message's nonce is its sequence number, which begins anew where keys are opened or
/// enabled anew. Whoever does that with keys that were used before gives the secret away, and takes old messages for new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    receive: Key,
    send: Key,
}

impl Keys {
    /// What comes is sealed with one, what goes with the other.
    ///
    /// # Errors
    /// [`KeyError::Shared`], when both are the same secret.
    pub fn new(receive: Key, send: Key) -> Result<Self, KeyError> {
        if (receive.aead, receive.material) == (send.aead, send.material) {
            return Err(KeyError::Shared);
        }
        Ok(Self { receive, send })
    }

    /// Those of the other end.
    pub fn reversed(self) -> Self {
        Self { receive: self.send, send: self.receive }
    }

    /// The key that what comes is sealed with.
    pub fn receive(&self) -> &Key {
        &self.receive
    }

    /// The key that what goes is sealed with.
    pub fn send(&self) -> &Key {
        &self.send
    }
}
