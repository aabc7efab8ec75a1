//! Numbers that registries give out, by name.

/// A code set of the OSF registry.
pub fn code_set(id: u32) -> String {
    let name = match id {
        0x0001_0001 => "ISO 8859-1",
        0x0001_0002 => "ISO 8859-2",
        0x0001_0005 => "ISO 8859-5",
        0x0001_0007 => "ISO 8859-7",
        0x0001_000f => "ISO 8859-15",
        0x0001_0020 => "ISO 646 (ASCII)",
        0x0001_0100 => "UCS-2, level 1",
        0x0001_0106 => "UCS-4",
        0x0001_0109 => "UTF-16",
        0x0501_0001 => "UTF-8",
        0x1002_04e4 => "windows-1252",
        _ => return format!("0x{id:08x}"),
    };
    name.to_owned()
}

/// Who made a reference. Numbers are four letters of which the last is free, as far as vendors kept to the custom.
pub fn orb_type(id: u32) -> String {
    let name = match id {
        0x4154_5400 => "omniORB",
        0x5441_4f00 => "TAO",
        0x4a41_4300 => "JacORB",
        0x544c_0000 => "Throughline",
        0x4d49_434f => "MICO",
        0x5355_4e00..=0x5355_4eff => "Sun's ORB",
        0x4942_4d00..=0x4942_4dff => "IBM's ORB",
        _ => return format!("0x{id:08x}"),
    };
    format!("{name} (0x{id:08x})")
}

/// Octets as text, if they are any.
pub fn printable(octets: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(octets).ok()?;
    (!text.is_empty() && !text.chars().any(char::is_control)).then_some(text)
}

/// Octets in hexadecimal.
pub fn hex(octets: &[u8]) -> String {
    octets.iter().map(|o| format!("{o:02x}")).collect()
}
