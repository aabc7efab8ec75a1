//! Ethernet frames, and what their sender labelled them with.
//!
//! A labelled frame has the EtherType [`LABEL_ETHERTYPE`] and, between the Ethernet header and that of the network, a DML
//! header of kind [`Kind::Packet`]:
//!
//! ```text
//!   0       6       12     14                    38                 38 + 16 n
//!   +-------+-------+------+---------------------+------------------+----------------
//!   | to    | from  | 88b6 | fixed part (24)     | n regions        | IPv4, IPv6, ...
//!   +-------+-------+------+---------------------+------------------+----------------
//!                            4: source hash or threaded index, little-endian
//!                            8: flow id
//!                           20: EtherType of what follows
//! ```

use throughline_stack::{Message, NoRoom, smoltcp::wire::EthernetAddress};
use throughline_wire::{Flags, Flow, Header, Kind, ReadError, RegionList, Regions};

/// EtherType of labelled frames: the second of the two for experiments (IEEE 802).
pub const LABEL_ETHERTYPE: u16 = 0x88b6;

/// Bytes of the Ethernet header.
pub(crate) const ETHERNET: usize = 14;
/// Where in a labelled frame the word lies that is a source hash or an index.
const WORD: usize = ETHERNET + 4;
/// And its flags.
const FLAGS: usize = ETHERNET + 2;

const IPV6: u16 = 0x86dd;
const FLOW_LABEL: u32 = 0x000f_ffff;

/// What the sender, or the node before, put on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Which flow, and where a node that keeps flows looks first. Where the packet is [`threaded`](Self::threaded), the
    /// word is no hash but the index of the destination in the table of the node that receives it.
    pub flow: Flow,
    /// Whether the word is an index.
    pub threaded: bool,
}

/// A frame that was looked at: where its packet begins, and of which protocol it is.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The EtherType of the packet: that behind the label, if there is one.
    pub ethertype: u16,
    /// Where the packet begins, counted from the first byte of the frame.
    pub offset: usize,
    /// From the DML header, or from the flow label of IPv6 (RFC 6437) if that is not 0.
    pub label: Option<Label>,
    /// What the label marks in the packet, counted from the first byte of the DML header.
    pub regions: Regions<'a>,
    frame: &'a [u8],
}

/// Why a frame is not one that can be forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Shorter than an Ethernet header.
    #[error("a frame of {0} bytes, which is less than an Ethernet header has")]
    TooShort(usize),
    /// The DML header behind the EtherType of labels is none.
    #[error("a label that can't be read: {0}")]
    Label(#[from] ReadError),
    /// A DML header of another kind, or whose detail is no EtherType.
    #[error("a DML header that is not a packet's")]
    NotAPacket,
}

impl<'a> Packet<'a> {
    /// Looks at a frame, from the first byte of its Ethernet header.
    ///
    /// # Errors
    /// [`FrameError`]. The packet itself is not looked at, but for the flow label of IPv6.
    #[inline]
    pub fn of(frame: &'a [u8]) -> Result<Self, FrameError> {
        let (ethernet, packet) =
            frame.split_first_chunk::<ETHERNET>().ok_or(FrameError::TooShort(frame.len()))?;
        let ethertype = u16::from_be_bytes([ethernet[12], ethernet[13]]);
        if ethertype == LABEL_ETHERTYPE {
            return Self::behind_label(frame, packet);
        }
        let label = if ethertype == IPV6 { flow_label(packet) } else { None };
        Ok(Self { ethertype, offset: ETHERNET, label, regions: Regions::NONE, frame })
    }

    fn behind_label(frame: &'a [u8], labelled: &'a [u8]) -> Result<Self, FrameError> {
        let message = throughline_wire::Message::read(labelled)?;
        let Header { kind: Kind::Packet, flags, flow, detail, .. } = message.header else {
            return Err(FrameError::NotAPacket);
        };
        let ethertype = u16::try_from(detail).map_err(|_| FrameError::NotAPacket)?;
        // A label behind a label would be read by nobody.
        if ethertype == LABEL_ETHERTYPE {
            return Err(FrameError::NotAPacket);
        }
        let label = Some(Label { flow, threaded: flags.has(Flags::THREADED) });
        let offset = frame.len() - message.body.len();
        Ok(Self { ethertype, offset, label, regions: message.regions, frame })
    }

    /// The packet, from the first byte of its network header.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        &self.frame[self.offset..]
    }

    /// The whole frame.
    #[inline]
    pub fn frame(&self) -> &'a [u8] {
        self.frame
    }

    /// Whom the frame is for.
    #[inline]
    pub fn destination(&self) -> EthernetAddress {
        self.address(0)
    }

    /// Whom it is from.
    #[inline]
    pub fn source(&self) -> EthernetAddress {
        self.address(6)
    }

    #[inline]
    fn address(&self, at: usize) -> EthernetAddress {
        // The frame has an Ethernet header.
        let mut octets = [0; 6];
        octets.copy_from_slice(&self.frame[at..at + 6]);
        EthernetAddress(octets)
    }
}

/// Flow and hash of unchanged senders of IPv6: the label is a random number of 20 bits, the same for all packets of a flow,
/// and serves as both. 0 says that the sender has not chosen any.
#[inline]
fn flow_label(packet: &[u8]) -> Option<Label> {
    let word = u32::from_be_bytes(*packet.first_chunk()?) & FLOW_LABEL;
    let flow = Flow { id: word.into(), source_hash: word };
    (word != 0).then_some(Label { flow, threaded: false })
}

/// Whether a frame says that it has a label, which need not be one.
#[inline]
pub(crate) fn is_labelled(frame: &[u8]) -> bool {
    frame.get(12..ETHERNET).is_some_and(|ethertype| *ethertype == LABEL_ETHERTYPE.to_be_bytes())
}

/// Puts a label between the Ethernet header and the packet, with what the layers have handed down about the packet: their
/// offsets count from its first byte.
///
/// # Errors
/// [`NoRoom`] before the frame, or within the packet for a region; the frame is then as before. A frame that has a label already gets a second one, which nobody
/// reads: ask [`Packet::of`] first.
///
/// # Panics
/// If the frame is shorter than an Ethernet header.
pub fn insert_label(frame: &mut Message, label: Label, regions: &RegionList) -> Result<(), NoRoom> {
    let addresses: [u8; 12] = frame.bytes()[..12].try_into().expect("an Ethernet header");
    let ethertype = u16::from_be_bytes([frame.bytes()[12], frame.bytes()[13]]);
    let flags = if label.threaded { Flags::THREADED } else { Flags::NONE };
    let header = Header { flags, flow: label.flow, detail: ethertype.into(), ..Header::new(Kind::Packet) };
    let size = header.size_with(regions.as_slice().len());
    let packet = frame.len() - ETHERNET;
    let ends = regions.as_slice().iter().map(|region| region.offset as usize + region.length as usize);
    if let Some(end) = ends.max().filter(|end| *end > packet) {
        return Err(NoRoom(end - packet));
    }
    frame.push(size)?;
    let bytes = frame.bytes_mut();
    bytes[..12].copy_from_slice(&addresses);
    bytes[12..ETHERNET].copy_from_slice(&LABEL_ETHERTYPE.to_be_bytes());
    header.write_with(regions, &mut bytes[ETHERNET..]).map_err(|error| NoRoom(error.needed))?;
    Ok(())
}

/// Takes the label off, so that hosts that know of none can read the frame. One without label stays as it is.
///
/// # Errors
/// As [`Packet::of`]; the frame is as before.
pub fn remove_label(frame: &mut Message) -> Result<(), FrameError> {
    let packet = Packet::of(frame.bytes())?;
    let (offset, ethertype) = (packet.offset, packet.ethertype);
    let addresses: [u8; 12] = frame.bytes()[..12].try_into().expect("an Ethernet header");
    frame.pop(offset - ETHERNET);
    let bytes = frame.bytes_mut();
    bytes[..12].copy_from_slice(&addresses);
    bytes[12..ETHERNET].copy_from_slice(&ethertype.to_be_bytes());
    Ok(())
}

/// Replaces the word of a labelled frame by the index for the next node.
///
/// # Panics
/// If the frame has no label.
#[inline]
pub fn set_index(frame: &mut [u8], index: u32) {
    frame[WORD..WORD + 4].copy_from_slice(&index.to_le_bytes());
}

/// Says of a labelled frame, whose word was a source hash, that it is an index, this one.
///
/// # Panics
/// If the frame has no label.
#[inline]
pub(crate) fn begin_index(frame: &mut [u8], index: u32) {
    frame[FLAGS] = Flags::THREADED.bits();
    set_index(frame, index);
}

/// Says of a labelled frame that its word is a source hash, this one, and no index.
///
/// # Panics
/// If the frame has no label.
#[inline]
pub fn clear_index(frame: &mut [u8], hash: u32) {
    // The others say nothing of packets.
    frame[FLAGS] = Flags::NONE.bits();
    set_index(frame, hash);
}
