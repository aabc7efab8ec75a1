//! `throughline call`: against the demonstration's server.

mod common;

use common::{Folder, Server, failure_of, run, stdout_of};
use serde_json::{Value, json};

/// A bank, its IDL, and what to call it with.
struct Bank {
    server: Server,
    folder: Folder,
}

impl Bank {
    fn open(name: &str) -> Self {
        let folder = Folder::new(name);
        std::fs::write(folder.file("bank.idl"), stdout_of(&["demo", "--idl"])).unwrap();
        Self { server: Server::start(&["demo-server", "--listen", "127.0.0.1:0"]), folder }
    }

    fn idl(&self) -> String {
        self.folder.file("bank.idl")
    }

    /// What a call of the office prints.
    fn office(&self, arguments: &[&str]) -> String {
        self.at(&self.server.line, arguments)
    }

    fn at(&self, reference: &str, arguments: &[&str]) -> String {
        stdout_of(&[&["call", reference, "--idl", &self.idl()], arguments].concat()).trim_end().to_owned()
    }

    fn json(&self, reference: &str, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.at(reference, &[arguments, &["--json"]].concat())).unwrap()
    }

    fn failure(&self, arguments: &[&str]) -> (i32, String) {
        failure_of(&[&["call", &self.server.line, "--idl", &self.idl()], arguments].concat())
    }
}

#[test]
fn a_session() {
    let bank = Bank::open("call-session");
    let listing = bank.office(&[]);
    assert!(listing.starts_with("Bank::Office  IDL:Bank/Office:1.0\n"), "{listing}");
    assert!(listing.contains("Bank::Teller find_teller(in unsigned long number) raises (Bank::Unknown)"));
    let account = bank.office(&["find_account", "17"]);
    assert_eq!(bank.at(&account, &["number"]), "17");
    let balance: i64 = bank.at(&account, &["balance"]).parse().unwrap();
    let teller = bank.office(&["find_teller", "3"]);
    assert_eq!(bank.at(&teller, &["transact", "17", "-5"]), (balance - 5).to_string());
    let entry = json!({"account": 17, "teller": 3, "branch": 0, "value": -5});
    assert_eq!(bank.json(&bank.server.line, &["history", "1"])["result"], json!([entry]));
    let books = bank.office(&["audit"]);
    assert!(
        books.contains("\"accounts\": -5, \"tellers\": -5,") && books.contains("\"transactions\": 1"),
        "{books}"
    );
    std::fs::write(bank.folder.file("refs"), format!("teller {teller}\n")).unwrap();
    assert_eq!(bank.at(&format!("@{}", bank.folder.file("refs")), &["number"]), "3");
    std::fs::write(bank.folder.file("arguments"), r#"{"value": 5, "account": 17}"#).unwrap();
    let from_file = ["transact", "--arguments-from", &bank.folder.file("arguments")];
    assert_eq!(bank.at(&teller, &from_file), balance.to_string());
}

#[test]
fn every_way_and_no_other() {
    let bank = Bank::open("call-ways");
    for (ways, taken, address) in [
        ("auto", "shm", "shm:"),
        ("shm", "shm", "shm:"),
        ("iiop", "iiop", "iiop://127.0.0.1:"),
        ("iiop,shm", "shm", "shm:"),
        ("udp", "udp", "udp://127.0.0.1:"),
        ("iiop,udp", "udp", "udp://127.0.0.1:"),
    ] {
        let outcome = bank.json(&bank.server.line, &["accounts", "--transport", ways]);
        assert_eq!((&outcome["transport"], &outcome["result"]), (&json!(taken), &json!(10_000)), "{ways}");
        assert!(outcome["address"].as_str().unwrap().starts_with(address), "{outcome}");
    }
    let verbose = run(&["call", &bank.server.line, "_repository_id", "-v", "--transport", "shm"]);
    assert_eq!(String::from_utf8_lossy(&verbose.stdout), "IDL:Bank/Office:1.0\n");
    let told = String::from_utf8_lossy(&verbose.stderr).into_owned();
    assert!(told.contains("called over shm:") && told.contains("iiop at 127.0.0.1:"), "{told}");
    let corbaloc = stdout_of(&["ior", &bank.server.line]);
    assert!(
        corbaloc.ends_with("the other ways find the object by its handle, which the IOR has\n"),
        "{corbaloc}"
    );
    let corbaloc = corbaloc.lines().find_map(|line| line.strip_prefix("corbaloc   ")).unwrap().to_owned();
    let (status, message) = failure_of(&["call", &corbaloc, "_non_existent", "--transport", "shm"]);
    assert_eq!(status, 2);
    assert!(
        message.contains("offers no shm") && message.contains("it offers iiop at 127.0.0.1:"),
        "{message}"
    );
    // The corbaloc tells no type: the object is asked, or the operation says enough.
    assert_eq!(bank.at(&corbaloc, &["accounts"]), "10000");
    assert!(bank.at(&corbaloc, &[]).starts_with("Bank::Office"));
    assert_eq!(bank.at(&corbaloc, &["accounts", "--interface", "Office"]), "10000");
}

#[test]
fn what_every_object_answers() {
    let bank = Bank::open("call-standard");
    for ways in ["shm", "udp", "iiop"] {
        let ask = |arguments: &[&str]| {
            stdout_of(&[&["call", &bank.server.line, "--transport", ways], arguments].concat())
        };
        assert_eq!(ask(&["_is_a", "IDL:Bank/Office:1.0"]), "true\n");
        assert_eq!(ask(&["_is_a", "IDL:Bank/Teller:1.0"]), "false\n");
        assert_eq!(ask(&["_non_existent"]), "false\n");
        assert_eq!(ask(&["_component"]), "null\n");
    }
    let (status, message) = failure_of(&["call", &bank.server.line, "_interface"]);
    assert_eq!(status, 1);
    assert!(message.contains("NO_IMPLEMENT"), "{message}");
}

#[test]
fn exceptions_of_the_object() {
    let bank = Bank::open("call-raises");
    let teller = bank.office(&["find_teller", "0"]);
    for ways in ["shm", "udp", "iiop"] {
        let over = ["--transport", ways];
        let (status, message) = bank.failure(&[&["find_account", "123456"][..], &over].concat());
        assert_eq!(status, 4);
        assert!(message.contains("raised Bank::Unknown\n  cause: number  123456"), "{message}");
        let idl = bank.idl();
        let json =
            run(&[&["call", &teller, "--idl", &idl, "--json", "transact", "1", "-99999999999"][..], &over]
                .concat());
        assert_eq!(json.status.code(), Some(4));
        let outcome: Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(outcome["exception"], "IDL:Bank/InsufficientFunds:1.0");
        assert!(outcome["members"]["balance"].is_i64(), "{outcome}");
    }
    // An IDL that is not the server's.
    let file = bank.folder.file("other.idl");
    let idl = std::fs::read_to_string(bank.idl()).unwrap();
    std::fs::write(&file, idl.replace("unsigned long number;\n  };", "string number;\n  };")).unwrap();
    let call = ["call", &bank.server.line, "--idl", &file, "find_account", "123456", "--json"];
    let outcome: Value = serde_json::from_slice(&run(&call).stdout).unwrap();
    assert_eq!((&outcome["exception"], &outcome["members"]), (&json!("IDL:Bank/Unknown:1.0"), &Value::Null));
    let detail = outcome["detail"].as_str().unwrap_or_default();
    assert!(detail.starts_with("its members cannot be read: length "), "{outcome}");
}

#[test]
fn many_calls_are_timed() {
    let bank = Bank::open("call-count");
    let text = bank.office(&["tellers", "--count", "50", "--transport", "iiop"]);
    let (result, latency) = text.split_once('\n').unwrap();
    assert_eq!(result, "100");
    assert!(
        latency.starts_with("49 calls over iiop://") && latency.contains("median") && latency.contains("p99")
    );
    let outcome = bank.json(&bank.server.line, &["tellers", "--count", "50"]);
    let took = &outcome["nanoseconds"];
    assert_eq!((&took["calls"], &outcome["transport"]), (&json!(49), &json!("shm")));
    assert!(took["median"].as_f64().unwrap() > 0.0 && took["p99"].as_f64() >= took["median"].as_f64());
    let once = bank.json(&bank.server.line, &["tellers", "--count", "1"])["nanoseconds"].take();
    assert_eq!((&once["calls"], &once["median"], &once["max"]), (&json!(0), &json!(null), &json!(null)));
}

#[test]
fn what_is_asked_for_wrongly() {
    let bank = Bank::open("call-wrong");
    for (arguments, part) in [
        (&["find_acount", "1"][..], "did you mean `find_account`?"),
        (&["find_account"], "1 argument (number) wanted, 0 given"),
        (&["find_account", "1", "2"], "1 argument (number) wanted, 2 given"),
        (&["find_account", "-1"], "argument number: wants unsigned long, from 0 to 4294967295, got -1"),
        (&["find_account", "one"], "declared as Bank::Account find_account(in unsigned long number)"),
        (&["accounts", "-Infinity"], "put -- before the arguments"),
        (&["accounts", "--", "-Infinity"], "`accounts` cannot be set"),
        (&["accounts", "5"], "`accounts` cannot be set"),
        (&["accounts", "--interface", "Bank::Ofice"], "did you mean Bank::Office?"),
        (&["balance"], "Bank::Office has no operation `balance`"),
        (&["accounts", "--timeout", "0"], "--timeout wants seconds"),
        (&["accounts", "--timeout", "inf"], "less than 2^64, not inf"),
        (&["find_account", "--arguments-from", "/no/such/file"], "next:  check the name"),
        (&["find_account", "--arguments-from", "/dev/null"], "next:  write a JSON array"),
    ] {
        let (status, message) = bank.failure(arguments);
        assert_eq!(status, 2, "{arguments:?}: {message}");
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
    // Before anything is sent.
    let file = bank.folder.file("new.idl");
    let idl = "module Bank { struct S { sequence<any> all; }; interface Office { S audit(); void f() context(\"x\"); }; };";
    std::fs::write(&file, idl).unwrap();
    for (operation, part) in [("audit", "`any` is not supported yet"), ("f", "a `context` clause is not")] {
        let (status, message) = failure_of(&["call", &bank.server.line, "--idl", &file, operation]);
        assert!(status == 2 && message.contains(part), "{message}");
    }
    let (status, message) = failure_of(&["call", &bank.server.line, "accounts"]);
    assert!(status == 2 && message.contains("with --idl"), "{message}");
    let (status, message) = failure_of(&["call", "nonsense", "_non_existent"]);
    assert!(status == 2 && message.contains("`nonsense` leads to no object"), "{message}");
    let (status, message) = failure_of(&["call", "@/no/such/file", "_non_existent"]);
    assert!(status == 2 && message.contains("cannot read /no/such/file"), "{message}");
}

#[test]
fn a_server_that_is_gone() {
    let mut bank = Bank::open("call-gone");
    let reference = bank.server.line.clone();
    bank.server.kill();
    let (status, message) = bank.failure(&["accounts"]);
    assert_eq!(status, 1);
    for part in ["TRANSIENT", "each way by itself", "iiop at 127.0.0.1:", "Connection refused", "shm:"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let json = run(&["call", &reference, "_non_existent", "--json", "--transport", "shm"]);
    let outcome: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((json.status.code(), &outcome["exception"]), (Some(1), &json!("TRANSIENT")));
}
