//! Graphs described in a line or a few: `udp > ipv4 > eth`.

use std::{collections::BTreeMap, fmt};

/// A graph as its description says: protocols and what is below each.
///
/// Each line, or part between semicolons, is a chain from top to bottom. A protocol that is named again is the same one, so
/// that several chains make a graph. Options follow a name in parentheses, once:
///
/// ```text
/// udp(lookup=sequent, chains=19) > ipv4 > eth
/// icmp > ipv4; arp > eth
/// ```
///
/// After the x-kernel's `graph.comp`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    /// Protocols, those below before those above.
    pub nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    pub name: String,
    pub options: BTreeMap<String, String>,
    /// Indices of those below.
    pub below: Vec<usize>,
}

/// What is wrong with a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptionError {
    /// The part in question.
    pub near: String,
    /// What is wrong with it.
    pub fault: &'static str,
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at `{}` (a graph reads like `udp(lookup=sequent) > ipv4 > eth; arp > eth`)",
            self.fault, self.near
        )
    }
}

impl std::error::Error for DescriptionError {}

fn fault(near: &str, fault: &'static str) -> DescriptionError {
    DescriptionError { near: near.trim().into(), fault }
}

impl Description {
    pub fn parse(text: &str) -> Result<Self, DescriptionError> {
        let mut found = Self::default();
        for chain in text.split([';', '\n']).filter(|chain| !chain.trim().is_empty()) {
            let mut above: Option<usize> = None;
            for part in chain.split('>') {
                let node = found.node(part)?;
                if let Some(above) = above
                    && !found.nodes[above].below.contains(&node)
                {
                    found.nodes[above].below.push(node);
                }
                above = Some(node);
            }
        }
        if found.nodes.is_empty() {
            return Err(fault(text, "no protocols"));
        }
        found.sorted(text)
    }

    /// The node that a part names, with its options.
    fn node(&mut self, part: &str) -> Result<usize, DescriptionError> {
        let (name, options) = match part.split_once('(') {
            Some((name, rest)) => {
                let options = rest
                    .trim()
                    .strip_suffix(')')
                    .ok_or_else(|| fault(part, "a parenthesis is not closed"))?;
                (name.trim(), options)
            }
            None => (part.trim(), ""),
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(fault(part, "a protocol's name is missing"));
        }
        let index = self.nodes.iter().position(|node| node.name == name).unwrap_or_else(|| {
            self.nodes.push(Node { name: name.into(), ..Node::default() });
            self.nodes.len() - 1
        });
        for option in options.split(',').filter(|option| !option.trim().is_empty()) {
            let (key, value) =
                option.split_once('=').ok_or_else(|| fault(option, "an option has no value"))?;
            if self.nodes[index].options.insert(key.trim().into(), value.trim().into()).is_some() {
                return Err(fault(option, "an option is given twice"));
            }
        }
        Ok(index)
    }

    /// Puts those below before those above.
    fn sorted(self, text: &str) -> Result<Self, DescriptionError> {
        let mut order: Vec<usize> = Vec::new();
        while order.len() < self.nodes.len() {
            let ready = |index: &usize| {
                !order.contains(index) && self.nodes[*index].below.iter().all(|below| order.contains(below))
            };
            let next = (0..self.nodes.len()).find(ready).ok_or_else(|| fault(text, "a circle"))?;
            order.push(next);
        }
        let place = |old: usize| order.iter().position(|index| *index == old).unwrap_or(0);
        let moved = |old: &usize| {
            let node = self.nodes[*old].clone();
            Node { below: node.below.iter().map(|below| place(*below)).collect(), ..node }
        };
        Ok(Self { nodes: order.iter().map(moved).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_make_a_graph() {
        let graph =
            Description::parse("udp( lookup = sequent,chains=7 ) > ipv4>eth\n icmp > ipv4; arp > eth ;")
                .unwrap();
        let names: Vec<_> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["eth", "ipv4", "udp", "icmp", "arp"]);
        assert_eq!(graph.nodes[2].options["chains"], "7");
        assert_eq!(graph.nodes[2].options["lookup"], "sequent");
        let below: Vec<_> = graph.nodes.iter().map(|node| node.below.clone()).collect();
        assert_eq!(below, [vec![], vec![0], vec![1], vec![1], vec![0]]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("", "no protocols"),
            ("udp > > eth", "name is missing"),
            ("udp(lookup > eth", "not closed"),
            ("udp(lookup) > eth", "no value"),
            ("udp(a=1, a=2) > eth", "twice"),
            ("a > b; b > a", "circle"),
        ] {
            let error = Description::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
