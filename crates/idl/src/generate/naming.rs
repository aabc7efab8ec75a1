//! Which Rust names every definition of a model gets.

use std::collections::HashMap;

use super::words::{Names, camel, claim_all, screaming, snake};
use crate::model::{DefId, Feature, Kind, Model};

/// Methods that references and servants have from traits of the prelude or of the runtime. An operation with such a name
/// gets an underscore: `reference.clone()` copies the reference, `reference.clone_()` calls the object.
const RESERVED_METHODS: &[&str] = &[
    "as_object",
    "clone",
    "clone_from",
    "eq",
    "fmt",
    "from",
    "from_object",
    "into",
    "narrow",
    "ne",
    "to_owned",
    "try_from",
    "try_into",
];

/// Names of one definition.
#[derive(Clone, Debug)]
pub(super) struct DefNames {
    /// Of the item itself: module, type, trait or constant.
    pub(super) item: String,
    /// Of the module with what is defined inside: for a module its name, for other definitions that contain some.
    pub(super) module: Option<String>,
    /// Of what goes with an interface.
    pub(super) interface: Option<InterfaceNames>,
}

/// Names of the items generated for an interface beside its trait.
#[derive(Clone, Debug)]
pub(super) struct InterfaceNames {
    /// The typed reference.
    pub(super) reference: String,
    /// The wrapper that serves a servant.
    pub(super) skeleton: String,
    /// The module of skeleton functions.
    pub(super) functions: String,
    /// The static descriptor.
    pub(super) descriptor: String,
    /// For each of [`Interface::features`].
    pub(super) features: Vec<FeatureNames>,
}

/// Names that come from an operation or attribute.
#[derive(Clone, Debug)]
pub(super) struct FeatureNames {
    /// The operation, or the attribute's getter.
    pub(super) call: CallNames,
    /// The attribute's setter.
    pub(super) setter: Option<CallNames>,
}

/// Names that come from one callable operation.
#[derive(Clone, Debug)]
pub(super) struct CallNames {
    /// The method of the servant's trait and of the reference, and the skeleton function.
    pub(super) method: String,
    /// The method of the reference that returns a future.
    pub(super) future: String,
    /// The method of the reference that begins a call.
    pub(super) begun: String,
    /// The error enum, if it raises exceptions.
    pub(super) error: Option<String>,
}

/// Names of all definitions.
#[derive(Debug)]
pub(super) struct Naming {
    names: HashMap<DefId, DefNames>,
    /// Of the variants of each enum.
    enumerators: HashMap<DefId, Vec<String>>,
}

impl Naming {
    /// Names everything in a model.
    pub(super) fn new(model: &Model) -> Self {
        let mut naming = Self { names: HashMap::new(), enumerators: enumerators(model) };
        naming.scope(model, model.roots());
        // Bases come first, which may stand behind derived interfaces in the tree: they have fewer ancestors.
        let ancestors = |(id, _)| Some((model.interface(id)?.ancestors.len(), id));
        let mut interfaces: Vec<_> = model.iter().filter_map(ancestors).collect();
        interfaces.sort_unstable();
        for (_, id) in interfaces {
            naming.methods(model, id);
        }
        naming
    }

    /// The names of a definition.
    pub(super) fn of(&self, id: DefId) -> &DefNames {
        &self.names[&id]
    }

    /// The names of an enum's variants.
    pub(super) fn enumerators(&self, id: DefId) -> &[String] {
        &self.enumerators[&id]
    }

    /// The names of an interface's companions.
    pub(super) fn interface(&self, id: DefId) -> &InterfaceNames {
        self.of(id).interface.as_ref().expect("named as an interface")
    }

    /// Names of the reference's methods, for each of [`Model::features`]. They differ from those in the interface that
    /// defines them only where two bases have names that case conversion makes one.
    pub(super) fn on_reference(&self, model: &Model, id: DefId) -> Vec<FeatureNames> {
        let mut methods = Names::default();
        let interfaces =
            std::iter::once(&id).chain(model.interface(id).into_iter().flat_map(|it| &it.ancestors));
        let features = interfaces.flat_map(|it| &self.interface(*it).features);
        features.map(|it| it.claim_again(&mut methods)).collect()
    }

    /// Names the definitions of one scope: first the items themselves, then what is derived from them.
    fn scope(&mut self, model: &Model, ids: &[DefId]) {
        let mut names = Names::default();
        let items: Vec<_> = ids.iter().map(|id| item_name(model, *id, &mut names)).collect();
        for (id, item) in ids.iter().zip(items) {
            let module = inner_module(model, *id, &item, &mut names);
            let interface = companions(model, *id, &item, &mut names);
            self.names.insert(*id, DefNames { item, module, interface });
            self.scope(model, model.children(*id));
        }
    }

    /// Names an interface's methods after those of its bases.
    fn methods(&mut self, model: &Model, id: DefId) {
        let Some(interface) = model.interface(id) else { return };
        let mut methods = Names::default();
        methods.reserve(RESERVED_METHODS.iter().copied());
        methods.reserve(interface.ancestors.iter().flat_map(|base| self.method_names(*base)));
        let mut features = std::mem::take(&mut self.companions_mut(id).features);
        name_methods(&interface.features, &mut features, &mut methods);
        self.companions_mut(id).features = features;
    }

    fn companions_mut(&mut self, id: DefId) -> &mut InterfaceNames {
        self.names.get_mut(&id).and_then(|it| it.interface.as_mut()).expect("named as an interface")
    }

    fn method_names(&self, id: DefId) -> impl Iterator<Item = &str> {
        let calls = self.interface(id).features.iter().flat_map(FeatureNames::calls);
        calls.flat_map(|it| [it.method.as_str(), it.future.as_str(), it.begun.as_str()])
    }
}

impl FeatureNames {
    /// The operation, or getter and setter.
    pub(super) fn calls(&self) -> impl Iterator<Item = &CallNames> {
        std::iter::once(&self.call).chain(&self.setter)
    }

    fn calls_mut(&mut self) -> impl Iterator<Item = &mut CallNames> {
        std::iter::once(&mut self.call).chain(&mut self.setter)
    }

    fn claim_again(&self, methods: &mut Names) -> Self {
        let mut again = |it: &CallNames| CallNames {
            method: methods.claim(it.method.clone()),
            future: methods.claim(it.future.clone()),
            begun: methods.claim(it.begun.clone()),
            error: it.error.clone(),
        };
        Self { call: again(&self.call), setter: self.setter.as_ref().map(again) }
    }
}

fn enumerators(model: &Model) -> HashMap<DefId, Vec<String>> {
    let enums = model.iter().filter_map(|(id, definition)| match &definition.kind {
        Kind::Enum(it) => Some((id, claim_all(it.enumerators.iter().map(|it| it.name.as_str()), camel))),
        _ => None,
    });
    enums.collect()
}

fn item_name(model: &Model, id: DefId, names: &mut Names) -> String {
    let definition = model.get(id);
    match &definition.kind {
        Kind::Module(_) => names.claim_module(snake(&definition.name)),
        Kind::Constant(_) => names.claim(screaming(&definition.name)),
        _ => names.claim(camel(&definition.name)),
    }
}

fn inner_module(model: &Model, id: DefId, item: &str, names: &mut Names) -> Option<String> {
    match &model.get(id).kind {
        Kind::Module(_) => Some(item.to_owned()),
        _ if model.children(id).is_empty() => None,
        _ => Some(names.claim_module(snake(&model.get(id).name))),
    }
}

fn companions(model: &Model, id: DefId, item: &str, names: &mut Names) -> Option<InterfaceNames> {
    let definition = model.get(id);
    let features = match &definition.kind {
        Kind::Interface(interface) => interface.features.as_slice(),
        Kind::ForwardInterface(_) => &[],
        _ => return None,
    };
    // Underscores that an item has behind its name may not stand in the middle of another.
    let item = item.trim_end_matches('_');
    Some(InterfaceNames {
        reference: names.claim(format!("{item}Ref")),
        skeleton: names.claim(format!("{item}Skeleton")),
        functions: names.claim_module(format!("{}_skeleton", snake(&definition.name))),
        descriptor: names.claim(screaming(&definition.name)),
        features: features.iter().map(|it| feature_names(it, item, names)).collect(),
    })
}

/// The names of a feature as far as they lie in the interface's scope: methods are still to be named.
fn feature_names(feature: &Feature, item: &str, names: &mut Names) -> FeatureNames {
    let mut call = |name: &str, raises: &[DefId]| CallNames {
        method: String::new(),
        future: String::new(),
        begun: String::new(),
        error: (!raises.is_empty()).then(|| names.claim(format!("{item}{}Error", camel(name)))),
    };
    match feature {
        Feature::Operation(it) => FeatureNames { call: call(&it.name, &it.raises), setter: None },
        Feature::Attribute(it) => FeatureNames {
            call: call(&it.name, &it.get_raises),
            setter: (!it.readonly).then(|| call(&format!("set_{}", it.name), &it.set_raises)),
        },
    }
}

/// Methods that the source names come first, then setters, then the asynchronous forms, then those that begin.
fn name_methods(own: &[Feature], features: &mut [FeatureNames], methods: &mut Names) {
    for (feature, names) in own.iter().zip(&mut *features) {
        names.call.method = methods.claim(snake(feature.name()));
    }
    for (feature, names) in own.iter().zip(&mut *features) {
        if let Some(setter) = &mut names.setter {
            setter.method = methods.claim(format!("set_{}", snake(feature.name())));
        }
    }
    for call in features.iter_mut().flat_map(FeatureNames::calls_mut) {
        call.future = methods.claim(format!("{}_async", call.method.trim_end_matches('_')));
    }
    for call in features.iter_mut().flat_map(FeatureNames::calls_mut) {
        call.begun = methods.claim(format!("{}_begin", call.method.trim_end_matches('_')));
    }
}
