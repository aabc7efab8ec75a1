//! Which definitions lead to each other, and in which order all can be looked at after what they lead to.

/// The strongly connected parts of a graph, each behind all that it leads to: what is alone in its part and does not lead to
/// itself is on no cycle. A loop instead of a recursion, as chains of definitions are as long as somebody writes them.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let unseen = Node { number: 0, lowest: 0, pending: false };
    let mut search =
        Search { edges, nodes: vec![unseen; edges.len()], seen: 0, pending: Vec::new(), found: Vec::new() };
    (0..edges.len()).for_each(|start| search.visit(start));
    search.found
}

#[derive(Clone)]
struct Node {
    /// The place in the order of the visits, from 1; 0 before its own.
    number: usize,
    /// The least number among what it leads to and what is pending.
    lowest: usize,
    /// Seen, but in no part yet.
    pending: bool,
}

/// The search of Tarjan.
struct Search<'e> {
    edges: &'e [Vec<usize>],
    nodes: Vec<Node>,
    seen: usize,
    pending: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, start: usize) {
        // Each with how many of its edges have been followed.
        let mut open: Vec<(usize, usize)> = Vec::new();
        if self.nodes[start].number == 0 {
            open.push((self.enter(start), 0));
        }
        while let Some((at, followed)) = open.last_mut() {
            let at = *at;
            if let Some(to) = self.edges[at].get(*followed).copied() {
                *followed += 1;
                if self.nodes[to].number == 0 {
                    open.push((self.enter(to), 0));
                } else if self.nodes[to].pending {
                    self.reaches(at, self.nodes[to].number);
                }
                continue;
            }
            open.pop();
            if let Some((before, _)) = open.last() {
                self.reaches(*before, self.nodes[at].lowest);
            }
            self.close(at);
        }
    }

    fn enter(&mut self, at: usize) -> usize {
        self.seen += 1;
        self.nodes[at] = Node { number: self.seen, lowest: self.seen, pending: true };
        self.pending.push(at);
        at
    }

    fn reaches(&mut self, at: usize, number: usize) {
        self.nodes[at].lowest = self.nodes[at].lowest.min(number);
    }

    /// Takes the part that begins here, if one does.
    fn close(&mut self, at: usize) {
        if self.nodes[at].lowest != self.nodes[at].number {
            return;
        }
        let from = self.pending.iter().rposition(|it| *it == at).unwrap_or_default();
        let part = self.pending.split_off(from);
        part.iter().for_each(|it| self.nodes[*it].pending = false);
        self.found.push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_behind_what_they_lead_to() {
        let edges = [vec![1], vec![2, 4], vec![1, 3], vec![], vec![4]];
        let mut found = components(&edges);
        found.iter_mut().for_each(|it| it.sort_unstable());
        assert_eq!(found, [vec![3], vec![4], vec![1, 2], vec![0]]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges: Vec<_> =
            (0..300_000usize).map(|i| if i == 0 { vec![] } else { vec![i - 1] }).rev().collect();
        let edges: Vec<Vec<usize>> =
            edges.iter().map(|it| it.iter().map(|to| 299_999 - to).collect()).collect();
        let found = components(&edges);
        assert_eq!(found.len(), 300_000);
        assert_eq!((found[0].as_slice(), found[299_999].as_slice()), (&[299_999][..], &[0][..]));
    }
}
