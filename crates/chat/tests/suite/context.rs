//! The context of a long conversation in the store: it is the same after a crash and on a branch, and
//! a failed summary is told and tried again later.

use agent::{Agent, ContextSettings, ContextTriggers, RunSettings};
use chat::{AgentRequest, AgentSource, Caller, Chat};
use contract::testing::{Cue, RecordingTool, ScriptedModel, text_reply, tool_call_reply};
use contract::{Part, Request, Tool, ToolSpec, Usage};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tempfile::TempDir;
use wire::api::{MessageMetadata, Outcome, SendRequest, Submission};
use wire::{CONTEXT_CLEARED, CONTEXT_SUMMARY, ErrorCode, SUMMARY_FAILED, SummaryData, UiMessage, UiPart, UserError};

struct OneAgent(Arc<Agent>);

impl AgentSource for OneAgent {
    fn agent<'a>(&'a self, _: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async { Ok(self.0.clone()) })
    }

    fn by_id<'a>(&'a self, _: &'a Caller, _: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

/// A server. Dropping it simulates a crash.
struct Server {
    chat: Chat,
    model: Arc<ScriptedModel>,
}

impl Server {
    async fn open(folder: &TempDir, replies: Vec<Vec<Cue>>) -> Self {
        let model = Arc::new(ScriptedModel::new(replies));
        let look = RecordingTool::new(ToolSpec::new("look", "", json!({ "type": "object" })), |_, _| async {
            Ok(Value::from("z".repeat(2_000)))
        });
        let triggers = ContextTriggers { tokens: Some(2_000), ..ContextTriggers::default() };
        let context =
            ContextSettings { triggers, keep_messages: 4, keep_tool_results: 1, ..ContextSettings::default() };
        let settings = RunSettings { max_retries: 0, context, ..RunSettings::default() };
        let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(look)];
        let agent = Agent { tools, settings, ..Agent::new("helper", model.clone()) };
        let store = Store::open(&test_postgres::database_for(folder.path()).await).await.unwrap();
        let chat = Chat::open(store, Arc::new(OneAgent(Arc::new(agent))), 8).await.unwrap();
        Self { chat, model }
    }

    async fn send(&self, id: &str, replaces: Option<&str>) {
        self.submit(request(id, replaces)).await;
    }

    async fn submit(&self, request: SendRequest) {
        let frames = self.chat.send(&ada(), request).await.unwrap().frames;
        frames.collect::<Vec<_>>().await;
        self.idle().await;
    }

    /// Returns how the newest answer ended, with the tokens of its context.
    async fn ending(&self) -> (Option<Outcome>, Option<u64>) {
        let view = self.chat.conversation(&ada(), "c1").await.unwrap();
        let metadata = MessageMetadata::from_message(view.messages.last().unwrap());
        (metadata.outcome, metadata.context_used)
    }

    /// Waits until the run is closed.
    async fn idle(&self) {
        while self.chat.watch(&ada(), "c1", None).await.unwrap().is_some() {
            tokio::task::yield_now().await;
        }
    }

    /// Returns the data parts of a kind on the branch, oldest first.
    async fn parts(&self, kind: &str) -> Vec<Value> {
        let view = self.chat.conversation(&ada(), "c1").await.unwrap();
        let parts = view.messages.iter().flat_map(|message| &message.parts);
        let data = parts.filter_map(|part| match part {
            UiPart::Data(data) if data.kind == kind => Some(data.data.clone()),
            _ => None,
        });
        data.collect()
    }
}

fn request(id: &str, replaces: Option<&str>) -> SendRequest {
    let message = UiMessage::user(id, format!("{id} {}", "q".repeat(1_000)));
    submission(Submission::Message { message, replaces: replaces.map(str::to_owned), history: Vec::new() })
}

/// A message with this text.
fn says(id: &str, text: &str) -> SendRequest {
    let message = UiMessage::user(id, text);
    submission(Submission::Message { message, replaces: None, history: Vec::new() })
}

fn submission(submission: Submission) -> SendRequest {
    SendRequest {
        page_id: "p".to_owned(),
        block_id: None,
        agent_id: "helper".to_owned(),
        conversation_id: "c1".to_owned(),
        submission,
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: Default::default(),
    }
}

fn ada() -> Caller {
    Caller::signed_in("ada")
}

fn text(request: &Request) -> String {
    request.messages.iter().map(|message| format!("{message:?}\n")).collect()
}

fn replies(count: usize) -> Vec<Vec<Cue>> {
    std::iter::repeat_with(|| text_reply("Yes.")).take(count).collect()
}

/// Fills a conversation until the next message leads to a summary.
async fn filled(folder: &TempDir) -> Server {
    let server = Server::open(folder, replies(7)).await;
    for at in 1..=7 {
        server.send(&format!("u{at}"), None).await;
    }
    assert_eq!(server.parts(CONTEXT_SUMMARY).await, Vec::<Value>::new());
    server
}

#[tokio::test]
async fn summary_is_the_same_after_a_crash() {
    let folder = TempDir::new().unwrap();
    drop(filled(&folder).await);
    let server = Server::open(&folder, vec![text_reply("The facts."), text_reply("Yes.")]).await;
    server.send("u8", None).await;
    let summaries = server.parts(CONTEXT_SUMMARY).await;
    let [summary] = &summaries[..] else { panic!("{summaries:?}") };
    let summary: SummaryData = serde_json::from_value(summary.clone()).unwrap();
    assert_eq!((summary.text.as_str(), summary.model.as_str()), ("The facts.", "scripted/test"));
    assert!(summary.tokens_after < summary.tokens_before && summary.at > 0, "{summary:?}");
    let before = text(&server.model.requests()[1]);
    assert!(before.contains("The facts.") && before.contains("u8 ") && !before.contains("u1 "), "{before}");
    let usage = server.chat.usage(&ada(), "c1").await.unwrap();
    assert_eq!(usage.steps.iter().filter(|step| step.number == 0).count(), 1, "the summary is counted");
    drop(server);
    // Another process sends the same bytes again, and asks for no other summary.
    let server = Server::open(&folder, replies(1)).await;
    server.send("u9", None).await;
    let requests = server.model.requests();
    assert_eq!(requests.len(), 1);
    assert!(text(&requests[0]).starts_with(&before));
}

#[tokio::test]
async fn summary_survives_a_server_that_dies_in_the_run() {
    let folder = TempDir::new().unwrap();
    drop(filled(&folder).await);
    let server = Server::open(&folder, vec![text_reply("The facts."), vec![Cue::Silence]]).await;
    let frames = server.chat.send(&ada(), request("u8", None)).await.unwrap().frames;
    // The second request is made once the summary is stored.
    while server.model.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop((frames, server));
    let server = Server::open(&folder, replies(1)).await;
    assert_eq!(server.parts(CONTEXT_SUMMARY).await.len(), 1);
    server.send("u9", None).await;
    let requests = server.model.requests();
    assert_eq!(requests.len(), 1);
    assert!(text(&requests[0]).contains("The facts.") && !text(&requests[0]).contains("u1 "));
}

#[tokio::test]
async fn summary_belongs_to_its_branch() {
    let folder = TempDir::new().unwrap();
    drop(filled(&folder).await);
    let server = Server::open(&folder, vec![text_reply("The facts."), text_reply("Yes."), text_reply("Yes.")]).await;
    server.send("u8", None).await;
    // The new branch leaves the conversation before the summary was made.
    server.send("v3", Some("u3")).await;
    assert_eq!(server.parts(CONTEXT_SUMMARY).await, Vec::<Value>::new());
    let sent = text(&server.model.requests()[2]);
    assert!(sent.contains("u1 ") && sent.contains("v3 ") && !sent.contains("The facts."), "{sent}");
}

#[tokio::test]
async fn failed_summary_is_told_and_rests() {
    let folder = TempDir::new().unwrap();
    drop(filled(&folder).await);
    let server = Server::open(&folder, vec![text_reply("  "), text_reply("Yes."), text_reply("Yes.")]).await;
    server.send("u8", None).await;
    server.send("u9", None).await;
    assert_eq!(server.parts(SUMMARY_FAILED).await.len(), 1);
    let requests = server.model.requests();
    assert_eq!(requests.len(), 3, "no second attempt within a minute");
    assert!(text(&requests[2]).starts_with(&text(&requests[1])), "the whole context goes on");
    assert!(text(&requests[2]).contains("u1 "));
}

#[tokio::test]
async fn cleared_results_stay_cleared() {
    let folder = TempDir::new().unwrap();
    let calls = |id: &str| tool_call_reply(&[(id, "look", "{}")]);
    let script = vec![calls("a"), calls("b"), calls("c"), calls("d"), text_reply("Seen.")];
    let server = Server::open(&folder, script).await;
    server.send("u1", None).await;
    let cleared = server.parts(CONTEXT_CLEARED).await;
    assert_eq!(cleared.iter().map(|part| &part["throughCallId"]).collect::<Vec<_>>(), [&json!("c")]);
    let before = text(server.model.requests().last().unwrap());
    assert_eq!(before.matches("was cleared").count(), 3, "{before}");
    drop(server);
    let server = Server::open(&folder, replies(1)).await;
    server.send("u2", None).await;
    let requests = server.model.requests();
    assert!(text(&requests[0]).starts_with(&before));
    assert!(requests[0].tools.iter().any(|tool| tool.name == "read-tool-result"));
}

#[tokio::test]
async fn shortened_results_stay_shortened() {
    let folder = TempDir::new().unwrap();
    let calls: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(|id| (id, "look", "{}")).into();
    let server = Server::open(&folder, vec![tool_call_reply(&calls), text_reply("Seen.")]).await;
    server.submit(says("u1", "Look.")).await;
    let cleared = server.parts(CONTEXT_CLEARED).await;
    let through: Vec<_> = cleared.iter().map(|part| &part["shortenedThroughCallId"]).collect();
    assert_eq!(through, [&json!("f")], "{cleared:?}");
    let before = text(server.model.requests().last().unwrap());
    assert_eq!(before.matches("bytes are left out here").count(), 6, "{before}");
    drop(server);
    let server = Server::open(&folder, replies(1)).await;
    server.submit(says("u2", "And now?")).await;
    let requests = server.model.requests();
    assert!(text(&requests[0]).starts_with(&before), "{}", text(&requests[0]));
}

/// The tokens that the provider counted with the newest answer correct the estimates of the next one, also in
/// another process.
#[tokio::test]
async fn estimates_are_corrected_after_a_reload() {
    let check = async |input_tokens: u64, summarizes: bool| {
        let folder = TempDir::new().unwrap();
        let mut counted = text_reply("Yes.");
        for cue in &mut counted {
            if let Cue::Part(Part::Finish { usage, .. }) = cue {
                *usage = Usage { input_tokens, output_tokens: 500, ..Usage::default() };
            }
        }
        let script = replies(3).into_iter().chain([counted]).collect();
        let server = Server::open(&folder, script).await;
        for at in 1..=4 {
            server.send(&format!("u{at}"), None).await;
        }
        drop(server);
        // The summary may be made in pieces.
        let script = std::iter::repeat_with(|| text_reply("The facts.")).take(6).collect();
        let server = Server::open(&folder, script).await;
        server.send("u5", None).await;
        assert_eq!(!server.parts(CONTEXT_SUMMARY).await.is_empty(), summarizes, "{input_tokens}");
    };
    check(2_400, true).await;
    check(1_100, false).await;
}

#[tokio::test]
async fn user_has_the_conversation_summarised() {
    let folder = TempDir::new().unwrap();
    let answers = vec![text_reply("Yes."), text_reply("Yes."), text_reply("The facts."), text_reply("Yes.")];
    let server = Server::open(&folder, answers).await;
    server.send("u1", None).await;
    server.send("u2", None).await;
    server.submit(says("u3", "/compact keep the <numbers>")).await;
    let summaries = server.parts(CONTEXT_SUMMARY).await;
    let [summary] = &summaries[..] else { panic!("{summaries:?}") };
    assert_eq!(summary["text"], "The facts.");
    assert_eq!(server.ending().await, (Some(Outcome::Done), summary["tokensAfter"].as_u64()));
    let asked = &server.model.requests()[2];
    assert!(text(asked).contains("<what-matters>\\nkeep the <numbers>\\n</what-matters>"), "{}", text(asked));
    assert!(text(asked).contains("u1 ") && text(asked).contains("u2 ") && asked.tools.is_empty());
    let usage = server.chat.usage(&ada(), "c1").await.unwrap();
    assert_eq!(usage.steps.iter().filter(|step| step.number == 0).count(), 1, "the summary is counted");

    let again = server.chat.send(&ada(), says("u4", "/compact")).await.map(|_| ()).unwrap_err();
    assert!(again.message.contains("nothing to summarize"), "{again:?}");
    assert_eq!(server.chat.conversation(&ada(), "c1").await.unwrap().messages.len(), 6, "nothing is stored of it");

    server.send("u5", None).await;
    let sent = text(&server.model.requests()[3]);
    assert!(sent.contains("The facts.") && sent.contains("u5 ") && !sent.contains("u2 "), "{sent}");
    assert!(!sent.contains("/compact"), "the command is nothing to the model: {sent}");
    drop(server);
    let server = Server::open(&folder, replies(1)).await;
    server.send("u6", None).await;
    assert!(text(&server.model.requests()[0]).starts_with(&sent), "it is the same after a crash");
}

#[tokio::test]
async fn ids_of_summarised_calls_stay_taken() {
    let folder = TempDir::new().unwrap();
    let calls = || tool_call_reply(&[("a", "look", "{}")]);
    let answers = vec![calls(), text_reply("Seen."), text_reply("Yes."), text_reply("The facts.")];
    let server = Server::open(&folder, answers).await;
    server.send("u1", None).await;
    server.send("u2", None).await;
    server.submit(says("u3", "/compact")).await;
    drop(server);
    let server = Server::open(&folder, vec![calls(), text_reply("Seen.")]).await;
    server.send("u4", None).await;
    let sent = text(&server.model.requests()[0]);
    assert!(sent.contains("The facts.") && !sent.contains("u1 "), "{sent}");
    let view = server.chat.conversation(&ada(), "c1").await.unwrap();
    let tools = view.messages.iter().flat_map(|message| message.tools());
    assert_eq!(tools.map(|tool| tool.tool_call_id.as_str()).collect::<Vec<_>>(), ["a", "a-2"]);
}

#[tokio::test]
async fn demanded_summary_that_fails_or_is_stopped_loses_nothing() {
    let folder = TempDir::new().unwrap();
    let answers = vec![
        text_reply("Yes."),
        text_reply("  "),
        text_reply("Yes."),
        vec![Cue::Silence],
        text_reply("The facts."),
        text_reply("Yes."),
    ];
    let server = Server::open(&folder, answers).await;
    server.send("u1", None).await;
    server.submit(says("u2", "/compact")).await;
    assert_eq!(server.parts(SUMMARY_FAILED).await.len(), 1);
    assert_eq!(server.ending().await.0, Some(Outcome::Failed));
    server.send("u3", None).await;
    let sent = text(&server.model.requests()[2]);
    assert!(sent.contains("u1 ") && sent.contains("u3 "), "{sent}");
    assert!(!sent.contains("/compact") && !sent.contains("not complete"), "{sent}");

    let frames = server.chat.send(&ada(), says("u4", "/compact")).await.unwrap().frames;
    while server.model.requests().len() < 4 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.chat.stop(&ada(), "c1").await.unwrap();
    frames.collect::<Vec<_>>().await;
    server.idle().await;
    assert_eq!((server.ending().await.0, server.parts(CONTEXT_SUMMARY).await), (Some(Outcome::Stopped), Vec::new()));
    // The user goes on with it.
    server.submit(submission(Submission::Continue)).await;
    assert_eq!(server.parts(CONTEXT_SUMMARY).await.len(), 1);
    server.send("u5", None).await;
    let sent = text(&server.model.requests()[5]);
    assert!(sent.contains("The facts.") && !sent.contains("u3 ") && !sent.contains("/compact"), "{sent}");
}

#[tokio::test]
async fn empty_summary_on_demand_is_told_as_such() {
    let folder = TempDir::new().unwrap();
    drop(filled(&folder).await);
    let server = Server::open(&folder, vec![text_reply(" ")]).await;
    let frames: Vec<_> = server.chat.send(&ada(), says("u8", "/compact")).await.unwrap().frames.collect().await;
    server.idle().await;
    let told = format!("{frames:?}");
    assert!(told.contains("The summary was empty, so nothing was changed."), "{told}");
    assert_eq!(server.parts(CONTEXT_SUMMARY).await, Vec::<Value>::new());
}

#[tokio::test]
async fn summary_is_demanded_only_where_there_is_something_to_summarise() {
    let folder = TempDir::new().unwrap();
    let server = Server::open(&folder, replies(1)).await;
    let first = server.chat.send(&ada(), says("u1", "/compact")).await.map(|_| ()).unwrap_err();
    assert!(first.message.contains("nothing to summarize"), "{first:?}");
    assert_eq!(server.chat.conversation(&ada(), "c1").await.unwrap_err().code, ErrorCode::NotFound);
    let unknown = server.chat.compact(&ada(), says("u1", ""), None).await.map(|_| ()).unwrap_err();
    assert_eq!(unknown.code, ErrorCode::NotFound);
    server.send("u1", None).await;
    let long = server.chat.compact(&ada(), says("u2", ""), Some(&"x".repeat(2_001))).await.map(|_| ()).unwrap_err();
    assert_eq!((long.code, long.path.as_deref()), (ErrorCode::Invalid, Some("/focus")));
    assert_eq!(server.model.requests().len(), 1);
}
