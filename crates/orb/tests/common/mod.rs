//! A small interface, written by hand in the shape that the IDL compiler generates, and what tests share.
// `Decode::decode` itself is a function of one lifetime, the closure one of any.
#![allow(dead_code, missing_docs, clippy::redundant_closure)]

use std::sync::LazyLock;
use std::sync::Mutex;
use std::time::Duration;

use throughline::rt::{
    Decode, Dispatched, Encode, IMPLICIT_OPERATIONS, InOut, Interface, NameTable, ObjectRef, Operation,
    OperationTable, ServerCall, Skeleton, SystemException, TypedReference, TypedSkeleton,
};
use throughline::{Address, Orb, OrbConfig};

pub const ID: &str = "IDL:Test/Echo:1.0";

/// interface Echo { void ping(); string shout(in string text); oneway void post(in unsigned long n);
///   sequence<unsigned long> posted(); void move_data(inout sequence<unsigned long> data); void sleep(in unsigned long ms);
///   void panic(); void call_back(in Echo other, in unsigned long depth);
///   unsigned long long sum(in unsigned long ms, in sequence<unsigned long> data, out unsigned long long place);
///   void change(in unsigned long how, inout sequence<unsigned long> data); };
pub static ECHO: LazyLock<&'static Interface> = LazyLock::new(|| {
    let own =
        ["ping", "shout", "post", "posted", "move_data", "sleep", "panic", "call_back", "sum", "change"];
    let names: Vec<&'static str> = own.into_iter().chain(IMPLICIT_OPERATIONS).collect();
    let built = throughline_demux::build_names(&names).unwrap();
    let names = Box::leak(names.into_boxed_slice());
    let (displacements, slots) = (Box::leak(built.displacements.into()), Box::leak(built.slots.into()));
    let table = OperationTable::new(NameTable::new(names, built.seed, displacements, slots));
    Box::leak(Box::new(Interface { repository_id: ID, ancestors: &[ID], operations: table }))
});

#[derive(Default)]
pub struct Echo {
    pub posted: Mutex<Vec<u32>>,
}

impl Skeleton for Echo {
    fn interface(&self) -> &'static Interface {
        &ECHO
    }

    fn invoke(&self, operation: u32, call: &mut ServerCall<'_>) -> Dispatched {
        match operation {
            0 => call.reply(|_| Ok(())),
            1 => {
                let text = call.arguments().read_string()?.to_uppercase();
                call.reply(|w| text.encode(w))
            }
            2 => {
                let n = call.arguments().read_u32()?;
                self.posted.lock().unwrap().push(n);
                call.reply(|_| Ok(()))
            }
            3 => {
                let posted = self.posted.lock().unwrap().clone();
                call.reply(|w| posted.encode(w))
            }
            4 => {
                let (r, place) = call.arguments_and_place();
                let data = InOut::<u32>::read_alone(r, Some(place))?.finish();
                call.reply_in_out(&data)
            }
            5 => {
                let ms = call.arguments().read_u32()?;
                std::thread::sleep(Duration::from_millis(ms.into()));
                call.reply(|_| Ok(()))
            }
            6 => panic!("as asked"),
            7 => {
                let other: Option<EchoRef> = Decode::decode(call.arguments())?;
                let depth = call.arguments().read_u32()?;
                if let (Some(other), Some(rest)) = (other, depth.checked_sub(1)) {
                    other.call_back(&other, rest)?;
                }
                call.reply(|_| Ok(()))
            }
            8 => {
                let r = call.arguments();
                let ms = r.read_u32()?;
                let data = r.read_slice::<u32>()?;
                if ms != 0 {
                    std::thread::sleep(Duration::from_millis(ms.into()));
                }
                let sum: u64 = data.iter().copied().map(u64::from).sum();
                if ms != 0 {
                    self.posted.lock().unwrap().push(sum as u32);
                }
                let place = data.as_ptr() as u64;
                call.reply(|w| {
                    sum.encode(w)?;
                    place.encode(w)
                })
            }
            9 => {
                let (r, place) = call.arguments_and_place();
                let how = r.read_u32()?;
                let mut data = InOut::<u32>::read_alone(r, Some(place))?;
                change(how, &mut data)?;
                let data = data.finish();
                call.reply_in_out(&data)
            }
            _ => call.implicit(&ECHO, operation),
        }
    }
}

/// What `change` may do with its sequence.
pub const ADD_ONE: u32 = 0;
pub const TELL_PLACE: u32 = 1;
pub const LENGTHEN: u32 = 2;
pub const EMPTY: u32 = 3;
pub const FAIL: u32 = 4;
/// After so many milliseconds more than that.
pub const SLEEP: u32 = 100;

fn change(how: u32, data: &mut InOut<'_, u32>) -> Result<(), SystemException> {
    data.iter_mut().for_each(|n| *n = n.wrapping_add(1));
    match how {
        ADD_ONE => {}
        TELL_PLACE => {
            let place = data.as_ptr() as u64;
            (data[0], data[1]) = (place as u32, (place >> 32) as u32);
        }
        LENGTHEN => data.to_mut().extend([7, 8]),
        EMPTY => *data = vec![].into(),
        FAIL => return Err(throughline::Kind::BadParam.into()),
        ms => std::thread::sleep(Duration::from_millis((ms - SLEEP).into())),
    }
    Ok(())
}

impl TypedSkeleton for Echo {
    type Reference = EchoRef;
}

#[derive(Clone, Debug, PartialEq)]
pub struct EchoRef(pub ObjectRef);

impl TypedReference for EchoRef {
    const REPOSITORY_ID: &'static str = ID;
    fn interface() -> &'static Interface {
        &ECHO
    }
    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }
    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

// As generated code would, but for its crate.
impl EchoRef {
    pub fn ping(&self) -> Result<(), SystemException> {
        self.0.call(Operation::new("ping", 0), |_| Ok(()), |_| Ok(()))
    }
    pub fn ping_async(&self) -> impl Future<Output = Result<(), SystemException>> + Send + use<> {
        self.0.call_async(Operation::new("ping", 0), |_| Ok(()), |_| Ok(()))
    }
    pub fn shout(&self, text: &str) -> Result<String, SystemException> {
        self.0.call(Operation::new("shout", 1), |w| text.encode(w), |r| Decode::decode(r))
    }
    pub fn shout_async(
        &self,
        text: &str,
    ) -> impl Future<Output = Result<String, SystemException>> + Send + use<> {
        self.0.call_async(Operation::new("shout", 1), |w| text.encode(w), |r| Decode::decode(r))
    }
    pub fn post(&self, n: u32) -> Result<(), SystemException> {
        self.0.send_oneway(Operation::new("post", 2), |w| n.encode(w))
    }
    pub fn posted(&self) -> Result<Vec<u32>, SystemException> {
        self.0.call(Operation::new("posted", 3), |_| Ok(()), |r| Decode::decode(r))
    }
    pub fn move_data(&self, data: &mut Vec<u32>) -> Result<(), SystemException> {
        self.0.call_inout(Operation::new("move_data", 4), data, |d, w| d.encode(w), |d, r| d.decode_into(r))
    }
    pub fn change(&self, how: u32, data: &mut Vec<u32>) -> Result<(), SystemException> {
        let encode = |d: &Vec<u32>, w: &mut throughline::rt::Writer<'_>| {
            how.encode(w)?;
            d.encode(w)
        };
        self.0.call_inout(Operation::new("change", 9), data, encode, |d, r| d.decode_into(r))
    }
    /// The sum, and where the servant found the numbers; it waits before it adds them up, and then keeps the sum.
    pub fn sum(&self, ms: u32, data: &[u32]) -> Result<(u64, u64), SystemException> {
        let encode = |w: &mut throughline::rt::Writer<'_>| {
            ms.encode(w)?;
            data.encode(w)
        };
        self.0.call(Operation::new("sum", 8), encode, |r| Ok((r.read_u64()?, r.read_u64()?)))
    }
    /// Sent without waiting for the answer.
    pub fn post_sum(&self, ms: u32, data: &[u32]) -> Result<(), SystemException> {
        self.0.send_oneway(Operation::new("sum", 8), |w| {
            ms.encode(w)?;
            data.encode(w)
        })
    }
    pub fn sleep(&self, ms: u32) -> Result<(), SystemException> {
        self.0.call(Operation::new("sleep", 5), |w| ms.encode(w), |_| Ok(()))
    }
    pub fn sleep_async(&self, ms: u32) -> impl Future<Output = Result<(), SystemException>> + Send + use<> {
        self.0.call_async(Operation::new("sleep", 5), |w| ms.encode(w), |_| Ok(()))
    }
    pub fn panic(&self) -> Result<(), SystemException> {
        self.0.call(Operation::new("panic", 6), |_| Ok(()), |_| Ok(()))
    }
    pub fn call_back(&self, other: &EchoRef, depth: u32) -> Result<(), SystemException> {
        let encode = |w: &mut throughline::rt::Writer<'_>| {
            throughline::rt::encode_reference(Some(other), w)?;
            depth.encode(w)
        };
        self.0.call(Operation::new("call_back", 7), encode, |_| Ok(()))
    }
}

impl throughline::rt::Nilable for EchoRef {
    fn encode_nilable(
        value: Option<&Self>,
        w: &mut throughline::rt::Writer<'_>,
    ) -> Result<(), throughline::rt::EncodeError> {
        throughline::rt::encode_reference(value, w)
    }
    fn decode_nilable(
        r: &mut throughline::rt::Reader<'_>,
    ) -> Result<Option<Self>, throughline::rt::DecodeError> {
        throughline::rt::decode_reference(r)
    }
}

/// A server on a port of the system's choice.
pub fn server() -> Orb {
    server_with(|_| {})
}

pub fn server_with(change: impl FnOnce(&mut OrbConfig)) -> Orb {
    let mut config = OrbConfig { listen: vec![Address::tcp("127.0.0.1", 0)], ..OrbConfig::default() };
    change(&mut config);
    Orb::start(config).unwrap()
}

pub fn client() -> Orb {
    Orb::client().unwrap()
}

/// The reference as another process would get it.
pub fn seen_by(client: &Orb, reference: &EchoRef) -> EchoRef {
    EchoRef(client.string_to_object(&reference.0.to_string()).unwrap())
}

/// Tests as functions of an address, over every fabric of the native protocol.
#[allow(unused_macros)]
macro_rules! over {
    ($fabric:ident, $at:literal: $($name:ident)*) => {
        mod $fabric {
            $(#[test]
            fn $name() {
                super::$name($at);
            })*
        }
    };
    ($($name:ident)*) => {
        over!(shm, "shm:": $($name)*);
        over!(udp, "udp://127.0.0.1:0": $($name)*);
    };
}
