//! What a cache of flows in front of the routes saves, and how many packets a forwarder carries.

mod network;
pub(crate) mod probe;
mod wire;

use std::hint::black_box;
use std::time::{Duration, Instant};

use throughline_forward::{FlowCache, FlowCacheConfig, ForwardConfig, HEADROOM, Node};
use throughline_stack::{Device, Message, PairConfig, Pool, pair, smoltcp::time};

pub(crate) use self::network::failed;
use self::network::{Network, Scheme, frame, host};
use self::wire::{Between, Carried, carry};
use crate::table::{figure, grouped, targets};
use crate::timing::{Work, in_turns, median};
use crate::{Experiment, LabError, Options, Row, Sink, Table, callgrind};

/// See the module.
pub(crate) struct Forwarding;

/// Of the paper, and of today's Internet.
const TABLES: [u32; 2] = [100, 1_000_000];
/// Flows under way.
const FLOWS: u32 = 10_000;
/// A cache hit takes at most one so manieth of a longest-prefix match with a million routes.
const FASTER: f64 = 2.0;
/// Packets per second on one processor between devices in memory.
const RATE: f64 = 1e6;
/// The paper: with a cache, forwarding takes 45 % less time.
const PAPER_SHARE: f64 = 0.55;

impl Experiment for Forwarding {
    fn name(&self) -> &'static str {
        "forwarding"
    }

    fn purpose(&self) -> &'static str {
        "what a cache of flows in front of the routes saves, and how many packets a forwarder carries"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["HDR-1"]
    }

    fn uses(&self) -> &'static [&'static str] {
        &["--seed"]
    }

    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        let tables = if options.quick { &[100, 10_000][..] } else { &TABLES[..] };
        sink.ahead(3 * tables.len() as u64 + 2);
        for routes in tables {
            sink.step(&format!("{} routes", grouped((*routes).into())));
            times(*routes, options, sink)?;
        }
        for routes in tables {
            sink.step(&format!("looking up {} routes", grouped((*routes).into())));
            lookups(*routes, options, sink)?;
        }
        match callgrind::missing() {
            Some(missing) => sink.note(missing),
            None => {
                for routes in tables.iter().map(|routes| (*routes).min(10_000)) {
                    sink.step(&format!("counting instructions with {} routes", grouped(routes.into())));
                    instructions(routes, sink)?;
                }
            }
        }
        sink.step("devices in memory");
        memory(options, sink)?;
        sink.step("veth pairs");
        wires(options, sink)
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let of = |metric: &'static str| rows.iter().filter(move |row| row.text("metric") == metric);
        let mut all = vec![
            Table::pivot(
                "Nanoseconds from frame to frame, by routes and scheme",
                of("time"),
                ("scheme", "routes"),
            )
            .remark("The paper: 45 % less with a cache than without (100 routes, 16 interfaces)."),
            Table::pivot("Nanoseconds of the lookup alone", of("lookup"), ("scheme", "routes")),
            Table::pivot("Instructions from frame to frame", of("instructions"), ("scheme", "routes")),
        ];
        let mut carried = Table::new(
            "Packets per second",
            ["between", "forwarder", "as", "sent", "forwarded", "of those sent, %"],
        );
        for row in of("rate") {
            let value = |key| row.number(key).map(figure).unwrap_or_default();
            carried.line([
                row.text("devices").to_owned(),
                row.text("forwarder").to_owned(),
                row.text("role").to_owned(),
                value("sent_per_s"),
                figure(row.value()),
                value("share"),
            ]);
        }
        all.push(carried);
        all.push(targets(rows, |row| match row.text("metric") {
            "rate" => "packets per second in memory".to_owned(),
            "rate_over_kernel" => format!("{}: rate over the kernel's", row.text("role")),
            metric => format!("{metric}, {} routes", row.number("routes").map(figure).unwrap_or_default()),
        }));
        all
    }
}

fn rounds(options: &Options) -> (usize, Duration) {
    if options.quick { (5, Duration::from_millis(5)) } else { (31, Duration::from_millis(20)) }
}

/// The whole way of a packet through the router.
fn times(routes: u32, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let network = |scheme| Network::new(scheme, routes, FLOWS, options.seed);
    let mut networks = Scheme::ALL.map(network).into_iter().collect::<Result<Vec<_>, _>>()?;
    let (rounds, batch) = rounds(options);
    let mut works: Vec<Work<'_>> = networks
        .iter_mut()
        .map(|network| Box::new(move |count: u64| (0..count).for_each(|_| network.forward())) as Work<'_>)
        .collect();
    let times = in_turns(&mut works, rounds, batch);
    drop(works);
    for ((scheme, network), time) in Scheme::ALL.into_iter().zip(&networks).zip(&times) {
        let (forwarded, hits) = network.counts();
        let row = Row::new("forwarding", "time", "ns", time.median)
            .claim("HDR-1")
            .with("scheme", scheme.name())
            .with("routes", routes)
            .with("flows", FLOWS)
            .with("hit_share", hits as f64 / forwarded as f64);
        sink.row(row)?;
    }
    let share = Row::new("forwarding", "time_share", "ratio", times[2].median / times[0].median);
    sink.row(share.claim("HDR-1").paper(PAPER_SHARE).with("scheme", "source-hash").with("routes", routes))
}

/// Only the lookup: the longest prefix, and the cache by either hash.
fn lookups(routes: u32, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let mut network = Network::new(Scheme::Carried, routes, FLOWS, options.seed)?;
    let destinations = network.destinations().to_vec();
    let key = |address: &std::net::IpAddr| match address {
        std::net::IpAddr::V4(address) => [0, address.to_bits().into()],
        std::net::IpAddr::V6(address) => [(address.to_bits() >> 64) as u64, address.to_bits() as u64],
    };
    let now = time::Instant::from_secs(1);
    let mut cache = FlowCache::<[u64; 2], [u16; 4]>::new(FlowCacheConfig::default())?;
    // What the packet carries, and what is to be found.
    let packets: Vec<(u32, [u64; 2])> = destinations
        .iter()
        .zip(1_u32..)
        .map(|(destination, n)| (n.wrapping_mul(0x9e37_79b9) >> 8, key(destination)))
        .collect();
    for (hash, key) in &packets {
        cache.put(*hash, *key, [1; 4], now);
    }
    let known: Vec<(u32, [u64; 2])> =
        packets.iter().copied().filter(|(hash, key)| cache.find(*hash, key, now).is_some()).collect();
    let router = network.router();
    let (rounds, batch) = rounds(options);
    let times = in_turns(
        &mut [
            cycle(&destinations, |destination| {
                black_box(router.route_to(*destination));
            }),
            cycle(&known, |(hash, key)| {
                black_box(cache.find(*hash, key, now));
            }),
        ],
        rounds,
        batch,
    );
    let row = |scheme: &str, value| {
        Row::new("forwarding", "lookup", "ns", value).with("scheme", scheme).with("routes", routes)
    };
    sink.row(row("longest-prefix", times[0].median))?;
    sink.row(row("source-hash", times[1].median))?;
    let faster = Row::new("forwarding", "lookup_gain", "ratio", times[0].median / times[1].median);
    let faster = faster.with("routes", routes);
    sink.row(if routes == TABLES[1] { faster.at_least(FASTER) } else { faster })
}

/// Work on one thing after the other, and again from the first.
fn cycle<'a, T>(things: &'a [T], mut work: impl FnMut(&T) + 'a) -> Work<'a> {
    let mut next = 0;
    Box::new(move |count| {
        for _ in 0..count {
            work(&things[next]);
            next = if next + 1 == things.len() { 0 } else { next + 1 };
        }
    })
}

fn instructions(routes: u32, sink: &mut dyn Sink) -> Result<(), LabError> {
    let counts = callgrind::run("forwarding-probe", &[routes.to_string()])?;
    for (scheme, counts) in &counts {
        let each = counts.instructions / probe::PACKETS as f64;
        let row = Row::new("forwarding", "instructions", "instructions", each);
        sink.row(row.with("scheme", &scheme[..]).with("routes", routes))?;
    }
    Ok(())
}

/// Frames through a node between two devices in memory, all on this thread.
fn memory(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let mut rates = Vec::new();
    for _ in 0..if options.quick { 3 } else { 9 } {
        rates.push(memory_once(if options.quick { 50_000 } else { 500_000 })?);
    }
    let row = Row::new("forwarding", "rate", "packets/s", median(&mut rates)).at_least(RATE);
    sink.row(row.with("devices", "memory").with("forwarder", "throughline").with("role", "router"))
}

/// Frames in flight: as many as a device hands over at a time.
const BATCH: usize = 64;

fn memory_once(frames: u32) -> Result<f64, LabError> {
    let ends = |n: u16| {
        pair(&PairConfig { hardware: [host(n, 2).hardware, host(n, 1).hardware], ..PairConfig::default() })
    };
    let ((mut left, near), (mut right, far)) = (ends(0), ends(1));
    let config = "role = \"router\"\nport = [{ interface = \"0\", addresses = [\"10.0.0.1/24\"] }, \
                  { interface = \"1\", addresses = [\"10.0.1.1/24\"] }]";
    let config = ForwardConfig::parse(config).map_err(failed)?;
    let mut node = Node::new(&config, vec![Box::new(near), Box::new(far)]).map_err(failed)?;
    let mut pool = Pool::new(HEADROOM + 1500 + 18 + 64, HEADROOM, 4096);
    let bytes = frame([10, 0, 1, 2].into());
    let send = |left: &mut throughline_stack::End, pool: &mut Pool| -> Result<(), LabError> {
        let mut message = pool.take();
        message.append(&bytes).map_err(failed)?;
        left.send(message, pool).map_err(|(_, error)| LabError::Io(error))
    };
    // The host there says who it is.
    let mut hello = vec![0xff; 6];
    hello.extend(host(1, 2).hardware.0);
    hello.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    hello.extend(host(1, 2).hardware.0);
    hello.extend([10, 0, 1, 2, 0, 0, 0, 0, 0, 0, 10, 0, 1, 1]);
    right.send(Message::copied(HEADROOM, &hello), &mut pool).map_err(|(_, error)| error)?;
    node.poll().map_err(|(_, error)| error)?;
    while let Some(answer) = right.receive(&mut pool)? {
        pool.give(answer);
    }
    let begun = Instant::now();
    let mut came = 0;
    while came < frames {
        for _ in 0..BATCH {
            send(&mut left, &mut pool)?;
        }
        node.poll().map_err(|(_, error)| error)?;
        while let Some(frame) = right.receive(&mut pool)? {
            came += 1;
            pool.give(frame);
        }
    }
    Ok(f64::from(came) / begun.elapsed().as_secs_f64())
}

fn wires(options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
    let (rounds, time) =
        if options.quick { (1, Duration::from_millis(200)) } else { (5, Duration::from_millis(1000)) };
    let mut rates = vec![Vec::new(); Between::ALL.len()];
    let mut sent_rates = vec![Vec::new(); Between::ALL.len()];
    for _ in 0..rounds {
        for (n, between) in Between::ALL.into_iter().enumerate() {
            let Carried { sent, arrived, seconds } = match carry(between, time) {
                Ok(carried) => carried?,
                Err(missing) => {
                    sink.note(&missing);
                    return Ok(());
                }
            };
            rates[n].push(arrived as f64 / seconds);
            sent_rates[n].push(sent as f64 / seconds);
        }
    }
    let rates: Vec<f64> = rates.iter_mut().map(|rates| median(rates)).collect();
    let sent: Vec<f64> = sent_rates.iter_mut().map(|rates| median(rates)).collect();
    for ((between, rate), sent) in Between::ALL.into_iter().zip(&rates).zip(&sent) {
        let (forwarder, role) = between.names();
        let row = Row::new("forwarding", "rate", "packets/s", *rate)
            .with("devices", "veth")
            .with("forwarder", forwarder)
            .with("role", role)
            .with("sent_per_s", *sent)
            .with("share", 100.0 * rate / sent);
        sink.row(row)?;
    }
    for (role, at) in [("bridge", 0), ("router", 2)] {
        let over = Row::new("forwarding", "rate_over_kernel", "ratio", rates[at + 1] / rates[at]);
        sink.row(over.with("role", role).at_least(1.0))?;
    }
    Ok(())
}
