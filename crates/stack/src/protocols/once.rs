//! One message to somebody, by a session below that is there only for it.

use crate::{Lower, Message, Participants, ProtocolId, SendError, Upper};

/// Sends a message of the protocol `own` by a session below.
///
/// # Errors
/// [`SendError::NoRoute`] where there is no such session; those of sending.
pub(super) fn send_once(
    own: ProtocolId,
    below: ProtocolId,
    mut participants: Participants,
    message: Message,
    lower: &mut Lower<'_>,
) -> Result<(), SendError> {
    let Ok(link) = lower.open(below, Upper::Protocol(own), &mut participants) else {
        lower.give(message);
        return Err(SendError::NoRoute);
    };
    let sent = lower.push(link, message);
    lower.close(link);
    sent
}
