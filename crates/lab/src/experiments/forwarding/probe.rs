//! Instructions of a packet's way through a router: the part that runs under callgrind.

use super::network::{Network, Scheme};
use crate::{
    LabError,
    callgrind::{counted, dump, start},
};

/// Packets counted for each scheme; every one costs about the same.
pub(super) const PACKETS: u64 = 256;

/// # Errors
/// When there is no such router.
pub(crate) fn play(arguments: &[String]) -> Result<(), LabError> {
    let routes = arguments.first().and_then(|routes| routes.parse().ok()).unwrap_or(100);
    for scheme in Scheme::ALL {
        let mut network = Network::new(scheme, routes, 64, 1)?;
        start();
        counted(|| (0..PACKETS).for_each(|_| network.forward()));
        dump(scheme.name());
    }
    Ok(())
}
