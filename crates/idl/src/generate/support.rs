//! What can be generated and what cannot.
//!
//! A definition cannot if it contains something unsupported, or needs a definition that cannot. What stands in an
//! included file and cannot is left out silently unless something in the main file needs it: standard files are full of
//! what an application never uses.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::descriptor::IMPLICIT;
use super::traits::behind;
use super::types::interface_kind;
use super::{Generator, Unsupported};
use crate::model::{
    Attribute, DefId, Definition, Feature, Interface, InterfaceKind, Kind, Model, Operation, Origin, Type,
    Value,
};

/// What is left out, and what to say about it.
pub(super) struct Findings {
    pub(super) left_out: BTreeSet<DefId>,
    /// Only what concerns the main file.
    pub(super) unsupported: Vec<Unsupported>,
}

/// Something unsupported in a definition itself.
struct Obstacle {
    message: String,
    origin: Origin,
    help: &'static str,
}

/// What stands in the way of one definition, and what else it takes.
#[derive(Default)]
struct Entry {
    obstacles: Vec<Obstacle>,
    needs: Vec<DefId>,
}

const NOT_YET: &str = "exclude it with `#if`, or have what is not supported skipped";

/// Examines all definitions.
pub(super) fn examine(g: &Generator<'_>) -> Findings {
    let locals = locals(g.model);
    let ids = g.model.iter().map(|(id, _)| id).filter(|id| !g.is_elsewhere(*id));
    let entries: BTreeMap<_, _> = ids.map(|id| (id, Examination::of(g, &locals, id))).collect();
    let left_out = spread(&entries);
    let mut told = BTreeSet::new();
    let mut unsupported = Vec::new();
    for id in left_out.iter().filter(|id| is_wanted(g.model.get(**id))) {
        report(g, &entries, &left_out, *id, &mut told, &mut unsupported);
    }
    Findings { left_out, unsupported }
}

/// Whether the user expects code for a definition: it stands in the main file, and is more than an announcement.
fn is_wanted(definition: &Definition) -> bool {
    definition.is_in_main_file() && !matches!(definition.kind, Kind::ForwardInterface(_))
}

/// Everything with an obstacle, and everything that needs such a thing.
fn spread(entries: &BTreeMap<DefId, Entry>) -> BTreeSet<DefId> {
    let mut needed_by: HashMap<DefId, Vec<DefId>> = HashMap::new();
    for (id, entry) in entries {
        entry.needs.iter().for_each(|it| needed_by.entry(*it).or_default().push(*id));
    }
    let direct = entries.iter().filter(|(_, entry)| !entry.obstacles.is_empty());
    let mut left_out: BTreeSet<_> = direct.map(|(id, _)| *id).collect();
    let mut open: Vec<_> = left_out.iter().copied().collect();
    while let Some(id) = open.pop() {
        let needing = needed_by.get(&id).into_iter().flatten();
        open.extend(needing.filter(|it| left_out.insert(**it)));
    }
    left_out
}

/// Tells the obstacles behind a definition of the main file, each once. Behind what was told nothing is left to tell.
fn report(
    g: &Generator<'_>,
    entries: &BTreeMap<DefId, Entry>,
    left_out: &BTreeSet<DefId>,
    of: DefId,
    told: &mut BTreeSet<DefId>,
    unsupported: &mut Vec<Unsupported>,
) {
    let mut open = Vec::new();
    open.extend(told.insert(of).then_some(of));
    while let Some(id) = open.pop() {
        let Some(entry) = entries.get(&id) else { continue };
        unsupported.extend(entry.obstacles.iter().map(|it| it.report(g, id, of)));
        let causes = entry.needs.iter().filter(|it| left_out.contains(it));
        open.extend(causes.filter(|it| told.insert(**it)));
    }
}

impl Obstacle {
    fn report(&self, g: &Generator<'_>, at: DefId, of: DefId) -> Unsupported {
        let needs = g.model.get(of);
        let needed_by = (at != of).then(|| (describe(g, of, needs), needs.origin));
        Unsupported {
            message: self.message.clone(),
            origin: self.origin,
            needed_by,
            help: self.help.to_owned(),
        }
    }
}

/// `interface \`Bank::Account\``
fn describe(g: &Generator<'_>, id: DefId, definition: &Definition) -> String {
    format!("{} `{}`", definition.kind.noun(), g.model.scoped_name(id))
}

/// The examination of one definition.
struct Examination<'g> {
    g: &'g Generator<'g>,
    /// For each definition, the local interface in it.
    locals: &'g [Option<DefId>],
    entry: Entry,
    /// Local interfaces may appear.
    local: bool,
}

impl<'g> Examination<'g> {
    fn of(g: &'g Generator<'g>, locals: &'g [Option<DefId>], id: DefId) -> Entry {
        let mut examination = Self { g, locals, entry: Entry::default(), local: false };
        examination.definition(id);
        examination.entry
    }

    fn definition(&mut self, id: DefId) {
        let definition = self.g.model.get(id);
        let what = describe(self.g, id, definition);
        let at = definition.origin;
        match &definition.kind {
            Kind::Module(_) | Kind::Enum(_) => {}
            Kind::Interface(it) => self.interface(id, it),
            Kind::Typedef(it) => {
                self.local = true;
                self.ty(&it.ty, &what, at);
            }
            Kind::Struct(it) => {
                it.members.iter().for_each(|it| self.member(&it.name, &it.ty, &what, it.origin))
            }
            Kind::Exception(it) => {
                it.members.iter().for_each(|it| self.member(&it.name, &it.ty, &what, it.origin));
            }
            Kind::Union(it) => {
                self.ty(&it.discriminator, &what, at);
                let members = it.cases.iter().map(|it| &it.member);
                members.for_each(|it| self.member(&it.name, &it.ty, &what, it.origin));
            }
            Kind::Constant(it) if matches!(it.value, Value::Fixed(_)) => {
                self.refuse(format!("`fixed` in {what} is not supported"), at);
            }
            Kind::Constant(it) => {
                if let Some(half) = half_of_a_pair(&it.value) {
                    self.refuse(format!("`\\u{half:04X}` in {what} is only half of a character"), at);
                }
                self.ty(&it.ty, &what, at);
            }
            Kind::Native | Kind::ValueType(_) | Kind::ValueBox(_) | Kind::ForwardValueType { .. } => {
                self.refuse(format!("{what} is not supported"), at);
            }
            Kind::ForwardInterface(_) => self.entry.obstacles.push(Obstacle {
                message: format!("{what} is declared but not defined"),
                origin: at,
                help: "include the file that defines it, or give the Rust path of its module",
            }),
        }
        // What stands inside a definition that is left out has no place to stand.
        self.entry.needs.extend(definition.parent);
    }

    fn interface(&mut self, id: DefId, interface: &Interface) {
        self.entry.needs.extend(&interface.bases);
        self.local = interface.kind == InterfaceKind::Local;
        for feature in &interface.features {
            let what = format!("`{}::{}`", self.g.model.scoped_name(id), feature.name());
            match feature {
                Feature::Operation(it) => self.operation(it, &what),
                Feature::Attribute(it) => self.attribute(it, &what),
            }
        }
        self.wire_names(id);
    }

    /// An escaped identifier may still begin with an underscore, and then look like an attribute's or the runtime's.
    fn wire_names(&mut self, id: DefId) {
        let mut names: BTreeSet<_> = IMPLICIT.into_iter().map(str::to_owned).collect();
        for call in self.g.calls(id) {
            if !names.insert(call.wire.clone()) {
                let what = call.idl_name(self.g.model);
                let message =
                    format!("`{what}` has the name of another operation on the wire, `{}`", call.wire);
                self.refuse(message, self.g.model.get(id).origin);
            }
        }
    }

    fn operation(&mut self, operation: &Operation, what: &str) {
        let described = format!("operation {what}");
        if let Some(result) = &operation.result {
            self.ty(result, &format!("the result of {described}"), operation.origin);
        }
        for parameter in &operation.parameters {
            let of = format!("parameter `{}` of {described}", parameter.name);
            self.ty(&parameter.ty, &of, parameter.origin);
        }
        if !operation.context.is_empty() {
            self.refuse(format!("the `context` clause of {described} is not supported"), operation.origin);
        }
        self.entry.needs.extend(&operation.raises);
    }

    fn attribute(&mut self, attribute: &Attribute, what: &str) {
        self.ty(&attribute.ty, &format!("attribute {what}"), attribute.origin);
        self.entry.needs.extend(attribute.get_raises.iter().chain(&attribute.set_raises));
    }

    fn member(&mut self, name: &str, ty: &Type, what: &str, at: Origin) {
        self.ty(ty, &format!("member `{name}` of {what}"), at);
    }

    fn ty(&mut self, ty: &Type, what: &str, at: Origin) {
        match ty {
            Type::Any | Type::TypeCode | Type::ValueBase | Type::Fixed { .. } => {
                let name = self.g.model.type_text(ty);
                self.refuse(format!("`{name}` in {what} is not supported"), at);
            }
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.ty(element, what, at),
            Type::Named(id) => self.named(*id, what, at),
            Type::Primitive(_) | Type::Object | Type::String { .. } | Type::WString { .. } => {}
        }
    }

    fn named(&mut self, id: DefId, what: &str, at: Origin) {
        self.entry.needs.push(id);
        if self.local {
            return;
        }
        let model = self.g.model;
        if let Some(local) = self.locals[id.index()] {
            let name = model.scoped_name(local);
            self.refuse(format!("local interface `{name}` in {what} cannot travel"), at);
        }
    }

    fn refuse(&mut self, message: String, origin: Origin) {
        self.entry.obstacles.push(Obstacle { message, origin, help: NOT_YET });
    }
}

/// The UTF-16 unit of a wide constant that stands without its other half: text in Rust has no place for it, nor has UTF-16 on
/// the wire.
fn half_of_a_pair(value: &Value) -> Option<u16> {
    let units = match value {
        Value::WChar(unit) => std::slice::from_ref(unit),
        Value::WString(units) => units,
        _ => return None,
    };
    char::decode_utf16(units.iter().copied()).find_map(|it| it.err()).map(|it| it.unpaired_surrogate())
}

/// For each definition the local interface that it is, or leads to through typedefs, sequences and arrays. What a typedef names
/// stands before it.
fn locals(model: &Model) -> Vec<Option<DefId>> {
    let mut found: Vec<Option<DefId>> = Vec::with_capacity(model.definitions().len());
    for (id, definition) in model.iter() {
        let local = match &definition.kind {
            Kind::Typedef(it) => behind(&it.ty).and_then(|it| found.get(it.index()).copied().flatten()),
            _ => (interface_kind(model, id) == Some(InterfaceKind::Local)).then_some(id),
        };
        found.push(local);
    }
    found
}
