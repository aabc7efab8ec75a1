//! What this process shows to its peers: windows, to all that are connected to VIs of the window's tag.

use super::channel::Channel;
use crate::{MemoryHandle, ProtectionTag, memory::WindowMemory};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The windows and connections of a NIC.
#[derive(Default)]
pub(crate) struct Exports {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    windows: Vec<Arc<WindowMemory>>,
    channels: Vec<(ProtectionTag, Weak<Channel>)>,
}

impl Exports {
    /// Shows a window to everybody it concerns, now and later.
    pub(crate) fn show(&self, window: Arc<WindowMemory>) {
        let mut state = self.lock();
        state.with_tag(window.tag).for_each(|channel| channel.show(window.clone()));
        state.windows.push(window);
    }

    pub(crate) fn withdraw(&self, handle: MemoryHandle) {
        let mut state = self.lock();
        let Some(at) = state.windows.iter().position(|window| window.handle == handle) else { return };
        let window = state.windows.swap_remove(at);
        state.with_tag(window.tag).for_each(|channel| channel.withdraw(handle));
    }

    /// A VI of this tag was connected.
    pub(crate) fn connected(&self, tag: ProtectionTag, channel: &Arc<Channel>) {
        let mut state = self.lock();
        let concerned = state.windows.iter().filter(|window| window.tag == tag);
        concerned.for_each(|window| channel.show(window.clone()));
        state.channels.retain(|(_, channel)| channel.strong_count() != 0);
        state.channels.push((tag, Arc::downgrade(channel)));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn with_tag(&self, tag: ProtectionTag) -> impl Iterator<Item = Arc<Channel>> {
        let concerned = self.channels.iter().filter(move |(other, _)| *other == tag);
        concerned.filter_map(|(_, channel)| channel.upgrade())
    }
}
