//! The stable prefix: what is sent to a provider begins with what was sent before, in a turn and
//! across turns, so that the provider's cache is hit. Every recorded stream of every provider is
//! played over HTTP, through the codec, the loop, the store and back.

mod peer;

use agent::{Agent, DeferTools, RunSettings};
use chat::{AgentRequest, AgentSource, Caller, Chat};
use contract::testing::RecordingTool;
use contract::{Model, Tool, ToolSpec};
use futures::StreamExt;
use futures::future::BoxFuture;
use peer::Peer;
use providers::ModelSettings;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use store::Store;
use tempfile::TempDir;
use wire::api::{Answer, SendRequest, Submission};
use wire::{ToolState, UiMessage, UserError};

/// A provider: how its model is made, its folder of recordings and a plain answer of it.
struct Provider {
    model: fn(ModelSettings) -> Arc<dyn Model>,
    name: &'static str,
    folder: &'static str,
    /// The field of the request with the history.
    history: &'static str,
    /// The end of each stream.
    end: &'static str,
    plain: &'static str,
}

const CHAT_PLAIN: &str = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"Well."},"finish_reason":null}]}
{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

const PROVIDERS: [Provider; 5] = [
    Provider {
        model: |settings| Arc::new(providers::anthropic::Anthropic::new(settings)),
        name: "claude-sonnet-4-5",
        folder: "anthropic",
        history: "messages",
        end: "",
        plain: r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1}}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Well."}}
{"type":"content_block_stop","index":0}
{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}
{"type":"message_stop"}"#,
    },
    Provider {
        model: |settings| Arc::new(providers::openai_chat::OpenAiChat::new(settings)),
        name: "llama",
        folder: "openai_chat",
        history: "messages",
        end: "data: [DONE]\n\n",
        plain: CHAT_PLAIN,
    },
    Provider {
        model: |settings| Arc::new(providers::ai_gateway::AiGateway::new(settings)),
        name: "vendor/model",
        folder: "openai_chat",
        history: "messages",
        end: "data: [DONE]\n\n",
        plain: CHAT_PLAIN,
    },
    Provider {
        model: |settings| Arc::new(providers::openai_responses::OpenAiResponses::new(settings)),
        name: "gpt-5",
        folder: "openai_responses",
        history: "input",
        end: "",
        plain: r#"{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}
{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_9","type":"message","role":"assistant","content":[]}}
{"type":"response.output_text.delta","item_id":"msg_9","output_index":0,"content_index":0,"delta":"Well."}
{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_9","type":"message","role":"assistant","content":[{"type":"output_text","text":"Well."}]}}
{"type":"response.completed","response":{"id":"r","status":"completed","usage":{"input_tokens":1,"output_tokens":1}}}"#,
    },
    Provider {
        model: |settings| Arc::new(providers::google::Google::new(settings)),
        name: "gemini-3-pro-preview",
        folder: "google",
        history: "contents",
        end: "",
        plain: r#"{"candidates":[{"content":{"parts":[{"text":"Well."}],"role":"model"}}]}
{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"end"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}"#,
    },
];

impl Provider {
    fn stream(&self, recording: &str) -> String {
        let events = recording.lines().filter(|line| !line.is_empty()).map(|line| format!("data: {line}\n\n"));
        events.chain([self.end.to_owned()]).collect()
    }

    /// Returns the recordings with their names, those of each file of the folder.
    fn recordings(&self) -> Vec<(String, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../providers/fixtures").join(self.folder);
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        files.into_iter().map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
    }
}

/// How the tools of a test behave.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tools {
    Run,
    /// The tools fail.
    Fail,
    /// The user is asked, and approves.
    Ask,
    /// The user is asked, and denies.
    Deny,
    /// The agent has none of the tools that the model calls.
    Missing,
    /// No arguments fit.
    Strict,
    /// The tools are found by search.
    Deferred,
    /// The tools are found by the search of the provider, if its codec has one.
    AtProvider,
    /// The results are larger than what is sent of them.
    Large,
}

impl Tools {
    fn tools(self) -> Vec<Arc<dyn Tool>> {
        let names = ["weather", "clock", "add", "echo", "crm_find", "write_sql", "named_later", "without_id"];
        let names = if self == Self::Missing { &["other"][..] } else { &names[..] };
        let tool = |name: &&str| -> Arc<dyn Tool> {
            let schema = match self {
                Self::Strict => json!({ "type": "object", "required": ["nobody_sends_this"] }),
                _ => json!({ "type": "object" }),
            };
            let needs_approval = matches!(self, Self::Ask | Self::Deny);
            let deferrable = matches!(self, Self::Deferred | Self::AtProvider);
            let spec = ToolSpec { needs_approval, deferrable, ..ToolSpec::new(*name, "", schema) };
            Arc::new(RecordingTool::new(spec, move |input, _| async move {
                match self {
                    Self::Fail => Err(contract::ToolError::new("It does not work.")),
                    Self::Large => Ok(json!("x".repeat(100_000))),
                    _ => Ok(json!({ "did": input })),
                }
            }))
        };
        names.iter().map(tool).collect()
    }
}

/// The agent of the conversation that is played.
#[derive(Default)]
struct CurrentAgent(Mutex<Option<Arc<Agent>>>);

impl CurrentAgent {
    fn get(&self) -> Arc<Agent> {
        self.0.lock().unwrap().clone().unwrap()
    }
}

impl AgentSource for CurrentAgent {
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        let mut agent = Agent::clone(&self.get());
        if !request.shared_state.is_empty() {
            agent.page_context = Some(format!("<page-state>{}</page-state>", json!(request.shared_state)));
        }
        Box::pin(async { Ok(Arc::new(agent)) })
    }

    fn by_id<'a>(&'a self, _: &'a Caller, _: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async { Ok(self.get()) })
    }
}

fn message(id: &str, text: &str) -> Submission {
    Submission::Message { message: UiMessage::user(id, text), replaces: None, history: Vec::new() }
}

/// Sends a submission to a conversation from a page with this state.
async fn send(chat: &Chat, conversation_id: &str, submission: Submission, state: &Value) {
    let request = SendRequest {
        page_id: "p".to_owned(),
        block_id: None,
        agent_id: "helper".to_owned(),
        conversation_id: conversation_id.to_owned(),
        submission,
        shared_state: state.as_object().cloned().unwrap_or_default(),
        url_query: Map::new(),
        switches: Map::new(),
        options: Default::default(),
    };
    chat.send(&Caller::signed_in("ada"), request).await.unwrap().frames.collect::<Vec<_>>().await;
}

/// Decides on all calls that wait.
async fn decide(chat: &Chat, conversation_id: &str, approved: bool, state: &Value) {
    let view = chat.conversation(&Caller::signed_in("ada"), conversation_id).await.unwrap();
    let last = view.messages.last().unwrap();
    let open = last.tools().filter(|tool| tool.state == ToolState::ApprovalRequested);
    let answers: Vec<_> = open
        .map(|tool| Answer::Approval {
            tool_call_id: tool.tool_call_id.clone(),
            approval_id: None,
            approved,
            input_hash: None,
            reason: (!approved).then(|| "not now".to_owned()),
            input: None,
            remember: None,
        })
        .collect();
    if !answers.is_empty() {
        send(chat, conversation_id, Submission::Answers { answers }, state).await;
    }
}

/// Plays conversations in one database: to open one takes longer than a conversation.
struct Player {
    chat: Chat,
    agent: Arc<CurrentAgent>,
    played: usize,
    _folder: TempDir,
}

impl Player {
    async fn open() -> Self {
        let (folder, agent) = (TempDir::new().unwrap(), Arc::<CurrentAgent>::default());
        let store = Store::open(&test_postgres::database_for(folder.path()).await).await.unwrap();
        let chat = Chat::open(store, agent.clone(), 8).await.unwrap();
        Self { chat, agent, played: 0, _folder: folder }
    }

    async fn close(self) {
        self.chat.shutdown(std::time::Duration::from_secs(5)).await;
    }

    /// Plays a conversation of three turns whose first reply is the recording, repeated `times`, and
    /// returns the requests. The states are those of the page in the first turn, from the decisions on and
    /// in the third turn.
    async fn play(
        &mut self,
        provider: &Provider,
        recording: &str,
        tools: Tools,
        times: usize,
        states: &[Value; 3],
    ) -> Vec<Value> {
        let mut streams = vec![provider.stream(recording); times];
        streams.push(provider.stream(provider.plain));
        let peer = Peer::start(streams).await;
        let settings = ModelSettings {
            api_key: None,
            base_url: Some(peer.url.clone()),
            headers: Vec::new(),
            public_only: false,
            model: provider.name.to_owned(),
        };
        let (defer_tools, provider_has_search) = match tools {
            Tools::Deferred => (DeferTools::Always, false),
            Tools::AtProvider => (DeferTools::AtProvider(1), true),
            _ => (DeferTools::default(), false),
        };
        let run =
            RunSettings { max_retries: 0, max_steps: 8, defer_tools, provider_has_search, ..RunSettings::default() };
        let agent = Agent { tools: tools.tools(), settings: run, ..Agent::new("helper", (provider.model)(settings)) };
        *self.agent.0.lock().unwrap() = Some(Arc::new(agent));
        self.played += 1;
        let (chat, id) = (&self.chat, &format!("c{}", self.played));
        send(chat, id, message(&format!("{id}u1"), "Hello"), &states[0]).await;
        for _ in 0..times {
            decide(chat, id, tools != Tools::Deny, &states[1]).await;
        }
        send(chat, id, message(&format!("{id}u2"), "And now?"), &states[1]).await;
        send(chat, id, message(&format!("{id}u3"), "Thanks"), &states[2]).await;
        peer.bodies()
    }
}

/// Returns the history of a request without the brackets that close its last message.
fn history_text(provider: &Provider, body: &Value) -> String {
    body[provider.history].to_string().trim_end_matches([']', '}']).to_owned()
}

/// Returns a request without its history.
fn rest(provider: &Provider, body: &Value) -> Value {
    let mut rest = body.clone();
    rest.as_object_mut().unwrap().retain(|key, _| {
        // The container of the provider's own tools is not a part of the prompt.
        key != provider.history && key != "container"
    });
    rest
}

async fn check(tools: Tools, times: usize) {
    check_with_states(tools, times, &[Value::Null, Value::Null, Value::Null]).await;
}

async fn check_with_states(tools: Tools, times: usize, states: &[Value; 3]) {
    let told = states.iter().filter(|state| !state.is_null()).count();
    let (mut wrong, mut player) = (Vec::new(), Player::open().await);
    for provider in &PROVIDERS {
        for (file, recording) in provider.recordings() {
            let bodies = player.play(provider, &recording, tools, times, states).await;
            assert!(bodies.len() >= 3, "{}/{file}: {} requests", provider.folder, bodies.len());
            let last = bodies.last().map(Value::to_string).unwrap_or_default();
            assert_eq!(last.matches("<page-state>").count(), told, "{}/{file}: {last}", provider.folder);
            for (at, pair) in bodies.windows(2).enumerate() {
                let (before, after) = (history_text(provider, &pair[0]), history_text(provider, &pair[1]));
                if !after.starts_with(&before) || rest(provider, &pair[0]) != rest(provider, &pair[1]) {
                    wrong.push(format!("{} {file} request {at}\n  {}\n  {}", provider.name, pair[0], pair[1]));
                }
            }
        }
    }
    player.close().await;
    assert!(wrong.is_empty(), "{tools:?}: {} prefixes change:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn prefix_is_stable_after_calls_that_run() {
    check(Tools::Run, 1).await;
    check(Tools::Fail, 1).await;
}

#[tokio::test]
async fn prefix_is_stable_after_invalid_calls() {
    check(Tools::Missing, 1).await;
    check(Tools::Strict, 1).await;
}

#[tokio::test]
async fn prefix_is_stable_after_decisions() {
    check(Tools::Ask, 1).await;
    check(Tools::Deny, 1).await;
}

/// The warning about a loop stays in the history.
#[tokio::test]
async fn prefix_is_stable_after_a_loop() {
    check(Tools::Run, 3).await;
    check(Tools::Run, 6).await;
}

/// The contents of the page stand where they were told, once for each change.
#[tokio::test]
async fn prefix_is_stable_when_the_page_changes() {
    let states = [json!({ "n": 1 }), json!({ "n": 2 }), json!({ "n": 3 })];
    check_with_states(Tools::Run, 1, &states).await;
    check_with_states(Tools::Ask, 1, &states).await;
}

/// Calls of deferred tools are sent as the model wrote them.
#[tokio::test]
async fn prefix_is_stable_with_deferred_tools() {
    check(Tools::Deferred, 1).await;
}

/// The results of the provider's search are sent back as they came.
#[tokio::test]
async fn prefix_is_stable_with_the_search_of_the_provider() {
    check(Tools::AtProvider, 1).await;
}

/// A large result is sent short from the beginning. The tool that reads it is added once.
#[tokio::test]
async fn large_results_change_the_tools_once() {
    let mut player = Player::open().await;
    for provider in &PROVIDERS {
        let states = [Value::Null, Value::Null, Value::Null];
        let mut calling = 0;
        for (file, recording) in provider.recordings() {
            let bodies = player.play(provider, &recording, Tools::Large, 1, &states).await;
            let changes = bodies.windows(2).enumerate().filter(|(_, pair)| {
                let (before, after) = (history_text(provider, &pair[0]), history_text(provider, &pair[1]));
                assert!(after.starts_with(&before), "{}/{file}\n{}\n{}", provider.name, pair[0], pair[1]);
                rest(provider, &pair[0]) != rest(provider, &pair[1])
            });
            let changes: Vec<_> = changes.map(|(at, _)| at).collect();
            assert!(changes.is_empty() || changes == [0], "{}/{file}: {changes:?}", provider.name);
            calling += changes.len();
        }
        assert!(calling > 0, "{}: no recording has a call that runs", provider.name);
    }
    player.close().await;
}
