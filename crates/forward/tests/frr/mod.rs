//! Daemons of FRR at the other end of a link: each end in a network namespace of its own.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

const DAEMONS: &str = "/usr/lib/frr";
/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Set in the process that is in our namespace.
const INSIDE: &str = "THROUGHLINE_FRR_INSIDE";

/// Runs this test once more, in a namespace of its own.
pub fn inside(test: &str, daemon: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if !Path::new(DAEMONS).join(daemon).exists() {
        eprintln!("SKIPPED: no {daemon} here (Debian package `frr`)");
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
    said.lines().filter(|line| line.starts_with("SKIPPED")).for_each(|line| eprintln!("{line}"));
    false
}

/// Processes of FRR in their namespace, which end with this.
pub struct Frr {
    processes: Vec<Child>,
    folder: PathBuf,
    daemon: &'static str,
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

pub fn run(program: &str, arguments: &str) -> String {
    let output = Command::new(program).args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{program} {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Frr {
    /// A namespace at the other end of a link, which is `v0` here and `v1` there, with a network `d0` behind it. Nothing has
    /// an address yet.
    pub fn new(test: &str, daemon: &'static str) -> Self {
        let folder = std::env::temp_dir().join(format!("throughline-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // The daemons are user frr.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let sleeper = Command::new("unshare").args(["-n", "sleep", "300"]).spawn().unwrap();
        let frr = Self { processes: vec![sleeper], folder, daemon };
        let ours = fs::read_link("/proc/self/ns/net").unwrap();
        let theirs = format!("/proc/{}/ns/net", frr.processes[0].id());
        wait("a namespace", || fs::read_link(&theirs).is_ok_and(|theirs| theirs != ours).then_some(()));
        run("ip", "link set lo up");
        run("ip", &format!("link add v0 type veth peer name v1 netns {}", frr.processes[0].id()));
        frr.inside("ip", "link add d0 type veth peer name d1");
        for device in ["lo", "d0", "d1", "v1"] {
            frr.inside("ip", &format!("link set {device} up"));
        }
        frr
    }

    /// Begins to work, with what zebra says to the kernel.
    pub fn start(&mut self, configuration: &str) {
        self.write("zebra", "");
        self.write(self.daemon, configuration);
        self.run("zebra");
        wait("zebra", || self.folder.join("zserv.api").exists().then_some(()));
        self.run(self.daemon);
    }

    fn write(&self, daemon: &str, configuration: &str) {
        fs::write(self.folder.join(format!("{daemon}.conf")), configuration).unwrap();
    }

    fn run(&mut self, daemon: &str) {
        let path = |name: &str| self.folder.join(name).display().to_string();
        let log = fs::File::create(path(&format!("{daemon}.log"))).unwrap();
        let child = self
            .command(Path::new(DAEMONS).join(daemon).to_str().unwrap())
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

    /// A program in their namespace.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.processes[0].id().to_string(), "-n", program]);
        command
    }

    pub fn inside(&self, program: &str, arguments: &str) -> String {
        run("nsenter", &format!("-t {} -n {program} {arguments}", self.processes[0].id()))
    }

    /// What the daemon shows.
    pub fn show(&self, what: &str) -> String {
        let output = Command::new("vtysh")
            .args(["--vty_socket", &self.folder.display().to_string(), "-d", self.daemon, "-c", what])
            .output()
            .unwrap();
        (String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr)).into_owned()
    }

    pub fn logs(&self, status: &str) -> String {
        let log = |name: &str| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        format!("{}\n{}\n{}", log("zebra.log"), log(&format!("{}.log", self.daemon)), self.show(status))
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
