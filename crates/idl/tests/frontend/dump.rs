//! A model as text.

use std::fmt::Write;

use throughline_idl::Diagnostics;
use throughline_idl::model::{
    Coverage, DefId, Direction, Feature, Interface, InterfaceKind, Kind, Member, Model, Parameter, Type,
    Value,
};

/// All definitions of the main file and what they contain.
pub fn dump(model: &Model) -> String {
    let mut out = String::new();
    for id in model.roots() {
        definition(model, *id, 0, &mut out);
    }
    out
}

/// The heads of warnings.
pub fn warnings(diagnostics: &Diagnostics) -> String {
    let line = |it: &throughline_idl::Diagnostic| {
        let line = it.location.as_ref().map_or(0, |it| it.line);
        format!("{}: line {line}: {}\n", it.severity.as_str(), it.message)
    };
    diagnostics.iter().map(line).collect()
}

fn definition(model: &Model, id: DefId, depth: usize, out: &mut String) {
    let it = model.get(id);
    assert_eq!(model.find(&model.scoped_name(id)), Some(id));
    let indent = "  ".repeat(depth);
    if let Some(doc) = &it.doc {
        for line in doc.lines() {
            writeln!(out, "{indent}/// {line}").unwrap();
        }
    }
    let file =
        if it.is_in_main_file() { String::new() } else { format!(" from file {}", it.origin.file.index()) };
    let (noun, line, column) = (it.kind.noun(), it.origin.line, it.origin.column);
    writeln!(
        out,
        "{indent}{noun} {} `{}` {line}:{column}{file}{}",
        it.name,
        it.repository_id,
        detail(model, it)
    )
    .unwrap();
    let indent = "  ".repeat(depth + 1);
    match &it.kind {
        Kind::Struct(it) => members(model, &it.members, &indent, out),
        Kind::Exception(it) => members(model, &it.members, &indent, out),
        Kind::Union(it) => {
            for case in &it.cases {
                let mut labels: Vec<_> = case.labels.iter().map(|it| value(model, it)).collect();
                labels.extend(case.is_default.then(|| "default".to_owned()));
                write!(out, "{indent}{} => ", labels.join(", ")).unwrap();
                members(model, std::slice::from_ref(&case.member), "", out);
            }
        }
        Kind::Interface(it) => interface(model, id, it, &indent, out),
        Kind::ValueType(it) => {
            for state in &it.state {
                write!(out, "{indent}{} ", if state.public { "public" } else { "private" }).unwrap();
                members(model, std::slice::from_ref(&state.member), "", out);
            }
            for it in &it.initializers {
                let parameters = parameters(model, &it.parameters);
                writeln!(
                    out,
                    "{indent}factory {}({parameters}){}",
                    it.name,
                    names(model, " raises", &it.raises)
                )
                .unwrap();
            }
            it.features.iter().for_each(|it| writeln!(out, "{indent}{}", feature(model, it)).unwrap());
        }
        _ => {}
    }
    for child in model.children(id) {
        assert_eq!(model.get(*child).parent, Some(id));
        definition(model, *child, depth + 1, out);
    }
}

/// What follows on the definition's own line.
fn detail(model: &Model, it: &throughline_idl::model::Definition) -> String {
    match &it.kind {
        Kind::Typedef(it) => format!(" = {}", ty(model, &it.ty)),
        Kind::ValueBox(it) => format!(" = {}", ty(model, it)),
        Kind::Constant(it) => format!(" = {} {}", ty(model, &it.ty), value(model, &it.value)),
        Kind::Enum(it) => {
            let names: Vec<_> = it.enumerators.iter().map(|it| it.name.as_str()).collect();
            format!(" {{{}}}", names.join(", "))
        }
        Kind::Struct(it) if it.recursive => " recursive".to_owned(),
        Kind::Union(it) => {
            let coverage = match &it.coverage {
                Coverage::Exhaustive => "exhaustive".to_owned(),
                Coverage::Explicit { unlabelled, count } => {
                    format!("default for {count}, least {}", value(model, unlabelled))
                }
                Coverage::Implicit { unlabelled, count } => {
                    format!("nothing for {count}, least {}", value(model, unlabelled))
                }
            };
            let recursive = if it.recursive { " recursive" } else { "" };
            format!(" switch {} ({coverage}){recursive}", ty(model, &it.discriminator))
        }
        Kind::Interface(it) => {
            format!(
                "{}{}{}",
                kind(it.kind),
                names(model, " :", &it.bases),
                names(model, " ancestors", &it.ancestors)
            )
        }
        Kind::ForwardInterface(it) => format!("{} declared only", kind(*it)),
        Kind::ForwardValueType { is_abstract } => format!(" declared only, abstract {is_abstract}"),
        Kind::ValueType(it) => {
            let truncatable = if it.truncatable { " truncatable" } else { "" };
            let (bases, supports) = (names(model, " :", &it.bases), names(model, " supports", &it.supports));
            format!(" {:?}{truncatable}{bases}{supports}", it.kind)
        }
        _ => String::new(),
    }
}

fn kind(kind: InterfaceKind) -> &'static str {
    match kind {
        InterfaceKind::Normal => "",
        InterfaceKind::Local => " local",
        InterfaceKind::Abstract => " abstract",
    }
}

fn interface(model: &Model, id: DefId, it: &Interface, indent: &str, out: &mut String) {
    for it in &it.features {
        it.doc()
            .into_iter()
            .flat_map(str::lines)
            .for_each(|line| writeln!(out, "{indent}/// {line}").unwrap());
        writeln!(out, "{indent}{}", feature(model, it)).unwrap();
    }
    assert!(it.ancestors.iter().all(|ancestor| model.is_a(id, *ancestor)));
    let inherited: Vec<_> = model
        .features(id)
        .filter(|(owner, _)| *owner != id)
        .map(|(owner, it)| format!("{}::{}", model.get(owner).name, it.name()))
        .collect();
    if !inherited.is_empty() {
        writeln!(out, "{indent}inherited: {}", inherited.join(", ")).unwrap();
    }
}

fn feature(model: &Model, it: &Feature) -> String {
    match it {
        Feature::Operation(it) => {
            let oneway = if it.oneway { "oneway " } else { "" };
            let result = it.result.as_ref().map_or("void".to_owned(), |it| ty(model, it));
            let raises = names(model, " raises", &it.raises);
            let context =
                if it.context.is_empty() { String::new() } else { format!(" context {:?}", it.context) };
            let parameters = parameters(model, &it.parameters);
            format!("{oneway}{result} {}({parameters}){raises}{context} `{}`", it.name, it.repository_id)
        }
        Feature::Attribute(it) => {
            let readonly = if it.readonly { "readonly " } else { "" };
            let (get, set) =
                (names(model, " get raises", &it.get_raises), names(model, " set raises", &it.set_raises));
            format!("{readonly}attribute {} {}{get}{set} `{}`", ty(model, &it.ty), it.name, it.repository_id)
        }
    }
}

fn parameters(model: &Model, parameters: &[Parameter]) -> String {
    let one = |it: &Parameter| {
        let direction = match it.direction {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::InOut => "inout",
        };
        format!("{direction} {} {}", ty(model, &it.ty), it.name)
    };
    parameters.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn members(model: &Model, members: &[Member], indent: &str, out: &mut String) {
    for it in members {
        let doc = it.doc.as_ref().map_or(String::new(), |doc| format!(" /// {doc}"));
        writeln!(out, "{indent}{} {}{doc}", ty(model, &it.ty), it.name).unwrap();
    }
}

fn names(model: &Model, word: &str, ids: &[DefId]) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let names: Vec<_> = ids.iter().map(|id| model.scoped_name(*id)).collect();
    format!("{word} {}", names.join(", "))
}

fn ty(model: &Model, it: &Type) -> String {
    let bound = |bound: &Option<u32>| bound.map_or(String::new(), |bound| format!("<{bound}>"));
    match it {
        Type::Primitive(it) => it.keyword().to_owned(),
        Type::Any => "any".to_owned(),
        Type::Object => "Object".to_owned(),
        Type::TypeCode => "TypeCode".to_owned(),
        Type::ValueBase => "ValueBase".to_owned(),
        Type::Fixed { digits, scale } => format!("fixed<{digits},{scale}>"),
        Type::String { bound: it } => format!("string{}", bound(it)),
        Type::WString { bound: it } => format!("wstring{}", bound(it)),
        Type::Sequence { element, bound: None } => format!("sequence<{}>", ty(model, element)),
        Type::Sequence { element, bound: Some(it) } => format!("sequence<{},{it}>", ty(model, element)),
        Type::Array { element, dimensions } => format!("{}{dimensions:?}", ty(model, element)),
        Type::Named(id) => model.scoped_name(*id),
    }
}

fn value(model: &Model, it: &Value) -> String {
    match it {
        Value::Integer(it) => it.to_string(),
        Value::Float(it) => format!("{it:?}"),
        Value::Boolean(it) => it.to_string(),
        Value::Char(it) => format!("{it:?}"),
        Value::WChar(it) => format!("L{it:#06x}"),
        Value::String(it) => format!("{it:?}"),
        Value::WString(it) => format!("L{:?}", String::from_utf16_lossy(it)),
        Value::Enumerator { enumeration, index } => match &model.get(*enumeration).kind {
            Kind::Enum(it) => it.enumerators[*index as usize].name.clone(),
            other => panic!("an enumerator of {other:?}"),
        },
        Value::Fixed(it) => format!("{it}d"),
    }
}
