//! The loads: over which transport, by which callers, how many calls at a time, to how many objects.

/// So many outstanding are what the targets are about.
pub(super) const MANY: u32 = 64;

/// How calls come to be outstanding at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callers {
    /// No calls: bytes around the bare ring.
    Ring,
    /// Threads, each with one call at a time.
    Threads,
    /// One thread that begins a call, and then waits for the oldest of those it has begun.
    Begun,
    /// Tasks of one thread, each with one call at a time, under an executor that sleeps when none can go on.
    Futures,
}

impl Callers {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Threads => "threads",
            Self::Begun => "begun",
            Self::Futures => "futures",
        }
    }

    /// What the client is asked to do.
    pub(super) const fn op(self) -> &'static str {
        match self {
            Self::Ring => "pipe",
            Self::Threads => "ping",
            Self::Begun => "ping-begun",
            Self::Futures => "ping-async",
        }
    }
}

/// One load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) transport: &'static str,
    pub(super) callers: Callers,
    pub(super) outstanding: u32,
    pub(super) objects: u32,
}

/// What an ORB listens at, as rows name it and as it is told.
const TRANSPORTS: [(&str, &str); 3] =
    [("shm", "shm:"), ("udp", "udp://127.0.0.1:0"), ("iiop", "iiop://127.0.0.1:0")];
const WIDTHS_OF_RING: [u32; 3] = [1, 8, MANY];
const THREADS: [u32; 5] = [1, 2, 4, 8, MANY];
const FUTURES: [u32; 5] = [1, 4, 16, MANY, 256];
const OBJECTS: [u32; 2] = [100, 10_000];

impl Load {
    /// The address that a server listens at; none for the bare ring.
    pub(super) fn address(self) -> Option<&'static str> {
        TRANSPORTS.iter().find(|(name, _)| *name == self.transport).map(|(_, address)| *address)
    }

    /// What no ORB has promised: that many clients which come at once all find a place.
    pub(super) fn may_fail(self) -> bool {
        self.transport != "iiop" && self.callers == Callers::Threads && self.outstanding >= MANY
    }

    /// Whether bytes go around or calls are made, in the terms of `move-data`.
    pub(super) fn layer(self) -> &'static str {
        if self.callers == Callers::Ring { "raw" } else { "object" }
    }

    /// How the client waits. Threads that share a processor don't poll: each would keep the others from their replies.
    /// Nor do the workers who read for futures, as they do for all over TCP.
    pub(super) fn wait(self) -> &'static str {
        match self.callers {
            Callers::Begun if self.transport == "iiop" => "adapt",
            Callers::Ring | Callers::Begun => "poll",
            Callers::Threads if self.outstanding == 1 => "poll",
            Callers::Threads | Callers::Futures => "block",
        }
    }
}

/// All of them.
pub(super) fn all() -> Vec<Load> {
    let ring = |outstanding: &u32| Load {
        transport: "floor",
        callers: Callers::Ring,
        outstanding: *outstanding,
        objects: 0,
    };
    let mut loads: Vec<Load> = WIDTHS_OF_RING.iter().map(ring).collect();
    for (transport, _) in TRANSPORTS {
        let load = |callers, outstanding, objects| Load { transport, callers, outstanding, objects };
        loads.extend(THREADS.iter().map(|n| load(Callers::Threads, *n, 1)));
        loads.extend(FUTURES.iter().map(|n| load(Callers::Begun, *n, 1)));
        loads.extend(FUTURES.iter().map(|n| load(Callers::Futures, *n, 1)));
        loads.extend(OBJECTS.iter().map(|n| load(Callers::Threads, 1, *n)));
    }
    loads
}
