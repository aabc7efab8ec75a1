//! In a steady state nothing is allocated.
#![cfg(not(loom))]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    error::Error,
    sync::atomic::{AtomicU64, Ordering},
};
use throughline_vi::{
    CompletionQueue, Nic, ReceiveDescriptor, Reliability, SMALL_MESSAGE, SendDescriptor, Vi, ViAttributes,
};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: all work is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: by our caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by our caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

fn pair(nic: &Nic, level: Reliability) -> Result<[Vi; 2]> {
    let mut listener = nic.listen(b"count")?;
    let mut vis = [nic.create_vi(&ViAttributes::new(level))?, nic.create_vi(&ViAttributes::new(level))?];
    let [a, b] = &mut vis;
    b.post_own_receives();
    a.post_own_receives();
    std::thread::scope(|scope| -> Result {
        let active = scope.spawn(|| a.connect(nic.address(), b"count", None));
        listener.wait(None)?.accept(b)?;
        Ok(active.join().expect("no panic")?)
    })?;
    Ok(vis)
}

fn exchange(a: &mut Vi, b: &mut Vi, queue: &mut CompletionQueue, len: usize, segments: usize) -> Result {
    let mut buffer = a.send_buffer().ok_or("no buffer")?;
    buffer.set_len(len);
    let descriptor = SendDescriptor::new(buffer);
    if segments == 0 {
        a.post_send(descriptor.unsignaled())?;
    } else {
        // The list comes back with the completion.
        a.post_send(descriptor)?;
    }
    assert_eq!(queue.wait(None)?, 1);
    let received = b.receive_wait(None)?;
    assert_eq!(received.result, Ok(len));
    b.post_receive(ReceiveDescriptor::new(received.buffer).segments(received.more))?;
    if segments != 0 {
        a.send_wait(None)?.result?;
    }
    // Progress, so that buffers of long messages return.
    assert!(a.send_done().is_none());
    Ok(())
}

/// A small message there and back, without descriptors where that can be.
fn exchange_small(a: &mut Vi, b: &mut Vi) -> Result {
    send_small(a)?;
    receive_small(b)?;
    send_small(b)?;
    receive_small(a)
}

fn send_small(vi: &mut Vi) -> Result {
    if !vi.send_small(b"small") {
        let mut buffer = vi.send_buffer().ok_or("no buffer")?;
        buffer.set_len(5);
        buffer.copy_from_slice(b"small");
        vi.post_send(SendDescriptor::new(buffer).unsignaled())?;
    }
    Ok(())
}

fn receive_small(vi: &mut Vi) -> Result {
    let mut octets = [0; SMALL_MESSAGE];
    loop {
        if vi.receive_small(&mut octets).is_some() {
            return Ok(());
        }
        if let Some(received) = vi.receive_done() {
            return Ok(vi.post_receive(received.buffer)?);
        }
    }
}

#[test]
fn messages_cost_no_allocation() -> Result {
    let nics = [Nic::shm()?, Nic::udp("127.0.0.1:0".parse()?)?];
    let levels = [Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception];
    for (nic, level) in nics.iter().flat_map(|nic| levels.map(|level| (nic, level))) {
        let [mut a, mut b] = pair(nic, level)?;
        // A thread allocates when it begins to run, which those of the provider may do late on a busy machine.
        std::thread::sleep(std::time::Duration::from_millis(200));
        let mut queue = CompletionQueue::new(std::time::Duration::ZERO)?;
        queue.link(&mut b, 1);
        let mut rounds = |count: usize| -> Result<u64> {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            for round in 0..count {
                let len = [4, 64, 1000, 8192][round % 4];
                exchange(&mut a, &mut b, &mut queue, len, round % 2)?;
            }
            Ok(ALLOCATIONS.load(Ordering::Relaxed) - before)
        };
        // Over UDP a queue may grow, once, while a busy machine lets one end wait.
        let most = if nic.address().parse::<std::net::SocketAddr>().is_ok() { 5 } else { 0 };
        rounds(1000)?;
        let during = rounds(4000)?;
        assert!(during <= most, "{during} allocations: {nic:?}, {level:?}");
        let mut small_rounds = |count: usize| -> Result<u64> {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            (0..count).try_for_each(|_| exchange_small(&mut a, &mut b))?;
            Ok(ALLOCATIONS.load(Ordering::Relaxed) - before)
        };
        small_rounds(1000)?;
        let during = small_rounds(4000)?;
        assert!(during <= most, "{during} allocations for small messages: {nic:?}, {level:?}");
    }
    Ok(())
}
