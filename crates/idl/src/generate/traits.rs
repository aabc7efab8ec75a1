//! What the Rust type of an IDL type can do, and how large its values are.

use std::collections::{HashMap, HashSet};

use crate::model::{DefId, Kind, Member, Model, Primitive, Type, Union};

/// Size in memory of a pointer with its length and capacity.
const VEC: usize = 24;
const BOX: usize = 8;

/// Arrays of more octets stand in a box, and of structs of more octets the largest members do. Whatever lies in its value goes
/// by the stacks of the ORB's threads, more than once while it is read.
const LARGE: usize = 16 << 10;

/// The same for what has sequences of itself: up to 64 of them, each in another, are on a stack at a time.
const LARGE_RECURSIVE: usize = 1 << 10;

/// What is not worth a box of its own.
const SMALL: usize = 64;

/// The traits that a type can derive beside `Clone`, `Debug` and `PartialEq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Derives {
    pub(super) copy: bool,
    pub(super) eq: bool,
    pub(super) hash: bool,
    pub(super) default: bool,
}

impl Derives {
    const ALL: Self = Self { copy: true, eq: true, hash: true, default: true };
    const TEXT: Self = Self { copy: false, ..Self::ALL };
    const FLOAT: Self = Self { eq: false, hash: false, ..Self::ALL };
    const ENUM: Self = Self { default: false, ..Self::ALL };
    const REFERENCE: Self = Self::TEXT;
    const NONE: Self = Self { copy: false, eq: false, hash: false, default: false };

    fn and(self, other: Self) -> Self {
        Self {
            copy: self.copy && other.copy,
            eq: self.eq && other.eq,
            hash: self.hash && other.hash,
            default: self.default && other.default,
        }
    }
}

/// What a struct or union can derive.
pub(super) fn derives(model: &Model, id: DefId) -> Derives {
    let sizes = Sizes { model, known: HashMap::new() };
    Search { model, sizes, direct: HashSet::new(), behind: HashSet::new() }.named(id, Depth::Direct)
}

/// Whether a type is a part of the value itself or stands behind a sequence, where only `Eq` and `Hash` ask for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Direct,
    Behind,
}

/// What was seen need not be looked at again, as all of it must be capable; this also ends recursion.
struct Search<'m> {
    model: &'m Model,
    sizes: Sizes<'m>,
    direct: HashSet<DefId>,
    behind: HashSet<DefId>,
}

impl<'m> Search<'m> {
    fn ty(&mut self, ty: &'m Type, depth: Depth) -> Derives {
        match ty {
            Type::Primitive(Primitive::Float | Primitive::Double) => Derives::FLOAT,
            Type::Primitive(_) => Derives::ALL,
            Type::String { .. } | Type::WString { .. } => Derives::TEXT,
            Type::Sequence { element, .. } => {
                Derives { copy: false, default: true, ..self.ty(element, Depth::Behind) }
            }
            Type::Array { element: element_type, dimensions } => {
                let element = self.ty(element_type, depth);
                // Rust has `Default` for arrays of up to 32 elements.
                let default = element.default && dimensions.iter().all(|n| *n <= 32);
                let boxed =
                    array_levels(self.model, element_type, dimensions).into_iter().any(|(_, large)| large);
                Derives { default, copy: element.copy && !boxed, ..element }
            }
            Type::Object => Derives::REFERENCE,
            Type::Named(id) => self.named(*id, depth),
            Type::Any | Type::TypeCode | Type::ValueBase | Type::Fixed { .. } => Derives::NONE,
        }
    }

    fn named(&mut self, id: DefId, depth: Depth) -> Derives {
        let new = match depth {
            Depth::Direct => self.direct.insert(id),
            Depth::Behind => !self.direct.contains(&id) && self.behind.insert(id),
        };
        if !new {
            return Derives::ALL;
        }
        let derives = match &self.model.get(id).kind {
            Kind::Typedef(it) => self.ty(&it.ty, depth),
            Kind::Struct(it) => self.all(it.members.iter().map(|it| &it.ty), depth),
            Kind::Union(it) => Derives { default: false, ..self.all(union_types(it), depth) },
            Kind::Enum(_) => Derives::ENUM,
            Kind::Interface(_) | Kind::ForwardInterface(_) => Derives::REFERENCE,
            _ => Derives::NONE,
        };
        let copy = derives.copy && !self.sizes.members(id).boxed.contains(&true);
        Derives { copy, ..derives }
    }

    fn all(&mut self, types: impl Iterator<Item = &'m Type>, depth: Depth) -> Derives {
        types.fold(Derives::ALL, |so_far, ty| so_far.and(self.ty(ty, depth)))
    }
}

fn union_types(union: &Union) -> impl Iterator<Item = &Type> {
    std::iter::once(&union.discriminator).chain(union.cases.iter().map(|it| &it.member.ty))
}

/// The fewest octets that a value takes on the wire, padding not counted.
pub(super) fn min_size(model: &Model, ty: &Type) -> usize {
    Sizes { model, known: HashMap::new() }.least(ty)
}

/// About how large a value is in memory. Decides which of Clippy's hints on size will come.
pub(super) fn memory_size(model: &Model, ty: &Type) -> usize {
    Sizes { model, known: HashMap::new() }.memory(ty)
}

/// For each member of a struct, an exception or a union, whether it stands in a box.
pub(super) fn boxed_members(model: &Model, id: DefId) -> Vec<bool> {
    Sizes { model, known: HashMap::new() }.members(id).boxed
}

/// The dimensions of an array, innermost first, each with whether it stands in a box.
pub(super) fn array_levels(model: &Model, element: &Type, dimensions: &[u32]) -> Vec<(u32, bool)> {
    let mut levels = Vec::with_capacity(dimensions.len());
    array_size(memory_size(model, element), dimensions, |n, boxed| levels.push((n, boxed)));
    levels
}

fn array_size(element: usize, dimensions: &[u32], mut level: impl FnMut(u32, bool)) -> usize {
    dimensions.iter().rev().fold(element, |size, n| {
        let size = size.saturating_mul(*n as usize);
        let boxed = size > LARGE;
        level(*n, boxed);
        if boxed { BOX } else { size }
    })
}

/// Sizes of one sort, with those of the definitions met so far: where each struct has two members of the one before, the
/// ways down double with each.
struct Sizes<'m> {
    model: &'m Model,
    known: HashMap<DefId, usize>,
}

impl<'m> Sizes<'m> {
    fn least(&mut self, ty: &'m Type) -> usize {
        match self.model.unalias(ty) {
            Type::Primitive(it) => wire_size(*it),
            Type::Array { element, dimensions } => {
                dimensions.iter().fold(self.least(element), |size, n| size.saturating_mul(*n as usize))
            }
            Type::Named(id) => self.of(*id, |it, kind| match kind {
                Kind::Struct(of) => {
                    of.members.iter().map(|member| it.least(&member.ty)).fold(0, usize::saturating_add)
                }
                Kind::Union(of) => it.least(&of.discriminator),
                Kind::Interface(_) | Kind::ForwardInterface(_) => 1,
                _ => 4,
            }),
            _ => 4,
        }
    }

    fn memory(&mut self, ty: &'m Type) -> usize {
        match self.model.unalias(ty) {
            Type::Primitive(Primitive::Char | Primitive::WChar) => 4,
            Type::Primitive(it) => wire_size(*it),
            Type::Array { element, dimensions } => array_size(self.memory(element), dimensions, |_, _| ()),
            Type::Named(id) => self.of(*id, |it, kind| match kind {
                Kind::Struct(_) | Kind::Union(_) | Kind::Exception(_) => it.members(*id).size,
                Kind::Enum(_) => 1,
                _ => VEC,
            }),
            _ => VEC,
        }
    }

    /// How the members of a definition are kept, which may have none.
    fn members(&mut self, id: DefId) -> Members {
        match &self.model.get(id).kind {
            Kind::Struct(of) => self.record(id, &of.members),
            Kind::Exception(of) => self.record(id, &of.members),
            Kind::Union(of) => {
                let sizes: Vec<_> = of.cases.iter().map(|it| self.memory(&it.member.ty)).collect();
                let limit = self.limit(id, sizes.iter().copied().max().unwrap_or_default());
                let boxed: Vec<_> = sizes.iter().map(|size| *size > limit).collect();
                let kept = sizes.iter().zip(&boxed).map(|(size, boxed)| if *boxed { BOX } else { *size });
                Members { size: 8 + kept.max().unwrap_or_default(), boxed }
            }
            _ => Members { size: 0, boxed: Vec::new() },
        }
    }

    /// Padding makes a struct at most as large as if each member took a multiple of eight.
    fn record(&mut self, id: DefId, members: &'m [Member]) -> Members {
        let sizes = members.iter().map(|it| self.memory(&it.ty).checked_next_multiple_of(8));
        let sizes: Vec<_> = sizes.map(|it| it.unwrap_or(usize::MAX)).collect();
        let mut size = sizes.iter().copied().fold(0, usize::saturating_add);
        let limit = self.limit(id, size);
        let mut boxed = vec![false; sizes.len()];
        let mut largest: Vec<_> = (0..sizes.len()).filter(|at| sizes[*at] > SMALL).collect();
        largest.sort_by_key(|at| std::cmp::Reverse(sizes[*at]));
        for at in largest {
            if size <= limit {
                break;
            }
            boxed[at] = true;
            size = size.saturating_sub(sizes[at] - BOX);
        }
        Members { size, boxed }
    }

    /// How large a value may be that would be this large by itself.
    fn limit(&self, id: DefId, size: usize) -> usize {
        if size > LARGE_RECURSIVE && self.is_recursive(id) { LARGE_RECURSIVE } else { LARGE }
    }

    fn is_recursive(&self, id: DefId) -> bool {
        let (mut seen, mut open) = (HashSet::new(), vec![id]);
        while let Some(at) = open.pop() {
            let types: Vec<_> = match &self.model.get(at).kind {
                Kind::Typedef(it) => vec![&it.ty],
                Kind::Struct(it) => it.members.iter().map(|it| &it.ty).collect(),
                Kind::Exception(it) => it.members.iter().map(|it| &it.ty).collect(),
                Kind::Union(it) => it.cases.iter().map(|it| &it.member.ty).collect(),
                _ => continue,
            };
            for mut ty in types {
                while let Type::Sequence { element, .. } | Type::Array { element, .. } = ty {
                    ty = element;
                }
                if let Type::Named(next) = ty
                    && seen.insert(*next)
                {
                    open.push(*next);
                }
            }
        }
        seen.contains(&id)
    }

    fn of(&mut self, id: DefId, size: impl FnOnce(&mut Self, &'m Kind) -> usize) -> usize {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let size = size(self, &self.model.get(id).kind);
        self.known.insert(id, size);
        size
    }
}

/// How the members of a struct or union are kept.
struct Members {
    /// For each of them.
    boxed: Vec<bool>,
    /// Of all together.
    size: usize,
}

fn wire_size(primitive: Primitive) -> usize {
    match primitive {
        Primitive::Boolean | Primitive::Char | Primitive::Octet | Primitive::WChar => 1,
        Primitive::Short | Primitive::UShort => 2,
        Primitive::Long | Primitive::ULong | Primitive::Float => 4,
        Primitive::LongLong | Primitive::ULongLong | Primitive::Double => 8,
        Primitive::LongDouble => 16,
    }
}
