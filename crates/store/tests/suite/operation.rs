//! Administration: all standing approvals, the last runs and calls, retention.

use crate::support::{begin, end, on_each_database, submission, turn};
use serde_json::json;
use store::{
    AuditEntry, AuditFilter, AuditOutcome, BeginRun, DueFilter, FinishInvocation, FinishRun, GrantFilter, GrantSort,
    NewGrant, Store,
};
use wire::EndReason;
use wire::api::Outcome;
use wire::invoke::InvocationStatus;
use wire::organize::ConversationChange;

fn entry(call_id: &str, (agent_id, tool): (&str, &str), outcome: AuditOutcome, duration_ms: Option<i64>) -> AuditEntry {
    AuditEntry {
        at: 7,
        user_id: "boss".to_owned(),
        agent_id: agent_id.to_owned(),
        conversation_id: String::new(),
        message_id: String::new(),
        run_id: String::new(),
        call_id: call_id.to_owned(),
        tool: tool.to_owned(),
        arguments: json!({}),
        gates: Vec::new(),
        outcome,
        duration_ms,
    }
}

#[tokio::test]
async fn standing_approvals_of_all_users_are_listed_and_revoked() {
    on_each_database(async |store| {
        let grant = |id: &str, tool: &str, conversation: Option<&str>, now| NewGrant {
            id: id.to_owned(),
            agent_id: "agent".to_owned(),
            tool: tool.to_owned(),
            fingerprint: String::new(),
            conversation_id: conversation.map(str::to_owned),
            now,
        };
        let grants = vec![grant("g1", "pay", None, 1), grant("g2", "send", None, 2), grant("g3", "send", Some("c"), 3)];
        turn(store, "c", "m", None, 1).await;
        store.begin_run("ada", BeginRun { grants, ..submission("c", "n", Some("a-m"), 3) }).await.unwrap();
        let ids = async |filter: GrantFilter, limit, after| {
            let found = store.all_grants(filter, GrantSort::Newest, limit, after).await.unwrap();
            let ids: Vec<_> = found.iter().map(|(grant, _)| grant.id.clone()).collect();
            (ids.join(" "), found.into_iter().next_back().map(|(_, place)| place))
        };
        let (first, place) = ids(GrantFilter::default(), 2, None).await;
        assert_eq!(first, "g3 g2");
        assert_eq!(ids(GrantFilter::default(), 2, place).await.0, "g1");
        for (sort, expected) in [(GrantSort::Oldest, "g1 g2 g3"), (GrantSort::Tool, "g1 g2 g3")] {
            let (mut seen, mut place) = (Vec::new(), None);
            loop {
                let mut page = store.all_grants(GrantFilter::default(), sort, 1, place).await.unwrap();
                let Some((grant, after)) = page.pop() else { break };
                (place, seen) = (Some(after), [seen, vec![grant.id]].concat());
            }
            assert_eq!(seen.join(" "), expected, "{sort:?}");
        }
        let of = |owner: &str, tool: &str| GrantFilter {
            owner: Some(owner.to_owned()),
            tool: Some(tool.to_owned()),
            ..GrantFilter::default()
        };
        assert_eq!(ids(of("ada", "send"), 9, None).await.0, "g3 g2");
        assert_eq!(ids(of("bob", "send"), 9, None).await.0, "");
        let row = |id: &str| entry(id, ("", "admin:revoke_approval"), AuditOutcome::Ok, None);
        assert!(store.revoke_any_grant("g2", row("1")).await.unwrap());
        assert!(!store.revoke_any_grant("g2", row("2")).await.unwrap());
        assert_eq!(ids(GrantFilter::default(), 9, None).await.0, "g3 g1");
        // Revoking an unknown approval has no row.
        assert_eq!(store.audit_list(AuditFilter::default(), 9, None).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn recent_runs_and_tool_health_are_reported() {
    on_each_database(async |store| {
        turn(store, "c", "m", None, 10).await;
        let epoch = begin(store, "d", "n", None, 20).await;
        let failed = FinishRun { status: Outcome::Failed, error: Some("no model".to_owned()), ..end("n", epoch, 25) };
        store.finish_run(failed).await.unwrap();
        begin(store, "c", "o", Some("a-m"), 30).await;
        let runs = store.recent_runs("agent").await.unwrap();
        let seen: Vec<_> = runs.iter().map(|run| (run.id.as_str(), run.status.as_str(), run.ended_at)).collect();
        assert_eq!(seen, [("r-o", "running", None), ("r-n", "failed", Some(25)), ("r-m", "done", Some(10))]);
        assert_eq!(runs[1].error.as_deref(), Some("no model"));
        assert_eq!(store.recent_runs("another").await.unwrap(), []);
        let causes = store.end_causes("d").await.unwrap().into_iter().collect::<Vec<_>>();
        assert_eq!(causes, [("a-n".to_owned(), "no model".to_owned())]);
        assert!(store.end_causes("c").await.unwrap().is_empty());
        let rows = [
            ("1", ("agent", "pay"), AuditOutcome::Ok, Some(10)),
            ("2", ("agent", "pay"), AuditOutcome::Error, Some(30)),
            ("3", ("agent", "pay"), AuditOutcome::Denied, None),
            ("4", ("agent", "read"), AuditOutcome::Ok, None),
            ("5", ("", "admin:add_user"), AuditOutcome::Ok, None),
        ];
        for (id, of, outcome, took) in rows {
            store.record_audit(entry(id, of, outcome, took)).await.unwrap();
        }
        let tools = store.tool_health().await.unwrap();
        let seen: Vec<_> =
            tools.iter().map(|one| (one.tool.as_str(), one.calls, one.errors, one.refused, one.average_ms)).collect();
        assert_eq!(seen, [("pay", 3, 1, 1, Some(20.0)), ("read", 1, 0, 0, None)]);
    })
    .await;
}

async fn ids(store: &Store, due: DueFilter) -> String {
    let found = store.due_conversations(&due, 50).await.unwrap();
    let ids: Vec<_> = found.into_iter().map(|due| due.id).collect();
    let shown: Vec<_> = store.preview_due(&due).await.unwrap().into_iter().map(|due| due.id).collect();
    assert_eq!((&ids, ids.len() as i64), (&shown, store.count_due(&due).await.unwrap()));
    ids.join(" ")
}

#[tokio::test]
async fn inactive_and_expired_conversations_are_due() {
    on_each_database(async |store| {
        for (i, id) in ["c1", "c2", "c3", "c4", "c5"].into_iter().enumerate() {
            turn(store, id, &format!("m-{id}"), None, 10 + i as i64).await;
        }
        let change =
            |change: ConversationChange, id: &str| store.change_conversations("ada", vec![id.to_owned()], change, 20);
        change(ConversationChange { pinned: Some(true), ..ConversationChange::default() }, "c1").await.unwrap();
        change(ConversationChange { deleted: Some(true), ..ConversationChange::default() }, "c4").await.unwrap();
        let due =
            |before, keeps_pinned| DueFilter::Inactive { agent_id: None, except: Vec::new(), before, keeps_pinned };
        assert_eq!(ids(store, due(10, false)).await, "");
        assert_eq!(ids(store, due(11, false)).await, "c1");
        assert_eq!(ids(store, due(13, true)).await, "c2 c3");
        let of = |agent: Option<&str>, except: &[&str]| DueFilter::Inactive {
            agent_id: agent.map(str::to_owned),
            except: except.iter().map(|id| (*id).to_owned()).collect(),
            before: 99,
            keeps_pinned: true,
        };
        assert_eq!(ids(store, of(Some("agent"), &[])).await, "c2 c3 c5");
        assert_eq!(ids(store, of(Some("another"), &[])).await, "");
        assert_eq!(ids(store, of(None, &["another", "agent"])).await, "");
        // A conversation with an active run is not due, nor is a temporary one by the rules for
        // inactive conversations.
        begin(store, "c2", "again", Some("a-m-c2"), 14).await;
        assert!(store.set_expiry("ada", "c3", Some(50)).await.unwrap());
        assert!(!store.set_expiry("bob", "c3", None).await.unwrap());
        assert_eq!(ids(store, due(99, true)).await, "c5");
        assert_eq!(ids(store, DueFilter::Temporary(49)).await, "");
        assert_eq!(ids(store, DueFilter::Temporary(50)).await, "c3");
        assert_eq!((store.expiry("ada", "c3").await, store.expiry("bob", "c3").await), (Ok(Some(50)), Ok(None)));
        assert!(store.set_expiry("ada", "c3", None).await.unwrap());
        assert_eq!(ids(store, DueFilter::Temporary(99)).await, "");
    })
    .await;
}

#[tokio::test]
async fn old_invocations_are_deleted() {
    on_each_database(async |store| {
        for (id, ended) in [("i1", Some(10)), ("i2", Some(20)), ("i3", None)] {
            store.begin_invocation("ada", id, "agent", 1).await.unwrap();
            if let Some(now) = ended {
                let finish = FinishInvocation {
                    id: id.to_owned(),
                    status: InvocationStatus::Failed,
                    output: None,
                    error: Some(String::new()),
                    reason: EndReason::StreamBroken,
                    usage: json!({}),
                    now,
                    steps: Vec::new(),
                };
                store.finish_invocation(finish).await.unwrap();
            }
        }
        assert_eq!((store.count_ended_invocations(10).await, store.count_ended_invocations(11).await), (Ok(0), Ok(1)));
        assert_eq!(store.delete_ended_invocations(10, 9).await, Ok(0));
        assert_eq!(store.delete_ended_invocations(99, 1).await, Ok(1));
        assert_eq!(store.delete_ended_invocations(99, 9).await, Ok(1));
        let left = store.invocations("ada", 9).await.unwrap();
        assert_eq!(left.into_iter().map(|left| left.run_id).collect::<Vec<_>>(), ["i3"]);
    })
    .await;
}
