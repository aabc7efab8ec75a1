//! `throughline names`: against itself, and judged by omniORB's tools.

mod common;

use std::io::Read;
use std::process::Command;

use common::{Folder, Server, checkout, failure_of, has, run, stdout_of, throughline};
use throughline::Orb;
use throughline_naming::client::parse_name;
use throughline_naming::cos_naming::NamingContextExtRef;

fn serving(more: &[&str]) -> Command {
    let mut command = throughline();
    command.args([&["names", "serve", "--listen", "127.0.0.1:0"], more].concat());
    command
}

fn serve(more: &[&str]) -> Server {
    Server::spawn(&mut serving(more))
}

/// A reference to nothing.
const OBJECT: &str = "corbaloc::127.0.0.1:9/object";

#[test]
fn a_session() {
    let server = serve(&[]);
    let ask = |arguments: &[&str]| stdout_of(&[&["names"], arguments, &["--service", &server.line]].concat());
    let fail =
        |arguments: &[&str]| failure_of(&[&["names"], arguments, &["--service", &server.line]].concat());
    assert_eq!(ask(&["list"]), "");
    ask(&["new-context", "bank"]);
    ask(&["new-context", "--parents", "bank/a/b"]);
    ask(&["bind", "bank/a/b/x.kind", OBJECT]);
    assert_eq!(ask(&["list", "bank/a/b"]), "x.kind\n");
    assert_eq!(ask(&["list"]), "bank/\n");
    let json = ask(&["list", "bank/a/b", "--json"]);
    assert_eq!(json.trim(), r#"{"name":"x.kind","id":"x","kind":"kind","context":false}"#);
    assert!(ask(&["resolve", "bank/a/b/x.kind"]).starts_with("IOR:"));
    let context = ask(&["resolve", "bank/a"]);
    ask(&["bind", "--context", "shortcut", context.trim()]);
    ask(&["rebind", "shortcut/b/x.kind", OBJECT]);
    ask(&["bind", "--context", "silent", "corbaloc::127.0.0.1:1/none"]);
    for (arguments, cause) in [
        (&["bind", "bank/a/b/x.kind", OBJECT][..], "the name is taken"),
        (&["resolve", "bank/none/x"], "from `none/x` on: nothing is bound there"),
        (&["rebind", "bank", OBJECT], "a context is bound there"),
        (&["rebind", "--context", "bank/a/b/x.kind", context.trim()], "without --context"),
        (&["destroy", "bank"], "not empty"),
        (&["list", "bank/a/b/x.kind"], "cannot be used as a context"),
        (&["list", "none"], "from `none` on: nothing is bound there"),
        (&["destroy", "silent"], "cannot connect"),
    ] {
        let (status, message) = fail(arguments);
        assert_eq!(status, 1, "{arguments:?}");
        assert!(message.contains(cause) && message.contains("next:"), "{arguments:?}: {message}");
    }
    assert_eq!(fail(&["resolve", "a//b"]).0, 2);
    assert_eq!(fail(&["destroy", ""]).0, 2);
    ask(&["unbind", "bank/a/b/x.kind"]);
    ask(&["destroy", "bank/a/b"]);
    assert_eq!(ask(&["list", "bank/a"]), "");
}

#[test]
fn each_name_is_one_line() {
    let server = serve(&[]);
    stdout_of(&["names", "new-context", "a\nbank", "--service", &server.line]);
    let listed = stdout_of(&["names", "list", "--service", &server.line]);
    assert_eq!(listed, "a\\u000abank/\n");
    let json = stdout_of(&["names", "list", "--json", "--service", &server.line]);
    assert_eq!(json.trim(), r#"{"name":"a\nbank","id":"a\nbank","kind":"","context":true}"#);
    let corbaname = server.line.replace("corbaloc:", "corbaname:") + "#a%0abank";
    let told = stdout_of(&["ior", &corbaname]);
    assert!(told.contains("name       a\\u000abank\n"), "{told}");
    let told = stdout_of(&["ior", "corbaloc:rir:/a%0abank"]);
    assert!(told.contains("a\\u000abank") && told.lines().count() == 1, "{told}");
}

#[test]
fn every_way() {
    let folder = Folder::new("names-ways");
    let file = folder.file("names.ior");
    let server = serve(&["--listen", "shm:", "--listen", "udp://127.0.0.1:0", "--write", &file]);
    let reference = format!("@{file}");
    for (ways, address) in
        [("iiop", "iiop://127.0.0.1:"), ("shm", "shm:"), ("udp", "udp://127.0.0.1:"), ("auto", "shm:")]
    {
        let ask = |arguments: &[&str]| {
            let more = ["--service", &reference, "--transport", ways, "--verbose"];
            let output = run(&[&["names"], arguments, &more].concat());
            let told = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{arguments:?}: {told}");
            let all = told.lines().all(|line| line.starts_with(&format!("called over {address}")));
            assert!(all && !told.is_empty(), "{ways}: {told}");
            String::from_utf8(output.stdout).unwrap()
        };
        ask(&["new-context", "bank"]);
        ask(&["new-context", "-p", "bank/branch"]);
        ask(&["bind", "bank/branch/x", OBJECT]);
        ask(&["rebind", "bank/branch/x", OBJECT]);
        for n in 0..3 {
            ask(&["bind", &format!("bank/branch/{n}"), OBJECT]);
        }
        assert_eq!(ask(&["list", "bank/branch"]).lines().count(), 4);
        assert!(ask(&["resolve", "bank/branch/x"]).starts_with("IOR:"));
        for name in ["x", "0", "1", "2"] {
            ask(&["unbind", &format!("bank/branch/{name}")]);
        }
        ask(&["destroy", "bank/branch"]);
        ask(&["destroy", "bank"]);
    }
    let (status, message) = failure_of(&["names", "list", "--service", &server.line, "--transport", "shm"]);
    assert!(status == 2 && message.contains("the reference offers no shm"), "{message}");
}

#[test]
fn a_service_of_shared_memory_alone() {
    let folder = Folder::new("names-shm");
    let store = folder.file("names.redb");
    let mut server = Server::start(&["names", "serve", "--listen", "shm:", "--store", &store]);
    let ask = |arguments: &[&str]| stdout_of(&[&["names"], arguments, &["--service", &server.line]].concat());
    ask(&["new-context", "a"]);
    ask(&["bind", "a/x", OBJECT]);
    assert_eq!(ask(&["list", "a"]), "x\n");
    let context = ask(&["resolve", "a"]);
    ask(&["bind", "--context", "again", context.trim()]);
    assert!(ask(&["resolve", "again/x"]).starts_with("IOR:"));
    server.kill();
    let later = Server::start(&["names", "serve", "--listen", "shm:", "--store", &store]);
    assert!(stdout_of(&["names", "resolve", "again/x", "--service", &later.line]).starts_with("IOR:"));
}

#[test]
fn names_in_any_script() {
    let folder = Folder::new("names-script");
    let file = folder.file("names.ior");
    let server = serve(&["--write", &file]);
    let reference = format!("@{file}");
    let name = "\u{65e5}\u{672c}";
    let refused = failure_of(&["names", "bind", name, OBJECT, "--service", &server.line]);
    stdout_of(&["names", "bind", name, OBJECT, "--service", &reference]);
    assert_eq!(stdout_of(&["names", "list", "--service", &reference]), format!("{name}\n"));
    // A corbaloc tells of no code set that has these characters.
    for (status, message) in [refused, failure_of(&["names", "list", "--service", &server.line])] {
        assert!(status == 1 && message.contains("by the IOR that it printed"), "{message}");
    }
}

#[test]
fn nobody_there() {
    // The reference is right, only nobody answers there, or knows the name.
    let server = serve(&[]);
    let unknown = server.line.replace("corbaloc:", "corbaname:") + "#none";
    for at in ["corbaname::127.0.0.1:1#bank", " corbaname::127.0.0.1:1#bank\n", &unknown] {
        let (status, message) = failure_of(&["names", "list", "--service", at]);
        assert!(status == 1 && message.contains("cannot be resolved"), "{message}");
    }
    assert_eq!(failure_of(&["names", "list", "--service", "corbaname::127.0.0.1:1#a//b"]).0, 2);
    // It is no way to say that there is no limit.
    let nowhere = ["names", "list", "--service", "corbaloc::127.0.0.1:1/NameService", "--timeout"];
    for (seconds, status) in [("0", 2), ("-1", 2), ("1", 1)] {
        let (told, message) = failure_of(&[&nowhere[..], &[seconds]].concat());
        assert_eq!(told, status, "{seconds}: {message}");
    }
    let (status, message) = failure_of(&["names", "list", "--service", "corbaloc::127.0.0.1:1/NameService"]);
    assert_eq!(status, 1);
    for part in ["does not answer", "cause:", "next:", "throughline names serve"] {
        assert!(message.contains(part), "{message}");
    }
    // Somebody answers there, only not a name service.
    let other = server.line.replace("NameService", "AnotherService");
    let (status, message) = failure_of(&["names", "list", "--service", &other]);
    assert!(status == 1 && message.contains("there is no name service at"), "{message}");
    assert!(message.contains("the server there runs"), "{message}");
    assert_eq!(run(&["names", "serve", "--listen", "nonsense"]).status.code(), Some(2));
}

#[test]
fn what_is_published_is_a_host() {
    for (host, written) in [("::1", "[::1]"), ("[::1]", "[::1]"), ("names.example.org", "names.example.org")]
    {
        let server = serve(&["--publish", host]);
        assert!(server.line.starts_with(&format!("corbaloc::1.2@{written}:")), "{}", server.line);
    }
    for host in ["", "[]", "host:2809", "[host]", "two hosts", "a,b", "user@host", "host/key"] {
        // Nothing is served in any case.
        let (status, message) = failure_of(&["names", "serve", "--publish", host, "--listen", "nonsense"]);
        assert!(status == 2 && message.contains("no host name or address"), "{message}");
    }
}

#[test]
fn what_serve_prints_leads_to_it() {
    let folder = Folder::new("names-sockets");
    for file in ["plain", "with,comma", "with:colon"] {
        let listen = format!("unix:{}", folder.file(file));
        let server = Server::start(&["names", "serve", "--listen", &listen]);
        assert_eq!(stdout_of(&["names", "list", "--service", &server.line]), "");
        assert_eq!(server.line.starts_with("corbaloc:omniunix:"), file == "plain");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hangup_ends_it_but_under_nohup() {
    if !has("nohup") || !has("env") {
        return;
    }
    let hang_up = |server: &Server| {
        let sent = Command::new("kill").args(["-HUP", &server.id().to_string()]).status().unwrap();
        assert!(sent.success());
    };
    let mut under_nohup = Command::new("nohup");
    under_nohup.args([env!("CARGO_BIN_EXE_throughline"), "names", "serve", "--listen", "127.0.0.1:0"]);
    // Whatever this test itself was started by.
    let mut plain = Command::new("env");
    plain.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_throughline")]);
    plain.args(["names", "serve", "--listen", "127.0.0.1:0"]);
    let (kept, ended) = (Server::spawn(&mut under_nohup), Server::spawn(&mut plain));
    hang_up(&kept);
    hang_up(&ended);
    let answers = |server: &Server| run(&["names", "list", "--service", &server.line]).status.success();
    let wait = |_| std::thread::sleep(std::time::Duration::from_millis(50));
    assert!((0..200).inspect(|_| wait(())).any(|_| !answers(&ended)), "a hangup does not end it");
    assert!(answers(&kept));
}

#[test]
fn names_survive_a_kill() {
    let folder = Folder::new("kill");
    let store = folder.file("names.redb");
    let mut server = serve(&["--store", &store]);
    for n in 0..20 {
        let path = format!("n{n}");
        stdout_of(&["names", "bind", &path, OBJECT, "--service", &server.line]);
    }
    stdout_of(&["names", "new-context", "context", "--service", &server.line]);
    server.kill();
    let again = serve(&["--store", &store]);
    let listed = stdout_of(&["names", "list", "--service", &again.line]);
    assert_eq!(listed.lines().count(), 21);
    stdout_of(&["names", "bind", "context/x", OBJECT, "--service", &again.line]);
}

/// Nothing has called, so nothing but that is to be told when its threads end.
#[test]
fn a_store_that_cannot_be_made_is_all_that_is_told() {
    let folder = Folder::new("nowhere");
    let store = folder.file("nowhere/names.redb");
    for _ in 0..10 {
        let (status, message) =
            failure_of(&["names", "serve", "--listen", "shm:", "--listen", "127.0.0.1:0", "--store", &store]);
        assert_eq!(status, 1, "{message}");
        assert!(message.starts_with("error: the name service cannot be started"), "{message}");
    }
}

#[test]
fn a_store_whose_making_was_broken_off_is_made_again() {
    let folder = Folder::new("unmade");
    for n in 0..30 {
        let store = folder.file(&format!("names{n}.redb"));
        let mut first = serving(&["--store", &store]).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(n / 2));
        first.kill().unwrap();
        first.wait().unwrap();
        let again = serve(&["--store", &store]);
        assert_eq!(stdout_of(&["names", "list", "--service", &again.line]), "");
        stdout_of(&["names", "bind", "x", OBJECT, "--service", &again.line]);
    }
}

#[test]
fn a_store_takes_little_memory_beside_the_names() {
    let folder = Folder::new("names-memory");
    let memory = |server: &Server| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    };
    let client = Orb::client().unwrap();
    let large = client.string_to_object(&format!("{OBJECT}{}", "k".repeat(15_000))).unwrap();
    let count = 1000;
    // One heap for all threads: what is left free in each of several was as much as the bound, under load.
    let serve = |more: &[&str]| Server::spawn(serving(more).env("MALLOC_ARENA_MAX", "1"));
    let grown = [serve(&[]), serve(&["--store", &folder.file("names.redb")])].map(|server| {
        let before = memory(&server);
        let root: NamingContextExtRef =
            client.string_to_object(&server.line).unwrap().narrow().unwrap().unwrap();
        for n in 0..count {
            root.bind(&parse_name(&n.to_string()).unwrap(), Some(&large)).unwrap();
        }
        memory(&server) - before
    });
    let [without, with] = grown;
    assert!(with < without + (20 << 20), "{with} octets, {without} without a store");
}

/// A limit for the file's size is met as a full disk is, and can be taken back.
#[test]
fn names_are_bound_again_when_the_disk_has_room_again() {
    let folder = Folder::new("full");
    let store = folder.file("names.redb");
    let limited = "trap '' XFSZ; ulimit -S -f 2400; exec \"$0\" \"$@\"";
    let (mut told, tells) = std::io::pipe().unwrap();
    let mut server = Server::spawn(
        Command::new("sh")
            .args(["-c", limited, env!("CARGO_BIN_EXE_throughline")])
            .args(["names", "serve", "--listen", "127.0.0.1:0", "--store", &store])
            .stderr(tells),
    );
    let ask = |arguments: &[&str]| run(&[&["names"], arguments, &["--service", &server.line]].concat());
    let long = "k".repeat(4000);
    let object = format!("{OBJECT}{long}");
    let bind = |n: &usize| ask(&["bind", &format!("{n}.{long}"), &object]);
    let full = (0..300).find(|n| !bind(n).status.success()).expect("the limit is not met");
    assert!(String::from_utf8_lossy(&bind(&full).stderr).contains("see whether the disk"));

    let unlimited = ["--pid", &server.id().to_string(), "--fsize=unlimited"];
    assert!(Command::new("prlimit").args(unlimited).status().unwrap().success());
    let works = |arguments: &[&str]| {
        let output = ask(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // The store is left alone for a second after it failed.
    let bound = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        ask(&["bind", "after", OBJECT]).status.success()
    });
    assert!(bound);
    works(&["unbind", &format!("0.{long}")]);
    let listed = works(&["list"]);
    assert_eq!(listed.lines().count(), full);
    server.kill();
    let mut log = String::new();
    told.read_to_string(&mut log).unwrap();
    assert!(log.contains("ERROR") && log.contains("the store refused a change"), "{log}");
    let again = serve(&["--store", &store]);
    assert_eq!(stdout_of(&["names", "list", "--service", &again.line]), listed);
}

/// Where the disk has no room at all not even the header is written.
#[test]
fn an_empty_file_is_a_store_when_a_full_disk_has_room_again() {
    if !has("unshare") || !has("timeout") {
        return;
    }
    let folder = Folder::new("names-no-room");
    let script = r#"
        mount -t tmpfs -o size=4k none "$1" || exit 77
        : > "$1/names.redb"; head -c 4096 /dev/zero > "$1/all"
        timeout 10 "$0" names serve --listen 127.0.0.1:0 --store "$1/names.redb" && exit 1
        rm "$1/all"; mount -o remount,size=4m "$1"
        timeout 10 "$0" names serve --listen 127.0.0.1:0 --store "$1/names.redb" >"$1/told" &
        while kill -0 $! && ! grep -q IOR "$1/told"; do sleep 0.02; done
        kill $!; grep -q IOR "$1/told"
    "#;
    let names = ["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_throughline"), folder.0.to_str().unwrap()];
    let output = Command::new("unshare").args(names).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) || told.contains("unshare") {
        eprintln!("SKIPPED: no file systems of one's own on this machine");
        return;
    }
    assert!(output.status.success() && told.contains("No space left"), "{told}");
}

#[test]
fn nameclt_is_content() {
    if !has("nameclt") || !has("genior") {
        return;
    }
    let folder = Folder::new("nameclt");
    let file = folder.file("names.redb");
    for (store, version) in [(&[][..], ""), (&["--store", &file], "1.2@")] {
        let server = serve(store);
        let url = server.line.replace("1.2@", version);
        let session = Command::new(checkout().join("interop/nameclt-session.sh")).arg(&url).output().unwrap();
        let out = String::from_utf8_lossy(&session.stdout);
        let failed: Vec<_> = out.lines().filter(|line| !line.starts_with("ok ")).collect();
        assert!(session.status.success() && failed.is_empty(), "{url}: {failed:#?}");
        assert!(out.lines().count() > 50);
    }
}

#[test]
fn corbaname_from_omniorb_and_to_omninames() {
    if !has("nameclt") {
        return;
    }
    let server = serve(&[]);
    stdout_of(&["names", "new-context", "-p", "bank/branch.office", "--service", &server.line]);
    stdout_of(&["names", "bind", "bank/branch.office/x", OBJECT, "--service", &server.line]);
    // omniORB resolves the name itself and takes the result for its name service.
    let corbaname = server.line.replace("corbaloc:", "corbaname:") + "#bank/branch.office";
    let listing = Command::new("nameclt")
        .args(["-ORBInitRef", &format!("NameService={corbaname}"), "list"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&listing.stdout), "x\n", "{listing:?}");
    assert_eq!(stdout_of(&["names", "list", "--service", &corbaname]), "x\n");
}

#[test]
fn our_client_and_omninames() {
    if !has("omniNames") {
        return;
    }
    let folder = Folder::new("omninames");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let data = folder.0.to_str().unwrap();
    let mut child = Command::new("omniNames")
        .args(["-start", &port.to_string(), "-datadir", data, "-always", "-errlog", &folder.file("log")])
        .args(["-ORBendPoint", &format!("giop:tcp:127.0.0.1:{port}")])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let service = format!("corbaloc::127.0.0.1:{port}/NameService");
    let ready = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        run(&["names", "list", "--service", &service]).status.success()
    });
    let session = std::panic::catch_unwind(|| {
        assert!(ready);
        let ask = |arguments: &[&str]| stdout_of(&[&["names"], arguments, &["--service", &service]].concat());
        // As a script does with a variable that is not set: the root stays.
        assert_eq!(failure_of(&["names", "destroy", "", "--service", &service]).0, 2);
        ask(&["new-context", "-p", "bank/a"]);
        ask(&["bind", "bank/a/x.kind", OBJECT]);
        assert_eq!(ask(&["list", "bank"]), "a/\n");
        let at = format!("corbaname::127.0.0.1:{port}#bank/a/x.kind");
        assert!(stdout_of(&["ior", "--resolve", &at]).contains("key      object"));
        // Through a context of omniNames in a path of ours.
        let ours = serve(&[]);
        stdout_of(&["names", "bind", "--context", "omni", &service, "--service", &ours.line]);
        let found = stdout_of(&["names", "resolve", "omni/bank/a/x.kind", "--service", &ours.line]);
        assert!(found.starts_with("IOR:"));
        let (_, message) = failure_of(&["names", "resolve", "omni/bank/none", "--service", &ours.line]);
        assert!(message.contains("nothing is bound there"), "{message}");
        ask(&["unbind", "bank/a/x.kind"]);
        ask(&["destroy", "bank/a"]);
    });
    let _ = child.kill();
    let _ = child.wait();
    session.unwrap();
}
