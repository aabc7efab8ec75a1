//! `throughline demo`: the main job on this machine.

mod bank;
mod hundred;
mod lookup;
mod peer;
pub mod serve;
mod trade;
mod transports;

/// What `build.rs` made of the IDL.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/bank.rs"));
    include!(concat!(env!("OUT_DIR"), "/hundred.rs"));
}

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use throughline::{Address, TypedReference};

use self::lookup::Row;
use self::peer::Peer;
use self::trade::Traded;
use self::transports::Transport;
use crate::failure::{Failure, Result};
use crate::output::{self, Table, line};
use crate::statistics::{Samples, grouped, time};

/// Serve objects and call them: a bank, and what finding an object and an operation costs
///
/// Two processes on this machine talk GIOP/IIOP over loopback TCP, and the native protocol over shared memory. One serves a
/// bank, and 500 objects with 100 operations each under every lookup strategy; the other calls them. Takes about ten
/// seconds.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  throughline demo
  throughline demo --serve --listen 0.0.0.0:2810
  throughline demo --idl > bank.idl")]
pub struct Arguments {
    /// Keep serving at the end, for other CORBA clients, until ctrl-c
    #[arg(long)]
    serve: bool,
    /// Where the server listens
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: Address,
    /// Fewer calls: about two seconds
    #[arg(long)]
    quick: bool,
    /// One JSON object per figure instead of tables
    #[arg(long)]
    json: bool,
    /// Only print the bank's IDL
    #[arg(long)]
    idl: bool,
}

/// Threads that call and wait.
const BLOCKING_CALLERS: usize = 4;
/// Tasks whose calls share a connection.
const TASKS: usize = 32;

/// Runs the demonstration.
pub fn run(arguments: &Arguments) -> Result {
    if arguments.idl {
        line(include_str!("../idl/bank.idl").trim_end());
        return Ok(());
    }
    let peer = Peer::start(&arguments.listen)?;
    if !arguments.json {
        introduce(&peer);
    }
    let rows = measure(arguments, &peer)?;
    show_rows(arguments, &rows);
    let progress = spinner("transports");
    let transports = transports::measure(&peer, if arguments.quick { 5_000 } else { 20_000 })?;
    progress.finish_and_clear();
    show_transports(arguments, &transports);
    let moment = Duration::from_millis(if arguments.quick { 300 } else { 2000 });
    let progress = spinner("transactions");
    let blocking = trade::blocking(&peer, BLOCKING_CALLERS, moment)?;
    let tasks = trade::tasks(&peer, TASKS, moment)?;
    progress.finish_and_clear();
    show_bank(arguments, &peer, &blocking, &tasks)?;
    show_references(arguments, &peer);
    if !arguments.serve {
        return Ok(());
    }
    output::tell("Serving until ctrl-c.");
    crate::signals::serve_until_told(&peer.orb)
}

fn introduce(peer: &Peer) {
    if cfg!(debug_assertions) {
        line(
            "This is a debug build: nothing here says how fast a release build is. Use cargo run --release -- demo",
        );
        line("");
    }
    line(&format!(
        "Two processes, GIOP 1.2 over loopback TCP, blocking reads: server {}, client {}. {} processors.",
        peer.id(),
        std::process::id(),
        std::thread::available_parallelism().map_or(1, usize::from)
    ));
    line("");
}

fn bar(length: u64, what: &'static str) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg} {wide_bar} {eta}").unwrap_or(ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_message(what)
}

fn spinner(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(what);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn measure(arguments: &Arguments, peer: &Peer) -> Result<Vec<Row>> {
    let mut rows = lookup::rows();
    let (calls, batches) = if arguments.quick { (500, 50) } else { (5_000, 400) };
    let progress = bar((calls * rows.len()) as u64, "calls over IIOP");
    lookup::over_iiop(peer, &mut rows, calls, &progress)?;
    progress.finish_and_clear();
    let progress = bar((batches * rows.len()) as u64, "dispatch in process");
    lookup::in_process(&mut rows, batches, &progress)?;
    progress.finish_and_clear();
    Ok(rows)
}

fn show_rows(arguments: &Arguments, rows: &[Row]) {
    if arguments.json {
        return rows.iter().for_each(json_rows);
    }
    line(&format!(
        "What a call costs, by how object and operation are found: {} objects, {} operations.",
        hundred::OBJECTS,
        hundred::OPERATIONS
    ));
    line(
        "\"dispatch\" is the same request in process, from message to message; \"object\" and \"operation\" are its lookups.",
    );
    line("");
    let mut table = Table::new(["strategy", "called", ">call", ">p99", ">dispatch", ">object", ">operation"]);
    for row in rows {
        table.row([
            row.strategy.to_string(),
            row.place.name().to_owned(),
            time(row.call.median()),
            time(row.call.p99()),
            time(row.dispatch.median()),
            time(row.object.median()),
            time(row.operation.median()),
        ]);
        if row.place == hundred::Place::Random {
            table.gap();
        }
    }
    table.print();
}

fn json_rows(row: &Row) {
    let figure = |metric: &str, value: f64, samples: &Samples| {
        output::json_line(
            &json!({"experiment": "demo", "strategy": row.strategy.name(), "place": row.place.name(),
            "objects": hundred::OBJECTS, "operations": hundred::OPERATIONS, "metric": metric, "unit": "ns",
            "value": value, "samples": samples.count()}),
        );
    };
    figure("call_median", row.call.median(), &row.call);
    figure("call_p99", row.call.p99(), &row.call);
    figure("dispatch_median", row.dispatch.median(), &row.dispatch);
    figure("object_median", row.object.median(), &row.object);
    figure("operation_median", row.operation.median(), &row.operation);
}

fn show_transports(arguments: &Arguments, transports: &[Transport]) {
    if arguments.json {
        for Transport { name, call } in transports {
            for (metric, value) in [("call_median", call.median()), ("call_p99", call.p99())] {
                output::json_line(
                    &json!({"experiment": "demo", "transport": name, "metric": metric, "unit": "ns",
                    "value": value, "samples": call.count()}),
                );
            }
        }
        return;
    }
    line("");
    line(
        "The same call over each transport. A reference tells them all; a client takes the fastest that works from",
    );
    line(
        "where it is: shared memory on the same machine, where it looks for the answer for a moment before it sleeps.",
    );
    line("");
    let mut table = Table::new(["transport", ">call", ">p99"]);
    for Transport { name, call } in transports {
        table.row([(*name).to_owned(), time(call.median()), time(call.p99())]);
    }
    table.print();
    line("");
}

fn show_bank(arguments: &Arguments, peer: &Peer, blocking: &Traded, tasks: &Traded) -> Result {
    let books = peer.office.audit().map_err(|e| Failure::new("the bank cannot be audited").because(e))?;
    let made = (blocking.took.count() + tasks.took.count()) as u64 - blocking.refused - tasks.refused;
    let sums = [books.accounts, books.tellers, books.branches, books.history];
    // Other clients may have traded as well while it was served to them.
    let balanced = sums.iter().all(|sum| *sum == sums[0]) && books.transactions >= made;
    let refused = blocking.refused + tasks.refused;
    if arguments.json {
        for (callers, traded) in [("blocking", blocking), ("tasks", tasks)] {
            let figure = |metric: &str, unit: &str, value: Value| {
                output::json_line(
                    &json!({"experiment": "demo", "callers": callers, "metric": metric, "unit": unit,
                    "value": value}),
                );
            };
            figure("transactions_per_second", "1/s", traded.rate().into());
            figure("transaction_median", "ns", traded.took.median().into());
            figure("transaction_p99", "ns", traded.took.p99().into());
        }
        output::json_line(&json!({"experiment": "demo", "metric": "books_balance", "unit": "boolean",
            "value": balanced, "transactions": books.transactions, "refused": refused}));
    } else {
        line(
            "The bank: each transaction changes an account, its teller and the teller's branch, and is written down.",
        );
        line("");
        let mut table = Table::new(["callers", ">transactions/s", ">median", ">p99"]);
        for (callers, traded) in [
            (format!("{BLOCKING_CALLERS} threads, blocking"), blocking),
            (format!("{TASKS} tasks on one thread, one connection"), tasks),
        ] {
            table.row([callers, grouped(traded.rate()), time(traded.took.median()), time(traded.took.p99())]);
        }
        table.print();
        line("");
        line(&format!(
            "{} transactions, {} refused for insufficient funds. Accounts, tellers, branches and history {}: {}.",
            grouped(books.transactions as f64),
            grouped(refused as f64),
            if balanced { "agree" } else { "DO NOT AGREE" },
            sums.map(|sum| grouped(sum as f64)).join(" = ")
        ));
    }
    if balanced { Ok(()) } else { Err(Failure::new("the bank's books do not balance")) }
}

fn show_references(arguments: &Arguments, peer: &Peer) {
    let object = peer.office.as_object();
    if arguments.json {
        let value = object.to_string();
        return output::json_line(
            &json!({"experiment": "demo", "metric": "office", "unit": "reference", "value": value}),
        );
    }
    line("");
    line("Any CORBA client can call the bank's office (throughline demo --idl prints its IDL), as does");
    line("throughline call REF --idl bank.idl audit, by one of");
    if let Some(corbaloc) = crate::ior::corbaloc(object.ior()) {
        line(&format!("  {corbaloc}"));
        let name_service = corbaloc.trim_end_matches("/office").replacen("corbaloc", "corbaname", 1);
        line(&format!("  {name_service}#bank/office.object"));
    }
    line(&format!("  {object}"));
}
