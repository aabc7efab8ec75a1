//! Shortest paths (Dijkstra). Own, since the first hop of each is what is asked for, and the library's yields distances only.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

/// Links of all routers: to whom, and what they cost.
pub(super) type Graph = BTreeMap<u32, Vec<(u32, u16)>>;

/// For each router that can be reached, what it costs and which neighbour is the first on the way. `first` are our neighbours
/// with the costs of our links, by number. A link counts only if both its ends tell of it.
pub(super) fn shortest(graph: &Graph, us: u32, first: &[(u32, u16)]) -> BTreeMap<u32, (u32, usize)> {
    let mut found = BTreeMap::new();
    let mut open = BinaryHeap::new();
    for (number, (router, cost)) in first.iter().enumerate() {
        if has_link(graph, *router, us) {
            open.push(Reverse((u32::from(*cost), *router, number)));
        }
    }
    while let Some(Reverse((distance, router, number))) = open.pop() {
        if router == us || found.contains_key(&router) {
            continue;
        }
        found.insert(router, (distance, number));
        for (next, cost) in graph.get(&router).into_iter().flatten() {
            if !found.contains_key(next) && has_link(graph, *next, router) {
                open.push(Reverse((distance.saturating_add((*cost).into()), *next, number)));
            }
        }
    }
    found
}

fn has_link(graph: &Graph, from: u32, to: u32) -> bool {
    graph.get(&from).is_some_and(|links| links.iter().any(|(router, _)| *router == to))
}
