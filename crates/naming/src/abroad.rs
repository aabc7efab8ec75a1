//! Calls to contexts of other servers: how many there may be at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use throughline::Ior;
use throughline_giop::component::Address;
use throughline_giop::{NativeAddress, NativeProfile};

/// Which server a context is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Peer {
    Iiop(Option<Address>),
    Native(NativeAddress),
    Unknown,
}

impl Peer {
    fn of(ior: &Ior) -> Self {
        let native = || ior.profiles.iter().find_map(NativeProfile::from_tagged)?.ok();
        match ior.iiop_profiles().find_map(Result::ok) {
            Some(profile) => Self::Iiop(profile.addresses().into_iter().next()),
            None => native().map_or(Self::Unknown, |profile| Self::Native(profile.address)),
        }
    }
}

/// The calls under way.
#[derive(Debug)]
pub(crate) struct ForeignCalls {
    limit: usize,
    each: Mutex<HashMap<Peer, usize>>,
}

impl ForeignCalls {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, each: Mutex::default() })
    }

    fn each(&self) -> MutexGuard<'_, HashMap<Peer, usize>> {
        self.each.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leave to call a context; none when too many such calls are under way. One server gets half of them, so that the others
    /// can still be called while it does not answer.
    pub(crate) fn begin(self: &Arc<Self>, context: &Ior) -> Option<Abroad> {
        let peer = Peer::of(context);
        let mut each = self.each();
        let (all, own) = (each.values().sum::<usize>(), each.get(&peer).copied().unwrap_or(0));
        if all >= self.limit || own >= self.limit.div_ceil(2) {
            return None;
        }
        each.insert(peer.clone(), own + 1);
        drop(each);
        Some(Abroad { calls: Arc::clone(self), peer })
    }
}

/// Counts as a call to another server as long as it lives.
pub(crate) struct Abroad {
    calls: Arc<ForeignCalls>,
    peer: Peer,
}

impl Drop for Abroad {
    fn drop(&mut self) {
        let mut each = self.calls.each();
        match each.get_mut(&self.peer) {
            Some(calls) if *calls > 1 => *calls -= 1,
            _ => drop(each.remove(&self.peer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throughline_giop::{IiopProfile, Version};

    fn context_at(address: &Address) -> Ior {
        let components = vec![address.to_component().unwrap()];
        let profile = IiopProfile {
            version: Version::V1_2,
            host: "here".to_owned(),
            port: 0,
            object_key: vec![],
            components,
        };
        Ior::of_iiop("", &profile).unwrap()
    }

    #[test]
    fn servers_at_unix_sockets_of_one_machine_are_told_apart() {
        let [one, other] = ["/tmp/one", "/tmp/other"]
            .map(|path| context_at(&Address::Unix { host: "here".to_owned(), path: path.to_owned() }));
        let calls = ForeignCalls::new(4);
        let begun = [calls.begin(&one), calls.begin(&one)];
        assert!(begun.iter().all(Option::is_some) && calls.begin(&one).is_none());
        assert!(calls.begin(&other).is_some());
        drop(begun);
        assert!(calls.begin(&one).is_some());
    }
}
