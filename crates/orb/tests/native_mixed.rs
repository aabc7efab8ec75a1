//! Messages of several values by the native protocol: long sequences before, between and behind others.

#[macro_use]
mod common;

use std::time::Duration;

use common::{ECHO, EchoRef, client, seen_by, server_with};
use throughline::block_on;
use throughline::rt::{
    Decode, DecodeError, Dispatched, Encode, EncodeError, Interface, Operation, Reader, ServerCall, Skeleton,
    SystemException, TypedSkeleton, Writer,
};

const GRACE: Duration = Duration::from_secs(2);
const MIRROR: Operation = Operation::new("move_data", 4);

/// Values of many lengths; which, the seed says.
#[derive(Clone, Debug, PartialEq)]
struct Values {
    seed: u32,
    words: Vec<u32>,
    text: String,
    numbers: Vec<f64>,
    nested: Vec<Vec<u16>>,
    octets: Vec<u8>,
    last: u64,
}

impl Values {
    fn of(seed: u32) -> Self {
        let len = |at: u32| {
            let random = (seed * 7 + at).wrapping_mul(2_654_435_761) >> 16;
            let limit = [3, 90, 700, 20_000][(random >> 3) as usize % 4];
            random as usize % limit
        };
        Self {
            seed,
            words: (0..len(1) as u32).map(|n| n ^ seed << 20).collect(),
            text: "text".repeat(len(2) / 4),
            numbers: (0..len(3)).map(|n| n as f64 / 3.0).collect(),
            nested: (0..len(4) as u16 % 100).map(|n| (0..n).collect()).collect(),
            octets: (0..len(5)).map(|n| n as u8).collect(),
            last: u64::from(seed) << 40,
        }
    }

    fn write(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        self.seed.encode(w)?;
        self.words.encode(w)?;
        self.text.encode(w)?;
        self.numbers.encode(w)?;
        self.nested.encode(w)?;
        self.octets.encode(w)?;
        self.last.encode(w)
    }

    /// Every other time numbers are borrowed, if that can be.
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let seed = r.read_u32()?;
        Ok(Self {
            seed,
            words: if seed.is_multiple_of(2) { r.read_slice()?.into_owned() } else { Decode::decode(r)? },
            text: Decode::decode(r)?,
            numbers: Decode::decode(r)?,
            nested: Decode::decode(r)?,
            octets: if seed.is_multiple_of(2) { r.read_octets()?.to_vec() } else { Decode::decode(r)? },
            last: Decode::decode(r)?,
        })
    }
}

/// Says what it was told.
struct Mirror;

impl Skeleton for Mirror {
    fn interface(&self) -> &'static Interface {
        &ECHO
    }

    fn invoke(&self, operation: u32, call: &mut ServerCall<'_>) -> Dispatched {
        if operation != 4 {
            return call.implicit(&ECHO, operation);
        }
        let values = Values::read(call.arguments())?;
        assert_eq!(values, Values::of(values.seed));
        call.reply(|w| values.write(w))
    }
}

impl TypedSkeleton for Mirror {
    type Reference = EchoRef;
}

fn mirrored(mirror: &EchoRef, values: &Values) -> Result<Values, SystemException> {
    mirror.0.call(MIRROR, |w| values.write(w), Values::read)
}

fn values_of_all_lengths_come_back(at: &str) {
    let (server, client) = (server_with(|c| c.listen = vec![at.parse().unwrap()]), client());
    let mirror = seen_by(&client, &server.root().activate(Mirror).unwrap());
    for seed in 0..400 {
        let values = Values::of(seed);
        assert_eq!(mirrored(&mirror, &values).unwrap(), values);
    }
    // Of those that are under way together, none is left where it lies.
    for seeds in (0..60).collect::<Vec<_>>().chunks(6) {
        let call = |seed: &u32| {
            let values = Values::of(*seed);
            mirror.0.call_async(MIRROR, |w| values.write(w), Values::read)
        };
        let calls: Vec<_> = seeds.iter().map(call).collect();
        for (call, seed) in calls.into_iter().zip(seeds) {
            let values: Result<_, SystemException> = block_on(call);
            assert_eq!(values.unwrap(), Values::of(*seed));
        }
    }
    server.shutdown(GRACE);
}

fn arguments_that_end_too_early_are_refused(at: &str) {
    let (server, client) = (server_with(|c| c.listen = vec![at.parse().unwrap()]), client());
    let mirror = seen_by(&client, &server.root().activate(Mirror).unwrap());
    for len in [0, 5, 2_000, 9_000, 70_000] {
        let cut = |w: &mut Writer<'_>| {
            3_u32.encode(w)?;
            // More than there are.
            w.write_length(len + 1)?;
            w.write_bytes(&vec![0; 4 * len]);
            Ok(())
        };
        let error: SystemException = mirror.0.call(MIRROR, cut, Values::read).unwrap_err();
        assert_eq!(error.kind, throughline::Kind::Marshal, "{error}");
        let values = Values::of(len as u32);
        assert_eq!(mirrored(&mirror, &values).unwrap(), values);
    }
    server.shutdown(GRACE);
}

over! {
    values_of_all_lengths_come_back
    arguments_that_end_too_early_are_refused
}
