//! A host in this process, at the other end of a TAP interface: it answers ping, echoes datagrams at port 7, and shows what it has
//! counted as a web page.
//!
//! ```sh
//! cargo build --release -p throughline-stack --example host
//! sudo target/release/examples/host tap-host 10.7.0.2/24 &
//! sudo ip address add 10.7.0.1/24 dev tap-host
//! sudo ip link set tap-host up
//! ping -c 3 10.7.0.2
//! curl http://10.7.0.2/
//! ```
//!
//! A third argument is the architecture: `layered` or `integrated` (the default).

use std::{collections::HashMap, time::Duration};

use throughline_stack::{
    Architecture, Config, Driver, Graph, Host, ListenerId, Participants, PathId, StreamError, Tap,
    smoltcp::wire::{EthernetAddress, IpCidr},
};

const PROTOCOLS: &str = "udp > ipv4 > eth; tcp > ipv4; icmp > ipv4; arp > eth";
/// Nobody asks for more.
const LONGEST_QUESTION: usize = 8192;

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, address, architecture) = match &arguments[..] {
        [name, address] => (name, address, Architecture::Integrated),
        [name, address, how] if how == "integrated" => (name, address, Architecture::Integrated),
        [name, address, how] if how == "layered" => (name, address, Architecture::Layered),
        _ => return Err("expected INTERFACE ADDRESS/PREFIX [layered|integrated]".into()),
    };
    let address: IpCidr = address.parse().map_err(|()| format!("`{address}` is no address with a prefix"))?;
    let device =
        Tap::open(name, EthernetAddress([2, 0, 0, 0, 0, 1])).map_err(|why| format!("{name}: {why}"))?;
    let host = Host::at(&device, address);
    let graph = Graph::compose(PROTOCOLS, host, Config { architecture, ..Config::default() })?;
    let mut driver = Driver::new(graph, device);
    driver.graph.enable("udp", Participants::at(7))?;
    let web = driver.graph.enable("tcp", Participants::at(80))?;
    let mut visits = HashMap::new();
    loop {
        driver.poll()?;
        while let Some(path) = driver.graph.ready() {
            while let Some(message) = driver.graph.receive(path) {
                // Whoever has no room for an answer does without, as with every datagram.
                let _ = driver.graph.send(path, message);
            }
        }
        serve(&mut driver, web, &mut visits);
        driver.flush()?;
        driver.wait(Duration::from_secs(1))?;
    }
}

/// What was asked so far, or what is still to be answered.
enum Visit {
    Asking(Vec<u8>),
    Answering(Vec<u8>),
}

/// Goes on with each visitor of the web page.
fn serve(driver: &mut Driver<Tap>, web: ListenerId, visits: &mut HashMap<PathId, Visit>) {
    while let Some(path) = driver.graph.accepted(web) {
        visits.insert(path, Visit::Asking(Vec::new()));
    }
    visits.retain(|path, visit| {
        let goes_on = go_on(driver, *path, visit).unwrap_or(false);
        if !goes_on {
            driver.graph.close(*path);
        }
        goes_on
    });
}

/// Whether a visit is not over yet.
fn go_on(driver: &mut Driver<Tap>, path: PathId, visit: &mut Visit) -> Result<bool, StreamError> {
    if let Visit::Asking(asked) = visit {
        let mut place = [0; 1024];
        let len = driver.graph.read(path, &mut place)?;
        asked.extend_from_slice(&place[..len]);
        if !asked.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(asked.len() < LONGEST_QUESTION);
        }
        let body = driver.metrics(&[]).to_string();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        *visit = Visit::Answering((head + &body).into());
    }
    let Visit::Answering(left) = visit else { return Ok(true) };
    let written = driver.graph.write(path, left)?;
    left.drain(..written);
    Ok(!left.is_empty())
}
