//! Each event of an answer is granted to one claim.

use crate::support::{begin, end, on_each_database};
use store::{ClaimEvents, Store, StoreError};

const NOW: i64 = 1_000_000_000;

fn claim(keys: &[&str], by: &str) -> ClaimEvents {
    ClaimEvents {
        conversation_id: "c".to_owned(),
        message_id: "a-m".to_owned(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        by: by.to_owned(),
        ended_after: 0,
        now: NOW,
    }
}

/// Returns the granted keys, in order.
async fn granted(store: &Store, claim: ClaimEvents) -> String {
    let mut keys = store.claim_events("ada", claim).await.unwrap();
    keys.sort_unstable();
    keys.join(" ")
}

#[tokio::test]
async fn event_is_granted_to_the_first_claim() {
    on_each_database(async |store| {
        begin(store, "c", "m", None, 10).await;
        assert_eq!(granted(store, claim(&["a", "b"], "one")).await, "a b");
        assert_eq!(granted(store, claim(&["b", "c"], "two")).await, "c");
        assert_eq!(granted(store, claim(&["a", "b"], "one")).await, "a b", "the same claim, whose answer got lost");
        assert_eq!(granted(store, claim(&["a", "c"], "three")).await, "");
        let other = ClaimEvents { message_id: "m".to_owned(), ..claim(&["a"], "four") };
        assert_eq!(granted(store, other).await, "", "no run has written a question");
    })
    .await;
}

#[tokio::test]
async fn nothing_is_granted_long_after_the_end() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 10).await;
        store.finish_run(end("m", epoch, 20)).await.unwrap();
        let late = |ended_after, by| ClaimEvents { ended_after, ..claim(&["a"], by) };
        assert_eq!(granted(store, late(21, "one")).await, "");
        assert_eq!(granted(store, late(20, "two")).await, "a");
    })
    .await;
}

#[tokio::test]
async fn claims_are_deleted_after_a_day() {
    on_each_database(async |store| {
        begin(store, "c", "m", None, 10).await;
        assert_eq!(granted(store, claim(&["a"], "one")).await, "a");
        let day = 24 * 60 * 60 * 1_000;
        let later = |now, by| ClaimEvents { now, ..claim(&["a"], by) };
        assert_eq!(granted(store, later(NOW + day, "two")).await, "");
        assert_eq!(granted(store, later(NOW + day + 1, "three")).await, "a");
    })
    .await;
}

#[tokio::test]
async fn only_the_owner_can_claim_events() {
    on_each_database(async |store| {
        begin(store, "c", "m", None, 10).await;
        let claimed = store.claim_events("eve", claim(&["a"], "one")).await;
        assert!(matches!(claimed, Err(StoreError::NotFound)), "{claimed:?}");
        let unknown = ClaimEvents { conversation_id: "d".to_owned(), ..claim(&["a"], "one") };
        assert!(matches!(store.claim_events("ada", unknown).await, Err(StoreError::NotFound)));
        assert_eq!(granted(store, claim(&["a"], "two")).await, "a");
    })
    .await;
}
