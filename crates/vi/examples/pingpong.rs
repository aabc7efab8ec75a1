//! The time of a round trip between two processes, each on a processor of its own.
//!
//! There are two floors: `bare`, cache lines in shared memory, written and read in turn, and `datagrams`, those bytes in
//! UDP datagrams over the loopback interface; and nothing else.

use rustix::{
    fs::MemfdFlags,
    mm::{MapFlags, ProtFlags},
    thread::{CpuSet, sched_setaffinity},
};
use std::{
    error::Error,
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    process::{Child, Command},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};
use throughline_vi::{Completion, Nic, Reliability, SendDescriptor, Vi, ViAttributes};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str =
    "usage: pingpong [bare|vi|all|datagrams|udp|all-udp] [--bytes N] [--rounds N] [--blocking] [--no-spin]
  bare        a ring of cache lines and nothing else
  vi          two VIs over shared memory
  all         both in turns (the default)
  datagrams   two UDP sockets and nothing else
  udp         two VIs over UDP
  all-udp     both in turns
  --bytes     length of the messages (4)
  --rounds    round trips (1000000, or 20000 if blocking; a tenth over UDP)
  --blocking  wait instead of polling; bare: a futex; datagrams: sockets that block
  --no-spin   go to sleep at once";

/// Round trips that are timed together: reading the clock takes as long as a part of one.
const BATCH: u32 = 16;
const LINES: usize = 256;

#[derive(Clone)]
struct Options {
    mode: String,
    bytes: usize,
    rounds: u32,
    blocking: bool,
    spin: bool,
    /// The side that answers: what it answers to.
    peer: Option<String>,
}

fn main() -> Result {
    let Some(options) = options() else {
        println!("{USAGE}");
        return Ok(());
    };
    if let Some(peer) = options.peer.clone() {
        pin(1)?;
        return match options.mode.as_str() {
            "bare" => answer_bare(&options, &peer),
            "datagrams" => answer_datagrams(&options, &peer),
            "udp" => answer_vi(&options, Nic::udp(LOOPBACK)?, &peer),
            _ => answer_vi(&options, Nic::shm()?, &peer),
        };
    }
    pin(0)?;
    for mode in ["bare", "vi", "datagrams", "udp"].repeat(3) {
        let all = if matches!(mode, "bare" | "vi") { "all" } else { "all-udp" };
        if options.mode == mode || options.mode == all {
            let options = Options { mode: mode.to_owned(), ..options.clone() };
            let mut times = match mode {
                "bare" => ask_bare(&options)?,
                "datagrams" => ask_datagrams(&options)?,
                "udp" => ask_vi(&options, Nic::udp(LOOPBACK)?)?,
                _ => ask_vi(&options, Nic::shm()?)?,
            };
            times.sort_unstable();
            let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e9 / f64::from(BATCH);
            println!(
                "{mode:9} {} bytes: median {:.0} ns, 1 % {:.0}, 99 % {:.0}",
                options.bytes,
                at(50),
                at(1),
                at(99)
            );
        }
    }
    Ok(())
}

fn options() -> Option<Options> {
    let mut options =
        Options { mode: "all".into(), bytes: 4, rounds: 0, blocking: false, spin: true, peer: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "bare" | "vi" | "all" | "datagrams" | "udp" | "all-udp" => options.mode = argument,
            "--bytes" => options.bytes = arguments.next()?.parse().ok()?,
            "--rounds" => options.rounds = arguments.next()?.parse().ok()?,
            "--blocking" => options.blocking = true,
            "--no-spin" => options.spin = false,
            "--peer" => options.peer = Some(arguments.next()?),
            _ => return None,
        }
    }
    if options.rounds == 0 {
        options.rounds = if options.blocking { 20_000 } else { 1_000_000 };
        if matches!(options.mode.as_str(), "datagrams" | "udp" | "all-udp") {
            options.rounds /= 10;
        }
    }
    options.rounds = options.rounds.next_multiple_of(BATCH);
    Some(options)
}

fn pin(cpu: usize) -> Result {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

fn start_peer(options: &Options, peer: &str) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([&options.mode, "--peer", peer, "--bytes", &options.bytes.to_string()]);
    command.args(["--rounds", &options.rounds.to_string()]);
    if options.blocking {
        command.arg("--blocking");
    }
    if !options.spin {
        command.arg("--no-spin");
    }
    Ok(command.spawn()?)
}

fn time(rounds: u32, mut round: impl FnMut() -> Result) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity((rounds / BATCH) as usize);
    for _ in 0..rounds / BATCH {
        let start = Instant::now();
        for _ in 0..BATCH {
            round()?;
        }
        times.push(start.elapsed());
    }
    Ok(times)
}

// --- Two VIs ---

fn attributes(options: &Options) -> ViAttributes {
    let mut attributes = ViAttributes::new(Reliability::ReliableDelivery);
    let size = (options.bytes as u32).max(1024);
    (attributes.send_buffer_size, attributes.receive_buffer_size) = (size, size);
    if !options.spin {
        attributes.spin = Duration::ZERO;
    }
    attributes
}

fn ask_vi(options: &Options, nic: Nic) -> Result<Vec<Duration>> {
    let mut listener = nic.listen(b"pingpong")?;
    let mut peer = start_peer(options, nic.address())?;
    let mut vi = nic.create_vi(&attributes(options))?;
    vi.post_own_receives();
    listener.wait(None)?.accept(&mut vi)?;
    let mut round = 0_u32;
    let times = time(options.rounds, || {
        let mut request = vi.send_buffer().ok_or("no buffer")?;
        request.set_len(options.bytes);
        round = round.wrapping_add(1);
        request.first_chunk_mut().into_iter().for_each(|place| *place = round.to_ne_bytes());
        vi.post_send(SendDescriptor::new(request).unsignaled())?;
        let reply = receive(&mut vi, options.blocking)?;
        Ok(vi.post_receive(reply.buffer)?)
    });
    peer.wait()?;
    times
}

fn answer_vi(options: &Options, nic: Nic, address: &str) -> Result {
    let mut vi = nic.create_vi(&attributes(options))?;
    vi.post_own_receives();
    vi.connect(address, b"pingpong", None)?;
    for _ in 0..options.rounds {
        let request = receive(&mut vi, options.blocking)?;
        let mut reply = vi.send_buffer().ok_or("no buffer")?;
        reply.set_len(request.buffer.len());
        reply.copy_from_slice(&request.buffer);
        vi.post_receive(request.buffer)?;
        vi.post_send(SendDescriptor::new(reply).unsignaled())?;
    }
    Ok(())
}

fn receive(vi: &mut Vi, blocking: bool) -> Result<Completion> {
    let completion = if blocking {
        vi.receive_wait(None)?
    } else {
        loop {
            match vi.receive_done() {
                Some(completion) => break completion,
                None => std::hint::spin_loop(),
            }
        }
    };
    completion.result?;
    Ok(completion)
}

// --- Datagrams ---

const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn socket(options: &Options) -> Result<UdpSocket> {
    let socket = UdpSocket::bind(LOOPBACK)?;
    socket.set_nonblocking(!options.blocking)?;
    Ok(socket)
}

fn next<T>(mut receive: impl FnMut() -> std::io::Result<T>) -> Result<T> {
    loop {
        match receive() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            received => return Ok(received?),
        }
    }
}

fn ask_datagrams(options: &Options) -> Result<Vec<Duration>> {
    let socket = socket(options)?;
    let mut peer = start_peer(options, &socket.local_addr()?.to_string())?;
    let mut buffer = vec![1; options.bytes.max(1)];
    // The peer says where it is.
    let (_, address) = next(|| socket.recv_from(&mut buffer))?;
    let times = time(options.rounds, || {
        socket.send_to(&buffer, address)?;
        next(|| socket.recv_from(&mut buffer))?;
        Ok(())
    });
    peer.wait()?;
    times
}

fn answer_datagrams(options: &Options, address: &str) -> Result {
    let socket = socket(options)?;
    socket.connect(address.parse::<SocketAddr>()?)?;
    let mut buffer = vec![0; options.bytes.max(1)];
    socket.send(&buffer)?;
    for _ in 0..options.rounds {
        let len = next(|| socket.recv(&mut buffer))?;
        socket.send(&buffer[..len])?;
    }
    Ok(())
}

// --- Cache lines ---

#[repr(C, align(64))]
struct Line([AtomicU64; 8]);

/// Two rings in memory that both sides write.
struct Bare {
    lines: &'static [Line],
}

impl Bare {
    fn map(file: BorrowedFd<'_>) -> Result<Self> {
        let (bytes, access) = (2 * LINES * 64, ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a new mapping, never unmapped, of a file this long, reached by atomics only.
        let lines = unsafe {
            let base = rustix::mm::mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, file, 0)?;
            std::slice::from_raw_parts(base.cast::<Line>(), 2 * LINES)
        };
        Ok(Self { lines })
    }

    #[inline(always)]
    fn line(&self, direction: usize, round: u64) -> &Line {
        &self.lines[direction * LINES + round as usize % LINES]
    }

    #[inline(always)]
    fn send(&self, direction: usize, round: u64, bytes: usize, blocking: bool) {
        let words = (bytes / 8).clamp(1, 7);
        let line = self.line(direction, round);
        line.0[1..=words].iter().for_each(|word| word.store(round, Ordering::Relaxed));
        if blocking {
            line.0[0].store(round + 1, Ordering::SeqCst);
            let _ = rustix::thread::futex::wake(word_of(line), rustix::thread::futex::Flags::empty(), 1);
        } else {
            line.0[0].store(round + 1, Ordering::Release);
        }
    }

    #[inline(always)]
    fn receive(&self, direction: usize, round: u64, bytes: usize, blocking: bool) -> u64 {
        let words = (bytes / 8).clamp(1, 7);
        let line = self.line(direction, round);
        loop {
            let seen = line.0[0].load(Ordering::Acquire);
            if seen == round + 1 {
                break;
            }
            if blocking {
                let flags = rustix::thread::futex::Flags::empty();
                let _ = rustix::thread::futex::wait(word_of(line), flags, seen as u32, None);
            } else {
                std::hint::spin_loop();
            }
        }
        line.0[1..=words].iter().map(|word| word.load(Ordering::Relaxed)).sum()
    }
}

/// The low half of a line's first word, which is what a futex is.
fn word_of(line: &Line) -> &std::sync::atomic::AtomicU32 {
    // SAFETY: inside the line, aligned, and an atomic as well; the machines meant here are little-endian.
    unsafe { &*std::ptr::from_ref(&line.0[0]).cast() }
}

fn ask_bare(options: &Options) -> Result<Vec<Duration>> {
    // Inherited by the peer.
    let file: OwnedFd = rustix::fs::memfd_create("bare", MemfdFlags::empty())?;
    rustix::fs::ftruncate(&file, (2 * LINES * 64) as u64)?;
    let bare = Bare::map(std::os::fd::AsFd::as_fd(&file))?;
    let mut peer = start_peer(options, &file.as_raw_fd().to_string())?;
    let mut round = 0;
    let times = time(options.rounds, || {
        bare.send(0, round, options.bytes, options.blocking);
        std::hint::black_box(bare.receive(1, round, options.bytes, options.blocking));
        round += 1;
        Ok(())
    });
    peer.wait()?;
    times
}

fn answer_bare(options: &Options, file: &str) -> Result {
    // SAFETY: inherited from the side that asks, and open until the process ends.
    let bare = Bare::map(unsafe { BorrowedFd::borrow_raw(file.parse()?) })?;
    for round in 0..u64::from(options.rounds) {
        std::hint::black_box(bare.receive(0, round, options.bytes, options.blocking));
        bare.send(1, round, options.bytes, options.blocking);
    }
    Ok(())
}
