//! The instructions of a message, for `valgrind --tool=callgrind`: one thread at both ends sends N messages of 4 bytes.
//! Run with two numbers and divide the difference by theirs. Over UDP every message is answered, and a round counts as two;
//! `small` messages take the way without descriptors.

use std::error::Error;
use throughline_vi::{Nic, Reliability, SMALL_MESSAGE, SendDescriptor, Vi, ViAttributes};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result {
    let Some(messages) = std::env::args().nth(1).and_then(|number| number.parse::<u32>().ok()) else {
        println!("usage: instructions N [udp [small]]");
        return Ok(());
    };
    let udp = std::env::args().nth(2).is_some_and(|fabric| fabric == "udp");
    let nic = if udp { Nic::udp("127.0.0.1:0".parse()?)? } else { Nic::shm()? };
    let mut listener = nic.listen(b"count")?;
    let attributes = ViAttributes::new(Reliability::ReliableDelivery);
    let (mut a, mut b) = (nic.create_vi(&attributes)?, nic.create_vi(&attributes)?);
    b.post_own_receives();
    if udp {
        a.post_own_receives();
    }
    std::thread::scope(|scope| -> Result {
        let active = scope.spawn(|| a.connect(nic.address(), b"count", None));
        listener.wait(None)?.accept(&mut b)?;
        Ok(active.join().expect("no panic")?)
    })?;
    if udp {
        let small = std::env::args().nth(3).is_some_and(|how| how == "small");
        let (send, receive) =
            if small { (send_small as Step, receive_small as Step) } else { (send as Step, receive as Step) };
        return exchange(&mut a, &mut b, messages, send, receive);
    }
    for _ in 0..messages {
        send(&mut a)?;
        receive(&mut b)?;
    }
    Ok(())
}

type Step = fn(&mut Vi) -> Result;

fn exchange(a: &mut Vi, b: &mut Vi, messages: u32, send: Step, receive: Step) -> Result {
    for at in 0..messages {
        let (from, to) = if at % 2 == 1 { (&mut *b, &mut *a) } else { (&mut *a, &mut *b) };
        send(from)?;
        while receive(to).is_err() {}
    }
    Ok(())
}

#[inline(never)]
fn send(vi: &mut Vi) -> Result {
    let mut buffer = vi.send_buffer().ok_or("no buffer")?;
    buffer.set_len(4);
    buffer.copy_from_slice(&[1, 2, 3, 4]);
    Ok(vi.post_send(SendDescriptor::new(buffer).unsignaled())?)
}

#[inline(never)]
fn send_small(vi: &mut Vi) -> Result {
    if vi.send_small(&[1, 2, 3, 4]) { Ok(()) } else { send(vi) }
}

#[inline(never)]
fn receive_small(vi: &mut Vi) -> Result {
    let mut message = [0; SMALL_MESSAGE];
    match vi.receive_small(&mut message) {
        Some(4) => Ok(()),
        Some(_) => Err("not what was sent".into()),
        None => receive(vi),
    }
}

#[inline(never)]
fn receive(vi: &mut Vi) -> Result {
    let completion = vi.receive_done().ok_or("no message")?;
    if completion.buffer.len() != 4 {
        return Err("not what was sent".into());
    }
    Ok(vi.post_receive(completion.buffer)?)
}
