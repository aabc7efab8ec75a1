//! Servers that end a connection at odd moments: while they answer, before they have read, while nobody has connected yet.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use raw::{BadServer, GRACE, LONG, block_on, client};
use throughline::{Completion, Kind};
use throughline_cdr::ByteOrder;

#[test]
fn a_call_whose_reply_has_begun_is_not_made_anew() {
    for future in [false, true] {
        let (client, requests) = (client(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&requests);
        let server = BadServer::new(move |_, mut wire| {
            let Some(heard) = wire.request() else { return };
            count.fetch_add(1, Ordering::SeqCst);
            let start = [heard.id.to_ne_bytes(), [0; 4], [0; 4]].concat();
            wire.send(&raw::message((1, 2), ByteOrder::NATIVE.flag() | 2, 1, 12, &start));
            wire.send(&raw::close_connection());
        });
        let probe = server.reference(&client).within(LONG);
        let e = if future { block_on(probe.ping_async()) } else { probe.ping() }.unwrap_err();
        assert_eq!((e.kind, e.completed), (Kind::CommFailure, Completion::Maybe), "{e}");
        assert_eq!(requests.load(Ordering::SeqCst), 1);
        client.shutdown(GRACE);
    }
}
