//! How many others are served before an urgent message that came last: what holds on any machine.

use throughline_stack::{PairConfig, pair};

use super::super::paths::failed;
use super::hosts::{Client, Server, Way};
use crate::LabError;

/// A message of each of the other flows waits at the server, and behind them the urgent one. So many are served before it.
pub(crate) fn served_before(way: Way, others: u16, bytes: usize) -> Result<u64, LabError> {
    let (here, there) = pair(&PairConfig::default());
    let mut server = Server::new(way, there, others)?;
    let mut client = Client::new(way, here, others)?;
    client.connect(|| server.step().map(|_| ()))?;
    client.send_others(bytes)?;
    client.send_urgent()?;
    (server.served, server.urgent_served_at) = (0, None);
    while server.step()? {}
    server.urgent_served_at.ok_or_else(|| failed("the urgent message was lost"))
}
