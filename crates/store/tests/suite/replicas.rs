//! Several servers on one database: signs of life, runs that are taken over, requests to stop, locks, news.

use crate::support::{batch, begin, each, end, journal, submission, url_in};
use std::time::Duration;
use store::{News, OpenRun, RunProgress, StopRequest, Store, StoreError};
use wire::EndReason;

const LEASE: Duration = Duration::from_secs(15);

/// Two servers on one database; none where there is no PostgreSQL.
async fn two() -> Option<(Store, Store)> {
    let url = test_postgres::new_database().await?;
    let (a, b) = (Store::open(&url).await.unwrap(), Store::open(&url).await.unwrap());
    assert!(!a.beat(LEASE).await.unwrap().others);
    assert!(b.beat(LEASE).await.unwrap().others);
    assert!(a.beat(LEASE).await.unwrap().others && a.has_others());
    Some((a, b))
}

fn ids(runs: &[OpenRun]) -> Vec<&str> {
    runs.iter().map(|run| run.run_id.as_str()).collect()
}

/// F15, F16: a server without a sign of life loses its runs, and whatever it writes to them from then on is refused.
#[tokio::test]
async fn runs_are_taken_over_from_a_server_that_is_gone() {
    let Some((a, b)) = two().await else { return };
    begin(&a, "c", "m", None, 1).await;
    a.append_events(vec![batch("m", 1, 1, 2)]).await.unwrap();
    assert_eq!(b.take_over().await.unwrap(), [], "its server lives");
    // What it writes is its own, whoever else knows the run's number.
    assert_eq!(b.append_events(vec![batch("m", 1, 3, 3)]).await.unwrap(), ["r-m"]);
    assert_eq!(b.finish_run(end("m", 1, 2)).await, Err(StoreError::Fenced));

    // Frozen for longer than its lease.
    a.beat(Duration::ZERO).await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(ids(&b.take_over().await.unwrap()), ["r-m"]);
    assert_eq!(b.take_over().await.unwrap(), [], "it is taken over once");
    let input = serde_json::json!({});
    assert_eq!(a.append_events(vec![batch("m", 1, 3, 3)]).await.unwrap(), ["r-m"]);
    assert_eq!(a.tool_started("ada", "r-m", "call", "tool", &input, 2).await, Err(StoreError::Fenced));
    assert_eq!(a.finish_run(end("m", 1, 2)).await, Err(StoreError::Fenced));
    assert_eq!(a.driven_runs().await.unwrap(), Vec::<String>::new());
    let pulse = a.beat(LEASE).await.unwrap();
    assert!(pulse.lapsed && pulse.others, "it learns of it");

    assert_eq!(journal(&b, "m", 0, 9).await, "1-2");
    assert_eq!(b.progress("ada", "r-m").await.unwrap(), Some(RunProgress { is_over: false, last_seq: None }));
    b.finish_run_with(&end("m", 1, 2), Some(batch("m", 1, 3, 5))).await.unwrap();
    assert_eq!(a.progress("ada", "r-m").await.unwrap(), Some(RunProgress { is_over: true, last_seq: Some(5) }));
    assert_eq!(a.progress("bob", "r-m").await.unwrap(), None);
    assert_eq!(journal(&a, "m", 2, 9).await, "3-5");

    // A server that goes in order leaves what it drives to the others at once.
    begin(&a, "d", "n", None, 3).await;
    a.begin_invocation("ada", "question", "agent", 3).await.unwrap();
    assert_eq!(b.abandon_invocations("gone", 4).await.unwrap(), 0);
    a.leave().await.unwrap();
    assert_eq!(ids(&b.take_over().await.unwrap()), ["r-n"]);
    assert_eq!(b.abandon_invocations("gone", 4).await.unwrap(), 1);
    assert!(!b.beat(LEASE).await.unwrap().others);
}

/// Where there is one server, its start takes everything.
#[tokio::test]
async fn one_server_drives_everything() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    begin(&store, "c", "m", None, 1).await;
    assert!(!store.is_shared() && store.listen().is_none());
    assert!(!store.beat(LEASE).await.unwrap().lapsed);
    store.close().await;
    let store = Store::open(&url_in(&folder)).await.unwrap();
    assert_eq!(ids(&store.take_over().await.unwrap()), ["r-m"]);
    store.finish_run(end("m", 1, 2)).await.unwrap();
}

/// F18: a request reaches whoever drives the run, as news and in the table.
#[tokio::test]
async fn a_stop_reaches_the_server_that_drives() {
    let Some((a, b)) = two().await else { return };
    let mut news = a.listen().unwrap();
    begin(&a, "c", "m", None, 1).await;
    a.begin_run("bob", submission("d", "n", None, 1)).await.unwrap();
    let reason = EndReason::Deleted;
    b.request_stop("bob", Some("c"), reason).await.unwrap();
    assert_eq!(a.runs_to_stop().await.unwrap(), [], "it is not his");
    b.request_stop("ada", Some("c"), reason).await.unwrap();
    assert_eq!(a.runs_to_stop().await.unwrap(), [StopRequest { run_id: "r-m".to_owned(), reason }]);
    assert_eq!(b.runs_to_stop().await.unwrap(), []);
    let stop = News::Stop(["r-m".to_owned()].into());
    let heard = async { while news.next().await != stop {} };
    tokio::time::timeout(Duration::from_secs(10), heard).await.expect("the news arrives");
    b.request_stop("bob", None, EndReason::StoppedByAdmin).await.unwrap();
    assert_eq!(a.runs_to_stop().await.unwrap().len(), 2);
}

#[tokio::test]
async fn events_are_news_to_the_others() {
    let Some((a, b)) = two().await else { return };
    let mut news = b.listen().unwrap();
    begin(&a, "c", "m", None, 1).await;
    // Until the listener is connected, there is none to hear it.
    let heard = async {
        let mut seq = 1;
        loop {
            a.append_events(vec![batch("m", 1, seq, seq)]).await.unwrap();
            seq += 1;
            let next = tokio::time::timeout(Duration::from_millis(200), news.next()).await;
            if next == Ok(News::Runs(["r-m".to_owned()].into())) {
                break;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), heard).await.expect("the news arrives");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_is_held_by_one() {
    let Some((a, b)) = two().await else { return };
    let held = a.lock("c").await.unwrap();
    assert!(b.lock("d").await.unwrap().is_some(), "another name is another lock");
    let mut waits = tokio::spawn(async move { b.lock("c").await.map(|lock| lock.is_some()) });
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut waits).await.is_err(), "it waits");
    drop(held);
    assert_eq!(tokio::time::timeout(Duration::from_secs(5), waits).await.unwrap().unwrap(), Ok(true));
}

/// What the first one keeps is what all get.
#[tokio::test]
async fn a_secret_is_everyones() {
    each(async |store| {
        assert_eq!(store.secret("key", b"first".to_vec()).await.unwrap(), b"first");
        assert_eq!(store.secret("key", b"second".to_vec()).await.unwrap(), b"first");
        assert_eq!(store.secret("other", b"second".to_vec()).await.unwrap(), b"second");
    })
    .await;
}
