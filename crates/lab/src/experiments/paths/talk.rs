//! Two hosts on one wire, and messages between them.

use std::hint::black_box;

use throughline_stack::smoltcp::time::Instant;
use throughline_stack::{Config, Graph, Message, PathId};

use super::Talks;
use super::stacks::{Side, Stack, Way, listening, participants};
use crate::LabError;

/// Paths between the hosts; all messages use the last.
const PATHS: u16 = 64;

/// A client and a server, connected by [`PATHS`] paths.
pub(crate) struct Talk {
    pub(crate) client: Graph,
    pub(crate) server: Graph,
    from_client: PathId,
    from_server: PathId,
    pub(crate) now: Instant,
    user: User,
}

/// Who uses a path, at either end: of messages or of a stream.
pub(crate) struct User {
    is_stream: bool,
    /// What has come of a stream.
    buffer: Box<[u8]>,
}

/// What has come.
#[derive(Debug)]
pub(crate) enum Came {
    Message(Message),
    /// So many bytes, in the user's buffer.
    Bytes(usize),
}

impl User {
    pub(crate) fn new(stack: Stack) -> Self {
        Self { is_stream: stack.is_stream(), buffer: vec![0; 2048].into_boxed_slice() }
    }

    pub(crate) fn send(&self, graph: &mut Graph, path: PathId, data: &[u8]) -> Result<(), LabError> {
        if self.is_stream {
            return match graph.write(path, data) {
                Ok(len) if len == data.len() => Ok(()),
                other => Err(failed(format!("written: {other:?}"))),
            };
        }
        let mut message = graph.message();
        message.append(data).map_err(failed)?;
        graph.send(path, message).map_err(failed)
    }

    /// What has arrived for the path that has something.
    #[inline]
    pub(crate) fn receive(&mut self, graph: &mut Graph) -> Option<Came> {
        let path = graph.ready()?;
        if self.is_stream {
            return graph.read(path, &mut self.buffer).ok().filter(|len| *len > 0).map(Came::Bytes);
        }
        graph.receive(path).map(Came::Message)
    }

    /// Sends back what came.
    #[inline]
    pub(crate) fn answer(&self, graph: &mut Graph, path: PathId, came: Came) -> Result<(), LabError> {
        match came {
            Came::Message(message) => graph.send(path, message).map_err(failed),
            Came::Bytes(len) => self.send(graph, path, &self.buffer[..len]),
        }
    }

    /// Looks at what came, and how much it was.
    #[inline]
    pub(crate) fn consume(&self, graph: &mut Graph, came: Came) -> usize {
        match came {
            Came::Message(message) => {
                let len = black_box(message.bytes()).len();
                graph.release(message);
                len
            }
            Came::Bytes(len) => black_box(&self.buffer[..len]).len(),
        }
    }
}

impl Talk {
    pub(crate) fn new(way: Way) -> Result<Self, LabError> {
        Self::with(way, Config::default())
    }

    /// One whose users' data is checked, or opened, in a pass of its own in all architectures.
    pub(crate) fn apart(way: Way) -> Result<Self, LabError> {
        Self::with(way, Config { integrates: false, ..Config::default() })
    }

    fn with(way: Way, config: Config) -> Result<Self, LabError> {
        let Way { stack, .. } = way;
        let description = stack.description(way.lowest, way.checksums);
        let config = Config { architecture: way.architecture, ..config };
        let graph = |side: Side| Graph::compose(&description, side.host(stack), config).map_err(failed);
        let (mut client, mut server) = (graph(Side::Client)?, graph(Side::Server)?);
        let (top, mut user, to) = (stack.top(way.lowest), User::new(stack), Side::Server.hardware());
        let mut paths = None;
        for n in 0..PATHS {
            let listener = server.enable(top, listening(stack, to, n)).map_err(failed)?;
            let path = client.open(top, participants(stack, to, n)).map_err(failed)?;
            exchange(&mut client, &mut server);
            user.send(&mut client, path, b"hello")?;
            exchange(&mut client, &mut server);
            let accepted = server.accepted(listener).ok_or_else(|| failed("no path was made"))?;
            while let Some(came) = user.receive(&mut server) {
                user.consume(&mut server, came);
            }
            // That a connection was made.
            while client.ready().is_some() {}
            paths = Some((path, accepted));
        }
        let (from_client, from_server) = paths.ok_or_else(|| failed("no paths"))?;
        Ok(Self { client, server, from_client, from_server, now: Instant::ZERO, user })
    }

    /// A frame from the client with so many bytes of data.
    pub(crate) fn request(&mut self, data: &[u8]) -> Result<Message, LabError> {
        self.user.send(&mut self.client, self.from_client, data)?;
        self.client.transmit().ok_or_else(|| failed("nothing to send"))
    }

    /// What has arrived at the server.
    pub(crate) fn received(&mut self) -> Result<Came, LabError> {
        self.user.receive(&mut self.server).ok_or_else(|| failed("the request was not delivered"))
    }

    /// Moves the message that has arrived at the server to a place of its length.
    pub(crate) fn received_into(&mut self, place: &mut [u8]) -> Result<(), LabError> {
        let path = self.server.ready().ok_or_else(|| failed("the request was not delivered"))?;
        match self.server.receive_into(path, &(), place) {
            Ok(Some((len, ()))) if len == place.len() => Ok(()),
            _ => Err(failed("the request was not delivered")),
        }
    }

    /// Takes it back to the client; returns how many bytes came.
    pub(crate) fn answered(&mut self, came: Came) -> Result<usize, LabError> {
        self.user.answer(&mut self.server, self.from_server, came)?;
        let reply = self.server.transmit().ok_or_else(|| failed("no reply"))?;
        self.client.arrive(reply, self.now);
        let came =
            self.user.receive(&mut self.client).ok_or_else(|| failed("the reply was not delivered"))?;
        Ok(self.user.consume(&mut self.client, came))
    }
}

fn exchange(client: &mut Graph, server: &mut Graph) {
    loop {
        let frames = (client.transmit(), server.transmit());
        match frames {
            (None, None) => return,
            (request, reply) => {
                request.into_iter().for_each(|frame| server.arrive(frame, Instant::ZERO));
                reply.into_iter().for_each(|frame| client.arrive(frame, Instant::ZERO));
            }
        }
    }
}

pub(crate) fn failed(error: impl ToString) -> LabError {
    LabError::Child { who: "the protocol graph".to_owned(), what: error.to_string() }
}

impl Talks for Talk {
    fn graphs(&self) -> [&Graph; 2] {
        [&self.client, &self.server]
    }

    fn round_trip(&mut self, data: &[u8]) -> Result<usize, LabError> {
        let request = self.request(data)?;
        self.server.arrive(request, self.now);
        let came = self.received()?;
        self.answered(came)
    }
}
