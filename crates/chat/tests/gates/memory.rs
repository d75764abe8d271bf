//! Work while memory is short, by a probe that says what the test wants.

use crate::house::{House, ada, agent, message};
use bytes::Bytes;
use chat::{FileBounds, MemoryLevel, MemoryProbe, MemoryUse, NewUpload};
use contract::Part;
use contract::testing::{Cue, says};
use futures::{StreamExt, stream};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wire::file::KeptFile;
use wire::invoke::{Invocation, InvocationStatus};
use wire::{EndReason, ErrorCode, ErrorReason, UserError};

/// A limit of 1,000 bytes of which this much is used.
#[derive(Clone, Default)]
struct Used(Arc<AtomicU64>);

impl MemoryProbe for Used {
    fn sample(&mut self) -> Vec<MemoryUse> {
        vec![MemoryUse { limited_by: "test", used: self.0.load(Ordering::Relaxed), limit: 1_000 }]
    }
}

impl Used {
    /// Sets what is used, and waits until the house has seen it.
    async fn set(&self, used: u64, house: &House, level: MemoryLevel) {
        self.0.store(used, Ordering::Relaxed);
        until(|| {
            let memory = house.chat.memory();
            memory.level == level && memory.uses.iter().any(|one| one.used == used)
        })
        .await;
    }
}

async fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never comes to that");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// An answer that says something and never ends.
fn endless(text: &str) -> Vec<Cue> {
    let id = || "t".to_owned();
    let said = Part::TextDelta { id: id(), delta: text.to_owned() };
    vec![Cue::Part(Part::TextStart { id: id() }), Cue::Part(said), Cue::Silence]
}

async fn house(replies: Vec<Vec<Cue>>) -> (House, Used) {
    let (house, used) = (House::open(agent("helper", replies, Vec::new()).0).await, Used::default());
    house.chat.watch_memory(used.clone());
    (house, used)
}

async fn invoke(house: &House) -> Result<Invocation, UserError> {
    let request = json!({ "agent_name": "helper", "input": { "prompt": "Say it." } });
    house.chat.invoke(&ada(), serde_json::from_value(request).unwrap()).await
}

async fn upload(house: &House) -> Result<KeptFile, UserError> {
    let bytes = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"text"))]);
    let upload = NewUpload { name: "a.txt".to_owned(), length: None, bytes };
    house.chat.keep_file(&ada(), FileBounds { file: 1 << 20, user: 1 << 20 }, upload).await
}

fn is_refused<T>(result: Result<T, UserError>) {
    let error = result.err().expect("it is refused");
    assert_eq!((error.code, error.reason), (ErrorCode::Unavailable, Some(ErrorReason::ServerBusy)));
    assert_eq!((error.retry_after, error.message.contains("short of memory")), (Some(5), true));
}

#[tokio::test]
async fn new_work_is_refused_while_memory_is_short_and_an_answer_runs() {
    let (house, used) = house(vec![endless("one"), says("two"), says("three"), endless("four")]).await;
    let running = house.send("c1", message("m1")).await.unwrap();
    used.set(810, &house, MemoryLevel::Short).await;
    is_refused(house.send("c2", message("m1")).await);
    is_refused(invoke(&house).await);
    is_refused(upload(&house).await);
    assert_eq!(house.chat.memory().refused, 3);
    assert_eq!(house.chat.active_runs(), 1, "what runs goes on");
    assert!(house.chat.conversation(&ada(), "c2").await.is_err(), "nothing of it is stored");
    // Enough again.
    used.set(500, &house, MemoryLevel::Ample).await;
    house.ask("c2", message("m1")).await;
    assert!(invoke(&house).await.is_ok());
    assert!(upload(&house).await.is_ok());
    drop(running);
}

/// Otherwise memory that the allocator keeps would close the server for good.
#[tokio::test]
async fn one_answer_at_a_time_is_admitted_however_short_memory_is() {
    let (house, used) = house(vec![says("one"), endless("two")]).await;
    used.set(990, &house, MemoryLevel::Critical).await;
    house.ask("c1", message("m1")).await;
    until(|| house.chat.active_runs() == 0).await;
    assert!(upload(&house).await.is_ok());
    let running = house.send("c1", message("m2")).await.unwrap();
    is_refused(house.send("c2", message("m1")).await);
    // What is used does not grow, so it goes on.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(house.chat.active_runs(), 1);
    drop(running);
}

#[tokio::test]
async fn running_answers_come_to_their_end_while_memory_is_short() {
    let slow = |text: &str| {
        let mut cues = says(text);
        cues.insert(1, Cue::Pause(Duration::from_millis(400)));
        cues
    };
    let (house, used) = house(vec![slow("one"), slow("two"), slow("three")]).await;
    let mut streams = Vec::new();
    for conversation in ["c1", "c2", "c3"] {
        streams.push(house.send(conversation, message("m1")).await.unwrap().frames);
    }
    used.set(850, &house, MemoryLevel::Short).await;
    for stream in streams {
        let told = tokio::time::timeout(Duration::from_secs(20), stream.collect::<Vec<_>>()).await.unwrap();
        let told = String::from_utf8(told.concat()).unwrap();
        assert!(told.contains(r#""outcome":"done""#), "{told}");
    }
    // What the idle process keeps is not held against the next ones.
    used.set(850, &house, MemoryLevel::Ample).await;
}

#[tokio::test]
async fn largest_answer_ends_when_memory_is_almost_used_up() {
    let large = "word ".repeat(1_000);
    let (house, used) = house(vec![endless(&large), endless("small"), endless("smaller")]).await;
    let mut streams = Vec::new();
    for (at, said) in [("c1", large.as_str()), ("c2", "small"), ("c3", "smaller")] {
        let mut frames = house.send(at, message("m1")).await.unwrap().frames;
        let mut told = String::new();
        while !told.contains(said) {
            told.push_str(str::from_utf8(&frames.next().await.unwrap()).unwrap());
        }
        streams.push(frames);
    }
    used.set(930, &house, MemoryLevel::Critical).await;
    let rest: Vec<_> = tokio::time::timeout(Duration::from_secs(20), streams.remove(0).collect()).await.unwrap();
    let told = String::from_utf8(rest.concat()).unwrap();
    assert!(told.contains("The server ran short of memory and ended this answer."), "{told}");
    assert_eq!(house.chat.active_runs(), 2, "the others go on");
    let message = house.chat.conversation(&ada(), "c1").await.unwrap().messages.pop().unwrap();
    assert!(message.text().starts_with("word word"), "what was written is stored");
    let metadata = message.metadata.unwrap();
    assert_eq!((&metadata["outcome"], &metadata["reason"]), (&json!("failed"), &json!("memory")));
    let run = house.store.recent_runs("helper").await.unwrap().into_iter().find(|run| run.status == "failed").unwrap();
    let (reason, cause) = (run.reason.unwrap(), run.error.unwrap());
    assert!(reason == "memory" && cause.starts_with("memory was almost used up"), "{reason} {cause}");
    // It grows on, and the next one ends.
    used.set(945, &house, MemoryLevel::Critical).await;
    until(|| house.chat.active_runs() == 1).await;
}

#[tokio::test]
async fn invocation_ends_when_memory_is_almost_used_up_and_no_answer_runs() {
    let (house, used) = house(vec![endless("one")]).await;
    let ends = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        used.set(930, &house, MemoryLevel::Critical).await;
    };
    let (answer, ()) = tokio::join!(invoke(&house), ends);
    let answer = answer.unwrap();
    assert_eq!((answer.status, answer.reason), (InvocationStatus::Failed, Some(EndReason::Memory)));
    assert!(answer.error.unwrap().contains("short of memory"));
}
