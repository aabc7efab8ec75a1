//! Arguments and results too large to be copied into a message: they are sent from where they lie.
// `Decode::decode` itself is a function of one lifetime, the closure one of any.
#![allow(clippy::redundant_closure)]

mod common;

use std::cell::Cell;
use std::time::Duration;

use common::{ECHO, Echo, client, seen_by, server};
use throughline::exception::minor;
use throughline::rt::{
    Decode, DecodeError, Dispatched, Encode, EncodeError, Interface, Operation, Reader, ServerCall, Skeleton,
    Writer,
};
use throughline::{Address, Completion, Kind, Orb, OrbConfig, SystemException};

const GRACE: Duration = Duration::from_secs(2);
const MIRROR: Operation = Operation::new("move_data", 4);

/// Large and small members in turn, at alignments that need padding.
#[derive(Clone, Debug, PartialEq)]
struct Mixed {
    first: u8,
    words: Vec<u32>,
    name: String,
    octets: Vec<u8>,
    number: u64,
    doubles: Vec<f64>,
    last: u16,
}

impl Mixed {
    fn of(len: usize) -> Self {
        Self {
            first: 1,
            words: (0..len as u32).collect(),
            name: "between".to_owned(),
            octets: (0..len + 3).map(|n| n as u8).collect(),
            number: u64::MAX - 7,
            doubles: (0..len).map(|n| n as f64 / 3.0).collect(),
            last: 99,
        }
    }
}

impl Encode for Mixed {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.first.encode(w)?;
        self.words.encode(w)?;
        self.name.encode(w)?;
        self.octets.encode(w)?;
        self.number.encode(w)?;
        self.doubles.encode(w)?;
        self.last.encode(w)
    }
}

impl<'a> Decode<'a> for Mixed {
    const MIN_SIZE: usize = 1;
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            first: Decode::decode(r)?,
            words: Decode::decode(r)?,
            name: Decode::decode(r)?,
            octets: Decode::decode(r)?,
            number: Decode::decode(r)?,
            doubles: Decode::decode(r)?,
            last: Decode::decode(r)?,
        })
    }
}

/// Returns what it is given; fails afterwards on demand.
#[derive(Default)]
struct Mirror {
    fails_after_its_reply: bool,
}

impl Skeleton for Mirror {
    fn interface(&self) -> &'static Interface {
        &ECHO
    }

    fn invoke(&self, _operation: u32, call: &mut ServerCall<'_>) -> Dispatched {
        let mixed: Mixed = Decode::decode(call.arguments())?;
        call.reply(|w| mixed.encode(w))?;
        assert!(!self.fails_after_its_reply, "as asked");
        Ok(())
    }
}

impl throughline::rt::TypedSkeleton for Mirror {
    type Reference = common::EchoRef;
}

fn mirror(reference: &common::EchoRef, mixed: &Mixed) -> Result<Mixed, SystemException> {
    reference.0.call(MIRROR, |w| mixed.encode(w), |r| Decode::decode(r))
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

#[test]
fn values_of_every_size_come_back() {
    let (server, client) = (server(), client());
    let own = server.root().activate(Mirror::default()).unwrap();
    let remote = seen_by(&client, &own);
    for len in [0, 1, 2_000, 4_095, 4_096, 5_000, 16_385, 70_001, 1_000_000] {
        let mixed = Mixed::of(len);
        assert_eq!(mirror(&remote, &mixed).unwrap(), mixed, "{len}");
        assert_eq!(mirror(&own, &mixed).unwrap(), mixed, "{len}, in one process");
        let future = remote.0.call_async(MIRROR, |w| mixed.encode(w), |r| Mixed::decode(r));
        assert_eq!(block_on::<_>(async { future.await as Result<_, SystemException> }).unwrap(), mixed);
    }
    server.shutdown(GRACE);
}

#[test]
fn over_a_unix_domain_socket_too() {
    let path = std::env::temp_dir().join(format!("throughline-large-{}", std::process::id()));
    let listen = vec![Address::Unix(path)];
    let server = Orb::start(OrbConfig { listen, ..OrbConfig::default() }).unwrap();
    let client = client();
    let remote = seen_by(&client, &server.root().activate(Mirror::default()).unwrap());
    let mixed = Mixed::of(300_000);
    for _ in 0..3 {
        assert_eq!(mirror(&remote, &mixed).unwrap(), mixed);
    }
    server.shutdown(GRACE);
}

#[test]
fn callers_that_share_a_connection_get_their_own() {
    let (server, client) = (server(), client());
    let large = seen_by(&client, &server.root().activate(Mirror::default()).unwrap());
    let small = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    std::thread::scope(|scope| {
        for n in 1..=3_usize {
            let large = &large;
            scope.spawn(move || {
                let mixed = Mixed::of(n * 9_000);
                (0..40).for_each(|_| assert_eq!(mirror(large, &mixed).unwrap(), mixed));
            });
        }
        let small = &small;
        scope.spawn(move || (0..2_000).for_each(|_| assert_eq!(small.shout("a").unwrap(), "A")));
    });
    server.shutdown(GRACE);
}

#[test]
fn a_servant_that_fails_after_its_reply_has_replied() {
    let (server, client) = (server(), client());
    let failing = Mirror { fails_after_its_reply: true };
    let remote = seen_by(&client, &server.root().activate(failing).unwrap());
    // A small reply has not left yet: the failure takes its place.
    let e = mirror(&remote, &Mixed::of(1)).unwrap_err();
    assert_eq!(e.kind, Kind::Unknown);
    let mixed = Mixed::of(20_000);
    for _ in 0..3 {
        assert_eq!(mirror(&remote, &mixed).unwrap(), mixed);
    }
    server.shutdown(GRACE);
}

/// Marshals something else each time.
struct Moody(Cell<usize>);

impl Encode for Moody {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.0.set(self.0.get() + 1);
        vec![7_u32; 10_000 + self.0.get()].encode(w)
    }
}

#[test]
fn a_value_that_changes_while_it_is_sent_harms_nobody_else() {
    let (server, client) = (server(), client());
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    echo.ping().unwrap();
    let moody = Moody(Cell::new(0));
    let result: Result<Vec<u32>, SystemException> =
        echo.0.call(MIRROR, |w| moody.encode(w), |r| Decode::decode(r));
    let e = result.unwrap_err();
    assert_eq!(e.completed, Completion::No, "{e}");
    echo.ping().unwrap();
    assert_eq!(echo.shout("a").unwrap(), "A");
    server.shutdown(GRACE);
}

#[test]
fn arguments_that_no_message_can_hold_are_not_sent() {
    let (server, client) = (server(), client());
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    let part = vec![0_u8; 64 << 20];
    let parts = |w: &mut Writer<'_>| (0..65).try_for_each(|_| part.encode(w));
    let result: Result<(), SystemException> = echo.0.call(MIRROR, parts, |_| Ok(()));
    let e = result.unwrap_err();
    assert_eq!((e.kind, e.minor, e.completed), (Kind::Marshal, minor::TOO_LARGE, Completion::No), "{e}");
    echo.ping().unwrap();
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}
