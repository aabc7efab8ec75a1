//! Zstandard, as a stream of frames.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder, StreamingDecoder};

/// An empty block that is the last of its frame, and room for the frame's checksum.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Frames one after another, beyond those that are to be skipped.
pub(crate) struct Frames<R: Read> {
    state: Option<State<R>>,
    /// Octets that a frame may make us keep to look back at.
    window: u64,
}

enum State<R: Read> {
    Between(R),
    Within(Box<StreamingDecoder<R, FrameDecoder>>),
    /// What could be decoded of a damaged frame, and what is wrong with it.
    Damaged(Box<FrameDecoder>, io::Error),
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(octets: R, window: u64) -> Self {
        Self { state: Some(State::Between(octets)), window }
    }

    /// Opens the next frame; none at the end.
    fn begin(&self, mut octets: R) -> io::Result<Option<State<R>>> {
        while let [first, ..] = octets.fill_buf()? {
            if !(0x50..=0x5f).contains(first) {
                let decoder = StreamingDecoder::new_with_max_window_size(octets, self.window);
                return Ok(Some(State::Within(Box::new(decoder.map_err(io::Error::other)?))));
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

/// The decoder holds back all that later blocks may refer to. Of a damaged frame there are no later blocks: it ends here.
fn cut_short<R: Read>(decoder: StreamingDecoder<R, FrameDecoder>, damage: io::Error) -> State<R> {
    let mut frame = decoder.into_frame_decoder();
    // If even that fails, what it held back is lost.
    let _ = frame.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::UptoBlocks(1));
    State::Damaged(Box::new(frame), damage)
}

fn check(frame: &FrameDecoder) -> io::Result<()> {
    match (frame.get_checksum_from_data(), frame.get_calculated_checksum()) {
        (Some(told), Some(found)) if told != found => {
            Err(io::Error::other("a frame's checksum does not match its contents"))
        }
        _ => Ok(()),
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.state.take() {
                None => return Ok(0),
                Some(State::Between(octets)) => self.state = self.begin(octets)?,
                Some(State::Within(mut decoder)) => match decoder.read(buffer) {
                    Ok(0) => {
                        check(&decoder.decoder)?;
                        self.state = Some(State::Between(decoder.into_inner()));
                    }
                    Ok(count) => {
                        self.state = Some(State::Within(decoder));
                        return Ok(count);
                    }
                    Err(damage) => self.state = Some(cut_short(*decoder, damage)),
                },
                Some(State::Damaged(mut frame, damage)) => match frame.read(buffer)? {
                    0 => return Err(damage),
                    count => {
                        self.state = Some(State::Damaged(frame, damage));
                        return Ok(count);
                    }
                },
            }
        }
    }
}
