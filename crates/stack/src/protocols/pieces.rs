//! Messages that are longer than a frame, of either version of IP.

use crate::{Discard, Lower, Message, Pop, SendError, Upper};

/// Sends a message in pieces of so many bytes, each by `send`, which is told where it begins and whether there is more.
#[cold]
pub(super) fn cut(
    message: Message,
    step: usize,
    lower: &mut Lower<'_>,
    mut send: impl FnMut(Message, usize, bool, &mut Lower<'_>) -> Result<(), SendError>,
) -> Result<(), SendError> {
    let mut sent = Ok(());
    for (number, data) in message.bytes().chunks(step).enumerate() {
        let at = number * step;
        let mut piece = lower.message();
        piece.priority = message.priority;
        sent = piece.append(data).map_err(|_| SendError::TooLong);
        sent = sent.and_then(|()| send(piece, at, at + data.len() < message.len(), lower));
        if sent.is_err() {
            break;
        }
    }
    lower.give(message);
    sent
}

/// Exchanges the piece that came last for the datagram, which gets a header of so many bytes by `write`.
pub(super) fn exchange(
    message: &mut Message,
    data: &[u8],
    header: usize,
    upper: Upper,
    lower: &mut Lower<'_>,
    write: impl FnOnce(&mut Message) -> Result<(), SendError>,
) -> Result<Pop, Discard> {
    let mut whole = Message::copied(header, data);
    whole.priority = message.priority;
    write(&mut whole).map_err(|_| Discard::Fragment)?;
    whole.mark_network();
    whole.pop(header);
    lower.give(std::mem::replace(message, whole));
    Ok(Pop::Exchanged(upper))
}
