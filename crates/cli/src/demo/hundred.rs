//! The objects of one hundred operations: five hundred for each strategy.

use throughline::{Adapter, AdapterConfig, AdapterError, Strategy, SystemException};

use super::idl::lookup::{Hundred, HundredRef, HundredSkeleton};

/// Objects in each adapter.
pub const OBJECTS: usize = 500;
/// Operations of the interface.
pub const OPERATIONS: usize = 100;

/// The servant of object n.
pub struct Numbered(u32);

type Call = fn(&HundredRef) -> Result<u32, SystemException>;

macro_rules! operations {
    ($($name:ident $number:literal),*) => {
        impl Hundred for Numbered {
            $(fn $name(&self) -> Result<u32, SystemException> {
                Ok(self.0 * 100 + $number)
            })*
        }

        /// The operations by number, as a client calls them.
        pub const CALLS: [Call; OPERATIONS] = [$(HundredRef::$name),*];

        /// Their names.
        pub const NAMES: [&str; OPERATIONS] = [$(stringify!($name)),*];
    };
}

operations! {
    op00 0, op01 1, op02 2, op03 3, op04 4, op05 5, op06 6, op07 7, op08 8, op09 9, op10 10, op11 11,
    op12 12, op13 13, op14 14, op15 15, op16 16, op17 17, op18 18, op19 19, op20 20, op21 21, op22 22,
    op23 23, op24 24, op25 25, op26 26, op27 27, op28 28, op29 29, op30 30, op31 31, op32 32, op33 33,
    op34 34, op35 35, op36 36, op37 37, op38 38, op39 39, op40 40, op41 41, op42 42, op43 43, op44 44,
    op45 45, op46 46, op47 47, op48 48, op49 49, op50 50, op51 51, op52 52, op53 53, op54 54, op55 55,
    op56 56, op57 57, op58 58, op59 59, op60 60, op61 61, op62 62, op63 63, op64 64, op65 65, op66 66,
    op67 67, op68 68, op69 69, op70 70, op71 71, op72 72, op73 73, op74 74, op75 75, op76 76, op77 77,
    op78 78, op79 79, op80 80, op81 81, op82 82, op83 83, op84 84, op85 85, op86 86, op87 87, op88 88,
    op89 89, op90 90, op91 91, op92 92, op93 93, op94 94, op95 95, op96 96, op97 97, op98 98, op99 99
}

/// Makes the adapter that finds objects and operations by `strategy`, with its objects.
pub fn serve(root: &Adapter, strategy: Strategy) -> Result<Vec<HundredRef>, AdapterError> {
    let config = AdapterConfig { objects: strategy, operations: strategy, stable_keys: false };
    let adapter = root.create_child(strategy.name(), config)?;
    let objects = (0..OBJECTS as u32).map(|n| adapter.activate(HundredSkeleton(Numbered(n))));
    let objects = objects.collect::<Result<_, _>>()?;
    if strategy == Strategy::PerfectHash {
        adapter.freeze()?;
    }
    Ok(objects)
}

/// Which object and which operation of it are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    First,
    Last,
    Random,
}

impl Place {
    pub const ALL: [Self; 3] = [Self::First, Self::Last, Self::Random];

    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Random => "random",
        }
    }

    /// Numbers of an object and an operation.
    pub fn draw(self, random: &mut Random) -> (usize, usize) {
        match self {
            Self::First => (0, 0),
            Self::Last => (OBJECTS - 1, OPERATIONS - 1),
            Self::Random => (random.below(OBJECTS), random.below(OPERATIONS)),
        }
    }
}

/// A stream of numbers that is the same for the same seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}
