//! Shortest paths (Dijkstra). Own, since the first hop of each is what is asked for, and the library's yields distances only.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

/// Links of all routers: to whom, and what the cheapest costs. However many a router tells of, each is found at once.
#[derive(Default)]
pub(super) struct Graph(BTreeMap<u32, BTreeMap<u32, u16>>);

impl Graph {
    /// What a router tells of itself, or a part of it.
    pub fn add(&mut self, router: u32, links: &[(u32, u16)]) {
        let known = self.0.entry(router).or_default();
        for (to, cost) in links {
            known.entry(*to).and_modify(|least| *least = (*least).min(*cost)).or_insert(*cost);
        }
    }

    fn has_link(&self, from: u32, to: u32) -> bool {
        self.0.get(&from).is_some_and(|links| links.contains_key(&to))
    }
}

/// For each router that can be reached, what it costs and which neighbour is the first on the way. `first` are our neighbours
/// with the costs of our links, by number. A link counts only if both its ends tell of it.
pub(super) fn shortest(graph: &Graph, us: u32, first: &[(u32, u16)]) -> BTreeMap<u32, (u32, usize)> {
    let mut found = BTreeMap::new();
    let mut open = BinaryHeap::new();
    for (number, (router, cost)) in first.iter().enumerate() {
        if graph.has_link(*router, us) {
            open.push(Reverse((u32::from(*cost), *router, number)));
        }
    }
    while let Some(Reverse((distance, router, number))) = open.pop() {
        if router == us || found.contains_key(&router) {
            continue;
        }
        found.insert(router, (distance, number));
        for (next, cost) in graph.0.get(&router).into_iter().flatten() {
            if !found.contains_key(next) && graph.has_link(*next, router) {
                open.push(Reverse((distance.saturating_add((*cost).into()), *next, number)));
            }
        }
    }
    found
}
