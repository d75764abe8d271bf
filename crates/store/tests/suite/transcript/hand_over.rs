//! Handing conversations over to another agent.

use crate::support::{begin, branch, end, on_each_database, turn};
use store::{AuditEntry, AuditOutcome, HandOver, Store, StoreError};
use test_process::KillTest;
use wire::{Role, UiMessage};

fn audit(call_id: &str) -> AuditEntry {
    AuditEntry {
        at: 1,
        user_id: "ada".to_owned(),
        agent_id: String::new(),
        conversation_id: "c".to_owned(),
        message_id: String::new(),
        run_id: String::new(),
        call_id: call_id.to_owned(),
        tool: "conversation:hand_over".to_owned(),
        arguments: serde_json::json!({}),
        gates: Vec::new(),
        outcome: AuditOutcome::Ok,
        duration_ms: None,
    }
}

/// Hands conversation `c` over with the message `marker`.
async fn hand_over(
    store: &Store,
    owner: &str,
    (from, to): (&str, &str),
    marker: &str,
    update: Vec<UiMessage>,
) -> Result<(), StoreError> {
    let change = HandOver {
        conversation_id: "c".to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        page_id: format!("page of {to}"),
        message: UiMessage::new(marker, Role::Assistant),
        update,
        audit: vec![audit(marker)],
        now: 50,
    };
    store.hand_over(owner, change).await
}

/// Returns the agent and the page of conversation `c`, its active branch, and the number of audit rows.
async fn stored(store: &Store) -> String {
    let summary = store.conversation("ada", "c").await.unwrap().unwrap().summary;
    let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap().len();
    format!("{}, {}: {}, {rows}", summary.agent_id, summary.page_id, branch(store, "c").await)
}

#[tokio::test]
async fn conversation_goes_on_with_the_other_agent() {
    on_each_database(async |store| {
        turn(store, "c", "m", None, 10).await;
        let changed = UiMessage { role: Role::Assistant, ..UiMessage::user("a-m", "closed") };
        hand_over(store, "ada", ("agent", "other"), "marker", vec![changed]).await.unwrap();
        assert_eq!(stored(store).await, "other, page of other: m=text of m | a-m=closed | marker, 1");
        let summary = store.conversation("ada", "c").await.unwrap().unwrap().summary;
        assert_eq!((summary.unread, summary.updated_at), (false, 50));
        turn(store, "c", "next", Some("marker"), 60).await;
        assert!(branch(store, "c").await.ends_with("marker | next=text of next | a-next=done next"));
    })
    .await;
}

#[tokio::test]
async fn refused_hand_over_writes_nothing() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 10).await;
        let check = async |owner: &str, from: &str, update: &[&str], expected: StoreError| {
            let before = stored(store).await;
            let update = update.iter().map(|id| UiMessage::new(*id, Role::Assistant)).collect();
            let done = hand_over(store, owner, (from, "other"), "marker", update).await;
            assert_eq!(done, Err(expected), "{owner}, {from}");
            assert_eq!(stored(store).await, before, "{owner}, {from}");
        };
        check("ada", "agent", &[], StoreError::Busy).await;
        store.finish_run(end("m", epoch, 15)).await.unwrap();
        check("eve", "agent", &[], StoreError::NotFound).await;
        // Another request has handed it over meanwhile.
        check("ada", "another", &[], StoreError::NotFound).await;
        check("ada", "agent", &["unknown"], StoreError::NotFound).await;
    })
    .await;
}

const KILLS: KillTest = KillTest {
    variable: "HAND_OVER_KILL_URL",
    test: "transcript::hand_over::each_hand_over_is_shown_and_audited_however_often_the_server_is_killed",
};
const HAND_OVERS: usize = 120;

fn agent(number: usize) -> String {
    if number == 0 { "agent".to_owned() } else { format!("agent-{number}") }
}

/// Hands the conversation over as often as is not done yet.
async fn serve(url: &str) {
    let store = Store::open(url).await.unwrap();
    if store.conversation("ada", "c").await.unwrap().is_none() {
        begin(&store, "c", "m", None, 10).await;
    }
    // The process may have been killed within the run.
    if store.conversation("ada", "c").await.unwrap().unwrap().active_run.is_some() {
        store.finish_run(end("m", 1, 15)).await.unwrap();
    }
    let done = store.branch("ada", "c").await.unwrap().len() - 2;
    for number in done..HAND_OVERS {
        let (from, to) = (agent(number), agent(number + 1));
        hand_over(&store, "ada", (&from, &to), &format!("h-{number}"), Vec::new()).await.unwrap();
    }
    store.close().await;
}

/// Checks that the agent, the messages and the audit rows tell of the same acts; returns their number.
async fn check(url: &str) -> usize {
    let store = Store::open(url).await.unwrap();
    let count = match store.conversation("ada", "c").await.unwrap() {
        None => 0,
        Some(conversation) => {
            let count = store.branch("ada", "c").await.unwrap().len() - 2;
            assert_eq!(conversation.summary.agent_id, agent(count));
            count
        }
    };
    assert_eq!(store.audit_rows(i64::MIN, i64::MIN).await.unwrap().len(), count);
    store.close().await;
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn each_hand_over_is_shown_and_audited_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    KILLS.run(HAND_OVERS, check).await;
}
