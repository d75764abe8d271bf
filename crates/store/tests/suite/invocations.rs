//! The list of the runs of agents without a conversation.

use crate::admin::{add, step};
use crate::support::on_each_database;
use serde_json::json;
use store::{FinishInvocation, InvocationFilter, StepRecord, Store};
use wire::EndReason;
use wire::invoke::InvocationStatus;

async fn finish(store: &Store, id: &str, status: InvocationStatus, reason: EndReason, steps: Vec<StepRecord>) {
    let (output, error) = ((status == InvocationStatus::Succeeded).then(|| json!(1)), None);
    let usage = json!({});
    store
        .finish_invocation(FinishInvocation { id: id.to_owned(), status, output, error, reason, usage, now: 50, steps })
        .await
        .unwrap();
}

#[tokio::test]
async fn runs_of_all_users_are_listed_with_what_they_cost() {
    on_each_database(async |store| {
        add(store, "ada", &[], 1).await;
        for (id, owner, agent, at) in [
            ("i1", "ada", "agent", 10),
            ("i2", "bob", "agent", 20),
            ("i3", "ada", "other", 20),
            ("i4", "ada", "agent", 30),
        ] {
            store.begin_invocation(owner, id, agent, at).await.unwrap();
        }
        let outside = |id: &str, cost: f64| StepRecord {
            conversation_id: None,
            run_id: id.to_owned(),
            ..step("ada", "", 40, cost)
        };
        let steps = vec![outside("i1", 0.25), outside("i1", 0.5), outside("other", 7.0)];
        finish(store, "i1", InvocationStatus::Succeeded, EndReason::Done, steps).await;
        finish(store, "i2", InvocationStatus::Stopped, EndReason::StoppedByUser, Vec::new()).await;
        finish(store, "i3", InvocationStatus::Failed, EndReason::ModelAway, Vec::new()).await;
        let check = async |filter: InvocationFilter, expected: &[&str]| {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = store.all_invocations(filter.clone(), 2, after).await.unwrap();
                after = page.last().map(|(_, cursor)| cursor.clone());
                if after.is_none() {
                    break;
                }
                found.extend(page.into_iter().map(|(run, _)| run.id));
            }
            assert_eq!(found, expected, "{filter:?}");
        };
        let all = InvocationFilter::default;
        check(all(), &["i4", "i3", "i2", "i1"]).await;
        check(InvocationFilter { owner: Some("bob".to_owned()), ..all() }, &["i2"]).await;
        check(InvocationFilter { agent_id: Some("other".to_owned()), ..all() }, &["i3"]).await;
        check(InvocationFilter { from: Some(20), to: Some(30), ..all() }, &["i3", "i2"]).await;
        let of = |status: InvocationStatus| InvocationFilter { status: Some(status), ..all() };
        check(of(InvocationStatus::Running), &["i4"]).await;
        check(of(InvocationStatus::Succeeded), &["i1"]).await;
        check(of(InvocationStatus::Stopped), &["i2"]).await;
        check(of(InvocationStatus::Failed), &["i3"]).await;
        check(of(InvocationStatus::Waiting), &[]).await;
        let (first, _) = store.all_invocations(of(InvocationStatus::Succeeded), 1, None).await.unwrap().remove(0);
        assert_eq!((first.requests, first.tokens, first.cost_usd), (2, 30.0, 0.75), "not those of others");
        assert_eq!(
            (first.owner_name.as_deref(), first.reason, first.ended_at),
            (Some("ada"), Some(EndReason::Done), Some(50))
        );
        assert_eq!(store.count_waiting_invocations(9).await, Ok(0));
    })
    .await;
}
