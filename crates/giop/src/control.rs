//! CancelRequest, CloseConnection and MessageError: messages about messages (sections 9.4.4, 9.4.7 and 9.4.8).

use throughline_cdr::{ByteOrder, DecodeError};

use crate::header::{MessageHeader, MessageType, Version};
use crate::open::write_small;

/// The number of the request that a received CancelRequest is about.
pub fn read_cancel_request(header: &MessageHeader, message: &[u8]) -> Result<u32, DecodeError> {
    header.body(message).read_u32()
}

/// Writes a CancelRequest: no reply to this request is waited for any more.
pub fn write_cancel_request(buffer: &mut Vec<u8>, version: Version, order: ByteOrder, request_id: u32) {
    write_small(buffer, version, order, MessageType::CancelRequest, Some(request_id));
}

/// Writes a CloseConnection: requests not answered yet have not been and will not be carried out. Before GIOP 1.2,
/// only servers send it.
pub fn write_close_connection(buffer: &mut Vec<u8>, version: Version, order: ByteOrder) {
    write_small(buffer, version, order, MessageType::CloseConnection, None);
}

/// Writes a MessageError: what came last was no GIOP message, or of a version that is not supported.
pub fn write_message_error(buffer: &mut Vec<u8>, version: Version, order: ByteOrder) {
    write_small(buffer, version, order, MessageType::MessageError, None);
}
