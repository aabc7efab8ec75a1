//! The priority of a call, from its caller to the servant and on.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::sync::{Arc, Mutex};

use raw::{Asked, BadServer, GRACE, Probe, ProbeRef, Scene, client, eventually, seen_by, server_with};
use throughline::rt::{Operation, SystemException};
use throughline::{AsyncCall, Orb, Priority, PriorityCounts, PriorityLimits, block_on, priority};
use throughline_giop::request::{RequestHeader, Response};
use throughline_giop::{ServiceContext, service_context};

const RUN: Operation = Operation::new("run", 10);

fn prio(n: i16) -> Priority {
    Priority::new(n).unwrap()
}

/// What a servant has found, call by call.
type Seen = Arc<Mutex<Vec<Option<i16>>>>;

fn note(seen: &Seen) {
    seen.lock().unwrap().push(priority::current().map(Priority::get));
}

/// An object that notes the priorities of its calls.
fn noting() -> (Probe, Seen) {
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    (Probe::running(move || note(&noted)), seen)
}

fn take(seen: &Seen) -> Vec<Option<i16>> {
    std::mem::take(&mut seen.lock().unwrap())
}

fn begin(probe: &ProbeRef) -> throughline::Begun<'_, (), SystemException> {
    probe.0.begin(RUN, |_| Ok(()), |_| Ok(()), None)
}

/// Every form of a call.
fn call(probe: &ProbeRef) {
    probe.run().unwrap();
    begin(probe).wait().unwrap();
    block_on(probe.run_async()).unwrap();
    block_on(probe.0.call_async::<_, SystemException, _>(RUN, |_| Ok(()), |_| Ok(())).begin()).unwrap();
    probe.0.send_oneway(RUN, |_| Ok(())).unwrap();
}

const FORMS: usize = 5;

/// Calls in every form, by reference and by thread. `arrives` says what arrives of 1000.
fn arrives_at(server: &Orb, client: &Orb, arrives: i16) {
    let (probe, seen) = noting();
    let probe = seen_by(client, &server.root().activate(probe).unwrap());
    let by = |priority| ProbeRef(probe.0.with_priority(prio(priority)));
    let expect = |what: Option<i16>| {
        eventually("all have run", || seen.lock().unwrap().len() == FORMS);
        assert_eq!(take(&seen), [what; FORMS]);
    };
    call(&probe);
    // The lowest that the native protocol knows is none.
    expect(None);
    call(&by(7));
    expect(Some(7));
    priority::during(prio(1000), || call(&probe));
    expect(Some(arrives));
    // The reference's own counts for more than the thread's.
    priority::during(prio(9), || call(&by(1000)));
    expect(Some(arrives));
    call(&probe);
    expect(None);
    // Set when the call is made, not when its future is polled.
    let later = priority::during(prio(5), || probe.run_async());
    block_on(later).unwrap();
    assert_eq!(take(&seen), [Some(5)]);
}

fn over(address: &str, arrives: i16) {
    let server = server_with(|c| c.listen = vec![address.parse().unwrap()]);
    arrives_at(&server, &client(), arrives);
    server.shutdown(GRACE);
}

#[test]
fn by_tcp() {
    over("127.0.0.1:0", 1000);
}

#[test]
fn by_unix_sockets() {
    let path = std::env::temp_dir().join(format!("tl-priorities-{}", std::process::id()));
    over(&format!("unix:{}", path.display()), 1000);
}

#[test]
fn by_shared_memory() {
    over("shm:", 992);
}

#[test]
fn by_udp() {
    over("udp://127.0.0.1:0", 992);
}

#[test]
fn within_the_process() {
    let server = server_with(|_| {});
    arrives_at(&server, &server, 1000);
    server.shutdown(GRACE);
}

/// What a servant calls has the priority of the call that it carries out.
#[test]
fn goes_on_with_what_a_servant_calls() {
    for address in ["127.0.0.1:0", "shm:"] {
        let [first, second] = [(); 2].map(|()| server_with(|c| c.listen = vec![address.parse().unwrap()]));
        let (last, seen) = noting();
        let last = seen_by(&first, &second.root().activate(last).unwrap());
        let between = Probe::running(move || last.run().unwrap());
        let client = client();
        let between = seen_by(&client, &first.root().activate(between).unwrap());
        ProbeRef(between.0.with_priority(prio(20))).run().unwrap();
        between.run().unwrap();
        assert_eq!(take(&seen), [Some(20), None], "{address}");
        [first, second, client].iter().for_each(|orb| orb.shutdown(GRACE));
    }
}

#[test]
fn clients_are_no_more_urgent_than_they_may_be() {
    let limits = PriorityLimits { network: prio(100), machine: prio(200) };
    for (address, limit, counted) in
        [("127.0.0.1:0", 100, 2), ("udp://127.0.0.1:0", 100, 2), ("shm:", 200, 1), ("unix:", 200, 1)]
    {
        let path = std::env::temp_dir().join(format!("tl-limits-{}", std::process::id()));
        let address =
            if address == "unix:" { format!("unix:{}", path.display()) } else { address.to_owned() };
        let server = server_with(|c| {
            (c.listen, c.priority_limits) = (vec![address.parse().unwrap()], limits);
        });
        let (probe, seen) = noting();
        let client = client();
        let probe = seen_by(&client, &server.root().activate(probe).unwrap());
        for priority in [50, 160, 32767] {
            ProbeRef(probe.0.with_priority(prio(priority))).run().unwrap();
        }
        let expected = [50, 160, 32767].map(|said| said.min(limit));
        let seen = take(&seen).into_iter().flatten();
        for (seen, expected) in seen.zip(expected) {
            // By the native protocol the lowest of those that cannot be told from it.
            assert!(
                seen <= expected && seen >= expected - expected / 17,
                "{address}: {seen}, not {expected}"
            );
        }
        assert_eq!(server.priority_counts(), PriorityCounts { unreadable: 0, limited: counted }, "{address}");
        [server, client].iter().for_each(|orb| orb.shutdown(GRACE));
    }
}

/// The request as a server finds it on the wire.
#[test]
fn is_a_service_context_of_four_octets() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&heard);
    let server = BadServer::new(move |_, mut wire| {
        while let Some((header, message)) = wire.other() {
            let request = RequestHeader::read(&header, &message).unwrap();
            let contexts: Vec<_> = request.service_contexts.iter().map(|c| (c.id, c.data.to_vec())).collect();
            noted.lock().unwrap().push(contexts);
            if request.response != Response::None {
                wire.send(&raw::reply(request.request_id, |_| {}));
            }
        }
    });
    let client = client();
    let probe = server.reference(&client);
    // The first request of a connection tells the code sets, too.
    ProbeRef(probe.0.with_priority(prio(0x1234))).ping().unwrap();
    probe.ping().unwrap();
    block_on(ProbeRef(probe.0.with_priority(Priority::LOWEST)).ping_async()).unwrap();
    priority::during(Priority::HIGHEST, || probe.ping()).unwrap();
    client.shutdown(GRACE);
    let context = |high, low| {
        let data = if cfg!(target_endian = "little") { [1, 0, low, high] } else { [0, 0, high, low] };
        vec![(10, data.to_vec())]
    };
    let mut heard = heard.lock().unwrap();
    assert_eq!(heard[0].remove(0).0, service_context::CODE_SETS);
    assert_eq!(*heard, [context(0x12, 0x34), vec![], context(0, 0), context(0x7f, 0xff)]);
}

/// A client that says what is no priority is served as one that says nothing.
#[test]
fn nonsense_is_counted_and_left_aside() {
    let (probe, seen) = noting();
    let scene = Scene::of(probe, |_| {});
    let mut wire = scene.wire();
    let nonsense: [&[u8]; 7] =
        [&[], &[7], &[0], &[2, 0, 0, 1], &[1, 0, 0], &[0, 0, 0xff, 0xff], &[1, 0, 0, 0x80]];
    let good: [(&[u8], i16); 3] =
        [(&[0, 0, 0, 5], 5), (&[1, 0, 5, 0], 5), (&[0, 9, 0x7f, 0xff, 1, 2, 3], 32767)];
    let mut ask = |id, data| {
        let context = ServiceContext { id: service_context::RT_CORBA_PRIORITY, data };
        // Before it one that nobody knows, behind it one that says otherwise: the first counts.
        let unknown = ServiceContext { id: 0x544c_0001, data: b"?" };
        let second = ServiceContext { data: &[0, 0, 0, 1], ..context };
        let asked = Asked { contexts: &[unknown, context, second], ..Asked::new(&scene.key, "run", id) };
        wire.send(&asked.bytes(|_| {}));
        assert_eq!(wire.reply().unwrap().status, throughline_giop::reply::ReplyStatus::NoException);
    };
    (1..).zip(nonsense).for_each(|(id, data)| ask(id, data));
    assert_eq!(take(&seen), [None; 7]);
    (10..).zip(good).for_each(|(id, (data, _))| ask(id, data));
    assert_eq!(take(&seen), good.map(|(_, expected)| Some(expected)));
    assert_eq!(scene.server.priority_counts(), PriorityCounts { unreadable: 7, limited: 0 });
    scene.assert_alive();
}

#[test]
fn ends_with_what_has_it() {
    let caught = std::panic::catch_unwind(|| {
        priority::during(prio(3), || priority::during(prio(4), || panic!("as asked")));
    });
    assert!(caught.is_err());
    assert_eq!(priority::current(), None);
    priority::during(prio(3), || {
        priority::during(prio(4), || assert_eq!(priority::current(), Some(prio(4))));
        assert_eq!(priority::current(), Some(prio(3)));
    });
    assert_eq!((Priority::new(-1), Priority::new(0)), (None, Some(Priority::LOWEST)));
}
