//! What a peer is still to be told of windows, since its end of the socket had no room for it.

use super::hello::Control;
use crate::{MemoryHandle, memory::WindowMemory};
use std::{
    collections::VecDeque,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

/// In their order. A window that is withdrawn before the peer was told of it is forgotten, so there are no more than living windows,
/// and withdrawals of those that the peer has been told of, which takes no more than so many.
#[derive(Default)]
pub(crate) struct Owed(VecDeque<Word>);

enum Word {
    Shown(Arc<WindowMemory>),
    Withdrawn(MemoryHandle),
}

impl Owed {
    pub(crate) fn show(&mut self, window: Arc<WindowMemory>) {
        self.0.push_back(Word::Shown(window));
    }

    pub(crate) fn withdraw(&mut self, handle: MemoryHandle) {
        let before = self.0.len();
        self.0.retain(|word| !matches!(word, Word::Shown(window) if window.handle == handle));
        if self.0.len() == before {
            self.0.push_back(Word::Withdrawn(handle));
        }
    }

    /// What is to be said first, and the file that goes with it.
    pub(crate) fn first(&self) -> Option<(Control, Option<BorrowedFd<'_>>)> {
        Some(match self.0.front()? {
            Word::Shown(window) => {
                let (handle, len, rights) = (window.handle, window.len() as u64, window.rights);
                (Control::Window { handle, len, rights }, window.file().map(AsFd::as_fd))
            }
            Word::Withdrawn(handle) => (Control::Withdraw { handle: *handle }, None),
        })
    }

    /// The first was said.
    pub(crate) fn said(&mut self) {
        self.0.pop_front();
    }

    /// Nobody is there any more who would hear of it.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::{ProtectionTag, Rights};

    #[test]
    fn a_window_that_nobody_was_told_of_is_not_withdrawn() {
        let rights = Rights { remote_write: true, remote_read: false };
        let window = || WindowMemory::in_file(64, ProtectionTag::new(), rights).expect("memory");
        let [one, two] = [window(), window()];
        let mut owed = Owed::default();
        let first = |owed: &Owed| owed.first().map(|(what, file)| (what, file.is_some()));
        let shown = |window: &WindowMemory| Control::Window { handle: window.handle, len: 64, rights };
        owed.show(one.clone());
        owed.show(two.clone());
        assert_eq!(first(&owed), Some((shown(&one), true)));
        owed.said();
        owed.withdraw(one.handle);
        assert_eq!(first(&owed), Some((shown(&two), true)));
        owed.withdraw(two.handle);
        assert_eq!(first(&owed), Some((Control::Withdraw { handle: one.handle }, false)));
        owed.said();
        assert_eq!(first(&owed), None);
        assert_eq!((Arc::strong_count(&one), Arc::strong_count(&two)), (1, 1));
    }
}
