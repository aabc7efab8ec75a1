//! VIs over UDP through a relay that loses, doubles and reorders datagrams.
#![cfg(not(loom))]

use std::{
    error::Error,
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};
use throughline_vi::{ConnectError, Nic, Reliability, SendDescriptor, Vi, ViAttributes};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const LONG: Option<Duration> = Some(Duration::from_secs(20));

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.next().is_multiple_of(chances)
    }
}

/// One direction: a tenth of the datagrams is lost, a tenth comes twice, a tenth comes after its successor.
struct Way {
    dice: Dice,
    held: Option<Vec<u8>>,
    lost: AtomicU64,
}

impl Way {
    fn carry(&mut self, datagram: &[u8], mut out: impl FnMut(&[u8])) {
        if self.dice.one_in(10) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if self.held.is_none() && self.dice.one_in(10) {
            self.held = Some(datagram.to_vec());
            return;
        }
        out(datagram);
        if self.dice.one_in(10) {
            out(datagram);
        }
        self.held.take().into_iter().for_each(|late| out(&late));
    }
}

/// Between one client and a server, until it is told to stop; how many datagrams were lost.
fn relay(client_side: &UdpSocket, server_side: &UdpSocket, stop: &AtomicBool) -> u64 {
    let way = |seed| Way { dice: Dice(seed), held: None, lost: AtomicU64::new(0) };
    let (mut there, mut back) = (way(1), way(2));
    let mut client = None;
    let mut buffer = vec![0; 1 << 16];
    while !stop.load(Ordering::Relaxed) {
        let mut idle = true;
        if let Ok((len, from)) = client_side.recv_from(&mut buffer) {
            (client, idle) = (Some(from), false);
            there.carry(&buffer[..len], |datagram| drop(server_side.send(datagram)));
        }
        match server_side.recv(&mut buffer) {
            Ok(len) => {
                idle = false;
                let to = client.expect("the client spoke first");
                back.carry(&buffer[..len], |datagram| drop(client_side.send_to(datagram, to)));
            }
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused))
            }
        }
        if idle {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
    there.lost.into_inner() + back.lost.into_inner()
}

fn send(vi: &mut Vi, number: u32, len: usize) -> Result {
    let mut buffer = loop {
        match vi.send_buffer() {
            Some(buffer) => break buffer,
            None => std::thread::yield_now(),
        }
    };
    buffer.set_len(len);
    buffer.fill(number as u8);
    buffer[..4].copy_from_slice(&number.to_le_bytes());
    Ok(vi.post_send(SendDescriptor::new(buffer).unsignaled())?)
}

fn receive(vi: &mut Vi) -> Result<(u32, usize)> {
    let completion = vi.receive_wait(LONG)?;
    completion.result?;
    let bytes = &completion.buffer;
    let number = u32::from_le_bytes(bytes[..4].try_into()?);
    assert!(bytes[4..].iter().all(|byte| *byte == number as u8));
    let len = bytes.len();
    vi.post_receive(completion.buffer)?;
    Ok((number, len))
}

fn len_of(number: u32) -> usize {
    [4, 64, 1000, 5000, 16_000][number as usize % 5]
}

#[test]
fn every_call_is_answered_once() -> Result {
    const CALLS: u32 = 6_000;
    for level in [Reliability::ReliableDelivery, Reliability::ReliableReception] {
        let nics = [Nic::udp(LOOPBACK)?, Nic::udp(LOOPBACK)?];
        let mut listener = nics[1].listen(b"lossy")?;
        let (client_side, server_side) = (UdpSocket::bind(LOOPBACK)?, UdpSocket::bind(LOOPBACK)?);
        server_side.connect(nics[1].address().parse::<SocketAddr>()?)?;
        for socket in [&client_side, &server_side] {
            socket.set_nonblocking(true)?;
        }
        let address = client_side.local_addr()?.to_string();
        let stop = AtomicBool::new(false);
        let lost = std::thread::scope(|scope| -> Result<u64> {
            let relaying = scope.spawn(|| relay(&client_side, &server_side, &stop));
            let serving = scope.spawn(|| -> std::result::Result<(), String> {
                let text = |error: Box<dyn Error>| error.to_string();
                let mut vi =
                    nics[1].create_vi(&ViAttributes::new(level)).map_err(|error| text(error.into()))?;
                vi.post_own_receives();
                let request = listener.wait(LONG).map_err(|error| text(error.into()))?;
                request.accept(&mut vi).map_err(|error| text(error.into()))?;
                for expected in 0..CALLS {
                    assert_eq!(receive(&mut vi).map_err(text)?, (expected, len_of(expected)));
                    send(&mut vi, expected, len_of(expected)).map_err(text)?;
                }
                // However often the opening came, it opened one connection.
                let again = listener.wait(Some(Duration::from_millis(20)));
                assert!(matches!(again, Err(ConnectError::Timeout)));
                // Until the client has everything.
                let _ = vi.receive_wait(LONG);
                Ok(())
            });
            let mut vi = nics[0].create_vi(&ViAttributes::new(level))?;
            vi.post_own_receives();
            vi.connect_early(&address, b"lossy", LONG)?;
            let (mut asked, start) = (0, Instant::now());
            for answered in 0..CALLS {
                while asked < CALLS && asked < answered + 8 {
                    send(&mut vi, asked, len_of(asked))?;
                    asked += 1;
                }
                assert_eq!(receive(&mut vi)?, (answered, len_of(answered)));
            }
            assert!(start.elapsed() < Duration::from_secs(60));
            drop(vi);
            serving.join().expect("no panic")?;
            stop.store(true, Ordering::Relaxed);
            Ok(relaying.join().expect("no panic"))
        })?;
        assert!(lost > 100, "only {lost} datagrams were lost");
    }
    Ok(())
}
