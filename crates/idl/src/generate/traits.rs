//! What the Rust type of an IDL type can do, and how large its values are.

use super::components::components;
use crate::model::{DefId, Kind, Member, Model, Primitive, Type};

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

/// What is known of every definition, found once: each is asked for again by all that contain it.
#[derive(Debug)]
pub(super) struct Facts {
    of: Vec<Fact>,
}

#[derive(Clone, Debug)]
struct Fact {
    derives: Derives,
    /// The fewest octets that a value takes on the wire, padding not counted.
    least: usize,
    /// About how large a value is in memory.
    memory: usize,
    /// For each member of a struct, an exception or a union, whether it stands in a box.
    boxed: Vec<bool>,
    /// Has sequences of itself.
    recursive: bool,
}

impl Facts {
    const UNKNOWN: Fact =
        Fact { derives: Derives::ALL, least: 4, memory: VEC, boxed: Vec::new(), recursive: false };

    pub(super) fn new(model: &Model) -> Self {
        let mut facts = Self { of: vec![Self::UNKNOWN; model.definitions().len()] };
        let all: Vec<Vec<usize>> = model.iter().map(|(id, _)| leads_to(model, id, behind)).collect();
        for part in components(&all) {
            facts.part(model, &all, &part);
        }
        // No value contains itself.
        let direct: Vec<_> = model.iter().map(|(id, _)| leads_to(model, id, inside)).collect();
        for at in components(&direct).into_iter().flatten() {
            facts.value(model, DefId(at as u32));
        }
        facts
    }

    /// What a struct or union can derive.
    pub(super) fn derives(&self, id: DefId) -> Derives {
        self.of[id.index()].derives
    }

    /// For each member of a struct, an exception or a union, whether it stands in a box.
    pub(super) fn boxed_members(&self, id: DefId) -> &[bool] {
        &self.of[id.index()].boxed
    }

    /// The fewest octets that a value takes on the wire, padding not counted.
    pub(super) fn min_size(&self, ty: &Type) -> usize {
        match ty {
            Type::Primitive(it) => wire_size(*it),
            Type::Array { element, dimensions } => {
                dimensions.iter().fold(self.min_size(element), |size, n| size.saturating_mul(*n as usize))
            }
            Type::Named(id) => self.of[id.index()].least,
            _ => 4,
        }
    }

    /// About how large a value is in memory. Decides which of Clippy's hints on size will come.
    pub(super) fn memory_size(&self, ty: &Type) -> usize {
        match ty {
            Type::Primitive(Primitive::Char | Primitive::WChar) => 4,
            Type::Primitive(it) => wire_size(*it),
            Type::Array { element, dimensions } => {
                array_size(self.memory_size(element), dimensions, |_, _| ())
            }
            Type::Named(id) => self.of[id.index()].memory,
            _ => VEC,
        }
    }

    /// The dimensions of an array, innermost first, each with whether it stands in a box.
    pub(super) fn array_levels(&self, element: &Type, dimensions: &[u32]) -> Vec<(u32, bool)> {
        let mut levels = Vec::with_capacity(dimensions.len());
        array_size(self.memory_size(element), dimensions, |n, boxed| levels.push((n, boxed)));
        levels
    }

    /// What holds for all that lead to each other: `Eq` and `Hash` ask for what stands behind sequences as well.
    fn part(&mut self, model: &Model, edges: &[Vec<usize>], part: &[usize]) {
        let recursive = part.len() > 1 || part.iter().any(|at| edges[*at].contains(at));
        let types = part.iter().flat_map(|at| types_in(model, DefId(*at as u32)));
        let derives = types.map(|ty| self.type_derives(ty)).fold(Derives::ALL, Derives::and);
        for at in part {
            let Fact { derives: of, recursive: is, .. } = &mut self.of[*at];
            (*of, *is) = (own_derives(model, DefId(*at as u32)).and(derives), recursive);
        }
    }

    /// What depends on the parts of a value alone, which are known by now.
    fn value(&mut self, model: &Model, id: DefId) {
        let kind = &model.get(id).kind;
        let Members { size, boxed } = self.members(model, id);
        let least = match kind {
            Kind::Typedef(of) => self.min_size(&of.ty),
            Kind::Struct(of) => {
                of.members.iter().map(|it| self.min_size(&it.ty)).fold(0, usize::saturating_add)
            }
            Kind::Union(of) => self.min_size(&of.discriminator),
            Kind::Interface(_) | Kind::ForwardInterface(_) => 1,
            _ => 4,
        };
        let memory = match kind {
            Kind::Typedef(of) => self.memory_size(&of.ty),
            Kind::Struct(_) | Kind::Union(_) | Kind::Exception(_) => size,
            Kind::Enum(_) => 1,
            _ => VEC,
        };
        let parts = types_in(model, id).map(|ty| self.type_derives(ty));
        let derives = parts.fold(own_derives(model, id), Derives::and);
        let fact = &mut self.of[id.index()];
        let copy = derives.copy && !boxed.contains(&true);
        fact.derives = Derives { copy, default: derives.default, ..fact.derives };
        (fact.least, fact.memory, fact.boxed) = (least, memory, boxed);
    }

    fn type_derives(&self, ty: &Type) -> Derives {
        match ty {
            Type::Primitive(Primitive::Float | Primitive::Double) => Derives::FLOAT,
            Type::Primitive(_) => Derives::ALL,
            Type::String { .. } | Type::WString { .. } => Derives::TEXT,
            Type::Sequence { element, .. } => {
                Derives { copy: false, default: true, ..self.type_derives(element) }
            }
            Type::Array { element: element_type, dimensions } => {
                let element = self.type_derives(element_type);
                // Rust has `Default` for arrays of up to 32 elements.
                let default = element.default && dimensions.iter().all(|n| *n <= 32);
                let boxed = self.array_levels(element_type, dimensions).into_iter().any(|(_, large)| large);
                Derives { default, copy: element.copy && !boxed, ..element }
            }
            Type::Object => Derives::REFERENCE,
            Type::Named(id) => self.of[id.index()].derives,
            Type::Any | Type::TypeCode | Type::ValueBase | Type::Fixed { .. } => Derives::NONE,
        }
    }

    /// How the members of a definition are kept, which may have none.
    fn members(&self, model: &Model, id: DefId) -> Members {
        match &model.get(id).kind {
            Kind::Struct(of) => self.record(id, &of.members),
            Kind::Exception(of) => self.record(id, &of.members),
            Kind::Union(of) => {
                let sizes: Vec<_> = of.cases.iter().map(|it| self.memory_size(&it.member.ty)).collect();
                let limit = self.limit(id, sizes.iter().copied().max().unwrap_or_default());
                let boxed: Vec<_> = sizes.iter().map(|size| *size > limit).collect();
                let kept = sizes.iter().zip(&boxed).map(|(size, boxed)| if *boxed { BOX } else { *size });
                Members { size: 8 + kept.max().unwrap_or_default(), boxed }
            }
            _ => Members { size: 0, boxed: Vec::new() },
        }
    }

    /// Padding makes a struct at most as large as if each member took a multiple of eight.
    fn record(&self, id: DefId, members: &[Member]) -> Members {
        let sizes = members.iter().map(|it| self.memory_size(&it.ty).checked_next_multiple_of(8));
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
        if size > LARGE_RECURSIVE && self.of[id.index()].recursive { LARGE_RECURSIVE } else { LARGE }
    }
}

fn array_size(element: usize, dimensions: &[u32], mut level: impl FnMut(u32, bool)) -> usize {
    dimensions.iter().rev().fold(element, |size, n| {
        let size = size.saturating_mul(*n as usize);
        let boxed = size > LARGE;
        level(*n, boxed);
        if boxed { BOX } else { size }
    })
}

/// How the members of a struct or union are kept.
struct Members {
    /// For each of them.
    boxed: Vec<bool>,
    /// Of all together.
    size: usize,
}

/// What a definition allows whatever is in it.
fn own_derives(model: &Model, id: DefId) -> Derives {
    match &model.get(id).kind {
        Kind::Typedef(_) | Kind::Struct(_) => Derives::ALL,
        Kind::Union(_) => Derives { default: false, ..Derives::ALL },
        Kind::Enum(_) => Derives::ENUM,
        Kind::Interface(_) | Kind::ForwardInterface(_) => Derives::REFERENCE,
        _ => Derives::NONE,
    }
}

/// The types of which values of a definition consist.
fn types_in(model: &Model, id: DefId) -> Box<dyn Iterator<Item = &Type> + '_> {
    match &model.get(id).kind {
        Kind::Typedef(it) => Box::new(std::iter::once(&it.ty)),
        Kind::Struct(it) => Box::new(it.members.iter().map(|it| &it.ty)),
        Kind::Exception(it) => Box::new(it.members.iter().map(|it| &it.ty)),
        Kind::Union(it) => {
            Box::new(std::iter::once(&it.discriminator).chain(it.cases.iter().map(|it| &it.member.ty)))
        }
        _ => Box::new(std::iter::empty()),
    }
}

/// The definitions that the types in a definition name.
fn leads_to(model: &Model, id: DefId, named: fn(&Type) -> Option<DefId>) -> Vec<usize> {
    types_in(model, id).filter_map(named).map(DefId::index).collect()
}

/// The definition that a type names, be it behind sequences.
pub(super) fn behind(ty: &Type) -> Option<DefId> {
    match ty {
        Type::Sequence { element, .. } | Type::Array { element, .. } => behind(element),
        Type::Named(id) => Some(*id),
        _ => None,
    }
}

/// The definition that a type names as a part of the value itself.
fn inside(ty: &Type) -> Option<DefId> {
    match ty {
        Type::Array { element, .. } => inside(element),
        Type::Named(id) => Some(*id),
        _ => None,
    }
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
