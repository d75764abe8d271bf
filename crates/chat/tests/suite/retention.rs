//! Retention, with a controlled clock.

use agent::{Agent, RunSettings};
use chat::{AgentRequest, AgentSource, Caller, Chat, Clock, Retention, SweepResult, Telemetry};
use chat::{RunFacts, ToolEnd};
use contract::testing::{ScriptedModel, text_reply};
use futures::StreamExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Map;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::{AuditFilter, StepRecord, Store, UsageFilter};
use wire::api::{SendRequest, Submission};
use wire::organize::ConversationChange;
use wire::{UiMessage, UserError};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Keeps conversations for ten days, those with the agent `short` for one.
struct Kept(Arc<Agent>);

impl AgentSource for Kept {
    fn agent<'a>(&'a self, _: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Ok(self.0.clone()) })
    }

    fn by_id<'a>(&'a self, _: &'a Caller, _: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Ok(self.0.clone()) })
    }

    fn retention(&self) -> Retention {
        let agents = [("short".to_owned(), DAY)].into();
        Retention { conversations: Some(10 * DAY), agents, invocations: Some(DAY), ..Retention::default() }
    }
}

/// The deletions that telemetry received.
#[derive(Default)]
struct Told(Mutex<Vec<(&'static str, u64)>>);

impl Telemetry for Told {
    fn run_began(&self, _: &RunFacts) {}
    fn model_replied(&self, _: &RunFacts, _: &StepRecord) {}
    fn tool_ended(&self, _: &RunFacts, _: ToolEnd<'_>) {}
    fn run_ended(&self, _: &RunFacts, _: &'static str, _: wire::EndReason, _: Duration) {}

    fn deleted(&self, what: &'static str, count: u64) {
        self.0.lock().push((what, count));
    }
}

fn ada() -> Caller {
    Caller::signed_in("ada")
}

async fn say(chat: &Chat, agent: &str, conversation: &str) {
    let message = UiMessage::user(format!("m-{conversation}"), "Hello");
    let request = SendRequest {
        page_id: "p".to_owned(),
        block_id: None,
        agent_id: agent.to_owned(),
        conversation_id: conversation.to_owned(),
        submission: Submission::Message { message, replaces: None, history: Vec::new() },
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: Default::default(),
    };
    chat.send(&ada(), request).await.unwrap().frames.collect::<Vec<_>>().await;
}

#[tokio::test]
async fn expired_data_is_deleted_for_good() {
    let agent = Agent {
        settings: RunSettings { max_retries: 0, ..RunSettings::default() },
        ..Agent::new("helper", Arc::new(ScriptedModel::new((0..9).map(|_| text_reply("Hi.")).collect())))
    };
    let later = Arc::new(AtomicI64::new(0));
    let passed = later.clone();
    let clock = Clock::new(move || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        i64::try_from(now).unwrap() + passed.load(Ordering::Relaxed)
    });
    let store = Store::open("sqlite::memory:").await.unwrap();
    let chat = Chat::open_with_clock(clock, store.clone(), Arc::new(Kept(Arc::new(agent))), 8).await.unwrap();
    let told = Arc::new(Told::default());
    chat.set_telemetry(told.clone());
    for (agent, conversation) in [("helper", "long"), ("short", "brief"), ("helper", "pinned"), ("helper", "gone")] {
        say(&chat, agent, conversation).await;
    }
    let pin = ConversationChange { pinned: Some(true), ..ConversationChange::default() };
    chat.change(&ada(), vec!["pinned".to_owned()], pin).await.unwrap();
    let temporary = |on| ConversationChange { temporary: Some(on), ..ConversationChange::default() };
    chat.change(&ada(), vec!["gone".to_owned(), "pinned".to_owned()], temporary(true)).await.unwrap();
    chat.change(&ada(), vec!["pinned".to_owned()], temporary(false)).await.unwrap();
    let question = serde_json::from_value(serde_json::json!({ "agent_name": "helper", "input": { "prompt": "Hi" } }));
    chat.invoke(&ada(), question.unwrap()).await.unwrap();
    let after = async |time: Duration| {
        later.store(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
        let swept = chat.sweep().await.unwrap();
        let list = chat.conversations(&ada(), Default::default(), 50, None).await.unwrap();
        let mut left: Vec<_> = list.items.into_iter().map(|line| line.id).collect();
        left.sort_unstable();
        (swept, left.join(" "))
    };
    let second = Duration::from_secs(1);
    assert_eq!(after(DAY - 60 * second).await, (SweepResult::default(), "brief gone long pinned".to_owned()));
    let swept = SweepResult { conversations: 1, temporary: 1, questions: 1 };
    assert_eq!(after(DAY + second).await, (swept, "long pinned".to_owned()));
    assert_eq!(after(9 * DAY).await, (SweepResult::default(), "long pinned".to_owned()));
    let swept = SweepResult { conversations: 1, ..SweepResult::default() };
    assert_eq!(after(10 * DAY + second).await, (swept, "pinned".to_owned()));
    assert_eq!(after(999 * DAY).await, (SweepResult::default(), "pinned".to_owned()), "what is pinned stays");
    assert_eq!(*told.0.lock(), [("untouched", 1), ("temporary", 1), ("question", 1), ("untouched", 1)]);
    // They are gone for good, and their usage stays.
    assert_eq!(store.any_conversation("long").await.unwrap(), None);
    assert!(store.total_usage(&UsageFilter::days(0, 99_999)).await.unwrap().messages >= 5);
    assert!(store.verify_audit(None).await.unwrap().is_ok());
    assert_eq!(store.audit_list(AuditFilter::default(), 9, None).await.unwrap(), []);
}
