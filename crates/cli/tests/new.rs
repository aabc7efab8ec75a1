//! `throughline new`: the project that it makes builds and runs.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Folder, checkout, failure_of, stdout_of};

const IDL: &str = r#"
#include "base.idl"
module Shop {
  exception SoldOut { string what; };
  typedef sequence<long> Prices;
  struct Item { string name; long price; };
  interface Till : Base::Named {
    attribute boolean open;
    long sell(in Item what, inout long stock, out string receipt) raises (SoldOut);
    void mark_down(inout Prices all);
    oneway void ring(in string who);
    Till other(in Till mine);
  };
};
interface Type { void match(in long self); };
interface TypeServant { void serve(); };
"#;
const BASE: &str = "#ifndef BASE\n#define BASE\nmodule Base { interface Named { readonly attribute string name; }; };\n#endif\n";

/// A build without a warning, in the workspace's own target folder, with its lock file and profile: what is there need
/// not be built again.
fn build(project: &str) {
    let target = Path::new(env!("CARGO_BIN_EXE_throughline")).parent().unwrap().parent().unwrap();
    let debug = std::env::var("CARGO_PROFILE_DEV_DEBUG").unwrap_or_else(|_| "line-tables-only".to_owned());
    let output = Command::new(env!("CARGO"))
        .args(["build", "--offline"])
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_PROFILE_DEV_DEBUG", debug)
        .env("CARGO_PROFILE_DEV_LTO", "off")
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !messages.contains("warning:"), "{messages}");
}

#[test]
fn a_project_builds_and_runs() {
    let folder = Folder::new("new");
    std::fs::create_dir(folder.file("inc")).unwrap();
    std::fs::write(folder.file("shop.idl"), IDL).unwrap();
    std::fs::write(folder.file("inc/base.idl"), BASE).unwrap();
    let (project, root) = (folder.file("corner-shop"), checkout().to_str().unwrap());
    let made = stdout_of(&[
        "new",
        &project,
        "--idl",
        &folder.file("shop.idl"),
        "-I",
        &folder.file("inc"),
        "--path",
        root,
    ]);
    assert!(made.contains("4 interfaces"), "{made}");
    for file in ["README.md", "build.rs", "idl/shop.idl", "idl/include/base.idl", ".gitignore"] {
        assert!(Path::new(&project).join(file).is_file(), "{file}");
    }
    std::fs::copy(checkout().join("Cargo.lock"), Path::new(&project).join("Cargo.lock")).unwrap();
    build(&project);

    let bin = Path::new(env!("CARGO_BIN_EXE_throughline")).parent().unwrap();
    let mut server = Command::new(bin.join("server"))
        .args(["iiop://127.0.0.1:0", "shm:", "udp://127.0.0.1:0"])
        .current_dir(&project)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    let references: Vec<String> = lines.by_ref().take(4).collect();
    let session = std::panic::catch_unwind(|| session(&project, &references));
    server.kill().unwrap();
    server.wait().unwrap();
    session.unwrap();
}

/// What the client says of each object, over each transport.
fn session(project: &str, references: &[String]) {
    let bin = Path::new(env!("CARGO_BIN_EXE_throughline")).parent().unwrap();
    let client = |arguments: &[&str]| {
        let output = Command::new(bin.join("client")).args(arguments).current_dir(project).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let mut answers = String::new();
    for line in references {
        let (_, reference) = line.split_once(' ').unwrap();
        let over_shm = client(&[reference]);
        assert!(over_shm.contains(", called over shm:"), "{over_shm}");
        let ior = stdout_of(&["ior", reference]);
        let corbaloc = ior.lines().find_map(|line| line.strip_prefix("corbaloc   ")).unwrap();
        let over_iiop = client(&[corbaloc]);
        assert!(over_iiop.contains(", called over iiop://127.0.0.1:"), "{over_iiop}");
        answers += &over_shm;
    }
    for name in ["base::Named", "shop::Till", "Type", "TypeServant"] {
        assert!(answers.contains(&format!("it is a {name}, called over")), "{answers}");
    }
    // Where the server left its reference, as it is said in the README.
    assert!(client(&[]).contains("called over shm:"));
    let file = format!("@{project}/server.ior");
    let listing = stdout_of(&[
        "call",
        &file,
        "--idl",
        &format!("{project}/idl/shop.idl"),
        "-I",
        &format!("{project}/idl/include"),
    ]);
    assert!(listing.contains("void match(in long self)"), "{listing}");
    for (ways, address) in [("shm", "shm:"), ("udp", "udp://127.0.0.1:"), ("iiop", "iiop://127.0.0.1:")] {
        let timed = stdout_of(&["call", &file, "_non_existent", "--count", "100", "--transport", ways]);
        assert!(timed.starts_with(&format!("false\n99 calls over {address}")), "{timed}");
    }
    // A server at one address alone has clients at no other.
    let mut server = Command::new(bin.join("server"))
        .arg("udp://127.0.0.1:0")
        .current_dir(project)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let line = lines.next();
    let over_udp = std::panic::catch_unwind(|| client(&[]));
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(line.is_some() && over_udp.unwrap().contains("called over udp://127.0.0.1:"));
    // Errors are texts.
    for (program, argument, told) in [
        ("server", "http://here", "server: "),
        ("client", "IOR:00", "client: "),
        ("client", "corbaloc::127.0.0.1:1/none", "client: "),
    ] {
        let output = Command::new(bin.join(program)).arg(argument).current_dir(project).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.starts_with(told) && !message.contains('{'), "{message}");
    }
}

#[test]
fn what_cannot_be_made() {
    let folder = Folder::new("not-new");
    std::fs::write(folder.file("good.idl"), "interface A { void f(); };").unwrap();
    std::fs::write(folder.file("bad.idl"), "interface A { void f() };").unwrap();
    std::fs::write(folder.file("empty.idl"), "struct S { long x; };").unwrap();
    let new = |name: &str, idl: &str| failure_of(&["new", &folder.file(name), "--idl", &folder.file(idl)]);
    let (status, message) = new("bad-idl", "bad.idl");
    assert_eq!(status, 1);
    assert!(message.contains("bad.idl:1:"), "{message}");
    assert!(new("none", "none.idl").1.contains("none.idl"));
    assert!(new("empty", "empty.idl").1.contains("no interface"));
    assert_eq!(new("not a name", "good.idl").0, 2);
    assert_eq!(new("fn", "good.idl").0, 2);
    assert_eq!(new("-x", "good.idl").0, 2);
    assert_eq!(new("gen", "good.idl").0, 2);
    // Cargo's lock file has one package of a name, and the project depends on that one.
    assert_eq!(new("throughline-idl", "good.idl").0, 2);
    // What would be another text in the project's sources.
    for odd in ["a\"b.idl", "a\\b.idl", "a\nb.idl"] {
        std::fs::write(folder.file(odd), "interface A { void f(); };").unwrap();
        let (status, message) = new("odd", odd);
        assert!(status == 2 && message.contains("rename it"), "{message}");
    }
    std::fs::create_dir(folder.file("there")).unwrap();
    assert!(new("there", "good.idl").1.contains("cannot make"));
    assert!(!Path::new(&folder.file("bad-idl")).exists());
}

/// An interface that is named as something in the programs, or by a keyword.
#[test]
fn names_that_programs_have() {
    let folder = Folder::new("new-names");
    std::fs::write(folder.file("a.idl"), "module gen { interface Way { void go(); }; };").unwrap();
    let project = folder.file("names");
    stdout_of(&["new", &project, "--idl", &folder.file("a.idl")]);
    let client = std::fs::read_to_string(Path::new(&project).join("src/bin/client.rs")).unwrap();
    assert!(client.contains("if let Some(way_) = object.narrow::<WayRef>()?"), "{client}");
    assert!(
        client.contains("it is a gen::Way, called over {}") && client.contains("way(way_.as_object())"),
        "{client}"
    );
}

/// Within a workspace, in whatever form, a project is one of its own: Cargo refuses what is neither that nor a member.
#[test]
fn within_a_workspace() {
    let folder = Folder::new("new-within");
    std::fs::write(folder.file("good.idl"), "interface A { void f(); };").unwrap();
    let workspaces = [
        "[workspace]\n",
        "[ workspace ]\n",
        "[workspace.package]\nversion = \"1.0.0\"\n",
        "workspace.members = []\n",
    ];
    for (number, workspace) in workspaces.into_iter().enumerate() {
        std::fs::write(folder.file("Cargo.toml"), workspace).unwrap();
        let project = folder.file(&format!("within{number}"));
        stdout_of(&["new", &project, "--idl", &folder.file("good.idl")]);
        let cargo = Command::new(env!("CARGO"))
            .args(["metadata", "--offline", "--no-deps", "--format-version", "1"])
            .current_dir(&project)
            .output()
            .unwrap();
        assert!(cargo.status.success(), "{workspace}: {}", String::from_utf8_lossy(&cargo.stderr));
    }
}
