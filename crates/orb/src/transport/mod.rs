//! How messages travel: sockets, the threads that wait on them, and the two sides of IIOP.
//!
//! A request goes through [`poller`] (bytes are there), [`reactor`] (a worker adopts the connection, which a
//! [`listener`] accepted), [`server`] (whole messages are cut from what was received) to the dispatcher, and its reply through the
//! [`outbox`] back. On the client's side [`endpoint`] finds the connection, [`client`] sends and receives, and
//! [`calls`] knows who waits for which reply.

pub(crate) mod address;
pub(crate) mod calls;
pub(crate) mod client;
#[cfg(test)]
mod client_stress;
pub(crate) mod connectors;
pub(crate) mod endpoint;
pub(crate) mod keeper;
pub(crate) mod listener;
pub(crate) mod native;
pub(crate) mod outbox;
pub(crate) mod poller;
pub(crate) mod reactor;
pub(crate) mod resolver;
pub(crate) mod server;
pub(crate) mod socket;
pub(crate) mod unfinished;
