//! Bytes there and back over a transport, without objects: what calls over it are measured against.
//!
//! Messages begin with their length and are otherwise ones; the shortest is 4 bytes long.

mod datagrams;
mod interface;
mod ring;
mod streams;

use std::io::{self, BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::time::Instant;

use throughline_vi::{Nic, ResourceError};

use self::datagrams::Datagrams;
use self::interface::Interface;
use self::ring::Ring;
use self::streams::Stream;
use super::{bench, failure};
use crate::LabError;

/// The longest message, in bytes.
const LONGEST: usize = 64 << 10;

/// One end of a connection that carries messages.
trait Pipe {
    /// A message received: in the application's hands.
    type Message: Deref<Target = [u8]>;

    fn send(&mut self, message: &[u8]) -> io::Result<()>;
    /// Waits for a message.
    fn receive(&mut self) -> io::Result<Self::Message>;
    /// The memory of a message is not needed any more.
    fn release(&mut self, message: Self::Message);
}

/// Memory for the longest message, and how much of it one takes.
struct Filled {
    bytes: Box<[u8]>,
    length: usize,
}

impl Filled {
    fn new() -> Self {
        Self { bytes: vec![0; LONGEST].into(), length: 0 }
    }

    /// That of the last message, or new.
    fn from_spare(spare: &mut Option<Self>) -> Self {
        spare.take().unwrap_or_else(Self::new)
    }
}

impl Deref for Filled {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// How an end waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Poll,
    Block,
}

fn waiting(name: &str) -> Result<Waiting, LabError> {
    match name {
        "poll" => Ok(Waiting::Poll),
        "block" => Ok(Waiting::Block),
        other => Err(failure("echo", other)),
    }
}

/// The server part: `floor|shm|tcp|unix|udp|vi-udp poll|block`. Prints its address.
///
/// # Errors
/// When the system refuses what the transport needs, and when the client is gone.
pub(crate) fn serve(arguments: &[String]) -> Result<(), LabError> {
    let [transport, wait] = arguments else { return Err(failure("echo-server", "bad arguments")) };
    let wait = waiting(wait)?;
    std::thread::spawn(|| {
        io::stdin().lock().lines().for_each(drop);
        std::process::exit(0);
    });
    match transport.as_str() {
        "floor" => echo(Ring::listen(wait, say)?),
        "shm" => echo(Interface::listen(Nic::shm(), wait, say)?),
        "tcp" => echo(Stream::listen_tcp(wait, say)?),
        "unix" => echo(Stream::listen_unix(wait, say)?),
        "vi-udp" => echo(Interface::listen(loopback(), wait, say)?),
        "udp" => echo(Datagrams::listen(wait, say)?),
        other => Err(failure("echo-server", other)),
    }
}

fn loopback() -> Result<Nic, ResourceError> {
    Nic::udp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}

fn say(address: &str) -> io::Result<()> {
    println!("{address}");
    io::stdout().flush()
}

fn echo(mut pipe: impl Pipe) -> Result<(), LabError> {
    loop {
        let message = pipe.receive()?;
        pipe.send(&message)?;
        pipe.release(message);
    }
}

/// The client part: `floor|shm|tcp|unix|udp|vi-udp poll|block ADDRESS`, and rounds on standard input.
///
/// # Errors
/// When the server cannot be reached, or answers otherwise than it should.
pub(crate) fn call(arguments: &[String]) -> Result<(), LabError> {
    let [transport, wait, address] = arguments else { return Err(failure("echo-client", "bad arguments")) };
    let wait = waiting(wait)?;
    match transport.as_str() {
        "floor" => rounds(Ring::connect(wait, address)?),
        "shm" => rounds(Interface::connect(Nic::shm(), wait, address)?),
        "tcp" => rounds(Stream::connect_tcp(wait, address)?),
        "unix" => rounds(Stream::connect_unix(wait, address)?),
        "vi-udp" => rounds(Interface::connect(loopback(), wait, address)?),
        "udp" => rounds(Datagrams::connect(wait, address)?),
        other => Err(failure("echo-client", other)),
    }
}

fn rounds(mut pipe: impl Pipe) -> Result<(), LabError> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let bad = || failure("echo-client", &line);
        let mut words = line.split_whitespace();
        let op = words.next().ok_or_else(bad)?;
        let numbers: Vec<usize> = words.filter_map(|n| n.parse().ok()).collect();
        let [bytes, count, warmup, width] = numbers[..] else { return Err(bad()) };
        let message = message(bytes).ok_or_else(bad)?;
        let width = if op == "pipe" { width } else { 1 };
        exchange(&mut pipe, &message, warmup, width)?;
        let begin = Instant::now();
        let times = exchange(&mut pipe, &message, count, width)?;
        println!("{}", bench::report(times, count, begin.elapsed()));
        io::stdout().flush()?;
    }
    Ok(())
}

/// A message of that many bytes, if there can be one.
fn message(bytes: usize) -> Option<Vec<u8>> {
    let mut message = vec![1; bytes];
    message.get_mut(..4)?.copy_from_slice(&u32::try_from(bytes).ok()?.to_le_bytes());
    (bytes <= LONGEST).then_some(message)
}

/// Sends that many messages, up to `width` of them on their way at any time, and takes them back. With one at a time,
/// returns the time of each; otherwise the mean time between [`SAMPLED`](bench::SAMPLED) arrivals.
fn exchange(pipe: &mut impl Pipe, message: &[u8], count: usize, width: usize) -> io::Result<Vec<u64>> {
    let mut times = Vec::with_capacity(count);
    let together = if width == 1 { 1 } else { bench::SAMPLED };
    let mut sent = 0;
    let mut since = Instant::now();
    for received in 0..count {
        if width == 1 {
            since = Instant::now();
        }
        while sent < count && sent < received + width {
            pipe.send(message)?;
            sent += 1;
        }
        let reply = pipe.receive()?;
        if reply.len() != message.len() {
            return Err(io::Error::other("an echo of another length"));
        }
        pipe.release(reply);
        if (received + 1).is_multiple_of(together) {
            let now = Instant::now();
            times.push((now - since).as_nanos() as u64 / together as u64);
            since = now;
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_begin_with_their_length() {
        assert_eq!(message(4), Some(vec![4, 0, 0, 0]));
        assert_eq!(message(6), Some(vec![6, 0, 0, 0, 1, 1]));
        assert_eq!(message(3), None);
        assert_eq!(message(LONGEST + 1), None);
    }
}
