//! Several servers on one database: heartbeats, takeover of runs, stop requests, locks,
//! notifications.

use crate::support::{batch, begin, end, journal, on_each_database, submission, url_in};
use std::time::Duration;
use store::{OpenRun, ReplicaEvent, RunProgress, RunsToStop, StopRequest, Store, StoreError};
use wire::EndReason;

const LEASE: Duration = Duration::from_secs(15);

/// Opens a database with two servers; `None` if PostgreSQL is not installed.
async fn two_servers() -> Option<(Store, Store)> {
    let url = test_postgres::new_database().await?;
    let (a, b) = (Store::open(&url).await.unwrap(), Store::open(&url).await.unwrap());
    assert!(!a.heartbeat(LEASE).await.unwrap().others);
    assert!(b.heartbeat(LEASE).await.unwrap().others);
    assert!(a.heartbeat(LEASE).await.unwrap().others && a.has_others());
    Some((a, b))
}

fn ids(runs: &[OpenRun]) -> Vec<&str> {
    runs.iter().map(|run| run.run_id.as_str()).collect()
}

/// A server that misses its heartbeats loses its runs, and its later writes to them are refused.
#[tokio::test]
async fn runs_of_a_dead_server_are_taken_over_and_fenced() {
    let Some((a, b)) = two_servers().await else { return };
    begin(&a, "c", "m", None, 1).await;
    a.append_events(vec![batch("m", 1, 1, 2)]).await.unwrap();
    assert_eq!(b.take_over_runs().await.unwrap(), [], "its server lives");
    // Only the driving server can write, even if another one knows the run's epoch.
    assert_eq!(b.append_events(vec![batch("m", 1, 3, 3)]).await.unwrap(), ["r-m"]);
    assert_eq!(b.finish_run(end("m", 1, 2)).await, Err(StoreError::Fenced));

    // As if frozen for longer than its lease.
    a.heartbeat(Duration::ZERO).await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(ids(&b.take_over_runs().await.unwrap()), ["r-m"]);
    assert_eq!(b.take_over_runs().await.unwrap(), [], "it is taken over once");
    let input = serde_json::json!({});
    assert_eq!(a.append_events(vec![batch("m", 1, 3, 3)]).await.unwrap(), ["r-m"]);
    assert_eq!(a.tool_started("ada", "r-m", "call", "tool", &input, 2).await, Err(StoreError::Fenced));
    assert_eq!(a.finish_run(end("m", 1, 2)).await, Err(StoreError::Fenced));
    assert_eq!(a.driven_runs().await.unwrap(), Vec::<String>::new());
    let pulse = a.heartbeat(LEASE).await.unwrap();
    assert!(pulse.lease_expired && pulse.others, "it learns of it");

    assert_eq!(journal(&b, "m", 0, 9).await, "1-2");
    assert_eq!(b.run_progress("ada", "r-m").await.unwrap(), Some(RunProgress { is_over: false, last_seq: None }));
    b.finish_run_with(&end("m", 1, 2), Some(batch("m", 1, 3, 5))).await.unwrap();
    assert_eq!(a.run_progress("ada", "r-m").await.unwrap(), Some(RunProgress { is_over: true, last_seq: Some(5) }));
    assert_eq!(a.run_progress("bob", "r-m").await.unwrap(), None);
    assert_eq!(journal(&a, "m", 2, 9).await, "3-5");

    // When a server shuts down, the others can take over its runs at once.
    begin(&a, "d", "n", None, 3).await;
    a.begin_invocation("ada", "question", "agent", 3).await.unwrap();
    assert_eq!(b.abandon_invocations("gone", 4).await.unwrap(), 0);
    a.leave().await.unwrap();
    assert_eq!(ids(&b.take_over_runs().await.unwrap()), ["r-n"]);
    assert_eq!(b.abandon_invocations("gone", 4).await.unwrap(), 1);
    assert!(!b.heartbeat(LEASE).await.unwrap().others);
}

/// With SQLite, a starting server takes over all runs.
#[tokio::test]
async fn sqlite_server_takes_over_all_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    begin(&store, "c", "m", None, 1).await;
    assert!(!store.is_shared() && store.listen().is_none());
    assert!(!store.heartbeat(LEASE).await.unwrap().lease_expired);
    store.close().await;
    let store = Store::open(&url_in(&folder)).await.unwrap();
    assert_eq!(ids(&store.take_over_runs().await.unwrap()), ["r-m"]);
    store.finish_run(end("m", 1, 2)).await.unwrap();
}

/// A stop request reaches the server that drives the run, as a notification and in the table.
#[tokio::test]
async fn stop_request_reaches_the_driving_server() {
    let Some((a, b)) = two_servers().await else { return };
    let mut news = a.listen().unwrap();
    begin(&a, "c", "m", None, 1).await;
    a.begin_run("bob", submission("d", "n", None, 1)).await.unwrap();
    let reason = EndReason::Deleted;
    b.request_stop("bob", RunsToStop::OfConversation("c"), reason).await.unwrap();
    assert_eq!(a.runs_to_stop().await.unwrap(), [], "it is not his");
    b.request_stop("ada", RunsToStop::One { conversation_id: "c", run_id: "r-n" }, reason).await.unwrap();
    assert_eq!(a.runs_to_stop().await.unwrap(), [], "it is another run");
    b.request_stop("ada", RunsToStop::One { conversation_id: "c", run_id: "r-m" }, reason).await.unwrap();
    assert_eq!(a.runs_to_stop().await.unwrap(), [StopRequest { run_id: "r-m".to_owned(), reason }]);
    assert_eq!(b.runs_to_stop().await.unwrap(), []);
    let stop = ReplicaEvent::Stop(["r-m".to_owned()].into());
    let heard = async { while news.next().await != stop {} };
    tokio::time::timeout(Duration::from_secs(60), heard).await.expect("the news arrives");
    b.request_stop("bob", RunsToStop::All, EndReason::StoppedByAdmin).await.unwrap();
    assert_eq!(a.runs_to_stop().await.unwrap().len(), 2);
}

#[tokio::test]
async fn appended_events_notify_other_servers() {
    let Some((a, b)) = two_servers().await else { return };
    let mut news = b.listen().unwrap();
    begin(&a, "c", "m", None, 1).await;
    // Repeated, because notifications are lost until the listener is connected.
    let heard = async {
        let mut seq = 1;
        loop {
            a.append_events(vec![batch("m", 1, seq, seq)]).await.unwrap();
            seq += 1;
            let next = tokio::time::timeout(Duration::from_millis(200), news.next()).await;
            if next == Ok(ReplicaEvent::Runs(["r-m".to_owned()].into())) {
                break;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), heard).await.expect("the news arrives");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lock_is_exclusive_across_servers() {
    let Some((a, b)) = two_servers().await else { return };
    let held = a.lock("c").await.unwrap();
    assert!(b.lock("d").await.unwrap().is_some(), "another name is another lock");
    let mut waits = tokio::spawn(async move { b.lock("c").await.map(|lock| lock.is_some()) });
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut waits).await.is_err(), "it waits");
    drop(held);
    assert_eq!(tokio::time::timeout(Duration::from_secs(60), waits).await.unwrap().unwrap(), Ok(true));
}

/// The first stored value is the one that all servers get.
#[tokio::test]
async fn first_stored_secret_is_shared() {
    on_each_database(async |store| {
        assert_eq!(store.get_or_create_secret("key", b"first".to_vec()).await.unwrap(), b"first");
        assert_eq!(store.get_or_create_secret("key", b"second".to_vec()).await.unwrap(), b"first");
        assert_eq!(store.get_or_create_secret("other", b"second".to_vec()).await.unwrap(), b"second");
    })
    .await;
}
