//! Questions of servers to users: the reference server's, over stdio and HTTP.

use crate::peers::{Peer, address, context, node, npm, scope_of};
use crate::reference::listening;
use contract::{CallReports, ToolContext, ToolSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use mcp::{AskUser, McpFeatures, McpSettings, McpTransport, QuestionRequest, ServerQuestion, UserAnswer};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Answers each question in this way, and keeps the questions.
#[derive(Clone)]
struct Answers {
    answer: fn(&ToolContext) -> UserAnswer,
    asked: Arc<Mutex<Vec<ServerQuestion>>>,
}

impl AskUser for Answers {
    fn ask(&self, question: ServerQuestion, context: ToolContext) -> BoxFuture<'static, UserAnswer> {
        self.asked.lock().unwrap().push(question);
        let answer = (self.answer)(&context);
        // The other call has begun by then.
        async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            answer
        }
        .boxed()
    }
}

fn answers(answer: fn(&ToolContext) -> UserAnswer) -> Answers {
    Answers { answer, asked: Arc::default() }
}

fn named(context: &ToolContext) -> UserAnswer {
    UserAnswer::Accepted(Map::from_iter([("name".to_owned(), json!(format!("I am {}", context.scope.user_id)))]))
}

fn over_stdio(shared: bool) -> McpSettings {
    McpSettings { shared, ..node(&[&npm("server-everything"), "stdio"]) }
}

async fn call(peer: &Peer, user: &str, tool: &str, input: Value) -> String {
    let scope = Arc::new(scope_of(user));
    let result = peer.call_as(user, tool, input, ToolContext { scope, ..context() }).await;
    result.map_or_else(|error| format!("error: {error}"), |value| value.to_string())
}

const FORM: &str = "trigger-elicitation-request";
const PAGE: &str = "trigger-url-elicitation";

#[tokio::test]
async fn answers_of_the_user_reach_the_server() {
    let check = async |answer: fn(&ToolContext) -> UserAnswer, tool: &str, input: Value, expected: &str| {
        let answers = answers(answer);
        let peer = Peer::asking(over_stdio(false), Arc::new(answers.clone()));
        let result = call(&peer, "ada", tool, input.clone()).await;
        assert!(result.contains(expected), "{tool} {input}: {result}");
        answers.asked.lock().unwrap().clone()
    };
    let asked = check(named, FORM, json!({}), "I am ada").await;
    let QuestionRequest::Form { schema } = &asked[0].request else { panic!("{asked:?}") };
    assert_eq!((asked[0].server.as_str(), asked.len()), ("peer", 1));
    // The order of the fields is the server's.
    let keys: Vec<_> = schema["properties"].as_object().unwrap().keys().take(3).cloned().collect();
    assert_eq!(keys, ["name", "check", "firstLine"]);
    check(|_| UserAnswer::Declined, FORM, json!({}), "decline").await;
    check(|_| UserAnswer::Cancelled("nobody is there"), FORM, json!({}), "nobody is there").await;

    let page = |url: &str, error_path: bool| json!({ "url": url, "errorPath": error_path });
    let accept = |_: &ToolContext| UserAnswer::Accepted(Map::new());
    let asked = check(accept, PAGE, page("https://example.com/sign-in?a=b", false), "accept").await;
    let QuestionRequest::Open { url } = &asked[0].request else { panic!("{asked:?}") };
    assert_eq!(url.as_str(), "https://example.com/sign-in?a=b");
    let asked = check(accept, PAGE, page("http://example.com/", false), "only addresses with https are opened").await;
    assert!(asked.is_empty());
    // The call is refused until the user has been on a page.
    assert_eq!(check(accept, PAGE, page("https://example.com/", true), "error: Not run yet: it needs").await.len(), 1);
    let declined = "error: Not run: the user has to open a page for it first, and did not.";
    check(|_| UserAnswer::Declined, PAGE, page("https://example.com/", true), declined).await;
}

/// The question comes in the answer to the request for the task's result.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_may_ask_the_user() {
    let check = async |settings: McpSettings| {
        let chosen =
            |_: &ToolContext| UserAnswer::Accepted(Map::from_iter([("interpretation".to_owned(), json!("current"))]));
        let answers = answers(chosen);
        let peer = Peer::asking(settings, Arc::new(answers.clone()));
        let report =
            call(&peer, "ada", "simulate-research-query", json!({ "topic": "tides", "ambiguous": true })).await;
        assert!(report.contains("# Research Report: tides (current)"), "{report}");
        assert_eq!(answers.asked.lock().unwrap().len(), 1);
    };
    check(over_stdio(false)).await;
    let (_server, port) = listening("streamableHttp").await;
    let transport = McpTransport::Http(address(&format!("http://127.0.0.1:{port}/mcp")));
    check(McpSettings { transport, ..over_stdio(false) }).await;
}

#[tokio::test]
async fn a_server_may_not_ask_if_the_config_forbids_it() {
    let answers = answers(named);
    let features = McpFeatures { elicitation: false, ..McpFeatures::default() };
    let peer = Peer::asking(McpSettings { features, ..over_stdio(false) }, Arc::new(answers.clone()));
    assert!(!peer.names().await.contains(&FORM.to_owned()), "the server offers it to clients that can be asked");
}

/// Two users share a connection, and both have a call that asks.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_user_whose_call_asks_is_asked() {
    let both = async |settings: McpSettings| {
        let peer = Peer::asking(settings, Arc::new(answers(named)));
        tokio::join!(call(&peer, "ada", FORM, json!({})), call(&peer, "bob", FORM, json!({})))
    };
    let (_server, port) = listening("streamableHttp").await;
    let transport = McpTransport::Http(address(&format!("http://127.0.0.1:{port}/mcp")));
    let (ada, bob) = both(McpSettings { transport, ..over_stdio(true) }).await;
    assert!(ada.contains("I am ada") && !ada.contains("bob"), "{ada}");
    assert!(bob.contains("I am bob") && !bob.contains("ada"), "{bob}");
    // Over stdio nothing says which call asks, so nobody is asked while both run.
    let (ada, bob) = both(over_stdio(true)).await;
    assert!(!ada.contains("bob") && !bob.contains("ada"), "{ada} {bob}");
    let refused = [&ada, &bob].iter().filter(|result| result.contains("several calls run")).count();
    assert!(refused > 0, "{ada} {bob}");
}

#[tokio::test]
async fn a_call_that_is_stopped_takes_its_question_back() {
    let never = |_: &ToolContext| UserAnswer::Declined;
    struct Silent(Answers);
    impl AskUser for Silent {
        fn ask(&self, question: ServerQuestion, context: ToolContext) -> BoxFuture<'static, UserAnswer> {
            drop(self.0.ask(question, context.clone()));
            context.cancel.cancel();
            std::future::pending().boxed()
        }
    }
    let answers = answers(never);
    let peer = Peer::asking(over_stdio(false), Arc::new(Silent(answers.clone())));
    let stopped =
        peer.call_as("ada", FORM, json!({}), ToolContext { reports: CallReports::default(), ..context() }).await;
    assert_eq!(stopped.unwrap_err(), "Stopped before it finished. It may or may not have had an effect.");
    assert_eq!(answers.asked.lock().unwrap().len(), 1);
    assert_eq!(call(&peer, "ada", "echo", json!({ "message": "hi" })).await, r#""Echo: hi""#);
}

#[tokio::test]
async fn changes_of_the_tools_are_seen_and_bounded() {
    let peer = Peer::new(node(&[&crate::peers::repository("crates/mcp/tests/mcp/hostile.mjs"), "renews"]));
    let mut described = Vec::new();
    for _ in 0..14 {
        described.push(peer.tools().await.unwrap()[0].spec().description.clone());
    }
    let renewed: Vec<_> = (1..=11).map(|list| format!("List {list}.")).collect();
    assert_eq!(described[..11], renewed);
    assert!(described[11..].iter().all(|last| last == "List 11."), "{described:?}");
    assert_eq!(peer.source.revision(&scope_of("ada")), 11);
    assert_eq!(peer.source.revision(&scope_of("bob")), 0, "bob has a connection of his own");
}
