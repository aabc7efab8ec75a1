//! Where the octets of a capture come from: a file or standard input, compressed or not.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// Octets that a compressed stream may make us keep to look back at.
const WINDOW: u64 = 128 << 20;
/// Octets read at once.
const CHUNK: usize = 256 << 10;

type Octets = Box<dyn Read>;

/// A capture's octets, decompressed.
pub struct Source {
    octets: Octets,
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

    /// Octets to decompress at once: where the data is damaged, what was decompressed in the same piece is lost.
    const fn piece(self) -> usize {
        match self {
            Self::None => usize::MAX >> 1,
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

/// What has been read so far, shared with those who watch.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    taken: Rc<Cell<u64>>,
    fault: Rc<RefCell<Option<String>>>,
}

impl Progress {
    /// Octets taken from the file, as they lie there: compressed ones if it is compressed.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }

    /// Why reading or decompressing failed, if it did.
    pub fn fault(&self) -> Option<String> {
        self.fault.borrow().clone()
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
    /// When the first octets cannot be read.
    pub fn new(octets: impl Read + 'static) -> io::Result<Self> {
        let progress = Progress::default();
        let mut counted = Counted { octets, taken: Rc::clone(&progress.taken) };
        let mut head = Vec::new();
        counted.by_ref().take(6).read_to_end(&mut head)?;
        let compression = Compression::of(&head);
        let whole = Cursor::new(head).chain(counted);
        let octets: Octets = match compression {
            Compression::None => Box::new(whole),
            Compression::Gzip => {
                Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(CHUNK, whole)))
            }
            Compression::Zstd => Box::new(Frames::new(BufReader::with_capacity(CHUNK, whole))),
            Compression::Xz => {
                let buffered = BufReader::with_capacity(CHUNK, whole);
                Box::new(lzma_rust2::XzReader::new_mem_limit(buffered, true, (WINDOW >> 10) as u32))
            }
        };
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
        while filled < buffer.len() && self.progress.fault.borrow().is_none() {
            let end = buffer.len().min(filled + self.compression.piece());
            match self.octets.read(&mut buffer[filled..end]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => *self.progress.fault.borrow_mut() = Some(self.told(&e)),
            }
        }
        Ok(filled)
    }
}

impl Source {
    fn told(&self, error: &io::Error) -> String {
        match self.compression {
            Compression::None => error.to_string(),
            compression => format!("the {} data cannot be decompressed: {error}", compression.name()),
        }
    }
}

/// Counts octets on their way.
struct Counted<R> {
    octets: R,
    taken: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.octets.read(buffer)?;
        self.taken.set(self.taken.get() + count as u64);
        Ok(count)
    }
}

/// Zstandard frames one after another.
struct Frames<R: Read> {
    state: Option<State<R>>,
}

enum State<R: Read> {
    Between(R),
    Within(Box<StreamingDecoder<R, FrameDecoder>>),
}

impl<R: BufRead> Frames<R> {
    fn new(octets: R) -> Self {
        Self { state: Some(State::Between(octets)) }
    }

    /// Opens the next frame, beyond those that are to be skipped.
    fn begin(mut octets: R) -> io::Result<Option<StreamingDecoder<R, FrameDecoder>>> {
        while let [first, ..] = octets.fill_buf()? {
            if !(0x50..=0x5f).contains(first) {
                let decoder = StreamingDecoder::new_with_max_window_size(octets, WINDOW);
                return decoder.map(Some).map_err(io::Error::other);
            }
            let mut head = [0; 8];
            octets.read_exact(&mut head)?;
            let length = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
            if io::copy(&mut octets.by_ref().take(length), &mut io::sink())? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(None)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.state.take() {
                None => return Ok(0),
                Some(State::Between(octets)) => {
                    self.state = Self::begin(octets)?.map(|decoder| State::Within(Box::new(decoder)));
                }
                Some(State::Within(mut decoder)) => match decoder.read(buffer)? {
                    0 => {
                        let sums = (
                            decoder.decoder.get_checksum_from_data(),
                            decoder.decoder.get_calculated_checksum(),
                        );
                        if let (Some(told), Some(found)) = sums
                            && told != found
                        {
                            return Err(io::Error::other("a frame's checksum does not match its contents"));
                        }
                        self.state = Some(State::Between(decoder.into_inner()));
                    }
                    count => {
                        self.state = Some(State::Within(decoder));
                        return Ok(count);
                    }
                },
            }
        }
    }
}
