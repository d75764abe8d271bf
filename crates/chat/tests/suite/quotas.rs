//! Daily quotas, with a controlled clock.

use agent::{Agent, RunSettings};
use chat::{AgentRequest, AgentSource, Caller, Chat, Clock, Quota, QuotaPeriod, ToolCallRequest};
use contract::testing::{ScriptedModel, text_reply};
use futures::future::{BoxFuture, join_all};
use futures::{FutureExt, StreamExt};
use serde_json::{Map, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::Store;
use tokio_util::sync::CancellationToken;
use wire::api::{SendRequest, Submission};
use wire::{QUOTA_WARNING, UiMessage, UiPart, UserError};

const DAY: i64 = 86_400_000;

/// Everybody but Bob may send two messages a day.
struct OneAgent(Arc<Agent>);

impl AgentSource for OneAgent {
    fn agent<'a>(&'a self, _: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Ok(self.0.clone()) })
    }

    fn by_id<'a>(&'a self, _: &'a Caller, _: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Ok(self.0.clone()) })
    }

    fn quotas(&self, caller: &Caller) -> Vec<Quota> {
        let quota = Quota { messages: Some(2), ..Quota::per(QuotaPeriod::Day) };
        if caller.user_id == "bob" { Vec::new() } else { vec![quota] }
    }
}

fn caller(name: &str) -> Caller {
    Caller::signed_in(name)
}

async fn send(chat: &Chat, name: &str, conversation: &str, id: &str) -> Result<(), UserError> {
    let request = SendRequest {
        page_id: "p".to_owned(),
        block_id: None,
        agent_id: "helper".to_owned(),
        conversation_id: conversation.to_owned(),
        submission: Submission::Message { message: UiMessage::user(id, "Hello"), replaces: None, history: Vec::new() },
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: Default::default(),
    };
    chat.send(&caller(name), request).await?.frames.collect::<Vec<_>>().await;
    Ok(())
}

/// Calls a tool of the agent, as programs do. There is none: the call is made, and its result is an error.
async fn call(chat: &Chat, name: &str) -> Result<(), UserError> {
    let request = ToolCallRequest {
        agent_id: "helper".to_owned(),
        tool: "none".to_owned(),
        arguments: json!({}),
        is_approved: false,
        app: None,
        idempotency_key: None,
        causes: Vec::new(),
        limits: Default::default(),
        time: Duration::from_secs(60),
    };
    let called = chat.call_tool(&caller(name), request, CancellationToken::new()).await?;
    assert!(called.output.is_err());
    Ok(())
}

/// Returns an agent that answers nine times.
fn agent() -> Agent {
    Agent {
        settings: RunSettings { max_retries: 0, ..RunSettings::default() },
        ..Agent::new("helper", Arc::new(ScriptedModel::new((0..9).map(|_| text_reply("Hi.")).collect())))
    }
}

fn status(done: Result<(), UserError>) -> u16 {
    done.map_or_else(|error| error.code.status(), |()| 200)
}

#[tokio::test]
async fn quota_lasts_until_the_next_day_despite_deletions() {
    let agent = agent();
    let later = Arc::new(AtomicI64::new(0));
    let passed = later.clone();
    let clock = Clock::new(move || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        i64::try_from(now).unwrap() + passed.load(Ordering::Relaxed)
    });
    let store = Store::open("sqlite::memory:").await.unwrap();
    let chat = Chat::open_with_clock(clock, store, Arc::new(OneAgent(Arc::new(agent))), 8).await.unwrap();
    assert_eq!(status(send(&chat, "ada", "c", "m1").await), 200);
    assert_eq!(status(send(&chat, "ada", "c", "m2").await), 200);
    let refused = send(&chat, "ada", "c", "m3").await.unwrap_err();
    assert_eq!(refused.code.status(), 429);
    assert!(refused.retry_after.is_some_and(|seconds| (1..=86_400).contains(&seconds)), "{refused:?}");
    // A message that was accepted before is joined, and refused messages leave nothing behind.
    assert_eq!(status(send(&chat, "ada", "c", "m2").await), 200);
    assert_eq!(chat.conversation(&caller("ada"), "c").await.unwrap().messages.len(), 4);
    // One message before the end, the answer says so, and with the last one, too.
    let warned = async |id: &str, conversation: &str| {
        let view = chat.conversation(&caller("ada"), conversation).await.unwrap();
        let at = view.messages.iter().position(|message| message.id == id).unwrap();
        let is_warning = |part: &&UiPart| matches!(part, UiPart::Data(data) if data.kind == QUOTA_WARNING);
        let part = view.messages[at + 1].parts.iter().find(is_warning).map(|part| json!(part)["data"]["text"].clone());
        part.and_then(|text| Some(text.as_str()?.split_once(" for today.")?.0.to_owned())).unwrap_or_default()
    };
    assert_eq!(warned("m1", "c").await, "You have used 1 of 2 messages");
    assert_eq!(warned("m2", "c").await, "You have used 2 of 2 messages");
    assert_eq!(status(send(&chat, "bob", "of-bob", "m4").await), 200);
    let unlimited = chat.conversation(&caller("bob"), "of-bob").await.unwrap();
    assert!(!json!(unlimited.messages).to_string().contains(QUOTA_WARNING));
    // An invocation counts as well, and so does what was deleted.
    chat.delete(&caller("ada"), "c").await.unwrap();
    let question = serde_json::from_value(json!({ "agent_name": "helper", "input": { "prompt": "Hello" } })).unwrap();
    assert_eq!(chat.invoke(&caller("ada"), question).await.unwrap_err().code.status(), 429);
    assert_eq!(status(call(&chat, "ada").await), 429);
    assert_eq!(chat.quota_usage(&caller("ada")).await.unwrap()[0].used.messages, 2);
    for id in ["b1", "b2", "b3"] {
        assert_eq!(status(send(&chat, "bob", "d", id).await), 200, "{id}");
    }
    later.store(DAY, Ordering::Relaxed);
    assert_eq!(status(send(&chat, "ada", "e", "m4").await), 200);
    for expected in [200, 200, 429] {
        assert_eq!(status(call(&chat, "ada").await), expected, "calls count as well");
    }
    assert_eq!(status(send(&chat, "ada", "e", "m5").await), 429);
}

#[tokio::test]
async fn messages_at_the_same_time_stay_within_the_quota() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let chat = Chat::open(store, Arc::new(OneAgent(Arc::new(agent()))), 64).await.unwrap();
    let chat = &chat;
    let question = json!({ "agent_name": "helper", "input": { "prompt": "Hello" } });
    let attempts = (0..20).map(|number| {
        let question = question.clone();
        let attempt = async move {
            match number % 5 {
                0 => chat.invoke(&caller("ada"), serde_json::from_value(question).unwrap()).await.map(drop),
                1 => {
                    let run = serde_json::from_value(question).unwrap();
                    chat.run_agent(&caller("ada"), run, false).await.map(drop)
                }
                2 => call(chat, "ada").await,
                _ => send(chat, "ada", &format!("c{number}"), &format!("m{number}")).await,
            }
        };
        attempt.boxed()
    });
    let statuses: Vec<_> = join_all(attempts).await.into_iter().map(status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 2, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 18, "{statuses:?}");
    let usage = chat.quota_usage(&caller("ada")).await.unwrap();
    assert_eq!(usage[0].used.messages, 2);
    assert_eq!(status(send(chat, "bob", "d", "b1").await), 200, "another user is not affected");
}
