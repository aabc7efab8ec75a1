//! The area within which routes have threaded indices.

use throughline_stack::smoltcp::{time::Instant, wire::IpCidr};

use super::{Route, Router};

impl Router {
    /// Has only routes to these prefixes, and to what lies within them, have indices: the area that the router is in, or the areas,
    /// if it is between some. All others have none from now on: sources and neighbours are told so, and packets there carry
    /// source hashes. Without an area all routes have indices.
    pub fn set_area(&mut self, area: Vec<IpCidr>, now: Instant) {
        let Some(threads) = &mut self.threads else { return };
        threads.set_area(area);
        for (prefix, route) in self.routes.iter().filter(|(_, route)| *route != Route::Here) {
            let next_index = threads.next_index_of(prefix);
            let index = threads.insert(prefix, route, next_index, now);
            for protocol in &mut self.protocols {
                protocol.routing.assigned(prefix, index, now);
            }
        }
    }
}
