//! A process killed at any instruction leaves the other one with a clean error, and nothing behind.
#![cfg(not(loom))]

use std::{
    error::Error,
    process::{Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};
use throughline_vi::{
    CompletionError, CompletionQueue, Nic, Reliability, Rights, SendDescriptor, State, Vi, ViAttributes,
};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const ADDRESS: &str = "THROUGHLINE_VI_KILLED";
const LONG: Option<Duration> = Some(Duration::from_secs(20));

fn new_vi(nic: &Nic) -> Result<Vi> {
    // The longest messages fit into none of the buffers posted.
    let mut vi = nic.create_vi(&ViAttributes {
        receive_buffer_size: 4096,
        receive_longer: 10_000,
        ..ViAttributes::new(Reliability::ReliableDelivery)
    })?;
    vi.post_own_receives();
    Ok(vi)
}

fn pattern(number: u32, len: usize) -> impl Iterator<Item = u8> {
    (0..len).map(move |at| (number as usize * 31 + at * 7) as u8)
}

/// Sends and receives as fast as it can.
fn talk(vi: &mut Vi, number: &mut u32) -> Result {
    while let Some(mut buffer) = vi.send_buffer() {
        let len = [8, 100, 3000, 10_000][*number as usize % 4];
        buffer.set_len(len);
        buffer.iter_mut().zip(pattern(*number, len)).for_each(|(place, byte)| *place = byte);
        if vi.post_send(SendDescriptor::new(buffer).unsignaled()).is_err() {
            return Ok(());
        }
        *number += 1;
        if number.is_multiple_of(8) {
            break;
        }
    }
    // Sends that failed when the peer went come back here.
    while vi.send_done().is_some() {}
    Ok(())
}

/// Takes what came; whether the connection lives.
fn listen(vi: &mut Vi, number: &mut u32) -> Result<bool> {
    for _ in 0..16 {
        let Some(completion) = vi.receive_done() else { break };
        match completion.result {
            Ok(len) => {
                assert!(
                    completion.buffer.iter().copied().eq(pattern(*number, len)),
                    "message {number} is damaged"
                );
                *number += 1;
                vi.post_receive(completion.buffer)?;
            }
            Err(why) => {
                assert_eq!(why, CompletionError::Flushed);
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The process that is killed. Without the variable a test that has nothing to do.
#[test]
fn other_process() -> Result {
    let Ok(address) = std::env::var(ADDRESS) else { return Ok(()) };
    let nic = Nic::shm()?;
    let mut vi = new_vi(&nic)?;
    let _window = nic.register_window(1 << 16, vi.tag(), Rights { remote_write: true, remote_read: true })?;
    vi.connect(&address, b"killed", LONG)?;
    let (mut sent, mut received) = (0, 0);
    while listen(&mut vi, &mut received)? {
        talk(&mut vi, &mut sent)?;
    }
    Ok(())
}

/// Descriptors and mappings of ours.
fn belongings() -> Result<(usize, usize)> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let files = std::fs::read_dir("/proc/self/fd")?.count();
    Ok((files, maps.lines().filter(|line| line.contains("throughline-vi")).count()))
}

/// The other process is killed so long after so many messages came from it. How many came in all.
fn round(messages: u32, delay: Duration, blocking: bool) -> Result<u32> {
    let nic = Nic::shm()?;
    let mut listener = nic.listen(b"killed")?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--exact", "other_process"])
        .env(ADDRESS, nic.address())
        .stdout(Stdio::null())
        .spawn()?;
    let mut vi = new_vi(&nic)?;
    let mut queue = CompletionQueue::new(Duration::ZERO)?;
    queue.link(&mut vi, 1);
    listener.wait(LONG)?.accept(&mut vi)?;
    let (reached, awaited) = mpsc::channel::<()>();
    let killer = std::thread::spawn(move || {
        // Told or, if the test fails, left alone.
        let _ = awaited.recv();
        std::thread::sleep(delay);
        child.kill().and_then(|()| child.wait())
    });
    let mut reached = Some(reached);
    let (mut sent, mut received) = (0, 0);
    let start = Instant::now();
    while listen(&mut vi, &mut received)? {
        if received >= messages {
            drop(reached.take());
        }
        talk(&mut vi, &mut sent)?;
        if blocking {
            queue.wait(LONG)?;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "the end was not noticed");
    }
    killer.join().expect("no panic")?;
    assert_eq!(vi.state(), State::Stopped(CompletionError::ConnectionLost));
    Ok(received)
}

#[test]
fn killed_in_the_midst_of_it() -> Result {
    let before = belongings()?;
    for at in 0..16_u16 {
        // However fast the machine is: messages were under way.
        let (messages, delay) = (u32::from(at) * 100, Duration::from_micros(u64::from(at) * 170));
        let received = round(messages, delay, at % 2 == 0)?;
        assert!(received >= messages, "only {received} of {messages} messages came");
    }
    assert_eq!(belongings()?, before, "something is left");
    Ok(())
}
