use super::known::{KnownMessages, ROOM};
use super::*;
use crate::SelectableModel;
use crate::events::{Events, LifecycleEvent};
use crate::submit::model_choice::since_choice;
use agent::{EarlierHistory, MeasuredSize};
use contract::Exposure;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use store::{AddMessages, AlsoWrite, CopyBranch, NewMessage, SetBranch, Store};
use transcript::context::CoveredContext;
use wire::UiMessage;

/// Stores messages, the first one below another, and each after the one before it.
async fn add(store: &Store, below: Option<&str>, messages: Vec<Value>) {
    let messages: Vec<UiMessage> = serde_json::from_value(messages.into()).unwrap();
    let below = below.map(str::to_owned);
    let parents = std::iter::once(below).chain(messages.iter().map(|message| Some(message.id.clone())));
    let new = messages.iter().cloned().zip(parents).map(|(message, parent_id)| NewMessage { parent_id, message });
    let add = AddMessages {
        conversation_id: "c".to_owned(),
        page_id: "p".to_owned(),
        agent_id: "a".to_owned(),
        title: "t".to_owned(),
        insert: new.collect(),
        now: 1,
    };
    let also: AlsoWrite = Box::new(|_| Box::pin(std::future::ready(Ok(()))));
    store.add_messages("ada", add, also).await.unwrap();
}

/// Stores messages, each after the one before it, and returns their branch.
async fn encoded(messages: Vec<Value>) -> Vec<EncodedMessage> {
    let store = Store::open("sqlite::memory:").await.unwrap();
    add(&store, None, messages).await;
    store.encoded_branch("ada", "c").await.unwrap()
}

fn asks(id: &str) -> Value {
    json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": "x" }] })
}

fn says(id: &str, part: Value) -> Value {
    json!({ "id": id, "role": "assistant", "parts": [part] })
}

fn text() -> Value {
    json!({ "type": "text", "text": "y" })
}

fn summary(through: &str) -> Value {
    let data =
        json!({ "text": "s", "throughMessageId": through, "model": "m", "tokensBefore": 2, "tokensAfter": 1, "at": 0 });
    json!({ "type": "data-context-summary", "data": data })
}

#[tokio::test]
async fn only_messages_after_the_newest_summary_are_decoded() {
    let check = async |messages: Vec<Value>, covered: &[&str], decoded: &[&str]| {
        let count = messages.len();
        let branch = Branch::decode(encoded(messages).await).await.unwrap();
        assert_eq!(branch.messages.iter().map(|stored| stored.id.as_str()).collect::<Vec<_>>(), decoded);
        let known = branch.covered.iter().flat_map(|covered| &covered.messages);
        assert_eq!(known.map(|message| message.id.as_str()).collect::<Vec<_>>(), covered);
        assert!(decoded.iter().chain(covered).all(|id| branch.has(id)) && !branch.has("elsewhere"));
        assert_eq!(branch.into_whole().len(), count);
    };
    let old = || vec![asks("u1"), says("a1", text()), asks("u2")];
    let then = |part: Value| [old(), vec![says("a2", part), asks("u3"), says("a3", text())]].concat();
    check(then(text()), &[], &["u1", "a1", "u2", "a2", "u3", "a3"]).await;
    check(then(summary("a1")), &["u1", "a1"], &["u2", "a2", "u3", "a3"]).await;
    let newer = [then(summary("a1")), vec![asks("u4"), says("a4", summary("a3"))]].concat();
    check(newer, &["u1", "a1", "u2", "a2", "u3", "a3"], &["u4", "a4"]).await;
    // A place that does not exist, or in front of which no turn begins.
    check(then(summary("a9")), &[], &["u1", "a1", "u2", "a2", "u3", "a3"]).await;
    check(then(summary("u1")), &[], &["u1", "a1", "u2", "a2", "u3", "a3"]).await;
}

#[tokio::test]
async fn covered_messages_say_what_the_turns_after_them_need() {
    let exposure = |private: &str| json!({ "type": "data-exposure", "id": "exposure", "data": { "private": private } });
    let mut search = json!({ "type": "tool-web_search", "toolCallId": "c1", "state": "output-available", "output": 1 });
    search["providerExecuted"] = true.into();
    let cleared = json!({ "type": "data-context-cleared", "data": { "throughCallId": "c1" } });
    let mut parts = json!({ "instructions": 1, "tools": 0, "summary": 0, "messages": 9, "results": 0, "files": 0 });
    (parts["reply"], parts["measured"]) = (5.into(), true.into());
    let mut measured = says("a4", text());
    measured["metadata"] = json!({ "contextUsed": 25, "contextParts": parts });
    let covered = vec![
        asks("u1"),
        says("a1", search),
        asks("u2"),
        says("a2", exposure("crm")),
        asks("u3"),
        says("a3", exposure("mail")),
        asks("u4"),
        measured,
        asks("u5"),
        says("a5", cleared),
    ];
    let covered = Covered::new(None, encoded(covered).await);
    let expected = Exposure { private: Some("crm".to_owned()), untrusted: Some("web_search".to_owned()) };
    assert_eq!(covered.exposure, expected);
    let CoveredContext { through, cleared } = covered.context();
    assert_eq!((through, cleared.len(), cleared[0].id.as_str()), ("a5", 1, "a5"));
    assert_eq!(covered.answer.as_ref().unwrap().id, "a5");
    assert_eq!(covered.measured(), Some(MeasuredSize { estimated: 10, reported: 20 }));
    assert!(covered.may_contain("web_search") && !covered.may_contain("elsewhere"));
    assert!((60..400).contains(&covered.longest_result()));
    // The five questions, the call, the text, and nothing of the marks.
    assert_eq!(covered.read().len(), 7);
}

#[tokio::test]
async fn only_messages_since_the_choice_of_a_model_are_decoded() {
    let models = ["fast", "deep"].map(|id| SelectableModel { id: id.to_owned(), can_think: false });
    let chosen = |id: &str, model: &str| {
        let mut answer = says(id, text());
        answer["metadata"] = json!({ "modelId": model });
        answer
    };
    let branch = vec![asks("u1"), chosen("a1", "deep"), asks("u2"), chosen("a2", "gone"), asks("u3")];
    let branch = encoded(branch).await;
    let check = |models: &[SelectableModel], expected: &[&str]| {
        let read = since_choice(&branch, models);
        assert_eq!(read.iter().map(|stored| stored.id.as_str()).collect::<Vec<_>>(), expected);
    };
    check(&models, &["a1", "u2", "a2", "u3"]);
    check(&models[..1], &["u1", "a1", "u2", "a2", "u3"]);
    // Nothing is chosen, and the newest message says the rest.
    check(&[], &["u3"]);
}

/// Everything that a submission reads of a branch.
fn shown(branch: &Branch) -> String {
    let Some(covered) = &branch.covered else { return format!("{:?}", branch.messages) };
    let stored: Vec<_> = covered.stored().collect();
    let (context, answer, measured) = (covered.context(), &covered.answer, covered.measured());
    let sizes = (covered.size(), covered.longest_result());
    format!("{stored:?} {context:?} {:?} {answer:?} {measured:?} {sizes:?} {:?}", covered.exposure, branch.messages)
}

#[tokio::test]
async fn covered_messages_are_read_once() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let known = KnownMessages::default();
    let read = async || known.branch(&store, "ada", "c", ROOM).await.unwrap().covered.unwrap();
    let ids = |covered: &Covered| covered.messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>();
    add(&store, None, vec![asks("u1"), says("a1", text()), asks("u2"), says("a2", summary("a1"))]).await;
    assert!(known.newest(&store, "ada", "c").await.unwrap().is_none());
    let first = read().await;
    add(&store, Some("a2"), vec![asks("u3"), says("a3", text())]).await;
    assert!(Arc::ptr_eq(&read().await, &first));
    let newest = known.newest(&store, "ada", "c").await.unwrap().unwrap();
    assert_eq!(newest.iter().map(|message| message.id.as_str()).collect::<Vec<_>>(), ["u2", "a2", "u3", "a3"]);
    // The next summary covers more, of which only the new messages are read.
    add(&store, Some("a3"), vec![asks("u4"), says("a4", summary("a3"))]).await;
    let second = read().await;
    assert_eq!(ids(&second), ["u1", "a1", "u2", "a2", "u3", "a3"]);
    assert!(first.messages.iter().zip(&second.messages).all(|(first, second)| Arc::ptr_eq(first, second)));
    assert!(known.branch(&store, "bob", "c", ROOM).await.unwrap().messages.is_empty());
    // The message may say something else since.
    let changed: UiMessage = serde_json::from_value(says("a1", summary("u1"))).unwrap();
    store.update_message("ada", "c", changed.clone(), Vec::new()).await.unwrap();
    let third = read().await;
    assert_eq!((ids(&third), &third.messages[1].decode().message), (ids(&second), &changed));
    // Nothing is kept while memory is short.
    assert!(known.newest(&store, "ada", "c").await.unwrap().is_some());
    assert_eq!(known.branch(&store, "ada", "c", 0).await.unwrap().messages.len(), 2);
    assert!(known.newest(&store, "ada", "c").await.unwrap().is_none());
}

#[tokio::test]
async fn messages_without_room_do_not_replace_others() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let known = KnownMessages::default();
    add(&store, None, vec![asks("u1"), says("a1", text()), asks("u2"), says("a2", summary("a1"))]).await;
    add(&store, Some("a2"), vec![asks("u3"), says("a3", summary("a2"))]).await;
    let messages = store.branch("ada", "c").await.unwrap().into_iter().map(|stored| stored.message).collect();
    let (from, to, title) = ("c".to_owned(), "longer".to_owned(), String::new());
    store.copy_branch("ada", CopyBranch { from, to, title, messages, now: 1 }).await.unwrap();
    let set = SetBranch { head: "a2".to_owned(), ..SetBranch::default() };
    store.set_branch("ada", "c", set).await.unwrap();
    let covered = known.branch(&store, "ada", "c", ROOM).await.unwrap().covered.unwrap();
    known.branch(&store, "ada", "longer", covered.memory()).await.unwrap().covered.unwrap();
    assert!(known.newest(&store, "ada", "longer").await.unwrap().is_none());
    assert!(known.newest(&store, "ada", "c").await.unwrap().is_some());
    known.branch(&store, "ada", "longer", 0).await.unwrap();
    assert!(known.newest(&store, "ada", "c").await.unwrap().is_none());
}

#[tokio::test]
async fn messages_are_forgotten_after_a_while_and_while_memory_is_short() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let known = KnownMessages::default();
    add(&store, None, vec![asks("u1"), says("a1", text()), asks("u2"), says("a2", summary("a1"))]).await;
    let check = async |is_short: bool, minutes: u64, is_kept: bool| {
        known.branch(&store, "ada", "c", ROOM).await.unwrap();
        known.forget(is_short, Instant::now() + Duration::from_secs(60 * minutes));
        assert_eq!(known.newest(&store, "ada", "c").await.unwrap().is_some(), is_kept, "{is_short} {minutes}");
    };
    check(false, 0, true).await;
    check(false, 14, true).await;
    check(false, 16, false).await;
    check(true, 0, false).await;
}

#[tokio::test]
async fn messages_of_deleted_conversations_are_forgotten() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let events = Events::default();
    let known = &events.known_messages;
    add(&store, None, vec![asks("u1"), says("a1", text()), asks("u2"), says("a2", summary("a1"))]).await;
    known.branch(&store, "ada", "c", ROOM).await.unwrap();
    let check = async |owner: &str, conversation: &str, is_kept: bool| {
        let (conversation_id, user_id) = (conversation.to_owned(), owner.to_owned());
        events.tell(&LifecycleEvent::ConversationDeleted { conversation_id, user_id });
        let newest = known.newest(&store, "ada", "c").await.unwrap();
        assert_eq!(newest.is_some(), is_kept, "{owner} {conversation}");
    };
    check("bob", "c", true).await;
    check("ada", "other", true).await;
    check("ada", "c", false).await;
}

/// A conversation whose branches, summaries and messages change at random is read as if nothing were known of it.
#[tokio::test]
async fn branches_after_known_messages_are_as_those_that_are_read_whole() {
    let mut kept = 0;
    for seed in 1..=12_u64 {
        let mut state = seed;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let store = Store::open("sqlite::memory:").await.unwrap();
        let known = KnownMessages::default();
        add(&store, None, vec![asks("u0"), says("a0", text())]).await;
        let mut before = None;
        for turn in 1..=40 {
            let (whole, all) = (store.branch("ada", "c").await.unwrap(), store.messages("ada", "c").await.unwrap());
            // Each answer follows a question.
            let answer = |of: &[StoredMessage], at: usize| of[at * 2 + 1].id.clone();
            let covered = answer(&whole, random(whole.len() / 2));
            let any = answer(&all, random(all.len() / 2));
            let exposure = json!({ "type": "data-exposure", "data": { "private": format!("p{turn}") } });
            let cleared = json!({ "type": "data-context-cleared", "data": { "throughCallId": format!("c{turn}") } });
            let part = [text(), summary(&covered), exposure, cleared][random(4)].clone();
            let said = format!("a{turn}");
            let messages = vec![asks(&format!("u{turn}")), says(&said, part.clone())];
            match random(8) {
                // An edit of an older message begins a branch.
                0 => add(&store, Some(&any), messages).await,
                1 => {
                    let set = SetBranch { head: any, ..SetBranch::default() };
                    store.set_branch("ada", "c", set).await.unwrap();
                }
                2 => {
                    let changed: UiMessage = serde_json::from_value(says(&any, part)).unwrap();
                    store.update_message("ada", "c", changed, Vec::new()).await.unwrap();
                }
                _ => add(&store, whole.last().map(|last| last.id.as_str()), messages).await,
            }
            let read = known.branch(&store, "ada", "c", ROOM).await.unwrap();
            let expected = Branch::decode(store.encoded_branch("ada", "c").await.unwrap()).await.unwrap();
            assert_eq!(shown(&read), shown(&expected), "{seed} {said}");
            let is_kept = |covered: &Arc<Covered>| before.as_ref().is_some_and(|before| Arc::ptr_eq(before, covered));
            kept += usize::from(read.covered.as_ref().is_some_and(is_kept));
            before = read.covered;
        }
    }
    // Otherwise the messages were always read whole.
    assert!(kept > 40, "{kept}");
}
