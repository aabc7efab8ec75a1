//! Whether what a program answers is the same for all frames of a flow.

use super::{
    kind::{Bits, Kind, Template},
    op::{Alu, ETHERTYPE, Op, Test, Ways, Width},
    program::SCRATCH,
    run::header_length,
};

/// Whether the program answers the same for all frames of this kind that have the same key: all it reads, on any way that
/// frames of the kind could take, is in the key.
///
/// Only loads bring anything into a program. So if each reads, from a known place, bytes that the key determines, all values
/// and ways of the program are determined as well. To know places and ways, the program is run on what is known of all
/// frames of the kind, bit by bit. Jumps go forward: what comes together in one place has been seen before that place.
pub(super) fn is_determined(ops: &[Op], kind: Kind) -> bool {
    let template = kind.template();
    let mut states = vec![None; ops.len()];
    states[0] = Some(State::default());
    for at in 0..ops.len() {
        let Some(state) = states[at].take() else { continue };
        let Some((state, ways)) = state.after(&ops[at], &template) else { return false };
        for over in ways.into_iter().flatten() {
            let next = &mut states[at + 1 + over];
            *next = Some(next.map_or(state, |other: State| state.or(&other)));
        }
    }
    true
}

/// What is known of a program's registers and memory.
#[derive(Clone, Copy)]
struct State {
    a: Bits,
    x: Bits,
    scratch: [Bits; SCRATCH],
}

const ZERO: Bits = Bits::of(0);

impl Default for State {
    fn default() -> Self {
        Self { a: ZERO, x: ZERO, scratch: [ZERO; SCRATCH] }
    }
}

impl State {
    /// What is known afterwards, and how many instructions the program may leave out then; none if it has read what the key does not determine.
    fn after(mut self, op: &Op, template: &Template) -> Option<(Self, [Option<usize>; 2])> {
        let mut ways = [Some(0), None];
        match *op {
            Op::HeaderByte(at) => self.a = template.load(at.into(), 1)?,
            Op::HeaderHalf(at) => self.a = template.load(at.into(), 2)?,
            Op::HeaderWord(at) => self.a = template.load(at.into(), 4)?,
            Op::PacketByte(at) => self.a = template.load_packet(at, 1)?,
            Op::PacketHalf(at) => self.a = template.load_packet(at, 2)?,
            Op::PacketWord(at) => self.a = template.load_packet(at, 4)?,
            Op::Load(width, at) => self.a = template.load(at.into(), width as usize)?,
            Op::LoadAtX(width, k) => self.a = self.load_at_x(width, k, template)?,
            Op::LoadXHeaderLength(at) => self.x = template.load(at.into(), 1)?.map(header_length),
            // The length is in no key.
            Op::LoadLength | Op::LoadXLength => return None,
            Op::LoadK(k) => self.a = Bits::of(k),
            Op::LoadXK(k) => self.x = Bits::of(k),
            Op::LoadScratch(n) => self.a = self.scratch[usize::from(n)],
            Op::LoadXScratch(n) => self.x = self.scratch[usize::from(n)],
            Op::Store(n) => self.scratch[usize::from(n)] = self.a,
            Op::StoreX(n) => self.scratch[usize::from(n)] = self.x,
            Op::AluK(alu, k) => self.a = self.a.computed(alu, Bits::of(k)),
            Op::AluX(alu) => self.a = self.a.computed(alu, self.x),
            Op::Negate => self.a = self.a.map(u32::wrapping_neg),
            Op::AToX => self.x = self.a,
            Op::XToA => self.a = self.x,
            Op::JumpAlways(over) => ways = [Some(over as usize), None],
            Op::JumpEq(k, to) => ways = self.a.tested(Test::Eq, Bits::of(k), to),
            Op::JumpGt(k, to) => ways = self.a.tested(Test::Gt, Bits::of(k), to),
            Op::JumpGe(k, to) => ways = self.a.tested(Test::Ge, Bits::of(k), to),
            Op::JumpSet(k, to) => ways = self.a.tested(Test::Set, Bits::of(k), to),
            Op::JumpX(test, to) => ways = self.a.tested(test, self.x, to),
            Op::EtherTypeIs(k, to) => ways = self.loaded(template.load(ETHERTYPE.into(), 2)?, k, to),
            Op::PacketByteIs(at, k, to) => ways = self.loaded(template.load_packet(at.into(), 1)?, k, to),
            Op::PacketHalfIs(at, k, to) => ways = self.loaded(template.load_packet(at.into(), 2)?, k, to),
            Op::PacketWordIs(at, k, to) => ways = self.loaded(template.load_packet(at.into(), 4)?, k, to),
            Op::Return(_) | Op::ReturnA => ways = [None, None],
        }
        Some((self, ways))
    }

    /// A load with a test for equality.
    fn loaded(&mut self, bits: Bits, k: u32, to: Ways) -> [Option<usize>; 2] {
        self.a = bits;
        bits.tested(Test::Eq, Bits::of(k), to)
    }

    fn load_at_x(&self, width: Width, k: u32, template: &Template) -> Option<Bits> {
        template.load(u64::from(self.x.whole()?) + u64::from(k), width as usize)
    }

    /// What is known if this or the other is the case.
    fn or(&self, other: &Self) -> Self {
        let scratch = std::array::from_fn(|n| self.scratch[n].or(other.scratch[n]));
        Self { a: self.a.or(other.a), x: self.x.or(other.x), scratch }
    }
}

impl Bits {
    const fn of(value: u32) -> Self {
        Self { known: u32::MAX, value }
    }

    /// The number, if all of it is known.
    fn whole(self) -> Option<u32> {
        (self.known == u32::MAX).then_some(self.value)
    }

    fn map(self, function: impl Fn(u32) -> u32) -> Self {
        self.whole().map_or(Self::default(), |value| Self::of(function(value)))
    }

    fn or(self, other: Self) -> Self {
        let known = self.known & other.known & !(self.value ^ other.value);
        Self { known, value: self.value & known }
    }

    fn computed(self, alu: Alu, by: Self) -> Self {
        if let (Some(a), Some(b)) = (self.whole(), by.whole()) {
            // Dividing by 0 ends the program, so that nothing follows from it.
            return alu.of(a, b).map_or(Self::default(), Self::of);
        }
        match (alu, by.whole()) {
            (Alu::And, _) => {
                let zero = self.known & !self.value | by.known & !by.value;
                Self { known: zero | self.known & by.known, value: self.value & by.value }
            }
            (Alu::Left, Some(by @ 0..32)) => {
                Self { known: self.known << by | ((1 << by) - 1), value: self.value << by }
            }
            (Alu::Right, Some(by @ 0..32)) => {
                Self { known: self.known >> by | !(u32::MAX >> by), value: self.value >> by }
            }
            _ => Self::default(),
        }
    }

    /// The least and the greatest that it could be.
    fn range(self) -> (u32, u32) {
        (self.value, self.value | !self.known)
    }

    /// How many instructions a test may leave out.
    fn tested(self, test: Test, with: Self, to: Ways) -> [Option<usize>; 2] {
        let outcome = self.compared(test, with);
        let way = |holds: bool, to: u8| (outcome != Some(!holds)).then_some(usize::from(to));
        [way(true, to.yes), way(false, to.no)]
    }

    /// What the test says, if it says the same of all these numbers.
    fn compared(self, test: Test, with: Self) -> Option<bool> {
        let ((least, most), (with_least, with_most)) = (self.range(), with.range());
        match test {
            Test::Eq if self.known & with.known & (self.value ^ with.value) != 0 => Some(false),
            Test::Eq => self.whole().and_then(|a| Some(a == with.whole()?)),
            Test::Gt if least > with_most => Some(true),
            Test::Gt if most <= with_least => Some(false),
            Test::Ge if least >= with_most => Some(true),
            Test::Ge if most < with_least => Some(false),
            Test::Set if self.value & with.value != 0 => Some(true),
            Test::Set if most & with_most == 0 => Some(false),
            _ => None,
        }
    }
}

impl Template {
    /// As [`load`](Template::load), counted from the first byte behind the Ethernet header.
    fn load_packet(&self, at: u32, bytes: usize) -> Option<Bits> {
        self.load(u64::from(at) + super::view::HEADER as u64, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some(bits: Bits, other: u32) -> u32 {
        bits.value | other & !bits.known
    }

    fn any_bits() -> impl Strategy<Value = Bits> {
        let masks = prop_oneof![any::<u32>(), Just(u32::MAX), Just(0xff), Just(!0xff)];
        (masks, any::<u32>()).prop_map(|(known, value)| Bits { known, value: value & known })
    }

    proptest! {
        /// Whatever the unknown bits are, the known ones hold, and so do the outcomes of tests.
        #[test]
        fn what_is_known_holds(a in any_bits(), b in any_bits(), x: u32, y: u32, by in 0..40_u32) {
            let (x, y) = (some(a, x), some(b, y));
            let alus = [Alu::Add, Alu::Sub, Alu::Mul, Alu::Div, Alu::Mod, Alu::And, Alu::Or, Alu::Xor];
            for alu in alus {
                let bits = a.computed(alu, b);
                prop_assert!(alu.of(x, y).is_none_or(|z| z & bits.known == bits.value));
            }
            for alu in [Alu::Left, Alu::Right] {
                let bits = a.computed(alu, Bits::of(by));
                prop_assert_eq!(alu.of(x, by).unwrap() & bits.known, bits.value);
            }
            for test in [Test::Eq, Test::Gt, Test::Ge, Test::Set] {
                prop_assert!(a.compared(test, b).is_none_or(|outcome| outcome == test.of(x, y)));
            }
            for z in [x, y] {
                let either = a.or(b);
                prop_assert_eq!(z & either.known, either.value);
            }
        }
    }
}
