//! The end of a server: ctrl-c, or the system's request to terminate.

use std::time::Duration;

use throughline::Orb;

use crate::failure::{Failure, Result};

/// How long requests under way may take to finish.
const GRACE: Duration = Duration::from_secs(2);

/// Waits until the process is told to end, then shuts the ORB down in order.
pub fn serve_until_told(orb: &Orb) -> Result {
    let ending = orb.clone();
    ctrlc::set_handler(move || ending.shutdown(GRACE))
        .map_err(|e| Failure::new("cannot wait for ctrl-c").because(e))?;
    orb.run();
    Ok(())
}
