//! gzip, as a stream of members.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// Members one after another. Zeros behind the last are padding, as of tapes, and the end.
pub(crate) struct Members<R> {
    state: Option<State<R>>,
}

enum State<R> {
    Within(Box<GzDecoder<R>>),
    Between(R),
}

impl<R: BufRead> Members<R> {
    pub(crate) fn new(octets: R) -> Self {
        Self { state: Some(State::Within(Box::new(GzDecoder::new(octets)))) }
    }
}

/// Skips zeros; whether anything else follows.
fn goes_on(octets: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let data = octets.fill_buf()?;
        let zeros = data.iter().take_while(|octet| **octet == 0).count();
        let (ends, goes_on) = (data.is_empty(), zeros < data.len());
        octets.consume(zeros);
        if ends || goes_on {
            return Ok(goes_on);
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self.state.take() {
                None => return Ok(0),
                Some(State::Within(mut decoder)) => match decoder.read(buffer)? {
                    0 => self.state = Some(State::Between(decoder.into_inner())),
                    count => {
                        self.state = Some(State::Within(decoder));
                        return Ok(count);
                    }
                },
                Some(State::Between(mut octets)) => {
                    if goes_on(&mut octets)? {
                        self.state = Some(State::Within(Box::new(GzDecoder::new(octets))));
                    }
                }
            }
        }
    }
}
