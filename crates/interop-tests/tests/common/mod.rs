//! What the tests of every pair of client and server share.
#![allow(dead_code, reason = "each test program uses its part")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use throughline_interop_tests::peers::{Report, Server, omniorb, run};

pub const OUR_SERVER: &str = env!("CARGO_BIN_EXE_interop_server");
pub const OUR_CLIENT: &str = env!("CARGO_BIN_EXE_interop_client");

/// Checks of wide characters, which GIOP 1.0 does not have, and omniORB in GIOP 1.2 only.
pub const WIDE: [&str; 6] =
    ["wide.bounded", "wide.code_units", "wide.sequences", "wide.surrogates", "wide.wchar", "wide.wstring"];

/// Where omniORB's programs are, or why there are none.
pub fn peers() -> Result<PathBuf, String> {
    omniorb(&PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("peers"))
}

/// Where omniORB's programs are; ends the test aloud where there can be none.
#[macro_export]
macro_rules! peers_or_skip {
    () => {
        match $crate::common::peers() {
            Ok(folder) => folder,
            Err(why) => throughline_interop_tests::missing!("{why}"),
        }
    };
}

/// A path for a socket or file of this test alone. Short: a socket's has 107 bytes at most.
pub fn scratch(name: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("tl-{}-{number}-{name}", std::process::id())).display().to_string()
}

/// The checks that a client knows, but for those whose names begin so.
pub fn names(client: &str, except: &[&str]) -> Vec<String> {
    let (status, output) = run(Command::new(client).arg("--list"));
    assert!(status.success());
    let kept = |name: &&str| !except.iter().any(|prefix| name.starts_with(prefix));
    output.lines().filter(kept).map(str::to_owned).collect()
}

/// Lets a client judge a server: every check but the excepted passes, or is skipped if it is listed so. `at` makes the
/// reference of what the server printed.
pub fn judge(
    client: &str,
    options: &[&str],
    except: &[&str],
    skipped: &[&[&str]],
    server: Server,
    at: Reference,
) {
    let mut command = Command::new(client);
    command.args(options).args(except.iter().flat_map(|prefix| ["--except", prefix]));
    let (status, output) = run(command.arg(at.of(&server)));
    let report = Report::read(&output);
    assert_eq!(report.failures(), "", "{options:?}");
    assert!(status.success(), "status {status}, having said:\n{output}");
    let mut expected = skipped.concat();
    expected.sort_unstable();
    assert_eq!(report.with("skip"), expected, "{options:?}");
    let ok = names(client, except).len() - expected.len();
    assert_eq!(report.with("ok").len(), ok, "{options:?}");
    server.end();
}

/// How the client is told of the server.
#[derive(Clone, Copy)]
pub enum Reference {
    /// By the reference that the server printed.
    Printed,
    /// By host, port and plain key, with this version or none.
    Corbaloc(&'static str),
}

impl Reference {
    pub fn of(self, server: &Server) -> String {
        match self {
            Self::Printed => server.reference.clone(),
            Self::Corbaloc(version) => format!("corbaloc:iiop:{version}127.0.0.1:{}/suite", server.port()),
        }
    }
}
