//! The floor: a bare TCP ping-pong with messages as long as a `ping`'s, both sides spinning. What an ORB adds to this is
//! its own.

use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use super::{bench, failure};
use crate::LabError;

/// Octets of the request for `ping` with an active key, and of its reply (GIOP 1.2).
const REQUEST: usize = 64;
const REPLY: usize = 24;

/// The server part. Prints its address.
///
/// # Errors
/// When the system refuses a socket.
pub(crate) fn serve(_arguments: &[String]) -> Result<(), LabError> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let (mut stream, _) = listener.accept()?;
    prepare(&stream)?;
    let mut request = [0; REQUEST];
    while receive(&mut stream, &mut request)? {
        stream.write_all(&[1; REPLY])?;
    }
    Ok(())
}

/// The client part: `ADDRESS`, and rounds on standard input.
///
/// # Errors
/// When the server cannot be reached.
pub(crate) fn call(arguments: &[String]) -> Result<(), LabError> {
    let [address] = arguments else { return Err(failure("floor-client", "bad arguments")) };
    let mut stream = TcpStream::connect(address)?;
    prepare(&stream)?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let numbers: Vec<usize> = line.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        let [_, count, warmup, _] = numbers[..] else { return Err(failure("floor-client", &line)) };
        exchange(&mut stream, warmup)?;
        let begin = Instant::now();
        let times = exchange(&mut stream, count)?;
        println!("{}", bench::report(times, count, begin.elapsed()));
        io::stdout().flush()?;
    }
    Ok(())
}

fn exchange(stream: &mut TcpStream, count: usize) -> Result<Vec<u64>, LabError> {
    let (mut reply, mut times) = ([0; REPLY], Vec::with_capacity(count));
    for _ in 0..count {
        let start = Instant::now();
        stream.write_all(&[1; REQUEST])?;
        if !receive(stream, &mut reply)? {
            return Err(failure("floor-client", "the server hung up"));
        }
        times.push(start.elapsed().as_nanos() as u64);
    }
    Ok(times)
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)
}

/// Spins until the buffer is full; false at the end of the stream.
fn receive(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => return Ok(false),
            Ok(received) => filled += received,
            Err(e) if e.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(e) => return Err(e),
        }
    }
    Ok(true)
}
