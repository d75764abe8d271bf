//! Whole conversations with a real store: what is sent, what is stored, who has access, and what
//! remains after a crash.

mod approvals;
mod frontends;
mod hand_over;
mod runs;
mod submissions;

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
        let agent = Agent { tools, settings, ..Agent::new("helper", model.clone()) };
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

    /// Waits until the conversation contains this text.
    async fn until_written(&self, text: &str) {
        let written = async {
            while !serde_json::to_string(&self.view().await.messages).unwrap().contains(text) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), written).await.expect("it is written");
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
        options: Default::default(),
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
    let all = tokio::time::timeout(Duration::from_secs(60), frames.collect::<Vec<_>>()).await.expect("the stream ends");
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
async fn failed_answer_can_be_retried() {
    let test =
        TestChat::open(vec![vec![Cue::Fail(model_error(ModelErrorKind::Unauthorized))], text_reply("now it works")])
            .await;
    let chunks = test.ask(message("m1", "hi")).await;
    assert_snapshot!(told(&chunks), @r#"
    start
    message-metadata
    error "The model provider refused the credentials. Tell the administrator, then try again."
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
    test.until_written("half an ").await;
    // What is shown is stored soon after.
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
    test.until_written("tool-hang").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let test = TestChat::reopen(test.folder.clone(), vec![]).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "hang"
    Assistant "waiting": hang ApprovalRequested
    "#);
}
