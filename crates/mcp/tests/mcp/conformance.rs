//! The client side of the protocol's conformance suite. The suite starts a server for each scenario, and a client,
//! which is this test program: see [`conformance_client`].

use crate::peers::{address, context, everything, repository, scope_of};
use connected_accounts::testing::{TestSignIn, tokens_of_signed_in_user, tokens_of_willing_users};
use contract::{RunScope, ToolContext, ToolSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use mcp::{AskUser, McpFeatures, McpServer, McpSettings, McpSource, McpTransport, QuestionRequest, ServerQuestion};
use mcp::{ClientCredentials, ClientProof, HttpServerSettings, TokenEndpoint, UserAnswer};
use serde_json::{Value, json};
use settings::user_auth::{AccountAuth, ExchangeAuth, ExchangeWay, OauthClient, UserAuth};
use std::process::Stdio;
use std::sync::Arc;
use tokio::process::Command;
use wire::form::Form;

/// The variable in which the suite names the scenario.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// The limit of the suite for one scenario, in milliseconds. All scenarios run at once.
const SCENARIO_MS: &str = "120000";
/// The variable with the credentials of a scenario.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

#[tokio::test]
async fn conformance_suite_passes() {
    let folder = tempfile::tempdir().unwrap();
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new("node");
    command.arg(repository("end2end/mcp/conformance.mjs")).args([
        "client",
        "--suite",
        "all",
        "--timeout",
        SCENARIO_MS,
        "--command",
    ]);
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
    let given = std::env::var(CONTEXT).ok().map(|text| serde_json::from_str(&text).unwrap());
    let oauth = given.as_ref().and_then(|given| credentials(&scenario, given));
    let user_auth = (oauth.is_none() && scenario.starts_with("auth/")).then(|| user_auth(&scenario, given.as_ref()));
    let transport = McpTransport::Http(HttpServerSettings { oauth, user_auth, ..address(&url) });
    let service = transport.user_service(&scenario);
    let settings = McpSettings { name: scenario.clone(), transport, shared: false, features: McpFeatures::default() };
    let mut server = McpServer::new(settings).asking(Arc::new(Defaults));
    if let Some(service) = service {
        let tokens = match given.as_ref().and_then(sign_in) {
            Some(sign_in) => tokens_of_signed_in_user(sign_in).await,
            None => tokens_of_willing_users(service).await,
        };
        server = server.with_tokens(tokens.unwrap());
    }
    let source = McpSource::new(Arc::new(server), everything()).unwrap();
    let scope = Arc::new(RunScope {
        is_authenticated: true,
        conversation_id: "c".to_owned(),
        shows_questions: true,
        ..scope_of("ada")
    });
    let mut is_connecting = true;
    while std::mem::take(&mut is_connecting) {
        for tool in source.tools(&scope).await.unwrap().tools {
            let input = match scenario.as_str() {
                "tools_call" => json!({ "a": 2, "b": 3 }),
                _ => json!({}),
            };
            let answer = tool.call(input, ToolContext { scope: scope.clone(), ..context() }).await;
            println!("{}: {answer:?}", tool.spec().name);
            // The server's own tools are there once the account is connected.
            is_connecting = tool.spec().name.ends_with("connect_account") && answer.is_ok();
        }
    }
}

/// Returns the sign-in of the user in a scenario with the company's provider.
fn sign_in(given: &Value) -> Option<TestSignIn> {
    let text = |key: &str| given[key].as_str();
    Some(TestSignIn {
        user_id: "ada".to_owned(),
        issuer: text("idp_issuer")?.parse().unwrap(),
        token_endpoint: text("idp_token_endpoint")?.parse().unwrap(),
        client_id: text("idp_client_id")?.to_owned(),
        id_token: text("idp_id_token")?.to_owned(),
    })
}

/// Returns where the tokens of users come from in a scenario, as a config says it.
fn user_auth(scenario: &str, given: Option<&Value>) -> UserAuth {
    let text = |key: &str| given.and_then(|given| given[key].as_str()).map(str::to_owned);
    let client = match scenario {
        // The address of a document of this client.
        "auth/basic-cimd" => Some(("https://conformance-test.local/client-metadata.json".to_owned(), None)),
        _ => text("client_id").map(|id| (id, text("client_secret").map(Into::into))),
    };
    let client = client.map(|(id, secret)| OauthClient { id, secret });
    if text("idp_id_token").is_some() {
        let (way, client) = (ExchangeWay::Assertion { issuer: None }, client.unwrap());
        return UserAuth::Exchange(ExchangeAuth { way, client, scopes: Vec::new(), provider: None });
    }
    UserAuth::Account(AccountAuth { client, ..AccountAuth::default() })
}

/// Returns the credentials of a scenario in which the client acts for itself.
fn credentials(scenario: &str, context: &Value) -> Option<ClientCredentials> {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let proof = match scenario {
        "auth/client-credentials-basic" => ClientProof::Secret(text("client_secret")?.into()),
        "auth/client-credentials-jwt" => ClientProof::PrivateKey(text("private_key_pem")?.into()),
        _ => return None,
    };
    let (endpoint, client_id) = (TokenEndpoint::Discovered, text("client_id")?);
    Some(ClientCredentials { endpoint, client_id, proof, refresh_token: None, scope: None })
}
