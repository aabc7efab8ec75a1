//! Over UDP, calls of one thread that are under way together share datagrams. How many do is counted of release builds: `cargo test
//! --release`.

mod common;

use std::collections::VecDeque;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use common::{Echo, EchoRef, client, server_with};
use throughline::rt::Operation;
use throughline::{AsyncCall, Begun, Orb, SystemException, block_on};
use throughline_giop::{NativeAddress, NativeProfile};

const CALLS: u32 = 6_400;
const UNDER_WAY: usize = 64;

/// Carries the datagrams of one client to a server and back, and counts them.
fn relay(front: &UdpSocket, back: &UdpSocket, carried: &AtomicU32, over: &AtomicBool) {
    let (mut client, mut datagram) = (None, [0; 1 << 16]);
    [front, back].into_iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
    while !over.load(Ordering::Relaxed) {
        let before = carried.load(Ordering::Relaxed);
        if let Ok((length, from)) = front.recv_from(&mut datagram) {
            assert_eq!(*client.get_or_insert(from), from, "one link carries all calls");
            back.send(&datagram[..length]).unwrap();
            carried.fetch_add(1, Ordering::Relaxed);
        }
        if let (Ok(length), Some(client)) = (back.recv(&mut datagram), client) {
            front.send_to(&datagram[..length], client).unwrap();
            carried.fetch_add(1, Ordering::Relaxed);
        }
        if carried.load(Ordering::Relaxed) == before {
            std::thread::yield_now();
        }
    }
}

fn by_port(client: &Orb, own: &EchoRef, port: u16) -> EchoRef {
    let mut ior = own.0.ior().clone();
    for profile in &mut ior.profiles {
        if let Some(Ok(mut native)) = NativeProfile::from_tagged(profile) {
            native.address = NativeAddress::Udp { host: "127.0.0.1".to_owned(), port };
            *profile = native.to_tagged().unwrap();
        }
    }
    EchoRef(client.reference(ior))
}

/// One test at a time: they would keep the machine busy for each other.
static ALONE: Mutex<()> = Mutex::new(());

/// Each call on its own would take a datagram there and one back; together they take 1,300 to 4,600, mostly. A machine that others
/// keep busy may wake each side for every datagram, and have some sent twice: the median of 15 counts, of which no more are
/// made than decide.
fn assert_few(call: impl Fn(&EchoRef)) {
    const HALF: usize = 7;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if cfg!(debug_assertions) {
        // One waits for the next for so short a time that those of a slow build come too late.
        let count = datagrams(&call);
        return eprintln!("SKIPPED: {count} datagrams for {CALLS} calls, of which release builds need few");
    }
    let (mut few, mut many) = (Vec::new(), Vec::new());
    while few.len().max(many.len()) <= HALF {
        let count = datagrams(&call);
        if count < CALLS { few.push(count) } else { many.push(count) }
    }
    println!("{few:?} and {many:?} datagrams for {CALLS} calls");
    assert!(few.len() > HALF, "{few:?} and {many:?} datagrams for {CALLS} calls");
}

/// How many datagrams the calls took that `call` makes.
fn datagrams(call: impl Fn(&EchoRef)) -> u32 {
    let server = server_with(|c| c.listen = vec!["udp://127.0.0.1:0".parse().unwrap()]);
    let Some(throughline::Address::Udp { port, .. }) = server.addresses().pop() else { panic!("no address") };
    let [front, back] = [0; 2].map(|port| UdpSocket::bind(("127.0.0.1", port)).unwrap());
    back.connect(("127.0.0.1", port)).unwrap();
    let (carried, over) = (AtomicU32::new(0), AtomicBool::new(false));
    let client = client();
    let own = server.root().activate(Echo::default()).unwrap();
    let echo = by_port(&client, &own, front.local_addr().unwrap().port());
    std::thread::scope(|scope| {
        scope.spawn(|| relay(&front, &back, &carried, &over));
        call(&echo);
        over.store(true, Ordering::Relaxed);
    });
    server.shutdown(Duration::from_secs(2));
    carried.into_inner()
}

#[test]
fn begun_calls_share_datagrams() {
    fn ping(echo: &EchoRef) -> Begun<'_, (), SystemException> {
        echo.0.begin(Operation::new("ping", 0), |_| Ok(()), |_| Ok(()), None)
    }
    assert_few(|echo| {
        let mut pending: VecDeque<_> = (0..UNDER_WAY).map(|_| ping(echo)).collect();
        for _ in UNDER_WAY as u32..CALLS {
            pending.pop_front().unwrap().wait().unwrap();
            pending.push_back(ping(echo));
        }
        pending.into_iter().for_each(|call| call.wait().unwrap());
    });
}

#[test]
fn futures_share_datagrams() {
    assert_few(|echo| {
        let ping = || echo.0.call_async(Operation::new("ping", 0), |_| Ok(()), |_| Ok(())).begin();
        let mut pending: VecDeque<_> = (0..UNDER_WAY).map(|_| ping()).collect();
        for _ in UNDER_WAY as u32..CALLS {
            let done: Result<(), SystemException> = block_on(pending.pop_front().unwrap());
            done.unwrap();
            pending.push_back(ping());
        }
        pending.into_iter().for_each(|call| block_on(call).unwrap());
    });
}
