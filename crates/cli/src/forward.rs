//! `throughline forward`: bridges or routes between interfaces.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rustix::io::Errno;
use serde_json::{Value, json};
use throughline_forward::{
    BridgeId, BridgeSetup, ConfigFault, ForwardConfig, Forwarder, Node, NodeError, PortId, PortState,
    Refused, Role, RouterSetup,
};

use crate::failure::{CHECK_FILE, Failure, Result};
use crate::output::{self, Table};

/// Bridge or route between interfaces, as a file says
///
/// Interfaces are those of the kernel (AF_PACKET) or TAP; the kernel should have no addresses of its own on them. Runs until
/// ctrl-c, then tells what became of the frames. Needs the right to raw sockets (CAP_NET_RAW) or, for TAP, CAP_NET_ADMIN.
///
/// Exit status: 0 when it was ended, 1 when an interface failed, 2 when the file is wrong.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  throughline forward router.toml
  throughline forward --check router.toml
  throughline forward --for 60 --json bridge.toml

A router between two networks:

  role = \"router\"               # or \"bridge\"

  [[port]]
  interface = \"eth1\"            # or tap = \"tap1\"
  addresses = [\"10.0.1.1/24\", \"fd00:1::1/64\"]

  [[port]]
  interface = \"eth2\"
  addresses = [\"10.0.2.1/24\"]
  labels = true                 # the neighbours there know labels; otherwise they are taken off
  # new_labels = \"random\"       # for what comes without: random, precomputed, or assigned (bridges)
  # flow_labels = true          # that of IPv6 is set where hosts have not
  filters = true                # programs of this machine may have copies of what comes in

  [[route]]
  to = \"0.0.0.0/0\"
  via = \"10.0.2.254\"

  [[routing]]                   # routes that are learned
  protocol = \"rip\"              # rip, ripng, link-state, link-state6
  ports = [\"eth2\"]              # all, if left out
  key = { id = 1, algorithm = \"md5\", secret = \"...\" }

  [flows]                       # what is in front of the long lookups
  index = \"either\"              # never, carried, computed or either
  places = 65536
  lifetime_s = 30
  threaded = true               # routes have indices, which neighbours are told
  area = [\"10.0.0.0/16\"]        # those within; to all others by source hash

  [[group]]                     # multicast
  address = \"239.1.1.1\"
  ports = [\"eth1\", \"eth2\"]

  [multicast]                   # who gives the indices of groups out
  priority = 1

A bridge where there may be others in a circle:

  role = \"bridge\"

  [[port]]
  interface = \"eth1\"
  path_cost = 4                 # 4 if left out, as of 1,000 Mb/s

  [[port]]
  interface = \"eth2\"
  hosts_only = true             # forwards at once; shut while a bridge is heard there

  [bridge.spanning_tree]        # without it there must be no circle
  priority = 32768              # the lowest is the root
  # max_age_s = 20, hello_s = 2, forward_delay_s = 15")]
pub struct Arguments {
    /// What to do, in TOML
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Only say whether the file makes sense
    #[arg(long)]
    check: bool,
    /// End after so many seconds
    #[arg(long = "for", value_name = "SECONDS")]
    seconds: Option<u64>,
    /// One JSON object per number at the end instead of tables; with `--check`, one of what the file says
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    let name = arguments.config.display();
    let text = std::fs::read_to_string(&arguments.config)
        .map_err(|error| Failure::usage(format!("{name} cannot be read")).because(error).next(CHECK_FILE))?;
    let config = ForwardConfig::parse(&text).map_err(|fault| wrong(&name.to_string(), &fault))?;
    if arguments.check {
        match arguments.json {
            true => output::json_line(&summary_json(&name.to_string(), &config)),
            false => output::line(&format!("{name}: {}", summary(&config))),
        }
        return Ok(());
    }
    let mut node = Node::open(&config).map_err(|error| cannot_open(&error))?;
    output::tell(&format!("{}; ctrl-c ends it", summary(&config)));
    for (number, port) in (0..).zip(&config.ports) {
        if let Some(address) = node.filters(PortId(number)) {
            output::tell(&format!("filters of {}: at {address}, by that name", port.link.name()));
        }
    }
    let forwarded = work(&mut node, &config, arguments.seconds);
    if arguments.json {
        print_json(&mut node, &config)
    } else {
        print_tables(&mut node, &config)
    }
    forwarded
}

fn wrong(name: &str, fault: &ConfigFault) -> Failure {
    Failure::usage(format!("{name}: line {}, column {}", fault.line, fault.column))
        .because(&fault.what)
        .next("`throughline forward --help` shows a file that is right")
}

fn cannot_open(error: &NodeError) -> Failure {
    let failure = Failure::new("the forwarder cannot start").because(error);
    let NodeError::Device { source, .. } = error else { return failure };
    match (source.kind(), Errno::from_io_error(source)) {
        (ErrorKind::PermissionDenied, _) => {
            failure.next("run it as root, or with CAP_NET_RAW (for TAP: CAP_NET_ADMIN)")
        }
        // `std` has no name for it.
        (_, Some(Errno::NODEV)) => failure.next("`ip link` lists the interfaces there are"),
        _ => failure,
    }
}

fn summary(config: &ForwardConfig) -> String {
    let names: Vec<&str> = config.ports.iter().map(|port| port.link.name()).collect();
    let names = names.join(", ");
    match &config.role {
        Role::Bridge(BridgeSetup { spanning_tree: None, .. }) => format!("bridge between {names}"),
        Role::Bridge(_) => format!("bridge between {names}, in a spanning tree"),
        Role::Router(RouterSetup { routes, protocols, .. }) => format!(
            "router between {names}, with {} routes of its own and {} routing protocols",
            routes.len(),
            protocols.len()
        ),
    }
}

/// The same for programs.
fn summary_json(name: &str, config: &ForwardConfig) -> Value {
    let ports: Vec<&str> = config.ports.iter().map(|port| port.link.name()).collect();
    match &config.role {
        Role::Bridge(BridgeSetup { spanning_tree, .. }) => {
            json!({"config": name, "role": "bridge", "ports": ports, "spanning_tree": spanning_tree.is_some()})
        }
        Role::Router(RouterSetup { routes, protocols, .. }) => {
            json!({"config": name, "role": "router", "ports": ports, "routes": routes.len(), "protocols": protocols.len()})
        }
    }
}

/// Forwards until it is told to end.
fn work(node: &mut Node, config: &ForwardConfig, seconds: Option<u64>) -> Result {
    let told = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&told);
    ctrlc::set_handler(move || tell.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::new("cannot wait for ctrl-c").because(error))?;
    let progress = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        progress.set_style(style);
    }
    let begun = Instant::now();
    let over = seconds.map(Duration::from_secs);
    let mut shown = begun;
    while !told.load(Ordering::Relaxed) && over.is_none_or(|over| begun.elapsed() < over) {
        let failed = |(port, error): (PortId, std::io::Error)| {
            let name = config.ports[usize::from(port.0)].link.name();
            let failure = Failure::new(format!("{name} has failed"));
            match error.kind() {
                ErrorKind::NotFound => failure
                    .because(error)
                    .next("start it again when the interface is there, or without the port"),
                _ => failure.because(error),
            }
        };
        if !node.poll().map_err(failed)? {
            let rest = over.map_or(Duration::MAX, |over| over.saturating_sub(begun.elapsed()));
            node.wait(rest.min(Duration::from_millis(200)))
                .map_err(|error| Failure::new("waiting for frames failed").because(error))?;
        }
        if shown.elapsed() > Duration::from_secs(1) {
            shown = Instant::now();
            progress.set_message(format!("{} frames forwarded", forwarded(node)));
            progress.tick();
        }
    }
    progress.finish_and_clear();
    Ok(())
}

fn forwarded(node: &mut Node) -> u64 {
    match node.forwarder() {
        Forwarder::Bridge(bridge) => bridge.counts().forwarded + bridge.counts().flooded,
        Forwarder::Router(router) => router.counts().forwarded,
    }
}

/// A number: what it is of, what is counted, and how many.
type Count = (&'static str, &'static str, u64);

/// What became of the frames.
fn counts(node: &mut Node) -> Vec<Count> {
    match node.forwarder() {
        Forwarder::Bridge(bridge) => {
            let counts = bridge.counts();
            let mut all = vec![
                ("arrived", "frames", counts.arrived),
                ("forwarded", "frames", counts.forwarded),
                ("flooded", "frames", counts.flooded),
                ("near", "frames", counts.near),
                ("storm", "frames", counts.storm),
                ("blocked", "frames", counts.blocked),
                ("refused", "frames", counts.refused),
                ("addresses", "addresses", bridge.known() as u64),
                ("addresses not learnt", "addresses", counts.full),
                ("addresses that moved", "addresses", counts.moved),
                ("labels given", "labels", counts.labelled),
                ("labels taken off", "labels", counts.unlabelled),
                ("labels not believed", "labels", counts.distrusted),
            ];
            if let Some(tree) = bridge.spanning_tree() {
                let counts = tree.counts();
                all.extend([
                    ("heard of the tree", "messages", counts.heard),
                    ("said of the tree", "messages", counts.said),
                    ("refused of the tree", "messages", counts.refused),
                    ("changes of the tree", "changes", counts.changes),
                ]);
            }
            all
        }
        Forwarder::Router(router) => {
            let counts = router.counts();
            let mut all = vec![
                ("arrived", "frames", counts.arrived),
                ("forwarded", "packets", counts.forwarded),
                ("for the router", "frames", counts.local),
                ("said by the router", "packets", counts.said),
                ("by threaded index", "lookups", counts.threaded),
                ("useless indices", "packets", router.thread_counts().map_or(0, |counts| counts.refused)),
                ("useless indices of groups", "packets", counts.group_misses),
                ("refused messages about groups", "messages", counts.group_refusals),
                ("labels given", "labels", counts.labelled),
                ("labels taken off", "labels", counts.unlabelled),
                ("labels not believed", "labels", counts.distrusted),
                ("routes", "routes", router.route_count() as u64),
            ];
            let refused = Refused::ALL.iter().map(|why| (why.text(), "packets", counts.refused(*why)));
            all.extend(refused.filter(|(_, _, count)| *count > 0));
            all
        }
    }
}

/// Of a port: received, sent, dropped for want of room, flows found, flows looked up.
fn port_counts(node: &mut Node, port: PortId) -> [Count; 5] {
    let (device, dropped) = node.device_counts(port);
    let flows = match node.forwarder() {
        Forwarder::Bridge(bridge) => bridge.flow_counts(port),
        Forwarder::Router(router) => router.flow_counts(port),
    };
    [
        ("received", "frames", device.received),
        ("sent", "frames", device.sent),
        ("lost", "frames", dropped + device.overrun + device.unsent + device.oversized + device.malformed),
        ("flows found", "lookups", flows.hits),
        ("flows looked up", "lookups", flows.misses),
    ]
}

/// What a port may do, and who the root is, in a spanning tree.
fn tree_state(node: &mut Node, port: PortId) -> Option<(PortState, BridgeId)> {
    match node.forwarder() {
        Forwarder::Bridge(bridge) => bridge.spanning_tree().map(|tree| (tree.state(port), tree.root())),
        Forwarder::Router(_) => None,
    }
}

fn print_tables(node: &mut Node, config: &ForwardConfig) {
    let mut table = Table::new(["frames", ">"]);
    counts(node).into_iter().for_each(|(name, _, count)| table.row([name.to_owned(), count.to_string()]));
    table.print();
    output::line("");
    let mut table = Table::new(["port", ">received", ">sent", ">lost", ">flows found", ">looked up"]);
    for (number, port) in (0..).zip(&config.ports) {
        let [a, b, c, d, e] = port_counts(node, PortId(number)).map(|(_, _, count)| count.to_string());
        table.row([port.link.name().to_owned(), a, b, c, d, e]);
    }
    table.print();
    let Some((_, root)) = tree_state(node, PortId(0)) else { return };
    output::line("");
    let mut table = Table::new(["port", "in the spanning tree"]);
    for (number, port) in (0..).zip(&config.ports) {
        if let Some((state, _)) = tree_state(node, PortId(number)) {
            table.row([port.link.name().to_owned(), state.to_string()]);
        }
    }
    table.print();
    output::line(&format!("The root is {root}."));
}

fn print_json(node: &mut Node, config: &ForwardConfig) {
    for (name, unit, count) in counts(node) {
        output::json_line(&json!({"metric": name, "unit": unit, "value": count}));
    }
    for (number, port) in (0..).zip(&config.ports) {
        for (name, unit, count) in port_counts(node, PortId(number)) {
            let port = port.link.name();
            output::json_line(&json!({"port": port, "metric": name, "unit": unit, "value": count}));
        }
        if let Some((state, root)) = tree_state(node, PortId(number)) {
            let (port, state, root) = (port.link.name(), state.to_string(), root.to_string());
            output::json_line(&json!({"port": port, "tree": state, "root": root}));
        }
    }
}
