//! Sealed datagrams: who has the keys is heard, once; all others are discarded and counted, and nothing of what they send is given to
//! anybody. The same where data is opened at once and where it is opened on its way to its place.

mod hosts;

use hosts::{CLIENT, Pair, SERVER, data, echo};
use proptest::prelude::*;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use throughline_stack::{
    Aead, Architecture, Config, Discard, Key, KeyError, Keys, Limits, ListenerId, Message, OpenError,
    Participants, PathId, Rate, TooLong,
    manipulate::{Crc32c, Swap, copy},
};

const PLAIN: &str = "sealed > udp > ipv4 > eth; arp > eth";
const NAMING: &str = "sealed > udp > ipv4 > ethdaa; arp > eth";

/// Ways that must agree: opened at once, always so in the layered architecture, or in the pass that moves the data.
const WAYS: [(Architecture, bool); 5] = [
    (Architecture::Layered, true),
    (Architecture::Direct, false),
    (Architecture::Direct, true),
    (Architecture::Integrated, false),
    (Architecture::Integrated, true),
];

/// The server's.
fn keys(aead: Aead) -> Keys {
    let key = |id, byte| Key::new(id, aead, &vec![byte; aead.material()]).unwrap();
    Keys::new(key(0x1001, 3), key(0x2002, 4)).unwrap()
}

fn at(port: u16) -> Participants {
    Participants::at(port).application(1)
}

fn to(port: u16) -> Participants {
    Participants::to(SERVER, port).from_port(1000).application(1)
}

/// A server with room for four messages, and a client who has sent it nothing.
struct Talk {
    pair: Pair,
    listener: ListenerId,
    client: PathId,
}

impl Talk {
    fn new((architecture, integrates): (Architecture, bool)) -> Self {
        let limits = Limits { received: 4, ..Limits::default() };
        let config = Config { architecture, integrates, limits, ..Config::default() };
        let description = if architecture == Architecture::Direct { NAMING } else { PLAIN };
        let mut pair = Pair::with(description, config);
        let keys = keys(Aead::Aes128Gcm);
        let listener = pair.server.enable("sealed", at(7).sealed(keys)).unwrap();
        let client = pair.client.open("sealed", to(7).sealed(keys.reversed())).unwrap();
        Self { pair, listener, client }
    }

    /// One whose server has heard from the client once; and its path.
    fn greeted(way: (Architecture, bool)) -> (Self, PathId) {
        let mut talk = Self::new(way);
        let hello = talk.frame(b"hello");
        talk.arrive(hello);
        let path = talk.pair.server.accepted(talk.listener).unwrap();
        assert_eq!(talk.receive(path).as_deref(), Some(&b"hello"[..]));
        talk.pair.server.ready();
        (talk, path)
    }

    /// A frame of the client's.
    fn frame(&mut self, data: &[u8]) -> Vec<u8> {
        self.pair.client.send(self.client, Message::copied(128, data)).unwrap();
        loop {
            let frame = self.pair.client.transmit();
            match frame {
                Some(frame) if frame.bytes()[12..14] == [8, 6] => {
                    self.pair.server.arrive(frame, self.pair.now);
                    let answer = self.pair.server.transmit().unwrap();
                    self.pair.client.arrive(answer, self.pair.now);
                }
                frame => return frame.unwrap().bytes().to_vec(),
            }
        }
    }

    fn arrive(&mut self, frame: Vec<u8>) {
        self.pair.server.arrive(Message::copied(0, &frame), self.pair.now);
    }

    fn receive(&mut self, path: PathId) -> Option<Vec<u8>> {
        Some(self.pair.server.receive(path)?.bytes().to_vec())
    }

    fn count(&self, why: Discard) -> u64 {
        self.pair.server.discarded().filter(|(_, other, _)| *other == why).map(|(.., count)| count).sum()
    }
}

/// Where the header of a sealed message begins in a frame.
fn header(frame: &[u8]) -> usize {
    let ethernet = if frame[12..14] == [0x88, 0xb5] { 22 } else { 14 };
    ethernet + 20 + 8
}

/// The frame with one byte of the datagram changed, and the check sum to it: as who forges would have it.
fn forged(frame: &[u8], at: usize, change: u8) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[at] ^= change;
    without_sum(frame)
}

/// Over IPv4 datagrams need none.
fn without_sum(mut frame: Vec<u8>) -> Vec<u8> {
    let udp = header(&frame) - 8;
    frame[udp + 6..udp + 8].fill(0);
    frame
}

#[test]
fn to_and_fro() {
    for architecture in Architecture::ALL {
        for aead in Aead::ALL {
            let description = if architecture == Architecture::Direct { NAMING } else { PLAIN };
            for len in [0, 1, 15, 16, 1000, 1400, 5000] {
                let (mut pair, keys) = (Pair::new(description, architecture), keys(aead));
                let (at, to) = (at(7).sealed(keys), to(7).sealed(keys.reversed()));
                let sent = data(len);
                assert_eq!(echo(&mut pair, "sealed", at, to, &sent), Some(sent.clone()), "{architecture:?}");
                let path = pair.client.ready().unwrap();
                assert_eq!(pair.client.addresses(path), Some((CLIENT.into(), SERVER.into())));
                let shown = |frame: &Vec<u8>| frame.windows(16).any(|part| *part == sent[..16]);
                assert!(len != 1000 || !pair.frames.iter().any(shown), "the data can be read");
            }
        }
    }
}

/// The bytes on the wire, made without the code in question.
#[test]
fn the_format_is_what_is_written() {
    let mut talk = Talk::new(WAYS[0]);
    talk.frame(b"first");
    let frame = talk.frame(b"second");
    let sealed = &frame[header(&frame)..];
    assert_eq!(sealed[..12], [0, 0, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &[3; 16]).unwrap());
    let nonce = Nonce::assume_unique_for_key([3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 2]);
    let mut expected = b"second".to_vec();
    key.seal_in_place_append_tag(nonce, Aad::from(&sealed[..12]), &mut expected).unwrap();
    assert_eq!(sealed[12..], expected);
}

#[test]
fn what_strangers_send_is_counted_by_reason() {
    for way in WAYS {
        let (mut talk, path) = Talk::greeted(way);
        let frame = talk.frame(&data(100));
        let at = header(&frame);
        let mut expected = Vec::new();
        let mut refused = |talk: &mut Talk, frame: Vec<u8>, why: Discard| {
            talk.arrive(frame);
            assert_eq!(talk.receive(path), None, "{way:?}: {why:?}");
            expected.push(why);
            assert_eq!(
                talk.count(why),
                expected.iter().filter(|it| **it == why).count() as u64,
                "{way:?}: {why:?}"
            );
        };
        // Sequence number, data, tag.
        for byte in [at + 4, at + 11, at + 12, at + 60, frame.len() - 16, frame.len() - 1] {
            refused(&mut talk, forged(&frame, byte, 0x40), Discard::Forged);
        }
        // Who names a path is held to its key.
        let unknown = if way.0 == Architecture::Direct { Discard::WrongPath } else { Discard::UnknownKey };
        refused(&mut talk, forged(&frame, at, 1), unknown);
        for len in [0, 1, 12, 27] {
            let mut short = frame[..at + len].to_vec();
            let udp = at - 8;
            short[udp + 4..udp + 6].copy_from_slice(&(8 + len as u16).to_be_bytes());
            refused(&mut talk, without_sum(short), Discard::Truncated);
        }
        let mut damaged = frame.clone();
        damaged[at + 20] ^= 1;
        refused(&mut talk, damaged, Discard::Checksum);
        // None of that has hurt the message itself, which comes once.
        talk.arrive(frame.clone());
        assert_eq!(talk.receive(path), Some(data(100)), "{way:?}");
        refused(&mut talk, frame.clone(), Discard::Duplicate);
        assert_eq!(talk.pair.server.discarded().map(|(.., count)| count).sum::<u64>(), expected.len() as u64);
    }
}

#[test]
fn late_messages_come_and_those_too_late_do_not() {
    for way in WAYS {
        let (mut talk, path) = Talk::greeted(way);
        let frames: Vec<_> = (0..1000_u32).map(|n| talk.frame(&n.to_be_bytes())).collect();
        let came = |talk: &mut Talk, n: usize| {
            talk.arrive(frames[n].clone());
            talk.receive(path).map(|data| data == (n as u32).to_be_bytes())
        };
        assert_eq!(came(&mut talk, 999), Some(true));
        // 960 numbers are remembered, the highest included.
        for n in [998, 500, 40] {
            assert_eq!(came(&mut talk, n), Some(true), "{way:?}: {n}");
            assert_eq!(came(&mut talk, n), None);
        }
        for n in [39, 0] {
            assert_eq!(came(&mut talk, n), None, "{way:?}: {n}");
        }
        assert_eq!(talk.count(Discard::Duplicate), 5, "{way:?}");
    }
}

#[test]
fn the_first_message_must_be_authentic_and_new_ones_are_for_who_listens() {
    for way in WAYS {
        let mut talk = Talk::new(way);
        let frame = talk.frame(b"hello");
        let at = header(&frame);
        talk.arrive(forged(&frame, at + 14, 1));
        talk.arrive(forged(&frame, frame.len() - 1, 1));
        assert_eq!(talk.count(Discard::Forged), 2);
        // A key is for one port.
        let user = talk.pair.server.enable("sealed", {
            let other = Keys::new(*keys(Aead::Aes256Gcm).send(), *keys(Aead::Aes256Gcm).receive()).unwrap();
            self::at(8).sealed(other)
        });
        user.unwrap();
        let mut elsewhere = frame.clone();
        elsewhere[at - 8 + 3] = 8;
        talk.arrive(without_sum(elsewhere));
        assert_eq!(talk.count(Discard::NoPort), 1);
        assert!(talk.pair.server.accepted(talk.listener).is_none() && talk.pair.server.ready().is_none());
        talk.arrive(frame.clone());
        let path = talk.pair.server.accepted(talk.listener).unwrap();
        assert_eq!(talk.receive(path).as_deref(), Some(&b"hello"[..]));
        // What came before makes no path either, from wherever it is sent.
        let mut again = frame;
        again[at - 8 + 1] ^= 1;
        talk.arrive(without_sum(again));
        assert_eq!(talk.count(Discard::Duplicate) + talk.count(Discard::WrongPath), 1, "{way:?}");
        assert!(talk.pair.server.accepted(talk.listener).is_none());
        // Whose listener has gone may stay, and nobody else comes.
        talk.pair.server.disable(talk.listener);
        let later = talk.frame(b"later");
        talk.arrive(later.clone());
        assert_eq!(talk.receive(path).as_deref(), Some(&b"later"[..]));
        talk.pair.server.close(path);
        talk.arrive(later);
        assert_eq!(talk.count(Discard::UnknownKey) + talk.count(Discard::NoPort), 2, "{way:?}");
    }
}

/// What waits sealed.
#[test]
fn what_waits_is_given_once_and_only_if_it_is_authentic() {
    for way in WAYS {
        let (mut talk, path) = Talk::greeted(way);
        let frames: Vec<_> = (0..6_u8).map(|n| talk.frame(&[n; 90])).collect();
        for frame in &frames {
            // There is room for four, which neither what is forged nor what comes again takes.
            talk.arrive(forged(frame, frame.len() - 1, 1));
            talk.arrive(frame.clone());
            talk.arrive(frame.clone());
        }
        let mut came = Vec::new();
        let stages = (Crc32c::default(), Swap::<2>);
        let mut place = [0xaa; 100];
        while let Some((len, found)) = talk.pair.server.receive_into(path, &stages, &mut place).unwrap() {
            let mut expected = (stages, vec![0; 90]);
            copy(&mut expected.0, &[place[0]; 90], &mut expected.1);
            assert_eq!((len, found.0.value()), (90, expected.0.0.value()));
            assert!(place[..90] == expected.1 && place[90..] == [0xaa; 10]);
            came.push(place[0]);
        }
        assert_eq!(came, [0, 1, 2, 3], "{way:?}");
        let [forged, again, refused] =
            [Discard::Forged, Discard::Duplicate, Discard::QueueFull].map(|why| talk.count(why));
        assert_eq!(forged + again + refused, 14, "{way:?}");
        assert!(forged >= 4 && again >= 3 && refused >= 2, "{way:?}: {forged} {again} {refused}");
    }
}

#[test]
fn nothing_of_a_forgery_stays_behind() {
    let (mut talk, path) = Talk::greeted((Architecture::Integrated, true));
    let frame = talk.frame(&[0x55; 500]);
    for byte in [header(&frame) + 12, frame.len() - 1] {
        talk.arrive(forged(&frame, byte, 1));
        let mut place = [0xaa; 600];
        assert!(talk.pair.server.receive_into(path, &(), &mut place).unwrap().is_none());
        assert!(place[..500] == [0; 500] && place[500..] == [0xaa; 100]);
        // That a place is too small is said of what is authentic alone.
        talk.arrive(forged(&frame, byte, 1));
        assert!(talk.pair.server.receive_into(path, &(), &mut place[..10]).unwrap().is_none());
    }
    // Nor of what was damaged on its way, by UDP's sum.
    let mut damaged = frame.clone();
    damaged[header(&frame) + 12] ^= 1;
    talk.arrive(damaged);
    let mut place = [0xaa; 600];
    assert!(talk.pair.server.receive_into(path, &(), &mut place).unwrap().is_none());
    assert!(place[..500] == [0; 500] && place[500..] == [0xaa; 100]);
    talk.arrive(frame);
    let mut place = [0; 500];
    assert_eq!(talk.pair.server.receive_into(path, &(), &mut place[..10]).err(), Some(TooLong(500)));
    assert!(matches!(talk.pair.server.receive_into(path, &(), &mut place), Ok(Some((500, ())))));
    assert_eq!(place, [0x55; 500]);
    assert_eq!(talk.count(Discard::Forged), 4);
}

/// Who has no key uses up nobody's rate.
#[test]
fn forgeries_are_not_counted_against_the_rate() {
    for way in WAYS {
        let (mut talk, path) = Talk::greeted(way);
        talk.pair.server.set_rate(path, Some(Rate { per_second: 1, burst: 2 }));
        let frames: Vec<_> = (0..3_u8).map(|n| talk.frame(&[n])).collect();
        for frame in &frames {
            for _ in 0..5 {
                talk.arrive(forged(frame, frame.len() - 1, 1));
            }
            talk.arrive(frame.clone());
        }
        let came: Vec<_> = std::iter::from_fn(|| talk.receive(path)).collect();
        assert_eq!(came, [[0], [1]], "{way:?}");
        // What is above the rate is not looked at.
        assert_eq!((talk.count(Discard::Forged), talk.count(Discard::Rate)), (10, 6), "{way:?}");
    }
}

#[test]
fn keys_are_nobody_elses_and_are_not_told() {
    let secret = [0xab; 36];
    let key = Key::new(0xc0de, Aead::Aes256Gcm, &secret).unwrap();
    assert_eq!(format!("{key:?}"), "Key(0xc0de, Aes256Gcm)");
    assert_eq!(Key::new(0, Aead::Aes256Gcm, &secret), Err(KeyError::Id));
    assert_eq!(Key::new(1, Aead::Aes128Gcm, &secret), Err(KeyError::Length(20)));
    let same = Key::new(0xbeef, Aead::Aes256Gcm, &secret).unwrap();
    assert_eq!(Keys::new(key, same), Err(KeyError::Shared));

    let mut pair = Pair::new(PLAIN, Architecture::Layered);
    let keys = keys(Aead::ChaCha20Poly1305);
    assert_eq!(pair.server.enable("sealed", at(7)), Err(OpenError::Missing("the keys")));
    assert_eq!(pair.server.open("sealed", to(7)), Err(OpenError::Missing("the keys")));
    let listener = pair.server.enable("sealed", at(7).sealed(keys)).unwrap();
    assert_eq!(pair.server.enable("sealed", at(8).sealed(keys)), Err(OpenError::Taken));
    assert_eq!(pair.server.enable("udp", at(7)), Err(OpenError::Taken));
    // Others are at the same port with keys of their own.
    let second = pair.server.enable("sealed", at(7).sealed(keys.reversed())).unwrap();
    pair.server.disable(second);
    assert_eq!(pair.server.enable("udp", at(7)), Err(OpenError::Taken));
    pair.server.disable(listener);
    pair.server.enable("udp", at(7)).unwrap();
    let path = pair.client.open("sealed", to(7).sealed(keys)).unwrap();
    assert_eq!(pair.client.open("sealed", to(9).sealed(keys)), Err(OpenError::Taken));
    pair.client.close(path);
    pair.client.open("sealed", to(9).sealed(keys)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Any message of any length, changed in any one place, is forged; and what waits beside it is not hurt.
    #[test]
    fn any_change_is_noticed(len in 0..1400_usize, at in any::<prop::sample::Index>(), change in 1..=255_u8) {
        for way in [(Architecture::Layered, true), (Architecture::Integrated, true)] {
            let (mut talk, path) = Talk::greeted(way);
            let [first, frame, last] = [b"one".to_vec(), data(len), b"two".to_vec()].map(|data| talk.frame(&data));
            let begin = header(&frame) + 4;
            let changed = forged(&frame, begin + at.index(frame.len() - begin), change);
            [first, changed, last].into_iter().for_each(|frame| talk.arrive(frame));
            prop_assert_eq!(talk.receive(path), Some(b"one".to_vec()));
            prop_assert_eq!(talk.receive(path), Some(b"two".to_vec()));
            prop_assert_eq!(talk.receive(path), None);
            // A number that came before is refused for that.
            prop_assert_eq!(talk.count(Discard::Forged) + talk.count(Discard::Duplicate), 1);
        }
    }
}
