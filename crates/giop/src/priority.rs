//! Real-time CORBA's priority, as it goes along with a request (RTCORBA 1.2, section 4.7.4): a service context with id
//! [`RT_CORBA_PRIORITY`](crate::service_context::RT_CORBA_PRIORITY) whose data is an encapsulated `short`.

use throughline_cdr::{ByteOrder, DecodeError, Reader};

/// Octets of the data.
pub const PRIORITY_LEN: usize = 4;

/// The data of the service context, in this byte order.
pub const fn priority_octets(priority: i16, order: ByteOrder) -> [u8; PRIORITY_LEN] {
    let (flag, [first, second]) = match order {
        ByteOrder::Big => (0, priority.to_be_bytes()),
        ByteOrder::Little => (1, priority.to_le_bytes()),
    };
    // A `short` begins at a multiple of two.
    [flag, 0, first, second]
}

/// Reads the data. Priorities are 0 to 32767; a peer may send others, which mean nothing.
///
/// # Errors
/// When it is no encapsulation of a `short`. What follows the number is not looked at.
pub fn read_priority(octets: &[u8]) -> Result<i16, DecodeError> {
    Reader::encapsulation(octets)?.read_i16()
}
