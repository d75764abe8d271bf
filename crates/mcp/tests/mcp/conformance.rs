//! The client side of the protocol's conformance suite. The suite starts a server for each scenario, and a client,
//! which is this test program: see [`conformance_client`].

use crate::peers::{address, context, everything, repository, scope_of};
use contract::{ToolContext, ToolSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use mcp::{AskUser, McpFeatures, McpServer, McpSettings, McpSource, McpTransport, QuestionRequest, ServerQuestion};
use mcp::{ClientCredentials, HttpServerSettings, UserAnswer};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::Arc;
use tokio::process::Command;
use wire::form::Form;

/// The variable in which the suite names the scenario.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// The variable with the credentials of a scenario.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

#[tokio::test]
async fn conformance_suite_passes() {
    let folder = tempfile::tempdir().unwrap();
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new("node");
    command.arg(repository("end2end/mcp/conformance.mjs")).args(["client", "--suite", "all", "--command"]);
    command.arg(format!("{} --ignored --exact conformance::conformance_client", this.display()));
    // A scenario that is listed and passes is a failure as well.
    command.arg("--expected-failures").arg(repository("crates/mcp/tests/mcp/expected_failures.yaml"));
    command.arg("-o").arg(folder.path());
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
}

/// Fills in forms with their default values, as a user who changes nothing.
struct Defaults;

impl AskUser for Defaults {
    fn ask(&self, question: ServerQuestion, _: ToolContext) -> BoxFuture<'static, UserAnswer> {
        let QuestionRequest::Form { schema } = question.request else { panic!("{question:?}") };
        let form = Form::for_schema(&schema);
        std::future::ready(UserAnswer::Accepted(form.values(&form.initial()).unwrap())).boxed()
    }
}

/// Connects to the server whose URL is the last argument, lists its tools, and calls each of them.
#[tokio::test]
#[ignore = "a client that the conformance suite starts"]
async fn conformance_client() {
    let scenario = std::env::var(SCENARIO).unwrap();
    let url = std::env::args().next_back().unwrap();
    let oauth = std::env::var(CONTEXT).ok().and_then(|context| credentials(&serde_json::from_str(&context).unwrap()));
    let transport = McpTransport::Http(HttpServerSettings { oauth, ..address(&url) });
    let settings = McpSettings { name: scenario.clone(), transport, shared: false, features: McpFeatures::default() };
    let server = Arc::new(McpServer::new(settings).asking(Arc::new(Defaults)));
    let source = McpSource::new(server, everything()).unwrap();
    let tools = source.tools(&scope_of("ada")).await.unwrap().tools;
    for tool in tools {
        let input = match scenario.as_str() {
            "tools_call" => json!({ "a": 2, "b": 3 }),
            _ => json!({}),
        };
        let answer = tool.call(input, context()).await;
        println!("{}: {answer:?}", tool.spec().name);
    }
}

/// Returns the credentials of a scenario, if they are of a kind that a config can have.
fn credentials(context: &Value) -> Option<ClientCredentials> {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    Some(ClientCredentials {
        token_url: text("token_endpoint")?.parse().ok()?,
        client_id: text("client_id")?,
        client_secret: text("client_secret")?.into(),
        refresh_token: None,
        scope: None,
    })
}
