//! Replies kept for callers that may ask again.

/// Replies in cells that are used again; their octets are bounded.
#[derive(Default)]
pub struct Replies {
    cells: Vec<Vec<u8>>,
    vacant: Vec<u32>,
    octets: usize,
    /// Memory of all cells, vacant ones included.
    reserved: usize,
    limit: usize,
}

impl Replies {
    /// None; at most so many octets.
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Keeps a reply, if there is room.
    pub fn keep(&mut self, reply: &[u8]) -> Option<u32> {
        if self.octets + reply.len() > self.limit {
            return None;
        }
        let at = self.vacant.pop().unwrap_or_else(|| {
            self.cells.push(Vec::new());
            self.cells.len() as u32 - 1
        });
        let cell = &mut self.cells[at as usize];
        self.reserved -= cell.capacity();
        cell.extend_from_slice(reply);
        self.reserved += cell.capacity();
        self.octets += reply.len();
        Some(at)
    }

    /// A reply that is kept.
    pub fn get(&self, at: u32) -> &[u8] {
        &self.cells[at as usize]
    }

    /// Drops a reply.
    pub fn drop_reply(&mut self, at: u32) {
        let cell = &mut self.cells[at as usize];
        self.octets -= cell.len();
        cell.clear();
        // Memory for the next one, unless large ones have left too much of it.
        if self.reserved > self.limit {
            self.reserved -= cell.capacity();
            *cell = Vec::new();
        }
        self.vacant.push(at);
    }

    /// Octets kept.
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// Whether new calls should wait until there is room for their replies.
    pub fn is_full(&self) -> bool {
        self.octets >= self.limit
    }
}
