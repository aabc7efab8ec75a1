//! The contents of a reference, for people and for programs.

use serde_json::{Map, Value, json};
use throughline::{Ior, KeyParts};
use throughline_giop::codeset::{CodeSetComponent, CodeSetComponentInfo};
use throughline_giop::component::{self, Address, TaggedComponent};
use throughline_giop::corbaloc::{Corbaloc, CorbalocAddress};
use throughline_giop::profile::{TAG_INTERNET_IOP, TAG_MULTIPLE_COMPONENTS, read_multiple_components};
use throughline_giop::{IiopProfile, NativeAddress, NativeProfile, TaggedProfile};

use super::names::{code_set, hex, orb_type, printable};
use crate::output::one_line as line;

/// Prints everything.
pub fn print(ior: &Ior) {
    if ior.is_nil() {
        return line("nil: a reference to no object");
    }
    let type_id = if ior.type_id.is_empty() { "not told" } else { &ior.type_id };
    line(&format!("interface  {type_id}"));
    for (number, profile) in (1..).zip(&ior.profiles) {
        match read_profile(profile) {
            Profile::Iiop(iiop) => print_iiop(number, &iiop),
            Profile::Native(native) => print_native(number, &native),
            Profile::Components(components) => {
                line(&format!("profile {number}  components for every protocol"));
                components.iter().for_each(print_component);
            }
            Profile::Other(why) => {
                line(&format!("profile {number}  tag {}, {} octets, {why}", profile.tag, profile.data.len()));
                line(&format!("  data     {}", hex(&profile.data)));
            }
        }
    }
    if let Some(text) = corbaloc(ior) {
        line(&format!("corbaloc   {text}"));
        if ior.profiles.iter().any(|profile| NativeProfile::from_tagged(profile).is_some()) {
            line(
                "           leads there by IIOP; the other ways find the object by its handle, which the IOR has",
            );
        }
    }
}

/// A profile, decoded as far as its protocol is known.
enum Profile {
    Iiop(IiopProfile),
    Native(NativeProfile),
    Components(Vec<TaggedComponent>),
    /// With the reason.
    Other(String),
}

fn read_profile(profile: &TaggedProfile) -> Profile {
    let malformed = |e| Profile::Other(format!("malformed: {e}"));
    if let Some(native) = NativeProfile::from_tagged(profile) {
        return native.map_or_else(malformed, Profile::Native);
    }
    match profile.tag {
        TAG_INTERNET_IOP => IiopProfile::from_octets(&profile.data).map_or_else(malformed, Profile::Iiop),
        TAG_MULTIPLE_COMPONENTS => {
            read_multiple_components(&profile.data).map_or_else(malformed, Profile::Components)
        }
        _ => Profile::Other("a protocol that is not known here".to_owned()),
    }
}

fn print_iiop(number: usize, profile: &IiopProfile) {
    line(&format!("profile {number}  IIOP {}", profile.version));
    for address in profile.addresses() {
        line(&format!("  address  {}", address_text(&address)));
    }
    if let Some(text) = printable(&profile.object_key) {
        line(&format!("  key      {text}"));
    }
    line(&format!("  key hex  {}", hex(&profile.object_key)));
    if let Some(parts) = KeyParts::of(&profile.object_key) {
        line(&format!("  key is   {}", parts_text(&parts)));
    }
    profile.components.iter().for_each(print_component);
}

fn print_native(number: usize, profile: &NativeProfile) {
    line(&format!("profile {number}  Throughline's own protocol"));
    line(&format!("  address  {}", native_text(&profile.address)));
    line(&format!("  object   slot {}, nonce {:016x}", profile.slot, profile.nonce));
}

/// `shm:bank on the machine ..`, `udp://host:port`.
pub fn native_text(address: &NativeAddress) -> String {
    match address {
        NativeAddress::Shm { machine, name } => format!("shm:{name} on the machine {machine}"),
        NativeAddress::Udp { host, port } if host.contains(':') => format!("udp://[{host}]:{port}"),
        NativeAddress::Udp { host, port } => format!("udp://{host}:{port}"),
    }
}

/// `host:port`, `unix:/path on host`.
pub fn address_text(address: &Address) -> String {
    match address {
        Address::Tcp { host, port } if host.contains(':') => format!("[{host}]:{port}"),
        Address::Tcp { host, port } => format!("{host}:{port}"),
        Address::Unix { host, path } => format!("unix:{path} on {host}"),
    }
}

fn parts_text(parts: &KeyParts<'_>) -> String {
    match parts {
        KeyParts::Active { adapter, operations, slot, nonce } => format!(
            "Throughline's, active: slot {slot}, nonce {nonce:016x}; adapter {adapter}, operations by {operations}"
        ),
        KeyParts::Indexed { adapter, nonce, id } => {
            let id = printable(id).map_or_else(|| hex(id), str::to_owned);
            format!("Throughline's, indexed: object id {id}; adapter {adapter}, nonce {nonce:016x}")
        }
    }
}

fn print_component(component: &TaggedComponent) {
    let name =
        component::tag_name(component.tag).map_or_else(|| format!("tag {}", component.tag), str::to_owned);
    line(&format!("  {name}  {}", component_text(component)));
}

fn component_text(component: &TaggedComponent) -> String {
    let octets = &component.data;
    let known = match component.tag {
        component::ORB_TYPE => component::read_orb_type(octets).ok().map(orb_type),
        component::CODE_SETS => CodeSetComponentInfo::from_octets(octets).ok().map(|info| {
            format!("char {}; wchar {}", code_sets_text(&info.for_char), code_sets_text(&info.for_wchar))
        }),
        component::ALTERNATE_IIOP_ADDRESS => {
            component::read_alternate_address(octets).ok().as_ref().map(address_text)
        }
        component::OMNIORB_UNIX_TRANS => component::read_unix_address(octets).ok().as_ref().map(address_text),
        _ => None,
    };
    known.unwrap_or_else(|| hex(octets))
}

fn code_sets_text(set: &CodeSetComponent) -> String {
    if set.native == 0 && set.conversion.is_empty() {
        return "none".to_owned();
    }
    let others: Vec<_> = set.conversion.iter().map(|id| code_set(*id)).collect();
    let others = if others.is_empty() { String::new() } else { format!(", also {}", others.join(", ")) };
    format!("{}{others}", code_set(set.native))
}

/// The short form, for keys that people can read, if it leads where the reference does: a stranger's host may be none.
pub fn corbaloc(ior: &Ior) -> Option<String> {
    let profile = ior.iiop_profiles().find_map(Result::ok).filter(|p| printable(&p.object_key).is_some())?;
    let addresses = profile.addresses().into_iter().map(|address| match address {
        Address::Tcp { host, port } => CorbalocAddress::Iiop { version: profile.version, host, port },
        Address::Unix { path, .. } => CorbalocAddress::Unix { path },
    });
    let addresses: Vec<_> = addresses.collect();
    let location = Corbaloc::Addresses { addresses, key: profile.object_key };
    let text = location.to_string();
    text.parse().is_ok_and(|read: Corbaloc| read == location).then_some(text)
}

/// Everything as the fields of an object.
pub fn as_json(ior: &Ior) -> Map<String, Value> {
    let profiles: Vec<_> = ior.profiles.iter().map(profile_json).collect();
    let object =
        json!({"type_id": ior.type_id, "nil": ior.is_nil(), "profiles": profiles, "corbaloc": corbaloc(ior)});
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn profile_json(profile: &TaggedProfile) -> Value {
    match read_profile(profile) {
        Profile::Iiop(iiop) => json!({
            "tag": profile.tag,
            "protocol": "IIOP",
            "version": iiop.version.to_string(),
            "addresses": iiop.addresses().iter().map(address_json).collect::<Vec<_>>(),
            "key": hex(&iiop.object_key),
            "key_text": printable(&iiop.object_key),
            "key_parts": KeyParts::of(&iiop.object_key).as_ref().map(parts_json),
            "components": iiop.components.iter().map(component_json).collect::<Vec<_>>(),
        }),
        Profile::Native(native) => json!({
            "tag": profile.tag,
            "protocol": "Throughline",
            "address": native_text(&native.address),
            "slot": native.slot,
            "nonce": format!("{:016x}", native.nonce),
        }),
        Profile::Components(components) => json!({
            "tag": profile.tag,
            "components": components.iter().map(component_json).collect::<Vec<_>>(),
        }),
        Profile::Other(why) => json!({"tag": profile.tag, "data": hex(&profile.data), "remark": why}),
    }
}

fn address_json(address: &Address) -> Value {
    match address {
        Address::Tcp { host, port } => json!({"host": host, "port": port}),
        Address::Unix { host, path } => json!({"host": host, "path": path}),
    }
}

fn parts_json(parts: &KeyParts<'_>) -> Value {
    match parts {
        KeyParts::Active { adapter, operations, slot, nonce } => json!({"form": "active", "slot": slot,
            "nonce": format!("{nonce:016x}"), "adapter": adapter, "operations": operations.name()}),
        KeyParts::Indexed { adapter, nonce, id } => json!({"form": "indexed", "adapter": adapter,
            "nonce": format!("{nonce:016x}"), "id": hex(id), "id_text": printable(id)}),
    }
}

fn component_json(component: &TaggedComponent) -> Value {
    json!({"tag": component.tag, "name": component::tag_name(component.tag), "data": hex(&component.data),
        "text": component_text(component)})
}
