//! The traces of an invocation beside its answer: the calls that a crash interrupts, and hooks.

use super::{caller, invoke, nothing, open, open_with_hooks, scores, with_tools};
use agent::RunSettings;
use chat::{Chat, HookEvent, Hooks};
use contract::testing::{text_reply, tool_call_reply};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use store::Store;
use tokio_util::sync::CancellationToken;
use wire::chunk::DataChunk;

/// The call that was running when the server died is in the audit log after the start of the next.
#[tokio::test]
async fn crash_logs_the_calls_that_were_running() {
    let calls = tool_call_reply(&[("a", "act", "{}"), ("w", "wait", r#"{"for":"ever"}"#)]);
    let test = open(vec![calls]).await;
    let (chat, request) = (test.chat.clone(), serde_json::from_value(with_tools(json!({}))).unwrap());
    let asked = tokio::spawn(async move { chat.invoke(&caller("ada"), request).await });
    // One call has ended, and the other one has begun.
    while !test.log().await.contains("act ok") || test.waiting.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    asked.abort();
    let store = Store::open(&test_postgres::database_for(test.folder.path()).await).await.unwrap();
    Chat::open(store, Arc::new(nothing()), 8).await.unwrap();
    assert_eq!(test.log().await, "ada a act ok []\nada w wait interrupted []");
}

/// Records what the hooks are told, one line for each event.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Hooks for Told {
    fn wants(&self, _: HookEvent) -> bool {
        true
    }

    fn notify(&self, hook: HookEvent, payload: Map<String, Value>) {
        let name = payload.get("toolCall").map(|call| call["toolName"].clone()).unwrap_or_default();
        let tools = payload.get("tools").cloned().unwrap_or_default();
        self.0.lock().unwrap().push(format!("{hook:?} {name} {tools}"));
    }

    fn finish(&self, payload: Map<String, Value>, _: CancellationToken) -> BoxFuture<'_, Vec<DataChunk>> {
        let messages: Vec<_> = payload["messages"].as_array().unwrap().iter().map(text).collect();
        let (reason, steps) = (&payload["finishReason"], payload["steps"].as_array().unwrap().len());
        self.0.lock().unwrap().push(format!("Finish {} {reason} {steps}", messages.join(" → ")));
        Box::pin(async { Vec::new() })
    }
}

fn text(message: &Value) -> String {
    let parts = message["parts"].as_array().unwrap();
    parts.iter().map(|part| part["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn hooks_are_notified_of_invocations() {
    let check = async |replies, request: Value, expected: &[&str]| {
        let told = Arc::new(Told::default());
        let settings = RunSettings { max_retries: 0, ..RunSettings::default() };
        let test = open_with_hooks(replies, settings, Some(told.clone())).await;
        invoke(&test, request).await.unwrap();
        assert_eq!(*told.0.lock().unwrap(), expected);
    };
    let calls = || vec![tool_call_reply(&[("c", "act", "{}")]), text_reply("Found.")];
    let named = with_tools(json!({ "tools": ["act"] }));
    check(
        calls(),
        named,
        &[
            r#"Start null ["act"]"#,
            "StepStart null null",
            r#"ToolCallStart "act" null"#,
            r#"ToolCallFinish "act" null"#,
            "StepFinish null null",
            "StepStart null null",
            "StepFinish null null",
            r#"Finish Hi → Found. "stop" 2"#,
        ],
    )
    .await;
    // Without tools, and without an answer.
    let wrong = || text_reply("none");
    let step = ["StepStart null null", "StepFinish null null"];
    let failed = [&["Start null []"][..], &step, &step, &[r#"Finish Score this. →  "error" 2"#]].concat();
    check(vec![wrong(), wrong()], scores(), &failed).await;
}
