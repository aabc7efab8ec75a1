//! Service contexts: what services add to requests and replies (section 7.7).

use throughline_cdr::{ByteOrder, DecodeError, EncodeError, Reader, Writer};

/// Transaction service.
pub const TRANSACTION_SERVICE: u32 = 0;
/// The code sets that a client chose; see [`codeset`](crate::codeset).
pub const CODE_SETS: u32 = 1;
/// The addresses at which a client serves requests over the same connection.
pub const BI_DIR_IIOP: u32 = 5;
/// Policies that go along with a request.
pub const INVOCATION_POLICIES: u32 = 7;
/// Details of an unknown exception.
pub const UNKNOWN_EXCEPTION_INFO: u32 = 9;
/// Real-time CORBA's priority.
pub const RT_CORBA_PRIORITY: u32 = 10;
/// Details of an exception, in words.
pub const EXCEPTION_DETAIL_MESSAGE: u32 = 14;

/// A service context. The data is usually an encapsulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceContext<'a> {
    /// Whose context it is; OMG assigns the numbers.
    pub id: u32,
    /// What it says.
    pub data: &'a [u8],
}

/// The service contexts of a message, found to be well-formed and read again when iterated over.
#[derive(Clone, Copy, Debug)]
pub struct ServiceContexts<'a> {
    message: &'a [u8],
    offset: usize,
    order: ByteOrder,
    count: usize,
}

impl<'a> ServiceContexts<'a> {
    /// None.
    pub const EMPTY: Self = Self { message: &[], offset: 0, order: ByteOrder::NATIVE, count: 0 };

    #[inline]
    pub(crate) fn read(r: &mut Reader<'a>, message: &'a [u8]) -> Result<Self, DecodeError> {
        let count = r.read_length(8)?;
        let contexts = Self { message, offset: r.position(), order: r.order(), count };
        for _ in 0..count {
            read_one(r)?;
        }
        Ok(contexts)
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All, in the order sent.
    pub fn iter(&self) -> Iter<'a> {
        Iter { reader: Reader::starting_at(self.message, self.order, self.offset), left: self.count }
    }

    /// The data of the first with this id.
    pub fn find(&self, id: u32) -> Option<&'a [u8]> {
        self.iter().find(|context| context.id == id).map(|context| context.data)
    }
}

impl<'a> IntoIterator for &ServiceContexts<'a> {
    type Item = ServiceContext<'a>;
    type IntoIter = Iter<'a>;
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Iterates over service contexts.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = ServiceContext<'a>;
    fn next(&mut self) -> Option<ServiceContext<'a>> {
        self.left = self.left.checked_sub(1)?;
        read_one(&mut self.reader).ok()
    }
}

fn read_one<'a>(r: &mut Reader<'a>) -> Result<ServiceContext<'a>, DecodeError> {
    Ok(ServiceContext { id: r.read_u32()?, data: r.read_octets()? })
}

pub(crate) fn write_all(w: &mut Writer<'_>, contexts: &[ServiceContext<'_>]) -> Result<(), EncodeError> {
    w.write_length(contexts.len())?;
    contexts.iter().try_for_each(|context| {
        w.write_u32(context.id);
        w.write_octets(context.data)
    })
}
