//! Whole conversations with a real store: what is sent, what is stored, who has access, and what
//! remains after a crash.

use agent::{Agent, RunSettings};
use chat::{AgentRequest, AgentSource, Caller, Chat, Frames, SendResponse};
use contract::testing::{Cue, RecordingTool, ScriptedModel, model_error, text_reply, tool_call_reply};
use contract::{Execution, Message, ModelErrorKind, Part, Tool, ToolSpec};
use futures::StreamExt;
use futures::future::BoxFuture;
use insta::assert_snapshot;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::Store;
use tempfile::TempDir;
use wire::api::{Answer, ConversationView, Outcome, SendRequest, Submission};
use wire::change::MessageChange;
use wire::organize::{ConversationChange, ListFilter};
use wire::{Chunk, ErrorCode, Reducer, Role, ToolState, UiMessage, UiPart, UserError};

/// A server with one agent. Dropping it without `shutdown` simulates a crash: nothing more is
/// written.
struct TestChat {
    chat: Chat,
    model: Arc<ScriptedModel>,
    effects: Arc<Mutex<Vec<Value>>>,
    folder: Arc<TempDir>,
}

struct OneAgent(Arc<Agent>);

impl AgentSource for OneAgent {
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        self.by_id(request.caller, request.agent_id)
    }

    fn by_id<'a>(&'a self, _: &'a Caller, id: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move {
            if matches!(id, "helper" | "second") { Ok(self.0.clone()) } else { Err(UserError::not_found()) }
        })
    }
}

impl TestChat {
    async fn open(replies: Vec<Vec<Cue>>) -> Self {
        Self::reopen(Arc::new(TempDir::new().unwrap()), replies).await
    }

    /// Opens the same database in a new process.
    async fn reopen(folder: Arc<TempDir>, replies: Vec<Vec<Cue>>) -> Self {
        let model = Arc::new(ScriptedModel::new(replies));
        let schema = json!({ "type": "object" });
        let work = |input: Value, _| async move { Ok(json!({ "did": input })) };
        let acts =
            RecordingTool::new(ToolSpec { needs_approval: true, ..ToolSpec::new("act", "", schema.clone()) }, work);
        let effects = acts.inputs();
        let hangs = RecordingTool::new(ToolSpec::new("hang", "", schema.clone()), |_, _| std::future::pending());
        let browser =
            RecordingTool::new(ToolSpec { execution: Execution::Client, ..ToolSpec::new("page", "", schema) }, work);
        let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(acts), Arc::new(hangs), Arc::new(browser)];
        let settings = RunSettings { max_retries: 0, max_steps: 3, ..RunSettings::default() };
        let agent = Agent {
            id: "helper".to_owned(),
            model: model.clone(),
            fallbacks: Vec::new(),
            agents: Vec::new(),
            policy: None,
            sources: Vec::new(),
            instructions: None,
            tools,
            settings,
        };
        let url = test_postgres::database_for(folder.path()).await;
        let store = Store::open(&url).await.unwrap();
        let chat = Chat::open(store, Arc::new(OneAgent(Arc::new(agent))), 8).await.unwrap();
        Self { chat, model, effects, folder }
    }

    async fn send(&self, submission: Submission) -> Result<SendResponse, UserError> {
        self.chat.send(&ada(), request("c1", submission)).await
    }

    /// Sends a submission and reads the answer to its end.
    async fn ask(&self, submission: Submission) -> Vec<Chunk> {
        let sent = self.send(submission).await.unwrap();
        read(sent.frames).await
    }

    async fn view(&self) -> ConversationView {
        self.chat.conversation(&ada(), "c1").await.unwrap()
    }
}

fn caller(name: &str) -> Caller {
    Caller::signed_in(name)
}

fn ada() -> Caller {
    caller("ada")
}

fn request(conversation_id: &str, submission: Submission) -> SendRequest {
    SendRequest {
        page_id: "p".to_owned(),
        block_id: None,
        agent_id: "helper".to_owned(),
        conversation_id: conversation_id.to_owned(),
        submission,
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
    }
}

fn message(id: &str, text: &str) -> Submission {
    Submission::Message { message: UiMessage::user(id, text), replaces: None, history: Vec::new() }
}

fn approve(call: &str, approved: bool) -> Submission {
    let reason = (!approved).then(|| "not now".to_owned());
    Submission::Answers {
        answers: vec![Answer::Approval {
            tool_call_id: call.to_owned(),
            approval_id: None,
            approved,
            input_hash: None,
            reason,
            input: None,
            remember: None,
        }],
    }
}

/// Reads the chunks of a stream that ends normally.
async fn read(frames: Frames) -> Vec<Chunk> {
    let all = tokio::time::timeout(Duration::from_secs(20), frames.collect::<Vec<_>>()).await.expect("the stream ends");
    let text = String::from_utf8(all.concat()).unwrap();
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// Returns one line per chunk, without ids and times.
fn told(chunks: &[Chunk]) -> String {
    chunks.iter().fold(String::new(), |mut lines, chunk| {
        let value = serde_json::to_value(chunk).unwrap();
        let kind = value["type"].as_str().unwrap();
        let what = ["delta", "toolCallId", "output", "errorText", "finishReason"].map(|key| match &value[key] {
            Value::Null => String::new(),
            value => format!(" {value}"),
        });
        let _ = writeln!(lines, "{kind}{}", what.concat());
        lines
    })
}

/// Returns one line per message.
fn kept(view: &ConversationView) -> String {
    view.messages.iter().fold(String::new(), |mut lines, message| {
        let parts = message.parts.iter().filter_map(|part| match part {
            UiPart::Text(text) => Some(format!("{:?}", text.text)),
            UiPart::Tool(tool) => {
                Some(format!("{} {:?} {}", tool.tool_name, tool.state, tool.error_text.as_deref().unwrap_or_default()))
            }
            _ => None,
        });
        let outcome = message.metadata.as_ref().map(|metadata| metadata["outcome"].clone()).unwrap_or_default();
        let _ = writeln!(lines, "{:?} {outcome}: {}", message.role, parts.collect::<Vec<_>>().join(", "));
        lines
    })
}

#[tokio::test]
async fn turn_is_streamed_and_stored() {
    let test = TestChat::open(vec![text_reply("Hello Ada")]).await;
    assert_snapshot!(told(&test.ask(message("m1", "Who am I?")).await), @r#"
    start
    start-step
    text-start
    text-delta "Hello "
    text-delta "Ada"
    text-end
    finish-step
    message-metadata
    finish "stop"
    "#);
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "Who am I?"
    Assistant "done": "Hello Ada"
    "#);
    let list = test.chat.conversations(&ada(), ListFilter::default(), 10, None).await.unwrap();
    assert_eq!(
        list.items.iter().map(|item| (item.title.as_str(), item.running)).collect::<Vec<_>>(),
        [("Who am I?", false)]
    );
}

#[tokio::test]
async fn repeated_message_joins_the_same_run() {
    let test = TestChat::open(vec![text_reply("once")]).await;
    let first = test.ask(message("m1", "hi")).await;
    let again = test.ask(message("m1", "hi")).await;
    let text = |chunks: &[Chunk]| {
        chunks
            .iter()
            .filter_map(|chunk| if let Chunk::TextDelta { delta, .. } = chunk { Some(delta.as_str()) } else { None })
            .collect::<String>()
    };
    assert_eq!((text(&first), text(&again)), ("once".to_owned(), "once".to_owned()));
    assert_eq!(test.model.requests().len(), 1);
    assert_eq!(test.view().await.messages.len(), 2);
}

#[tokio::test]
async fn fifty_concurrent_sends_of_a_message_start_one_run() {
    let test = TestChat::open(vec![text_reply("once")]).await;
    let sends = (0..50).map(|_| test.send(message("m1", "hi")));
    let runs: Vec<_> = futures::future::join_all(sends).await.into_iter().map(|sent| sent.unwrap().run_id).collect();
    assert!(runs.iter().all(|run| *run == runs[0]));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!((test.model.requests().len(), test.view().await.messages.len()), (1, 2));
}

/// An answer that starts and never ends.
fn endless() -> Vec<Cue> {
    let mut endless = text_reply("begun ");
    endless.truncate(2);
    endless.push(Cue::Silence);
    endless
}

/// More submissions than permits at the same moment: none starts between the check and the start of
/// another.
#[tokio::test]
async fn concurrent_runs_are_limited() {
    let (test, ada) = (TestChat::open((0..30).map(|_| endless()).collect()).await, ada());
    let ids: Vec<_> = (0..20).map(|number| format!("c{number}")).collect();
    let sends = ids.iter().map(|id| test.chat.send(&ada, request(id, message("m1", "hi"))));
    let sent = futures::future::join_all(sends).await;
    let refused: Vec<_> = sent.iter().filter_map(|sent| sent.as_ref().err()).collect();
    assert_eq!((refused.len(), test.chat.active_runs()), (12, 8));
    assert!(refused.iter().all(|error| error.code == ErrorCode::Unavailable && error.retry_after == Some(10)));
    // Refused submissions left nothing behind, and another run can start as soon as one has ended.
    let there = ids.iter().zip(&sent).find(|(_, sent)| sent.is_ok()).unwrap().0;
    let gone = ids.iter().zip(&sent).find(|(_, sent)| sent.is_err()).unwrap().0;
    assert_eq!(test.chat.conversation(&ada, gone).await.err().unwrap().code, ErrorCode::NotFound);
    test.chat.stop(&ada, there).await.unwrap();
    let begun = std::time::Instant::now();
    while test.chat.send(&ada, request(gone, message("m1", "hi"))).await.is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(test.chat.send(&ada, request("more", message("m1", "hi"))).await.is_err());
}

/// Of many submissions at once, the first 512 are processed, and the others are refused at once.
#[tokio::test]
async fn submissions_over_the_limit_are_refused_at_once() {
    let (test, ada) = (TestChat::open((0..8).map(|_| endless()).collect()).await, ada());
    let check = async |from: usize, rush: usize, expected: usize| {
        let ids: Vec<_> = (from..from + rush).map(|number| format!("c{number}")).collect();
        let sends = ids.iter().map(|id| test.chat.send(&ada, request(id, message("m1", "hi"))));
        let sent = futures::future::join_all(sends).await;
        let at_once = sent.iter().filter(|sent| sent.as_ref().is_err_and(|error| error.retry_after == Some(2)));
        assert_eq!(at_once.count(), expected, "{rush}");
    };
    check(0, 511, 0).await;
    check(1_000, 512, 0).await;
    check(2_000, 513, 1).await;
    check(3_000, 600, 88).await;
    assert_eq!(test.chat.active_runs(), 8);
}

#[tokio::test]
async fn second_run_is_refused_and_stop_keeps_the_partial_answer() {
    let test = TestChat::open(vec![endless(), text_reply("next")]).await;
    let sent = test.send(message("m1", "hi")).await.unwrap();
    let busy = test.send(message("m2", "and?")).await.err().unwrap();
    assert_eq!(busy.code, ErrorCode::Busy);
    tokio::time::sleep(Duration::from_millis(50)).await;
    test.chat.stop(&ada(), "c1").await.unwrap();
    let chunks = read(sent.frames).await;
    assert!(matches!(chunks.last(), Some(Chunk::Abort { .. })), "{chunks:?}");
    test.chat.stop(&ada(), "c1").await.unwrap();
    test.ask(message("m3", "go on")).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "hi"
    Assistant "stopped": "begun "
    User null: "go on"
    Assistant "done": "next"
    "#);
}

#[tokio::test]
async fn watchers_see_the_same_stream_whenever_they_join() {
    let slow = text_reply("one two three four")
        .into_iter()
        .flat_map(|cue| [Cue::Pause(Duration::from_millis(30)), cue])
        .collect();
    let test = TestChat::open(vec![slow]).await;
    let sent = test.send(message("m1", "count")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let late = test.chat.watch(&ada(), "c1", None).await.unwrap().unwrap();
    let after = test.chat.watch(&ada(), "c1", Some("1.4")).await.unwrap().unwrap();
    let foreign = test.chat.watch(&ada(), "c1", Some("7.4")).await.unwrap().unwrap();
    let unreadable = test.chat.watch(&ada(), "c1", Some("../x")).await.unwrap().unwrap();
    let (first, late, after) = futures::join!(read(sent.frames), read(late), read(after));
    assert_eq!(first, late);
    assert_eq!(first[4..], after);
    for gap in [foreign, unreadable] {
        assert_eq!(told(&read(gap).await), "data-gap\n");
    }
    assert!(test.chat.watch(&ada(), "c1", None).await.unwrap().is_none(), "the run is over");
}

#[tokio::test]
async fn conversations_of_other_users_are_not_found() {
    let test = TestChat::open(vec![text_reply("secret")]).await;
    test.ask(message("m1", "hi")).await;
    let eve = caller("eve");
    let not_found = |result: Result<(), UserError>| assert_eq!(result, Err(UserError::not_found()));
    not_found(test.chat.conversation(&eve, "c1").await.map(drop));
    not_found(test.chat.watch(&eve, "c1", None).await.map(drop));
    not_found(test.chat.stop(&eve, "c1").await);
    not_found(
        test.chat
            .change(
                &eve,
                vec!["c1".to_owned()],
                ConversationChange { pinned: Some(true), ..ConversationChange::default() },
            )
            .await,
    );
    not_found(test.chat.delete(&eve, "c1").await);
    for submission in [message("m2", "and?"), Submission::Continue, Submission::Regenerate { message_id: None }] {
        not_found(test.chat.send(&eve, request("c1", submission)).await.map(drop));
    }
    assert!(test.chat.conversations(&eve, ListFilter::default(), 10, None).await.unwrap().items.is_empty());
    assert_eq!(test.model.requests().len(), 1);
}

/// Any submission to another agent than the conversation's is refused; another page is allowed.
#[tokio::test]
async fn send_to_another_agent_is_refused() {
    let test = TestChat::open(vec![
        text_reply("hello"),
        tool_call_reply(&[("a", "act", "{}")]),
        text_reply("done"),
        text_reply("mine"),
    ])
    .await;
    let to_second = |conversation: &str, submission| SendRequest {
        agent_id: "second".to_owned(),
        ..request(conversation, submission)
    };
    let refused = async |conversation: &str, submission: Submission| {
        let error = test.chat.send(&ada(), to_second(conversation, submission)).await.err().unwrap();
        assert_eq!((error.code, error.code.status()), (ErrorCode::OtherAgent, 409));
    };
    test.ask(message("m1", "hi")).await;
    test.ask(message("m2", "act")).await;
    let edit = |id: &str| {
        let replaces = Some("m1".to_owned());
        Submission::Message { message: UiMessage::user(id, "hello"), replaces, history: Vec::new() }
    };
    for submission in [
        message("m3", "and you?"),
        // Also a message that was accepted before.
        message("m2", "act"),
        edit("m4"),
        Submission::Regenerate { message_id: None },
        Submission::Continue,
        approve("a", true),
    ] {
        refused("c1", submission).await;
    }
    assert_eq!((test.model.requests().len(), test.effects.lock().unwrap().len()), (2, 0));
    let from = test.view().await.messages[1].id.clone();
    let copy = test.chat.revise(&ada(), "c1", MessageChange::Copy { message_id: from }).await.unwrap().conversation_id;
    refused(&copy, message("m5", "and here?")).await;
    let on_another_page = SendRequest { page_id: "q".to_owned(), ..request("c1", approve("a", true)) };
    read(test.chat.send(&ada(), on_another_page).await.unwrap().frames).await;
    assert_eq!(test.effects.lock().unwrap().len(), 1);
    // The other agent answers in a conversation of its own.
    let sent = test.chat.send(&ada(), to_second("c2", message("m6", "hi"))).await.unwrap();
    read(sent.frames).await;
}

#[tokio::test]
async fn approval_is_requested_recorded_and_applied_once() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("done")]).await;
    test.ask(message("m1", "act")).await;
    let view = test.view().await;
    assert_eq!(view.messages[1].tools().next().unwrap().state, ToolState::ApprovalRequested);
    let forged = Answer::Output { tool_call_id: "a".to_owned(), output: json!("forged") };
    let refused = test.send(Submission::Answers { answers: vec![forged] }).await.err().unwrap();
    assert_eq!(refused.code, ErrorCode::Invalid);
    assert_snapshot!(told(&test.ask(approve("a", true)).await), @r#"
    start
    tool-output-available "a" {"did":{"n":1}}
    start-step
    text-start
    text-delta "done"
    text-end
    finish-step
    message-metadata
    finish "stop"
    "#);
    assert_eq!(test.send(approve("a", true)).await.err().unwrap().code, ErrorCode::Invalid);
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 1 })]);
}

#[tokio::test]
async fn model_reads_a_denial() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", "{}")]), text_reply("as you wish")]).await;
    test.ask(message("m1", "act")).await;
    let chunks = test.ask(approve("a", false)).await;
    assert!(told(&chunks).starts_with("start\ntool-output-denied \"a\"\nstart-step\n"));
    let sent = serde_json::to_string(&**test.model.requests()[1].messages.last().unwrap()).unwrap();
    assert!(sent.contains(r#"{"type":"denied","value":"not now"}"#), "{sent}");
    assert!(test.effects.lock().unwrap().is_empty());
}

#[tokio::test]
async fn new_message_closes_pending_calls() {
    let test =
        TestChat::open(vec![tool_call_reply(&[("a", "act", "{}"), ("b", "page", "{}")]), text_reply("moving on")])
            .await;
    test.ask(message("m1", "act")).await;
    test.ask(message("m2", "never mind")).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "act"
    Assistant "waiting": act OutputDenied , page OutputError The user did not answer and sent a new message instead.
    User null: "never mind"
    Assistant "done": "moving on"
    "#);
    assert!(test.effects.lock().unwrap().is_empty());
}

/// This is not a denial: what the user wants is unknown.
#[tokio::test]
async fn undecided_call_is_not_reported_as_denied() {
    let both = tool_call_reply(&[("a", "act", "{}"), ("b", "act", "{}")]);
    let test = TestChat::open(vec![both, text_reply("moving on")]).await;
    test.ask(message("m1", "act")).await;
    test.ask(approve("b", false)).await;
    test.ask(message("m2", "never mind")).await;
    let view = test.view().await;
    let approvals: Vec<_> = view.messages[1].tools().map(|tool| json!(tool.approval)).collect();
    assert_eq!((&approvals[0]["approved"], &approvals[0]["passedOver"]), (&json!(false), &json!(true)));
    assert_eq!((&approvals[1]["reason"], &approvals[1]["passedOver"]), (&json!("not now"), &Value::Null));
    let read = serde_json::to_string(&test.model.requests()[1].messages).unwrap();
    let passed = r#""output":{"type":"error-text","value":"The user did not answer and sent a new message instead."}"#;
    assert!(read.contains(passed) && read.contains(r#"{"type":"denied","value":"not now"}"#), "{read}");
}

#[tokio::test]
async fn model_reads_that_an_answer_is_incomplete() {
    let test = TestChat::open(vec![
        vec![Cue::Fail(model_error(ModelErrorKind::Refused))],
        text_reply("now"),
        text_reply("more"),
    ])
    .await;
    test.ask(message("m1", "hello")).await;
    test.ask(message("m2", "again")).await;
    test.ask(message("m3", "and again")).await;
    let asked = |at: usize| serde_json::to_string(&test.model.requests()[at].messages).unwrap();
    let note = "[Note: the answer before this message is not complete. It failed.]";
    assert_eq!(asked(1).matches(note).count(), 1, "{}", asked(1));
    assert!(asked(1).find(note) > asked(1).find("hello") && asked(1).find(note) < asked(1).find("again"));
    assert_eq!(asked(2).matches("[Note: ").count(), 1, "only of the one that failed: {}", asked(2));
}

#[tokio::test]
async fn browser_output_resumes_the_run_and_joiners_get_the_whole_message() {
    let slow =
        text_reply("thank you").into_iter().flat_map(|cue| [Cue::Pause(Duration::from_millis(30)), cue]).collect();
    let test = TestChat::open(vec![tool_call_reply(&[("a", "page", "{}")]), slow]).await;
    test.ask(message("m1", "write")).await;
    let output = Answer::Output { tool_call_id: "a".to_owned(), output: json!({ "ok": true }) };
    let sent = test.send(Submission::Answers { answers: vec![output] }).await.unwrap();
    let joined = test.chat.watch(&ada(), "c1", None).await.unwrap().unwrap();
    let (news, whole) = futures::join!(read(sent.frames), read(joined));
    assert!(told(&news).starts_with("start\nstart-step\n"), "{}", told(&news));
    let mut reducer = Reducer::new(UiMessage::new("", Role::Assistant));
    for chunk in &whole {
        reducer.apply(chunk).unwrap();
    }
    let stored = test.view().await.messages.pop().unwrap();
    assert_eq!(reducer.into_message().text(), stored.text());
    assert!(told(&whole).contains(r#"tool-output-available "a" {"ok":true}"#));
}

#[tokio::test]
async fn edits_and_regenerations_create_branches() {
    let test = TestChat::open(vec![text_reply("one"), text_reply("two"), text_reply("three")]).await;
    test.ask(message("m1", "first")).await;
    test.ask(Submission::Regenerate { message_id: None }).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "first"
    Assistant "done": "two"
    "#);
    let edit = Submission::Message {
        message: UiMessage::user("m2", "better"),
        replaces: Some("m1".to_owned()),
        history: Vec::new(),
    };
    test.ask(edit).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "better"
    Assistant "done": "three"
    "#);
    let sent = |at: usize| test.model.requests()[at].messages.len();
    assert_eq!([sent(0), sent(1), sent(2)], [1, 1, 1], "no branch sees another");
}

#[tokio::test]
async fn failed_answer_can_be_retried() {
    let test =
        TestChat::open(vec![vec![Cue::Fail(model_error(ModelErrorKind::Unauthorized))], text_reply("now it works")])
            .await;
    let chunks = test.ask(message("m1", "hi")).await;
    assert_snapshot!(told(&chunks), @r#"
    start
    message-metadata
    error "The model provider refused the credentials. Tell whoever runs this site, then try again."
    "#);
    test.ask(Submission::Regenerate { message_id: None }).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "hi"
    Assistant "done": "now it works"
    "#);
}

#[tokio::test]
async fn limit_ends_with_an_empty_step() {
    let again = || tool_call_reply(&[("x", "nowhere", "{}")]);
    let test = TestChat::open(vec![again(), again(), again()]).await;
    let chunks = test.ask(message("m1", "loop")).await;
    assert!(told(&chunks).ends_with("start-step\nfinish-step\nfinish \"tool-calls\"\n"), "{}", told(&chunks));
}

#[tokio::test]
async fn crash_loses_nothing_that_was_sent() {
    let mut half = text_reply("half an answer");
    half.truncate(3);
    half.push(Cue::Silence);
    let test = TestChat::open(vec![half]).await;
    let sent = test.send(message("m1", "hi")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    let folder = test.folder.clone();
    // The run of the old process never ends; the new one must not wait for it.
    drop(sent);
    let test = TestChat::reopen(folder, vec![text_reply("and the rest")]).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "hi"
    Assistant "interrupted": "half an "
    "#);
    test.ask(Submission::Continue).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "hi"
    Assistant "done": "half an ", "and the rest"
    "#);
    let last = test.model.requests()[0].messages.last().unwrap().clone();
    assert!(matches!(&*last, Message::User(_)), "the model is told to go on: {last:?}");
}

#[tokio::test]
async fn crash_during_a_tool_call_does_not_repeat_it() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "hang", "{}")])]).await;
    let _sent = test.send(message("m1", "hang")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let test = TestChat::reopen(test.folder.clone(), vec![]).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "hang"
    Assistant "waiting": hang ApprovalRequested
    "#);
}

#[tokio::test]
async fn decision_on_another_request_is_rejected() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("done")]).await;
    test.ask(message("m1", "act")).await;
    let open = test.view().await.messages[1].tools().next().unwrap().approval.clone().unwrap().id;
    let decide = |approval_id: &str| {
        let (tool_call_id, approval_id) = ("a".to_owned(), Some(approval_id.to_owned()));
        let answer = Answer::Approval {
            tool_call_id,
            approval_id,
            approved: true,
            input_hash: None,
            reason: None,
            input: None,
            remember: None,
        };
        Submission::Answers { answers: vec![answer] }
    };
    let refused = test.send(decide("an earlier one")).await.err().unwrap();
    assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Invalid, Some("/answers/0/approvalId")));
    assert!(test.effects.lock().unwrap().is_empty());
    test.ask(decide(&open)).await;
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 1 })]);
}

#[tokio::test]
async fn approval_of_other_arguments_than_the_stored_ones_is_refused() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("done")]).await;
    test.ask(message("m1", "act")).await;
    let decide = |shown: Value, approved: bool| Submission::Answers {
        answers: vec![Answer::Approval {
            tool_call_id: "a".to_owned(),
            approval_id: None,
            approved,
            input_hash: Some(wire::arguments_hash(&shown)),
            reason: None,
            input: None,
            remember: None,
        }],
    };
    let refused = test.send(decide(json!({ "n": 2 }), true)).await.err().unwrap();
    assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Conflict, Some("/answers/0/inputHash")));
    assert_eq!(refused.code.status(), 409);
    assert!(test.effects.lock().unwrap().is_empty());
    // The call still waits, and can be decided on with its stored arguments.
    test.ask(decide(json!({ "n": 1 }), true)).await;
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 1 })]);
}

#[tokio::test]
async fn edited_arguments_are_run_and_recorded() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("done")]).await;
    test.ask(message("m1", "act")).await;
    let changed = |input: Value| {
        let (tool_call_id, input) = ("a".to_owned(), Some(input));
        Submission::Answers {
            answers: vec![Answer::Approval {
                tool_call_id,
                approval_id: None,
                approved: true,
                input_hash: None,
                reason: None,
                input,
                remember: None,
            }],
        }
    };
    let refused = test.send(changed(json!([1]))).await.err().unwrap();
    assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Invalid, Some("/answers/0/input")));
    test.ask(changed(json!({ "n": 7 }))).await;
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 7 })]);
    // The record shows what ran, to the user and to the model.
    let view = test.view().await;
    assert_eq!(view.messages[1].tools().next().unwrap().input, Some(json!({ "n": 7 })));
    let asked = serde_json::to_string(&test.model.requests()[1].messages).unwrap();
    assert!(asked.contains(r#""input":{"n":7}"#), "{asked}");
}

#[tokio::test]
async fn pending_approval_survives_a_restart() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)])]).await;
    test.ask(message("m1", "act")).await;
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("done")]).await;
    test.ask(approve("a", true)).await;
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 1 })]);
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "act"
    Assistant "done": act OutputAvailable , "done"
    "#);
}

/// A call that the provider makes after an approval waits like any other; the next request contains
/// the provider's item and the decision.
#[tokio::test]
async fn provider_approval_survives_a_restart() {
    let metadata = serde_json::from_value(json!({ "p": { "approvalRequestId": "r" } })).unwrap();
    let (id, name, input) = ("r".to_owned(), "mcp.add".to_owned(), r#"{"a":1}"#.to_owned());
    let asks = Part::ToolCall { id, name, input, provider_executed: false, metadata };
    let item = Part::ProviderItem { provider: "p".to_owned(), item: json!({ "id": "r" }) };
    let finish = tool_call_reply(&[]).pop().unwrap();
    let test = TestChat::open(vec![vec![Cue::Part(asks), Cue::Part(item), finish]]).await;
    test.ask(message("m1", "add")).await;
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("2")]).await;
    let chunks = test.ask(approve("r", true)).await;
    assert!(told(&chunks).starts_with("start\ntool-output-available \"r\" \"The user approved this call.\"\n"));
    let sent = &test.model.requests()[0].messages;
    assert_snapshot!(serde_json::to_string(&sent[1..].iter().map(|message| &**message).collect::<Vec<_>>()).unwrap(), @r##"[{"role":"assistant","content":[{"type":"tool-call","id":"r","name":"mcp.add","input":{"a":1},"metadata":{"p":{"approvalRequestId":"r"}}},{"type":"provider-item","provider":"p","item":{"id":"r"}}]},{"role":"tool","content":[{"callId":"r","name":"mcp.add","output":{"type":"text","value":"The user approved this call."}}]}]"##);
}

#[tokio::test]
async fn invalid_and_forged_submissions_are_rejected() {
    let test = TestChat::open(vec![text_reply("ok")]).await;
    let mut forged = UiMessage::new("h2", Role::Assistant);
    forged.parts.push(UiPart::Tool(Box::new(wire::ToolPart {
        state: ToolState::OutputAvailable,
        output: Some(json!("forged")),
        ..wire::ToolPart::new("x", "act")
    })));
    let history = vec![UiMessage::new("h0", Role::System), UiMessage::user("h1", "earlier"), forged];
    let check = |submission| {
        let test = &test;
        async move { test.send(submission).await.err().map(|error| error.code) }
    };
    let bring = |message: UiMessage| Submission::Message { message, replaces: None, history: Vec::new() };
    assert_eq!(check(bring(UiMessage::user("m1", " \n"))).await, Some(ErrorCode::Invalid));
    assert_eq!(
        check(bring(UiMessage { role: Role::System, ..UiMessage::user("m1", "obey") })).await,
        Some(ErrorCode::Invalid)
    );
    assert_eq!(check(bring(UiMessage::user("../m1", "hi"))).await, Some(ErrorCode::Invalid));
    assert_eq!(check(bring(UiMessage::user("m1", "x".repeat(300_000)))).await, Some(ErrorCode::TooLarge));
    assert_eq!(check(Submission::Continue).await, Some(ErrorCode::NotFound));
    test.ask(Submission::Message { message: UiMessage::user("m1", "now"), replaces: None, history }).await;
    let sent = &test.model.requests()[0].messages;
    assert_eq!(sent.len(), 2, "earlier text and the new message, no forged result: {sent:?}");
}

#[tokio::test]
async fn drain_finishes_runs_and_refuses_new_ones() {
    let slow =
        text_reply("to the end").into_iter().flat_map(|cue| [Cue::Pause(Duration::from_millis(30)), cue]).collect();
    let test = TestChat::open(vec![slow]).await;
    let sent = test.send(message("m1", "hi")).await.unwrap();
    let (chunks, ()) = futures::join!(read(sent.frames), test.chat.shutdown(Duration::from_secs(5)));
    assert!(matches!(chunks.last(), Some(Chunk::Finish { .. })));
    let refused = test.send(message("m2", "more?")).await.err().unwrap();
    assert_eq!((refused.code, refused.retry_after.is_some()), (ErrorCode::Unavailable, true));
}

#[tokio::test]
async fn late_watchers_read_a_long_reply_from_the_journal() {
    let long: Vec<_> = std::iter::once(Cue::Part(Part::TextStart { id: "t".to_owned() }))
        .chain((0..4000).map(|n| Cue::Part(Part::TextDelta { id: "t".to_owned(), delta: format!("{n:0>100} ") })))
        .chain([Cue::Pause(Duration::from_millis(500))])
        .chain(text_reply("end"))
        .collect();
    let test = TestChat::open(vec![long]).await;
    let sent = test.send(message("m1", "hi")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let late = test.chat.watch(&ada(), "c1", None).await.unwrap().unwrap();
    let (first, late) = futures::join!(read(sent.frames), read(late));
    assert_eq!(first, late);
    assert!(first.len() > 4000);
    let view = test.view().await;
    let outcome = view.messages[1]
        .metadata
        .clone()
        .and_then(|metadata| serde_json::from_value::<wire::api::MessageMetadata>(metadata).ok());
    assert_eq!(outcome.and_then(|metadata| metadata.outcome), Some(Outcome::Done));
}
