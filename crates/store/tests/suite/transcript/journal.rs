//! The journal: appending for many runs, reading from any event, fencing, pruning.

use crate::support::{batch, begin, end, journal, on_each_database, turn};
use store::{JournalBatch, MAX_EVENTS, Store};

#[tokio::test]
async fn events_are_read_from_any_point() {
    on_each_database(async |store| {
        begin(store, "c", "m", None, 1).await;
        begin(store, "d", "n", None, 1).await;
        for (first, last) in [(1, 3), (4, 4), (5, 9), (10, 10)] {
            let batches = vec![batch("n", 1, first, last), batch("m", 1, first, last)];
            assert!(store.append_events(batches).await.unwrap().is_empty());
        }
        let check = async |after, limit, expected: &str| {
            assert_eq!(journal(store, "m", after, limit).await, expected, "after {after}, limit {limit}");
        };
        check(0, 100, "1-3 4-4 5-9 10-10").await;
        check(2, 100, "1-3 4-4 5-9 10-10").await;
        check(3, 100, "4-4 5-9 10-10").await;
        check(4, 2, "5-9 10-10").await;
        check(6, 1, "5-9").await;
        check(9, 100, "10-10").await;
        check(10, 100, "").await;
        check(u64::MAX, 100, "").await;
        check(0, 0, "").await;
        let rows = store.events("ada", "r-m", 3, 1).await.unwrap();
        assert_eq!(rows[0].frames, b"id: 1.4\ndata: m\n\n");
        // The events of a run stay readable after its end.
        store.finish_run(end("m", 1, 2)).await.unwrap();
        check(4, 100, "5-9 10-10").await;
    })
    .await;
}

/// A fenced writer is refused, after the run's end and with an old epoch, and gets to know it.
#[tokio::test]
async fn only_the_active_run_appends() {
    on_each_database(async |store| {
        turn(store, "c", "m1", None, 1).await;
        begin(store, "c", "m2", Some("a-m1"), 2).await;
        let batches = vec![
            batch("m1", 1, 1, 1),
            batch("m2", 1, 1, 1),
            batch("m2", 2, 1, 2),
            batch("nothing", 1, 1, 1),
            batch("m2", 2, 3, 3),
        ];
        let fenced = store.append_events(batches).await.unwrap();
        assert_eq!(fenced, ["r-m1", "r-m2", "r-nothing"]);
        assert_eq!(journal(store, "m1", 0, 10).await, "");
        assert_eq!(journal(store, "m2", 0, 10).await, "1-2 3-3");
        assert!(store.append_events(Vec::new()).await.unwrap().is_empty());
    })
    .await;
}

/// More rows than one statement holds, and numbers of rows around the statements' sizes.
#[tokio::test]
async fn batches_of_any_size_are_appended() {
    on_each_database(async |store| {
        begin(store, "c", "m", None, 1).await;
        let mut next = 1;
        for count in [1, 2, 3, 4, 5, 127, 128, 129, 511, 512, 513, 1500] {
            let batches: Vec<JournalBatch> = (next..next + count).map(|seq| batch("m", 1, seq, seq)).collect();
            assert!(store.append_events(batches).await.unwrap().is_empty(), "{count}");
            next += count;
        }
        assert_eq!(store.events("ada", "r-m", 0, u32::MAX).await.unwrap().len(), MAX_EVENTS as usize);
        assert_eq!(read_all(store, "m").await, (1..next).collect::<Vec<_>>());
    })
    .await;
}

async fn read_all(store: &Store, key: &str) -> Vec<u64> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let rows = store.events("ada", &format!("r-{key}"), after, 200).await.unwrap();
        let Some(last) = rows.last() else { return all };
        after = last.last_seq;
        all.extend(rows.iter().map(|row| row.first_seq));
    }
}

/// Runs that overlap in many ways over several stripes of the index: each reads all of its own
/// events, in order.
#[tokio::test]
async fn overlapping_runs_keep_their_own_events() {
    on_each_database(async |store| {
        let rows = |key: &str, from: u64, count: u64| {
            (from..from + count).map(|seq| batch(key, 1, seq, seq)).collect::<Vec<_>>()
        };
        begin(store, "c1", "long", None, 1).await;
        let mut next = 1;
        for short in 0..6 {
            let key = format!("short{short}");
            begin(store, &key, &key, None, 1).await;
            let mut batches = rows("long", next, 700);
            next += 700;
            batches.extend(rows(&key, 1, 900));
            assert!(store.append_events(batches).await.unwrap().is_empty());
            store.finish_run(end(&key, 1, 2)).await.unwrap();
        }
        assert_eq!(read_all(store, "long").await, (1..next).collect::<Vec<_>>());
        for short in 0..6 {
            assert_eq!(read_all(store, &format!("short{short}")).await, (1..=900).collect::<Vec<_>>(), "short{short}");
        }
        // Deleting a conversation deletes only its events.
        assert!(store.delete_conversation("ada", "short3", Vec::new()).await.unwrap());
        assert_eq!(read_all(store, "short2").await.len(), 900);
        assert_eq!(read_all(store, "long").await.len(), 4200);
    })
    .await;
}

/// Pruning deletes the oldest events, but none of a run that is active or ended recently.
#[tokio::test]
async fn old_events_are_pruned() {
    on_each_database(async |store| {
        let append = async |key: &str, first, last| {
            let batches = (first..=last).map(|seq| batch(key, 1, seq, seq)).collect();
            assert!(store.append_events(batches).await.unwrap().is_empty());
        };
        begin(store, "c1", "old", None, 1).await;
        append("old", 1, 2500).await;
        store.finish_run(end("old", 1, 1000)).await.unwrap();
        begin(store, "c2", "recent", None, 1).await;
        append("recent", 1, 3).await;
        store.finish_run(end("recent", 1, 2000)).await.unwrap();
        begin(store, "c3", "active", None, 1).await;
        append("active", 1, 2).await;

        assert_eq!(store.prune_journal(1000).await.unwrap(), 0, "ended at the time, not before it");
        assert_eq!(store.prune_journal(1001).await.unwrap(), 2500);
        assert!(read_all(store, "old").await.is_empty());
        assert_eq!(journal(store, "recent", 0, 10).await, "1-1 2-2 3-3");
        assert_eq!(store.prune_journal(i64::MAX).await.unwrap(), 3);
        assert_eq!(journal(store, "active", 0, 10).await, "1-1 2-2");
        append("active", 3, 3).await;
        store.finish_run(end("active", 1, 3000)).await.unwrap();
        assert_eq!(journal(store, "active", 0, 10).await, "1-1 2-2 3-3");
        assert_eq!(store.prune_journal(i64::MAX).await.unwrap(), 3);
        // The numbering continues in an empty journal, so that a new run never sees rows of another
        // one.
        begin(store, "c4", "next", None, 1).await;
        append("next", 1, 1).await;
        assert_eq!(journal(store, "next", 0, 10).await, "1-1");
        assert_eq!(journal(store, "active", 0, 10).await, "");
    })
    .await;
}
