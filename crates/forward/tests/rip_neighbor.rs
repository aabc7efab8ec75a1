//! FRR's ripd is our neighbour: each in a network namespace of its own, with a pair of veth devices between them.

use std::{
    fs,
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use throughline_forward::routing::{
    Action, DistanceVector, DistanceVectorConfig, Heard, Interface, Learned, Reason, Routing, Timers,
    authentication::{Algorithm, Authentication, Key, Password},
    rip::{RIP_PORT, Version},
};
use throughline_forward::threaded::message::INDEX_PORT;
use throughline_stack::smoltcp::{
    time::{Duration as Span, Instant as Clock},
    wire::{IpAddress, IpCidr},
};

const DAEMONS: &str = "/usr/lib/frr";
const OURS: Ipv4Addr = Ipv4Addr::new(10, 200, 0, 1);
const THEIRS: Ipv4Addr = Ipv4Addr::new(10, 200, 0, 2);
const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 9);
const PATIENCE: Duration = Duration::from_secs(30);
/// Set in the process that is in our namespace.
const INSIDE: &str = "THROUGHLINE_RIP_INSIDE";

/// Runs this test once more, in a namespace of its own.
fn inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if !Path::new(DAEMONS).join("ripd").exists() {
        eprintln!("SKIPPED: no ripd here (Debian package `frr`)");
        return false;
    }
    if !Command::new("unshare").args(["-n", "true"]).output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no network namespaces (root has them)");
        return false;
    }
    let again = Command::new("unshare")
        .arg("-n")
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stdout) + String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    false
}

/// Processes of FRR in their namespace, which end with this.
struct Frr {
    processes: Vec<Child>,
    folder: PathBuf,
}

impl Drop for Frr {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn run(program: &str, arguments: &str) -> String {
    let output = Command::new(program).args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{program} {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Frr {
    /// A namespace at the other end of a link, with a network behind it, and zebra and ripd in it.
    fn start(test: &str, authentication: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("throughline-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // The daemons are user frr.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let sleeper = Command::new("unshare").args(["-n", "sleep", "300"]).spawn().unwrap();
        let mut frr = Self { processes: vec![sleeper], folder };
        let ours = fs::read_link("/proc/self/ns/net").unwrap();
        let theirs = format!("/proc/{}/ns/net", frr.processes[0].id());
        wait("a namespace", || fs::read_link(&theirs).is_ok_and(|theirs| theirs != ours).then_some(()));
        run("ip", "link set lo up");
        run("ip", &format!("link add v0 type veth peer name v1 netns {}", frr.processes[0].id()));
        run("ip", &format!("address add {OURS}/24 dev v0"));
        run("ip", "link set v0 up");
        run("ip", "route add 224.0.0.0/4 dev v0");
        frr.inside("ip", "link add d0 type veth peer name d1");
        for device in ["lo", "d0", "d1", "v1"] {
            frr.inside("ip", &format!("link set {device} up"));
        }
        frr.inside("ip", &format!("address add {THEIRS}/24 dev v1"));
        frr.inside("ip", "address add 10.50.0.1/24 dev d0");
        frr.write("zebra", "");
        let rip = format!(
            "router rip\n timers basic 5 15 5\n network v1\n network d0\n passive-interface d0\n\
             interface v1\n ip rip send version 2\n ip rip receive version 2\n{authentication}\n"
        );
        frr.write("ripd", &rip);
        frr.daemon("zebra");
        wait("zebra", || frr.folder.join("zserv.api").exists().then_some(()));
        frr.daemon("ripd");
        frr
    }

    fn write(&self, daemon: &str, configuration: &str) {
        fs::write(self.folder.join(format!("{daemon}.conf")), configuration).unwrap();
    }

    fn daemon(&mut self, daemon: &str) {
        let path = |name: &str| self.folder.join(name).display().to_string();
        let log = fs::File::create(path(&format!("{daemon}.log"))).unwrap();
        let child = Command::new("nsenter")
            .args(["-t", &self.processes[0].id().to_string(), "-n"])
            .arg(Path::new(DAEMONS).join(daemon))
            .args(["-f", &path(&format!("{daemon}.conf")), "-i", &path(&format!("{daemon}.pid"))])
            .args(["-z", &path("zserv.api"), "--vty_socket", &path(""), "-P", "0"])
            .args(["--log", "stdout"])
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        self.processes.push(child);
    }

    fn inside(&self, program: &str, arguments: &str) -> String {
        run("nsenter", &format!("-t {} -n {program} {arguments}", self.processes[0].id()))
    }

    /// What ripd shows.
    fn show(&self, what: &str) -> String {
        let output = Command::new("vtysh")
            .args(["--vty_socket", &self.folder.display().to_string(), "-d", "ripd", "-c", what])
            .output()
            .unwrap();
        (String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr)).into_owned()
    }

    fn logs(&self) -> String {
        let log = |name| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        format!("{}\n{}\n{}", log("zebra.log"), log("ripd.log"), self.show("show ip rip status"))
    }
}

fn wait<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{what} did not come");
        sleep(Duration::from_millis(20));
    }
}

/// Our side, by the kernel's sockets.
struct Ours {
    routing: DistanceVector,
    sockets: [UdpSocket; 2],
    begun: Instant,
    routes: Vec<Learned>,
}

impl Ours {
    fn new(authentication: Authentication) -> Self {
        let interface = Interface { authentication, ..Interface::new(IpCidr::new(OURS.into(), 24)) };
        let timers = Timers {
            update: Span::from_secs(3),
            timeout: Span::from_secs(12),
            garbage: Span::from_secs(6),
            ..Timers::default()
        };
        let config =
            DistanceVectorConfig { timers, ..DistanceVectorConfig::new(Version::Rip2, 1, vec![interface]) };
        let sockets = [RIP_PORT, INDEX_PORT].map(|port| {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).unwrap();
            socket.join_multicast_v4(&GROUP, &OURS).unwrap();
            socket.set_multicast_loop_v4(false).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        });
        Self { routing: DistanceVector::new(config), sockets, begun: Instant::now(), routes: Vec::new() }
    }

    fn now(&self) -> Clock {
        Clock::ZERO + Span::from_micros(self.begun.elapsed().as_micros() as u64)
    }

    fn turn(&mut self) {
        let now = self.now();
        let mut bytes = [0; 2048];
        for (socket, port) in self.sockets.iter().zip([RIP_PORT, INDEX_PORT]) {
            loop {
                match socket.recv_from(&mut bytes) {
                    Ok((len, SocketAddr::V4(from))) => {
                        let from_port = from.port();
                        let from: IpAddress = (*from.ip()).into();
                        let heard = Heard { interface: 0, from, from_port, port, hop_limit: 1 };
                        self.routing.receive(&heard, &bytes[..len], now);
                    }
                    Ok((_, from)) => panic!("IPv6 from {from}"),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // Who has no socket for our unicast messages says so, which is heard here.
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
        let mut actions = Vec::new();
        self.routing.poll(now, &mut actions);
        for action in actions {
            match action {
                Action::Use(learned) => {
                    self.routes.retain(|known| known.prefix != learned.prefix);
                    self.routes.push(learned);
                    self.routing.assigned(learned.prefix, self.routes.len() as u32, now);
                }
                Action::Forget(prefix) => self.routes.retain(|known| known.prefix != prefix),
                Action::Send { to, from_port, port, bytes, .. } => {
                    let IpAddress::Ipv4(to) = to else { panic!("IPv4 only") };
                    let socket = &self.sockets[usize::from(from_port == INDEX_PORT)];
                    socket.send_to(&bytes, SocketAddrV4::new(to, port)).unwrap();
                }
            }
        }
    }

    fn route(&self, prefix: IpCidr) -> Option<Learned> {
        self.routes.iter().find(|known| known.prefix == prefix).copied()
    }
}

fn prefix(second: u8, length: u8) -> IpCidr {
    IpCidr::new(IpAddress::v4(10, second, 0, 0), length)
}

fn neighbors(test: &str, configuration: &str, authentication: Authentication) {
    if !inside(test) {
        return;
    }
    let frr = Frr::start(test, configuration);
    let mut ours = Ours::new(authentication);
    ours.routing.originate(prefix(200, 24), 1, ours.now());
    ours.routing.originate(prefix(60, 16), 1, ours.now());
    ours.routing.assigned(prefix(60, 16), 77, ours.now());
    let until = |what: &str, ours: &mut Ours, done: &dyn Fn(&Ours) -> bool| {
        let begun = Instant::now();
        while !done(ours) {
            ours.turn();
            assert!(begun.elapsed() < PATIENCE, "{what}\n{:?}\n{}", ours.routing.refusals(), frr.logs());
            sleep(Duration::from_millis(20));
        }
    };
    let line =
        |what: &str| frr.show("show ip rip").lines().find(|line| line.contains(what)).map(str::to_owned);

    until("we learn theirs", &mut ours, &|ours| ours.route(prefix(50, 24)).is_some());
    let route = ours.route(prefix(50, 24)).unwrap();
    assert_eq!((route.next_hop, route.metric), (THEIRS.into(), 2));
    until("they learn ours", &mut ours, &|_| line("10.60.0.0/16").is_some());
    let shown = line("10.60.0.0/16").unwrap();
    assert!(shown.contains("R(n)") && shown.contains(&OURS.to_string()), "{shown}");
    until("their kernel has it", &mut ours, &|_| frr.inside("ip", "route").contains("10.60.0.0/16"));

    // It goes on undisturbed: of ours it counts no bad packet and no bad route.
    let later = Instant::now() + Duration::from_secs(8);
    until("time passes", &mut ours, &|_| Instant::now() > later);
    let status = frr.show("show ip rip status");
    let peer =
        status.lines().find(|line| line.trim_start().starts_with(&OURS.to_string())).unwrap_or_default();
    let counts: Vec<&str> = peer.split_whitespace().collect();
    assert_eq!(counts.get(1..3), Some(&["0", "0"][..]), "{status}");
    // Ours to refuse is one of theirs at most: ripd signs all but its first request.
    let refused: Vec<_> = ours.routing.refusals().iter().collect();
    assert!(matches!(refused[..], [] | [(Reason::Authentication, 1)]), "{refused:?}");

    let now = ours.now();
    ours.routing.withdraw(prefix(60, 16), now);
    until("they forget ours", &mut ours, &|_| !frr.inside("ip", "route").contains("10.60.0.0/16"));
    frr.inside("ip", "link set d0 down");
    until("we forget theirs", &mut ours, &|ours| ours.route(prefix(50, 24)).is_none());
}

#[test]
fn without_authentication() {
    neighbors("without_authentication", "", Authentication::None);
}

#[test]
fn with_a_password() {
    let configuration = " ip rip authentication mode text\n ip rip authentication string secret";
    let password = Password(*b"secret\0\0\0\0\0\0\0\0\0\0");
    neighbors("with_a_password", configuration, Authentication::Password(password));
}

#[test]
fn with_digests() {
    let configuration = " ip rip authentication mode md5\n ip rip authentication string secret";
    let key = Key { id: 1, algorithm: Algorithm::KeyedMd5, secret: b"secret".to_vec() };
    neighbors("with_digests", configuration, Authentication::Keyed(vec![key]));
}
