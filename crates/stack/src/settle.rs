//! Checks and decryption that were left to whoever takes a message's data.

use crate::{Discard, Message, context::Context, manipulate::Stage, message::Seal};

impl Context {
    /// Does now, where the data lies, what was left.
    #[inline]
    pub fn settle(&mut self, association: Option<u32>, message: &mut Message) -> Result<(), Discard> {
        if !message.is_intact() {
            return Err(Discard::Checksum);
        }
        if message.seal == Seal::Shut { self.open(association, message) } else { Ok(()) }
    }

    /// Moves the data to another place through the stages, and does on the way what was left. What the stages have become.
    #[inline]
    pub fn copy_to<S: Stage>(
        &mut self,
        association: Option<u32>,
        message: &mut Message,
        stages: &S,
        to: &mut [u8],
    ) -> Result<S, Discard> {
        let mut stages = stages.clone();
        if message.seal == Seal::Shut {
            self.open_into(association, message, &mut stages, to)?;
        } else if !message.copy_to(&mut stages, to) {
            return Err(Discard::Checksum);
        }
        Ok(stages)
    }
}

#[cfg(feature = "ciphers")]
impl Context {
    fn open(&mut self, association: Option<u32>, message: &mut Message) -> Result<(), Discard> {
        self.associations.open(association.ok_or(Discard::UnknownKey)?, message)
    }

    fn open_into<S: Stage>(
        &mut self,
        association: Option<u32>,
        message: &mut Message,
        stages: &mut S,
        to: &mut [u8],
    ) -> Result<(), Discard> {
        self.associations.open_into(association.ok_or(Discard::UnknownKey)?, message, stages, to)
    }
}

/// Without ciphers nothing is ever sealed.
#[cfg(not(feature = "ciphers"))]
impl Context {
    fn open(&mut self, _association: Option<u32>, _message: &mut Message) -> Result<(), Discard> {
        Err(Discard::UnknownKey)
    }

    fn open_into<S: Stage>(
        &mut self,
        _association: Option<u32>,
        _message: &mut Message,
        _stages: &mut S,
        _to: &mut [u8],
    ) -> Result<(), Discard> {
        Err(Discard::UnknownKey)
    }
}
