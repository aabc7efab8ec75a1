//! A server and clients as guests of a tokio runtime.

mod common;

use std::time::Duration;

use common::{Echo, client, seen_by, server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_call_and_the_server_is_awaited() {
    let (server, client) = (server(), client());
    let echo = seen_by(&client, &server.root().activate(Echo::default()).unwrap());
    let tasks: Vec<_> = (0..64)
        .map(|t| {
            let echo = echo.clone();
            tokio::spawn(async move {
                for n in 0..50 {
                    assert_eq!(echo.shout_async(&format!("t{t} n{n}")).await.unwrap(), format!("T{t} N{n}"));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(server.connection_count(), 1);
    let closed = tokio::spawn(server.closed());
    let stopping = server.clone();
    tokio::task::spawn_blocking(move || stopping.shutdown(Duration::from_secs(2))).await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), closed).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_slow_call_leaves_the_runtime_free() {
    let (server, client) = (server(), client());
    let own = server.root().activate(Echo::default()).unwrap();
    let echo = seen_by(&client, &own);
    // One thread runs this runtime; were it blocked, the quick calls would wait for the slow ones.
    let slow = tokio::spawn(echo.sleep_async(600));
    let slow_local = tokio::spawn(own.sleep_async(600));
    tokio::time::sleep(Duration::from_millis(50)).await;
    let started = std::time::Instant::now();
    for _ in 0..20 {
        echo.ping_async().await.unwrap();
        own.ping_async().await.unwrap();
    }
    assert!(started.elapsed() < Duration::from_millis(400), "{:?}", started.elapsed());
    slow.await.unwrap().unwrap();
    slow_local.await.unwrap().unwrap();
    let impatient = common::EchoRef(echo.0.with_timeout(Duration::from_millis(50)));
    assert_eq!(impatient.sleep_async(400).await.unwrap_err().kind, throughline::Kind::Timeout);
    drop(client);
    server.shutdown(Duration::from_secs(2));
}
