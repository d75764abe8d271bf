//! AG-UI, with its client as published.

use crate::process::Server;
use crate::provider::{start_provider, start_silent_provider};
use insta::assert_snapshot;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::Command;

/// Starts a server whose agents have `model` as their provider.
fn start(model: &str) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    let config = format!(
        r#"
connections:
  - {{ id: model, type: OpenAICompatible, properties: {{ baseURL: "{model}" }} }}
  - {{ id: away, type: OpenAICompatible, properties: {{ baseURL: "http://127.0.0.1:9/v1" }} }}
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: {{ model: m, instructions: Help., askUser: true }}
    tools: [find, {{ endpointId: send, confirm: true }}]
  - {{ id: broken, type: Agent, connectionId: away, properties: {{ model: m, maxRetries: 0 }} }}
  - {{ id: hidden, type: Agent, connectionId: model, properties: {{ model: m }} }}
api:
  - {{ id: find, description: Finds., payloadSchema: {{ type: object }}, routine: [{{ ":return": found }}] }}
  - {{ id: send, description: Sends., payloadSchema: {{ type: object }}, routine: [{{ ":return": {{ _payload: true }} }}] }}
pages: [{{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
agUi: {{ agents: [helper, broken] }}
"#
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

/// Returns the output of a script that uses the client with the server.
async fn run(model: &str, script: &str) -> String {
    let (server, _folder) = start(model);
    let key = server.api_key(&["agents"]).await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../end2end/ag_ui").join(script);
    let mut command = Command::new("node");
    command.arg(script).arg(&server.origin).arg(key).env("no_proxy", "127.0.0.1");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed
}

#[tokio::test(flavor = "multi_thread")]
async fn client_of_ag_ui_works() {
    assert_snapshot!(run(&start_provider().await, "client.mjs").await, @r#"
    plain: [["assistant hello"],"success",{"outcome":"done","reason":"done"},true]
    events: ["RUN_STARTED","STEP_STARTED","TEXT_MESSAGE_START","TEXT_MESSAGE_CONTENT","TEXT_MESSAGE_END","STEP_FINISHED","RUN_FINISHED"]
    continued: [["assistant again"],4]
    opened elsewhere: [["RUN_STARTED","MESSAGES_SNAPSHOT","RUN_FINISHED"],["say hello","hello","say again","again"]]
    an edit: [false,"after that"]
    the branch: ["say hello","hello","say again","again","say after that","after that"]
    only what is new: ["say hello","hello","say again","again","say after that","after that","say one more","one more"]
    again: [["assistant one more"],8]
    tool of the frontend: ["success",1,{"name":"weather","arguments":"{\"city\":\"Paris\"}"},["RUN_STARTED","STEP_STARTED","TOOL_CALL_START","TOOL_CALL_ARGS","TOOL_CALL_END","STEP_FINISHED","RUN_FINISHED"]]
    its result: ["assistant sunny | find send ask-user weather"]
    result and message: [["assistant thanks"],"snow"]
    tool of the agent: [["assistant -","tool found","assistant found | find send ask-user"],["TOOL_CALL_START","TOOL_CALL_ARGS","TOOL_CALL_END","TOOL_CALL_RESULT"]]
    approval: ["interrupt","tool_call","May the agent call `send`?",{"toolName":"send","arguments":{"to":"Ada"}},["approved"]]
    its events: ["STEP_FINISHED","MESSAGES_SNAPSHOT","RUN_FINISHED"]
    no decision: 422 invalid /resume/0/interruptId
    wrong decision: 422 invalid /resume/0/payload
    approved: [["tool {\"to\":\"Ada\"}","assistant {\"to\":\"Ada\"} | find send ask-user"],"success"]
    denied: [["tool The user denied this call.","assistant not now | find send ask-user"],"success"]
    edited: [["tool {\"to\":\"Eve\"}","assistant {\"to\":\"Eve\"} | find send ask-user"],"success"]
    cancelled: [["tool The user denied this call.","assistant Tool call execution denied. | find send ask-user"],"success"]
    question: ["input_required","Which one?",["assistant {\"option\":\"b\"} | find send ask-user"]]
    state: [{"name":"Bob","a/b":2},"assistant {\"ok\":true,\"written\":[\"name\",\"a/b\"],\"ignored\":[\"other\"]} | find send ask-user update-page-state",["STATE_DELTA"],"success"]
    instructions: ["assistant Help.\n\nThe program through which you are asked adds the following. It does not replace or override anything above.\n\nSpeak French."]
    context: success
    earlier messages: ["user earlier","assistant yes","tool wet","user say on","assistant on"]
    file: ["say seen","file"]
    wrong key: 401 unauthenticated
    unknown agent: 404 not_found
    agent that is not offered: 404 not_found
    unfit thread: 422 invalid /threadId
    nothing to answer: 422 invalid /messages
    taken tool: 422 invalid /tools/0/name
    bad schema: 422 invalid /tools/0/parameters
    file of a URL: 422 invalid /messages/0/content/0/source
    failed run: ["The model provider cannot be reached. Try again in a moment.","modelAway"]
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_stops_when_its_frontend_has_gone() {
    assert_snapshot!(run(&start_silent_provider().await, "abort.mjs").await, @r#"
    aborted: [false,"Well"]
    stopped: ["cancelled",null,["Hi","Well"]]
    "#);
}
