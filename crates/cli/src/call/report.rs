//! What a call brought, for people and for programs.

use serde_json::{Map, Value as Json, json};
use throughline::{Completion, Kind, ObjectRef, SystemException};
use throughline_cdr::DecodeError;
use throughline_idl::model::{self, Exception};

use super::invocation::{Invocation, Raised};
use super::latency::Latency;
use super::layout::text;
use crate::dynamic::{Types, Value};
use crate::failure::Failure;
use crate::output::{self, line};
use crate::ways;

/// Prints results.
pub fn results(
    invocation: &Invocation<'_>,
    object: &ObjectRef,
    values: Vec<Value>,
    took: Option<&Latency>,
    json: bool,
) {
    let show = |((name, ty), value)| (name, invocation.types.show(ty, &value));
    let shown: Vec<_> = invocation.outputs().zip(values).map(show).collect();
    if json {
        let mut object = outcome(invocation, object);
        let mut out = Map::new();
        for (name, value) in shown {
            match name {
                None => _ = object.insert("result".to_owned(), value),
                Some(name) => _ = out.insert(name.to_owned(), value),
            }
        }
        if !out.is_empty() {
            object.insert("out".to_owned(), Json::Object(out));
        }
        if let Some(took) = took {
            object.insert("nanoseconds".to_owned(), took.json());
        }
        return output::json_line(&Json::Object(object));
    }
    match shown.as_slice() {
        [(_, only)] => line(&text(only, 0)),
        several => columns(several.iter().map(|(name, value)| (name.unwrap_or("result"), value)))
            .iter()
            .for_each(|it| line(it)),
    }
    if let Some(took) = took {
        line(&took.text(&way(object)));
    }
}

/// What every outcome tells.
fn outcome(invocation: &Invocation<'_>, object: &ObjectRef) -> Map<String, Json> {
    let way = object.way();
    let transport = way.as_ref().map(|way| way.transport.name());
    let address = way.as_ref().map(ToString::to_string);
    match json!({"operation": invocation.name(), "transport": transport, "address": address}) {
        Json::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn way(object: &ObjectRef) -> String {
    object.way().map_or_else(|| "nothing".to_owned(), |way| way.to_string())
}

/// Names and values below each other.
fn columns<'v>(rows: impl Iterator<Item = (&'v str, &'v Json)> + Clone) -> Vec<String> {
    let width = rows.clone().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.map(|(name, value)| format!("{name:<width$}  {}", text(value, width + 2))).collect()
}

/// A user exception.
pub fn raised(invocation: &Invocation<'_>, object: &ObjectRef, raised: &Raised, json: bool) -> Failure {
    let types = invocation.types;
    let known = types.model.iter().find_map(|(id, it)| match &it.kind {
        model::Kind::Exception(exception) if it.repository_id == raised.id => Some((id, exception)),
        _ => None,
    });
    let members = known.map(|(_, exception)| members(types, exception, raised));
    let mut unread = None;
    let (name, members) = match (known, members) {
        (Some((id, _)), Some(Ok(members))) => (types.model.scoped_name(id), members),
        (Some((id, _)), Some(Err(e))) if !json => {
            let what = format!("the operation raised {}", types.model.scoped_name(id));
            return Failure::raised(what).because(format!("its members cannot be read: {e}"));
        }
        (_, members) => {
            unread = members.and_then(Result::err).map(|e| format!("its members cannot be read: {e}"));
            (raised.id.clone(), Json::Null)
        }
    };
    if json {
        let mut object = outcome(invocation, object);
        object.insert("exception".to_owned(), json!(raised.id));
        object.insert("members".to_owned(), members);
        if let Some(why) = unread {
            object.insert("detail".to_owned(), json!(why));
        }
        output::json_line(&Json::Object(object));
        return Failure::raised(name).quiet();
    }
    let listed = known.is_some_and(|(id, _)| invocation.signature.raises.contains(&id));
    let failure = Failure::raised(format!("the operation raised {name}"));
    let failure = match &members {
        Json::Object(fields) if !fields.is_empty() => {
            failure.because(columns(fields.iter().map(|(name, value)| (name.as_str(), value))).join("\n"))
        }
        _ => failure,
    };
    if listed {
        failure
    } else {
        failure.next("the IDL does not list it for this operation: is it the server's?")
    }
}

fn members<'m>(types: Types<'m>, exception: &'m Exception, raised: &Raised) -> Result<Json, DecodeError> {
    let mut reader = raised.reader();
    let values = exception.members.iter().map(|it| types.decode(&it.ty, &mut reader));
    Ok(types.show_members(&exception.members, &values.collect::<Result<Vec<_>, _>>()?))
}

/// A system exception.
pub fn failed(
    invocation: &Invocation<'_>,
    object: &ObjectRef,
    exception: &SystemException,
    json: bool,
) -> Failure {
    if json {
        let completed = match exception.completed {
            Completion::Yes => "yes",
            Completion::No => "no",
            Completion::Maybe => "maybe",
        };
        let mut outcome = outcome(invocation, object);
        outcome.insert("exception".to_owned(), json!(exception.kind.name()));
        outcome.insert("minor".to_owned(), json!(exception.minor));
        outcome.insert("completed".to_owned(), json!(completed));
        outcome.insert("detail".to_owned(), json!(exception.detail_text()));
        output::json_line(&Json::Object(outcome));
        return Failure::new(exception.kind.name()).quiet();
    }
    let what = format!("the call of `{}` failed", invocation.name());
    match exception.kind {
        Kind::Transient | Kind::CommFailure | Kind::InvObjref => Failure::new(what)
            .because(format!("{exception}{}", ways::tried(object)))
            .next("check that the server runs, and that the reference is its present one"),
        Kind::Timeout => Failure::new(what).because(exception).next("try again with a longer --timeout"),
        Kind::ObjectNotExist => Failure::new(what)
            .because(exception)
            .next("the server knows no such object (any more): ask it for a new reference"),
        Kind::BadOperation | Kind::Marshal => Failure::new(what)
            .because(exception)
            .next("check that the IDL and the interface are the server's"),
        Kind::NoImplement => Failure::new(what).because(exception).next("the server has not written it yet"),
        _ => Failure::new(what).because(exception),
    }
}
