//! Why there is nothing to look up.

use throughline_capture::{carrier_name, link_name};

use super::report::Report;
use crate::table::grouped;

impl Report {
    /// Why no packet was looked up, in a sentence; none if some were.
    pub fn nothing(&self) -> Option<String> {
        let counts = &self.counts;
        let unknown = || link_text(counts.last_unknown_link);
        let why = match self.options.to {
            _ if counts.packets > 0 => return None,
            _ if counts.frames == 0 => "There are no frames in it".to_owned(),
            Some(to) if counts.not_asked_for > 0 => {
                let packets = grouped(counts.not_asked_for);
                format!("None of the packets of TCP or UDP in it ({packets}) is to {to}")
            }
            _ if counts.unknown_link == counts.frames => {
                format!("All its frames are of {}, which is not understood", unknown())
            }
            _ if counts.unknown_link > 0 => {
                let rest = format!("those of {} are not understood", unknown());
                format!("There are no packets of TCP or UDP in the frames that are understood; {rest}")
            }
            _ => "There are no packets of TCP or UDP in it".to_owned(),
        };
        let further = self.not_looked_into().map_or(String::new(), |what| format!("; {what}"));
        Some(format!("{why}{further}: there is no lookup to recommend."))
    }

    /// Which packets may have others in them that were not looked for, if there are such.
    pub(super) fn not_looked_into(&self) -> Option<String> {
        let of = |(protocol, packets): &(u8, u64)| {
            format!("of {} {}", carrier_name(*protocol).unwrap_or_default(), grouped(*packets))
        };
        let all: Vec<_> = self.carriers.iter().map(of).collect();
        (!all.is_empty())
            .then(|| format!("packets that carry others are not looked into ({})", all.join(", ")))
    }
}

/// A link type by number and, if it has one, name.
pub(super) fn link_text(link: u32) -> String {
    let name = link_name(link).map_or(String::new(), |name| format!(" ({name})"));
    format!("link type {link}{name}")
}
