//! iceoryx2's request-response: slices of words, answered with the same words.
//!
//! The server copies them from the request into the answer, both in shared memory; the client writes its request in
//! place and reads the answer in place, as is the point of iceoryx2.
//!
//! Who blocks waits for events, which the other side sends behind each message: iceoryx2's way to wait without polling.

use std::{
    collections::VecDeque,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use iceoryx2::{
    pending_response::PendingResponse,
    port::{client::Client, listener::Listener, notifier::Notifier, server::Server},
    prelude::*,
};

use crate::{Failure, parts, parts::Round};

/// 64 KiB.
const LONGEST: usize = 16 << 10;
/// How often a server that blocks looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(100);

type Words = [u32];
type Pending = PendingResponse<ipc::Service, Words, (), Words, ()>;

/// The events of both directions, for ends that block.
struct Bells {
    ring: Notifier<ipc::Service>,
    heard: Listener<ipc::Service>,
}

/// A place of its own, so that nothing else on this machine is touched, and how many requests may be under way.
struct Place {
    node: Node<ipc::Service>,
    width: usize,
}

const NAME: &str = "calls";

/// Files in `/dev/shm` begin with the name of the folder where the others are.
fn prefix(folder: &std::path::Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Removes what is left when nobody uses the folder any more.
pub fn clean(folder: &std::path::Path) -> Result<(), Failure> {
    if !folder.is_dir() {
        return Ok(());
    }
    std::fs::remove_dir_all(folder)?;
    for entry in std::fs::read_dir("/dev/shm")? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&prefix(folder)) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

impl Place {
    fn new(folder: &str, width: &str) -> Result<Self, Failure> {
        set_log_level(LogLevel::Error);
        let mut config = Config::default();
        config.global.set_root_path(&Path::new(folder.as_bytes())?);
        config.global.prefix = FileName::new(format!("{}-", prefix(folder.as_ref())).as_bytes())?;
        let node = NodeBuilder::new()
            .config(&config)
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<ipc::Service>()?;
        Ok(Self { node, width: width.parse()? })
    }

    fn service(
        &self,
    ) -> Result<
        iceoryx2::service::port_factory::request_response::PortFactory<ipc::Service, Words, (), Words, ()>,
        Failure,
    > {
        let service = self
            .node
            .service_builder(&NAME.try_into()?)
            .request_response::<Words, Words>()
            .max_active_requests_per_client(self.width)
            .max_servers(1)
            .max_clients(1)
            .open_or_create()?;
        Ok(service)
    }

    fn bells(&self, own: &str, other: &str) -> Result<Bells, Failure> {
        let event = |direction: &str| {
            Ok::<_, Failure>(self.node.service_builder(&direction.try_into()?).event().open_or_create()?)
        };
        let ring = event(own)?.notifier_builder().create()?;
        Ok(Bells { ring, heard: event(other)?.listener_builder().create()? })
    }
}

/// The server: `FOLDER poll|block WIDTH`.
pub fn serve(arguments: &[String]) -> Result<(), Failure> {
    let [folder, wait, width] = arguments else { return Err("iceoryx-server: bad arguments".into()) };
    let ended = parts::ended();
    let place = Place::new(folder, width)?;
    let server = place.service()?.server_builder().initial_max_slice_len(LONGEST).create()?;
    let bells = if wait == "block" { Some(place.bells("answers", "requests")?) } else { None };
    parts::say(folder)?;
    while !ended.load(Ordering::Relaxed) {
        if let Some(bells) = &bells {
            bells.heard.timed_wait(|_| {}, LOOK)?;
        }
        let answered = answer(&server)?;
        if let (true, Some(bells)) = (answered, &bells) {
            bells.ring.notify()?;
        }
    }
    Ok(())
}

/// Answers all requests that have come; whether there were any.
fn answer(server: &Server<ipc::Service, Words, (), Words, ()>) -> Result<bool, Failure> {
    let mut any = false;
    while let Some(request) = server.receive()? {
        let words = request.payload();
        request.loan_slice_uninit(words.len())?.write_from_slice(words).send()?;
        any = true;
    }
    Ok(any)
}

/// The client: as the server.
pub fn call(arguments: &[String]) -> Result<(), Failure> {
    let [folder, wait, width] = arguments else { return Err("iceoryx-client: bad arguments".into()) };
    let place = Place::new(folder, width)?;
    let client = place.service()?.client_builder().initial_max_slice_len(LONGEST).create()?;
    let bells = if wait == "block" { Some(place.bells("requests", "answers")?) } else { None };
    let words: Vec<u32> = (0..LONGEST as u32).collect();
    parts::rounds(|round| {
        let words = &words[..round.bytes / 4];
        if round.width > 1 {
            pipe(&client, words, round)
        } else {
            echo(&client, words, round, bells.as_ref())
        }
    })
}

/// One call after the other.
fn echo(
    client: &Client<ipc::Service, Words, (), Words, ()>,
    words: &Words,
    round: &Round,
    bells: Option<&Bells>,
) -> Result<Vec<u64>, Failure> {
    let mut times = Vec::with_capacity(round.count);
    for _ in 0..round.count {
        let since = Instant::now();
        let pending = client.loan_slice_uninit(words.len())?.write_from_slice(words).send()?;
        if let Some(bells) = bells {
            bells.ring.notify()?;
        }
        while !taken(&pending, words)? {
            if let Some(bells) = bells {
                bells.heard.blocking_wait(|_| {})?;
            }
        }
        drop(pending);
        times.push(since.elapsed().as_nanos() as u64);
    }
    Ok(times)
}

/// As many under way as the round says.
fn pipe(
    client: &Client<ipc::Service, Words, (), Words, ()>,
    words: &Words,
    round: &Round,
) -> Result<Vec<u64>, Failure> {
    let (mut times, mut under_way, mut sent) = (Vec::with_capacity(round.count), VecDeque::new(), 0);
    let mut since = Instant::now();
    while times.len() < round.count {
        while sent < round.count && under_way.len() < round.width {
            under_way.push_back(client.loan_slice_uninit(words.len())?.write_from_slice(words).send()?);
            sent += 1;
        }
        while !taken(&under_way[0], words)? {}
        under_way.pop_front();
        times.push(since.elapsed().as_nanos() as u64);
        since = Instant::now();
    }
    Ok(times)
}

/// Whether the answer has come.
fn taken(pending: &Pending, words: &Words) -> Result<bool, Failure> {
    let Some(answer) = pending.receive()? else { return Ok(false) };
    let same = answer.payload().len() == words.len() && answer.payload().last() == words.last();
    if same { Ok(true) } else { Err("iceoryx-client: not what was sent".into()) }
}
