//! Admission of work while memory is short, with a probe that the test controls.

use crate::gates::house::{TestChat, ada, agent, message};
use bytes::Bytes;
use chat::{FileLimits, MemoryLevel, MemoryProbe, MemoryUse, NewUpload};
use contract::Part;
use contract::testing::{Cue, text_reply};
use futures::{StreamExt, stream};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wire::file::StoredFile;
use wire::invoke::{Invocation, InvocationStatus};
use wire::{EndReason, ErrorCode, ErrorReason, UserError};

/// A limit of 1,000 bytes with this usage.
#[derive(Clone, Default)]
struct Used(Arc<AtomicU64>);

impl MemoryProbe for Used {
    fn sample(&mut self) -> Vec<MemoryUse> {
        vec![MemoryUse { limited_by: "test", used: self.0.load(Ordering::Relaxed), limit: 1_000 }]
    }
}

impl Used {
    /// Sets the usage, and waits until the chat has sampled it.
    async fn set(&self, used: u64, test: &TestChat, level: MemoryLevel) {
        self.0.store(used, Ordering::Relaxed);
        until(|| {
            let memory = test.chat.memory_status();
            memory.level == level && memory.uses.iter().any(|one| one.used == used)
        })
        .await;
    }
}

async fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the condition is never met");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns a reply that writes a text and never ends.
fn endless(text: &str) -> Vec<Cue> {
    let id = || "t".to_owned();
    let said = Part::TextDelta { id: id(), delta: text.to_owned() };
    vec![Cue::Part(Part::TextStart { id: id() }), Cue::Part(said), Cue::Silence]
}

async fn open_test_chat(replies: Vec<Vec<Cue>>) -> (TestChat, Used) {
    let (test, used) = (TestChat::open(agent("helper", replies, Vec::new()).0).await, Used::default());
    test.chat.watch_memory(used.clone());
    (test, used)
}

async fn invoke(test: &TestChat) -> Result<Invocation, UserError> {
    let request = json!({ "agent_name": "helper", "input": { "prompt": "Say it." } });
    test.chat.invoke(&ada(), serde_json::from_value(request).unwrap()).await
}

async fn upload(test: &TestChat) -> Result<StoredFile, UserError> {
    let bytes = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"text"))]);
    let upload = NewUpload { name: "a.txt".to_owned(), length: None, bytes };
    test.chat.store_file(&ada(), FileLimits { file: 1 << 20, user: 1 << 20 }, upload).await
}

fn is_refused<T>(result: Result<T, UserError>) {
    let error = result.err().expect("it is refused");
    assert_eq!((error.code, error.reason), (ErrorCode::Unavailable, Some(ErrorReason::ServerBusy)));
    assert_eq!((error.retry_after, error.message.contains("short of memory")), (Some(5), true));
}

#[tokio::test]
async fn new_work_is_refused_while_memory_is_short_and_an_answer_runs() {
    let (test, used) =
        open_test_chat(vec![endless("one"), text_reply("two"), text_reply("three"), endless("four")]).await;
    let running = test.send("c1", message("m1")).await.unwrap();
    used.set(810, &test, MemoryLevel::Short).await;
    is_refused(test.send("c2", message("m1")).await);
    is_refused(invoke(&test).await);
    is_refused(upload(&test).await);
    assert_eq!(test.chat.memory_status().refused, 3);
    assert_eq!(test.chat.active_runs(), 1, "the active run continues");
    assert!(test.chat.conversation(&ada(), "c2").await.is_err(), "nothing of it is stored");
    // Memory is no longer short.
    used.set(500, &test, MemoryLevel::Ample).await;
    test.ask("c2", message("m1")).await;
    assert!(invoke(&test).await.is_ok());
    assert!(upload(&test).await.is_ok());
    drop(running);
}

/// Otherwise the server would refuse work forever because of memory that the allocator keeps.
#[tokio::test]
async fn one_answer_at_a_time_is_admitted_however_short_memory_is() {
    let (test, used) = open_test_chat(vec![text_reply("one"), endless("two")]).await;
    used.set(990, &test, MemoryLevel::Critical).await;
    test.ask("c1", message("m1")).await;
    until(|| test.chat.active_runs() == 0).await;
    assert!(upload(&test).await.is_ok());
    let running = test.send("c1", message("m2")).await.unwrap();
    is_refused(test.send("c2", message("m1")).await);
    // Usage does not grow, so the run continues.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(test.chat.active_runs(), 1);
    drop(running);
}

#[tokio::test]
async fn running_answers_come_to_their_end_while_memory_is_short() {
    let slow = |text: &str| {
        let mut cues = text_reply(text);
        cues.insert(1, Cue::Pause(Duration::from_millis(400)));
        cues
    };
    let (test, used) = open_test_chat(vec![slow("one"), slow("two"), slow("three")]).await;
    let mut streams = Vec::new();
    for conversation in ["c1", "c2", "c3"] {
        streams.push(test.send(conversation, message("m1")).await.unwrap().frames);
    }
    used.set(850, &test, MemoryLevel::Short).await;
    for stream in streams {
        let told = tokio::time::timeout(Duration::from_secs(60), stream.collect::<Vec<_>>()).await.unwrap();
        let told = String::from_utf8(told.concat()).unwrap();
        assert!(told.contains(r#""outcome":"done""#), "{told}");
    }
    // The usage of the idle process does not count for the next runs.
    used.set(850, &test, MemoryLevel::Ample).await;
}

#[tokio::test]
async fn largest_answer_ends_when_memory_is_almost_used_up() {
    let large = "word ".repeat(1_000);
    let (test, used) = open_test_chat(vec![endless(&large), endless("small"), endless("smaller")]).await;
    let mut streams = Vec::new();
    for (at, said) in [("c1", large.as_str()), ("c2", "small"), ("c3", "smaller")] {
        let mut frames = test.send(at, message("m1")).await.unwrap().frames;
        let mut told = String::new();
        while !told.contains(said) {
            told.push_str(str::from_utf8(&frames.next().await.unwrap()).unwrap());
        }
        streams.push(frames);
    }
    used.set(930, &test, MemoryLevel::Critical).await;
    let rest: Vec<_> = tokio::time::timeout(Duration::from_secs(60), streams.remove(0).collect()).await.unwrap();
    let told = String::from_utf8(rest.concat()).unwrap();
    assert!(told.contains("The server ran short of memory and ended this answer."), "{told}");
    assert_eq!(test.chat.active_runs(), 2, "the others continue");
    let message = test.chat.conversation(&ada(), "c1").await.unwrap().messages.pop().unwrap();
    assert!(message.text().starts_with("word word"), "what was written is stored");
    let metadata = message.metadata.unwrap();
    assert_eq!((&metadata["outcome"], &metadata["reason"]), (&json!("failed"), &json!("memory")));
    let run = test.store.recent_runs("helper").await.unwrap().into_iter().find(|run| run.status == "failed").unwrap();
    let (reason, cause) = (run.reason.unwrap(), run.error.unwrap());
    assert!(reason == "memory" && cause.starts_with("memory was almost used up"), "{reason} {cause}");
    // Usage grows further, so the next run is ended.
    used.set(945, &test, MemoryLevel::Critical).await;
    until(|| test.chat.active_runs() == 1).await;
}

#[tokio::test]
async fn invocation_ends_when_memory_is_almost_used_up_and_no_answer_runs() {
    let (test, used) = open_test_chat(vec![endless("one")]).await;
    let ends = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        used.set(930, &test, MemoryLevel::Critical).await;
    };
    let (answer, ()) = tokio::join!(invoke(&test), ends);
    let answer = answer.unwrap();
    assert_eq!((answer.status, answer.reason), (InvocationStatus::Failed, Some(EndReason::Memory)));
    assert!(answer.error.unwrap().contains("short of memory"));
}
