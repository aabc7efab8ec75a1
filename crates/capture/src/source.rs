//! Where the octets of a capture come from: a file or standard input, compressed or not.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::ahead::{Ahead, Stopper};
use crate::gzip::Members;
use crate::zstd::Frames;

/// Octets that a compressed stream may make us keep to look back at.
const WINDOW: u64 = 128 << 20;
/// Octets read at once.
const CHUNK: usize = 256 << 10;

/// A capture's octets, decompressed by a thread of its own.
pub struct Source {
    octets: Ahead,
    progress: Progress,
    compression: Compression,
    size: Option<u64>,
}

/// How a capture is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, of one or several members.
    Gzip,
    /// Zstandard, of one or several frames.
    Zstd,
    /// xz, of one or several streams.
    Xz,
}

impl Compression {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        }
    }

    /// The command that writes what it can decompress to its standard output, however much memory that takes.
    const fn command(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Gzip => Some("gzip -dc"),
            Self::Zstd => Some("zstd -dc --long=31"),
            Self::Xz => Some("xz -dc"),
        }
    }

    /// Octets to decompress at once: where the data is damaged, what was decompressed in the same piece is lost.
    const fn step(self) -> usize {
        match self {
            Self::None => usize::MAX,
            Self::Gzip | Self::Zstd | Self::Xz => 4096,
        }
    }

    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::None,
        }
    }
}

/// What to do with a file that is compressed in a way not read here, if it looks like one.
fn foreign(head: &[u8]) -> Option<(&'static str, &'static str)> {
    match head {
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(("bzip2", "bzip2 -dc")),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some(("lz4", "lz4 -dc")),
        // Which reads from its standard input, as unzip does not.
        [b'P', b'K', 3, 4, ..] => Some(("zip", "funzip")),
        [0x1f, 0x9d, ..] => Some(("compress", "gzip -dc")),
        _ => None,
    }
}

/// Why octets cannot be read as a capture from the first on, and what may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) cause: String,
    /// A command that decompresses the file by another program.
    pub(crate) command: Option<&'static str>,
}

/// What has been read so far, shared with those who watch.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    taken: Arc<AtomicU64>,
    fault: Arc<OnceLock<String>>,
}

impl Progress {
    /// Octets taken from the file, as they lie there: compressed ones if it is compressed.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Why reading or decompressing failed, if it did.
    pub fn fault(&self) -> Option<String> {
        self.fault.get().cloned()
    }
}

impl Source {
    /// A file, or standard input for `-`.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Self::new(io::stdin());
        }
        let file = File::open(path)?;
        let about = file.metadata()?;
        if about.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let size = about.is_file().then_some(about.len());
        Ok(Self { size, ..Self::new(file)? })
    }

    /// Any octets; how they are compressed is seen from the first ones.
    ///
    /// # Errors
    /// When the first octets cannot be read, or the system gives us no thread.
    pub fn new(octets: impl Read + Send + 'static) -> io::Result<Self> {
        let progress = Progress::default();
        let mut counted = Counted { octets, taken: Arc::clone(&progress.taken) };
        let mut head = Vec::new();
        counted.by_ref().take(6).read_to_end(&mut head)?;
        let compression = Compression::of(&head);
        let whole = Cursor::new(head).chain(counted);
        let octets: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(whole),
            Compression::Gzip => Box::new(Members::new(BufReader::with_capacity(CHUNK, whole))),
            Compression::Zstd => Box::new(Frames::new(BufReader::with_capacity(CHUNK, whole), WINDOW)),
            Compression::Xz => {
                let buffered = BufReader::with_capacity(CHUNK, whole);
                // The limit counts KiB, and what the decoder needs besides.
                let limit = lzma_rust2::lzma2_get_memory_usage(WINDOW as u32);
                Box::new(lzma_rust2::XzReader::new_mem_limit(buffered, true, limit))
            }
        };
        let octets = Ahead::new(octets, compression.step())?;
        Ok(Self { octets, progress, compression, size: None })
    }

    /// The file's size, if it has one.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// How it is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Ends the reading from elsewhere.
    pub fn stopper(&self) -> Stopper {
        self.octets.stopper()
    }

    /// Why nothing can be read, where these are the first octets: they could not be decompressed, or are compressed otherwise or
    /// once more.
    pub(crate) fn refusal(&self, head: &[u8]) -> Option<Refusal> {
        if let Some(cause) = self.progress.fault() {
            return Some(Refusal { cause, command: self.compression.command() });
        }
        if let Some(command) = self.compression.command() {
            let within = match Compression::of(head) {
                Compression::None => foreign(head)?.0,
                compression => compression.name(),
            };
            let outside = self.compression.name();
            let cause = format!("it is compressed twice: within {outside} there is {within}");
            return Some(Refusal { cause, command: Some(command) });
        }
        let (name, command) = foreign(head)?;
        Some(Refusal {
            cause: format!("it is compressed by {name}, which is not read here"),
            command: Some(command),
        })
    }

    /// The command that reads on, where octets that are there refer back too far for us.
    pub(crate) fn command(&self) -> Option<&'static str> {
        let cause = self.progress.fault()?;
        if cause.ends_with(&too_far()) { self.compression.command() } else { None }
    }

    /// A view of what has been read.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }
}

/// Fills the buffer as far as there are octets, so that readers see a short read at the end only. What came before a
/// failure is handed out; the failure, told in `Progress::fault`, is an end.
impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() && self.progress.fault.get().is_none() {
            match self.octets.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(e) => self.fail(&e),
            }
        }
        Ok(filled)
    }
}

impl Source {
    fn fail(&self, error: &io::Error) {
        let cause = match self.compression {
            _ if error.kind() == io::ErrorKind::Interrupted => "its reading was ended".to_owned(),
            Compression::None => error.to_string(),
            compression => {
                format!("the {} data cannot be decompressed: {}", compression.name(), root_cause(error))
            }
        };
        let _ = self.progress.fault.set(cause);
    }
}

/// What is said of compressed data that would take us too much memory.
fn too_far() -> String {
    format!("it refers back by more than {} MiB", WINDOW >> 20)
}

/// What is at the bottom of a decompressor's error: errors above it show those below as programmers see them.
fn root_cause(error: &io::Error) -> String {
    let mut cause: &(dyn Error + 'static) = error;
    loop {
        let below = match cause.downcast_ref::<io::Error>() {
            Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return "the file ends early".to_owned();
            }
            Some(error) => error.get_ref().map(|error| error as &(dyn Error + 'static)),
            None => cause.source(),
        };
        match below {
            Some(below) => cause = below,
            None => {
                let text = cause.to_string();
                let refusals = ["Specified window_size is too big", "needed memory too big"];
                if refusals.iter().any(|begin| text.starts_with(begin)) {
                    return too_far();
                }
                let line = text.lines().next().unwrap_or_default().trim_end();
                // Some are but a number, of which nobody knows what it is.
                let told = if line.contains(char::is_alphabetic) { line } else { "it is damaged" };
                return told.to_owned();
            }
        }
    }
}

/// Counts octets on their way.
struct Counted<R> {
    octets: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // An interruption is no fault, but decompressors do not go on after any.
        let count = loop {
            match self.octets.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::decoding::errors::DecodeSequenceError;

    use super::*;

    /// A number by itself tells nobody what is wrong.
    #[test]
    fn causes_have_words() {
        let of = |error: DecodeSequenceError| root_cause(&io::Error::other(error));
        assert_eq!(of(DecodeSequenceError::ExtraBits { bits_remaining: 12 }), "it is damaged");
        let others = of(DecodeSequenceError::NotEnoughBytesForNumSequences);
        assert!(others.starts_with("Bytestream did not contain enough"), "{others}");
    }
}
