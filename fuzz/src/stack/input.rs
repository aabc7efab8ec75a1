//! An input, cut into what is asked for. Where it has ended all is zero.

/// What is left of an input.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    left: &'a [u8],
}

impl<'a> Input<'a> {
    pub fn new(left: &'a [u8]) -> Self {
        Self { left }
    }

    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    pub fn short(&mut self) -> u16 {
        u16::from_be_bytes(self.bytes())
    }

    pub fn word(&mut self) -> u32 {
        u32::from_be_bytes(self.bytes())
    }

    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.iter_mut().zip(self.some(N)).for_each(|(to, from)| *to = *from);
        bytes
    }

    /// As many as there are, but no more than these.
    pub fn some(&mut self, most: usize) -> &'a [u8] {
        let (some, left) = self.left.split_at(most.min(self.left.len()));
        self.left = left;
        some
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// One of a few; the first if nothing is left.
    pub fn pick<'t, T>(&mut self, few: &'t [T]) -> &'t T {
        &few[usize::from(self.byte()) % few.len()]
    }

    /// Mostly the first; seldom what the input says.
    pub fn mostly(&mut self, right: u8) -> u8 {
        if self.is_odd() { self.byte() } else { right }
    }

    pub fn mostly_short(&mut self, right: u16) -> u16 {
        if self.is_odd() { self.short() } else { right }
    }

    /// Seldom.
    pub fn is_odd(&mut self) -> bool {
        self.byte() >= 0xe0
    }

    /// Data of a length that one byte says: the input's, or a pattern.
    pub fn data(&mut self) -> Vec<u8> {
        match self.byte() {
            len @ ..64 => self.some(len.into()).to_vec(),
            len => (0..(usize::from(len) - 64) * 8).map(|at| at as u8).collect(),
        }
    }
}
