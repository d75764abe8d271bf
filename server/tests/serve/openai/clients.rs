//! The official clients, LangChain and the AI SDK.

use super::start;
use crate::provider::start_provider;
use insta::assert_snapshot;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// Returns the output of a script that uses a client with the server.
async fn run(program: &str, script: &str) -> String {
    let (server, _folder) = start(&start_provider().await, "openaiApi: { agents: [helper] }");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let mut command = Command::new(program);
    command.arg(script).arg(format!("{}/v1", server.origin)).arg(server.api_key(&["agents"]).await);
    // Only the server is contacted.
    command.env("LANGSMITH_TRACING", "false").env("OPENAI_API_KEY", "").env("no_proxy", "127.0.0.1");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed
}

#[tokio::test(flavor = "multi_thread")]
async fn package_of_node_works() {
    assert_snapshot!(run("node", "../end2end/openai/client.mjs").await, @r#"
    models: ["helper"]
    model: helper
    plain: ["chat.completion","hello","stop",true]
    stream: ["hello","stop",true]
    tool call: ["tool_calls",null,{"name":"weather","arguments":"{\"city\":\"Paris\"}"}]
    tool result: sunny | find send weather
    runTools: Rome is hot | find send weather
    own tool: ["found | find send",null]
    json_schema: ["{\"answer\":42}",42]
    wrong key: AuthenticationError 401 invalid_api_key null
    unknown model: NotFoundError 404 model_not_found model
    unsupported: BadRequestError 400 unsupported_parameter logprobs
    empty: BadRequestError 400 invalid_value messages
    bad schema: BadRequestError 400 invalid_value response_format
    unknown path: NotFoundError 404 not_found null
    response: ["completed","one",["message"],{"of":"test"}]
    function call: ["completed","weather","{\"city\":\"Oslo\"}"]
    function result: snow | find send
    no result: BadRequestError 400 invalid_value input
    events: ["created","in_progress","output_item.added","content_part.added","output_text.delta","output_text.done","content_part.done","output_item.done","completed"]
    numbered: true
    final: ["completed","streamed"]
    retrieve: [true,"streamed",true]
    input items: [["message","user","say streamed"]]
    deleted: NotFoundError 404 not_found null
    cancel: BadRequestError 400 invalid_value response_id
    item_reference: after one
    store false: ["x","NotFoundError 404 not_found null"]
    background: BadRequestError 400 unsupported_parameter background
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn langchain_of_node_works() {
    assert_snapshot!(run("node", "../end2end/openai/langchain.mjs").await, @r#"
    chat plain: ["hello",true]
    chat stream: "streamed"
    chat tool: [{"city":"Oslo"},"Oslo is cold | find send weather"]
    chat structured: {"answer":42}
    responses plain: ["hello",true]
    responses stream: "streamed"
    responses tool: [{"city":"Oslo"},"Oslo is cold | find send weather"]
    responses structured: {"answer":42}
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn ai_sdk_works() {
    assert_snapshot!(run("node", "../end2end/openai/ai-sdk.mjs").await, @r#"
    chat plain: ["hello","stop",true]
    chat stream: ["streamed","stop",true]
    chat tool: [2,"Bergen is wet | find send weather"]
    chat output: {"answer":42}
    responses plain: ["hello","stop",true]
    responses stream: ["streamed","stop",true]
    responses tool: [2,"Bergen is wet | find send weather"]
    responses output: {"answer":42}
    compatible plain: ["hello","stop",true]
    compatible stream: ["streamed","stop",true]
    compatible tool: [2,"Bergen is wet | find send weather"]
    compatible output: {"answer":42}
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_of_python_work() {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/python/bin/python");
    if !Path::new(python).exists() {
        eprintln!("skipped: no Python with the package `openai`; `cargo xtask test` installs it where Python is");
        return;
    }
    assert_snapshot!(run(python, "tests/serve/openai/client.py").await, @r#"
    models: ["helper"]
    plain: ["hello", "stop", 0]
    stream: ["hello", true]
    tool call: ["tool_calls", "weather", "{\"city\":\"Paris\"}"]
    tool result: sunny | find send weather
    parse: 42
    wrong key: AuthenticationError 401 invalid_api_key None
    unknown model: NotFoundError 404 model_not_found model
    unsupported: BadRequestError 400 unsupported_parameter n
    responses: ["one", "two", true]
    stream of a response: ["response.created", "response.completed", "three"]
    retrieve: three
    deleted: NotFoundError 404 not_found None
    parse of a response: 42
    LangChain chat plain: ["hello", true]
    LangChain chat stream: streamed
    LangChain chat tool: Lima is fine | find send weather
    LangChain chat structured: 42
    LangChain responses plain: ["hello", true]
    LangChain responses stream: streamed
    LangChain responses tool: Lima is fine | find send weather
    LangChain responses structured: 42
    "#);
}
