//! Consumers of filters come and go where the process may open no more files.
//!
//! The consumers are this program again, told by an environment variable what to be.

use std::{
    error::Error,
    fs::File,
    io::{Write, stdin},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, setrlimit};
use throughline_forward::{
    FilterBank, FilterBankConfig,
    filter::{Delivery, DeliveryConfig, Program, Subscriber},
};
use throughline_vi::Nic;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const ADDRESS: &str = "THROUGHLINE_FILTER_ADDRESS";
const NAME: &[u8] = b"port";
const LONG: Duration = Duration::from_secs(10);
/// Files that this process may have open; the test harness has some.
const FILES: u64 = 100;

/// A consumer, when it is told to come, and until it is told to go. Without an address a test that has nothing to do.
#[test]
fn consumer() -> Result {
    let Ok(address) = std::env::var(ADDRESS) else { return Ok(()) };
    let all: Program = "1\n6 0 0 1\n".parse()?;
    stdin().read_line(&mut String::new())?;
    let _subscriber = Subscriber::new(&Nic::shm()?, &address, NAME, &all, LONG)?;
    stdin().read_line(&mut String::new())?;
    Ok(())
}

/// Ends with us.
struct Consumer(Child);

impl Consumer {
    fn start(address: &str) -> Result<Self> {
        let child = Command::new(std::env::current_exe()?)
            .args(["--exact", "consumer", "--nocapture"])
            .env(ADDRESS, address)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }

    fn tell(&mut self) -> Result {
        Ok(self.0.stdin.as_mut().ok_or("no pipe")?.write_all(b"\n")?)
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(what: &str, mut done: impl FnMut() -> Result<bool>) -> Result {
    let begun = Instant::now();
    while !done()? {
        if begun.elapsed() > LONG {
            return Err(what.into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

#[test]
fn who_leaves_is_let_go_though_nobody_can_come() -> Result {
    if std::env::var(ADDRESS).is_ok() {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(FILES), maximum: Some(FILES) })?;
    let nic = Nic::shm()?;
    let mut bank = FilterBank::new(FilterBankConfig::default())?;
    let mut delivery = Delivery::listen(&nic, NAME, DeliveryConfig::default())?;
    let [mut first, mut second, mut third] =
        [Consumer::start(nic.address())?, Consumer::start(nic.address())?, Consumer::start(nic.address())?];
    first.tell()?;
    until("nobody came", || {
        delivery.poll(&mut bank)?;
        Ok(delivery.consumers() == 1)
    })?;
    let mut open = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        open.push(file);
    }
    second.tell()?;
    until("the second finds a file", || Ok(delivery.poll(&mut bank).is_err()))?;
    assert_eq!((delivery.consumers(), bank.len()), (1, 1), "the first is still there");
    first.tell()?;
    until("the first is kept, and its files", || {
        let _ = delivery.poll(&mut bank);
        Ok(bank.is_empty())
    })?;
    open.clear();
    third.tell()?;
    third.tell()?;
    until("the third does not get its filter", || {
        delivery.poll(&mut bank)?;
        Ok(third.0.try_wait()?.is_some_and(|status| status.success()))
    })
}
