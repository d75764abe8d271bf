//! Invocations of agents by programs.

mod completions;
mod record;
mod runs;
mod suspended;

use agent::{Agent, RunSettings, TurnLimits};
use chat::{AgentRequest, AgentSource, Caller, Chat, Hooks};
use contract::testing::{Cue, RecordingTool, ScriptedModel, finish_cue, model_error, text_reply, tool_call_reply};
use contract::{Execution, FinishReason, Message, ModelErrorKind, Tool, ToolChoice, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use store::Store;
use tempfile::TempDir;
use wire::invoke::{Invocation, InvocationStatus};
use wire::{EndReason, UserError};

struct OneAgent {
    agent: Arc<Agent>,
    hooks: Option<Arc<dyn Hooks>>,
}

impl AgentSource for OneAgent {
    fn agent<'a>(&'a self, _: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Err(UserError::not_found()) })
    }

    fn by_id<'a>(&'a self, _: &'a Caller, id: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { if id == "extractor" { Ok(self.agent.clone()) } else { Err(UserError::not_found()) } })
    }

    fn hooks(&self, _: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        self.hooks.clone()
    }
}

struct TestChat {
    chat: Chat,
    model: Arc<ScriptedModel>,
    folder: Arc<TempDir>,
    /// The calls of the tool that needs an approval.
    paid: Arc<Mutex<Vec<Value>>>,
    /// The calls of the tool that does not end.
    waiting: Arc<Mutex<Vec<Value>>>,
}

impl TestChat {
    /// Returns one line per entry of the audit log.
    async fn log(&self) -> String {
        let store = Store::open(&test_postgres::database_for(self.folder.path()).await).await.unwrap();
        let rows = store.audit_rows(0, i64::MIN).await.unwrap();
        let line = |row: &store::AuditRow| {
            format!("{} {} {} {} {}", row.user_id, row.call_id, row.tool, row.outcome, row.gates)
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

async fn open(replies: Vec<Vec<Cue>>) -> TestChat {
    open_with(replies, RunSettings { max_retries: 0, ..RunSettings::default() }).await
}

async fn open_with(replies: Vec<Vec<Cue>>, settings: RunSettings) -> TestChat {
    open_with_hooks(replies, settings, None).await
}

async fn open_with_hooks(replies: Vec<Vec<Cue>>, settings: RunSettings, hooks: Option<Arc<dyn Hooks>>) -> TestChat {
    open_in(Arc::new(TempDir::new().unwrap()), replies, settings, hooks).await
}

/// Opens a chat on the database of a folder.
async fn open_in(
    folder: Arc<TempDir>,
    replies: Vec<Vec<Cue>>,
    settings: RunSettings,
    hooks: Option<Arc<dyn Hooks>>,
) -> TestChat {
    let model = Arc::new(ScriptedModel::new(replies));
    let new = |name: &str| ToolSpec::new(name, "", json!({ "type": "object" }));
    let act = RecordingTool::new(new("act"), |input: Value, _| async move { Ok(json!({ "did": input })) });
    let pay = RecordingTool::new(ToolSpec { needs_approval: true, ..new("pay") }, |_, _| async { Ok(json!("paid")) });
    // A tool that is still running when its server dies.
    let wait = RecordingTool::new(new("wait"), |_, _| std::future::pending());
    let page =
        RecordingTool::new(ToolSpec { execution: Execution::Client, ..new("page") }, |_, _| async { Ok(json!(1)) });
    let (paid, waiting) = (pay.inputs(), wait.inputs());
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(act), Arc::new(pay), Arc::new(page), Arc::new(wait)];
    let instructions = Some("Extract.".to_owned());
    let agent = Agent { instructions, tools, settings, ..Agent::new("extractor", model.clone()) };
    let store = Store::open(&test_postgres::database_for(folder.path()).await).await.unwrap();
    let chat = Chat::open(store, Arc::new(OneAgent { agent: Arc::new(agent), hooks }), 8).await.unwrap();
    TestChat { chat, model, folder, paid, waiting }
}

fn caller(name: &str) -> Caller {
    Caller::signed_in(name)
}

fn scores() -> Value {
    let schema = json!({ "type": "object", "properties": { "score": { "type": "integer" } }, "required": ["score"] });
    json!({ "agent_name": "extractor", "input": { "prompt": "Score this." },
        "response_schema": { "name": "scores", "strict": true, "schema": schema } })
}

async fn invoke(test: &TestChat, request: Value) -> Result<Invocation, UserError> {
    test.chat.invoke(&caller("ada"), serde_json::from_value(request).unwrap()).await
}

async fn check(replies: Vec<Vec<Cue>>, request: Value, expected: (InvocationStatus, Value, Option<&str>)) -> TestChat {
    let test = open(replies).await;
    let answer = invoke(&test, request).await.unwrap();
    assert_eq!((answer.status, answer.output.clone(), answer.error.as_deref()), expected);
    assert_eq!(test.chat.invocation(&caller("ada"), &answer.run_id).await.unwrap(), answer);
    assert_eq!(test.chat.invocations(&caller("ada"), 10).await.unwrap().items, std::slice::from_ref(&answer));
    assert_eq!(test.chat.invocations(&caller("bob"), 10).await.unwrap().items, []);
    assert_eq!(test.chat.invocation(&caller("bob"), &answer.run_id).await.unwrap_err(), UserError::not_found());
    test
}

#[tokio::test]
async fn invocation_returns_text_or_json() {
    use InvocationStatus::{Failed, Succeeded};
    let plain = json!({ "agent_id": "extractor", "input": { "prompt": "Hi" }, "agent_tier": "complex" });
    check(vec![text_reply("Hello.")], plain, (Succeeded, json!("Hello."), None)).await;
    let fenced = text_reply("<think>Is it 2?</think>```json\n{\"score\": 3}\n```");
    let test = check(vec![fenced], scores(), (Succeeded, json!({ "score": 3 }), None)).await;
    let request = &test.model.requests()[0];
    assert!(request.tools.is_empty());
    assert!(request.system.as_deref().unwrap().starts_with("Extract.\n\nAnswer with one JSON value"));
    assert_eq!(request.response_format.as_ref().map(|format| format.name.as_str()), Some("scores"));
    let broken = vec![vec![Cue::Fail(model_error(ModelErrorKind::Unauthorized))]];
    let refused = "The model provider refused the credentials. Tell the administrator, then try again.";
    check(broken, scores(), (Failed, Value::Null, Some(refused))).await;
    let not_offered = vec![tool_call_reply(&[("c", "act", "{}")]), text_reply("")];
    let none = "the answer does not fit the schema: it contains no JSON.";
    check(not_offered, scores(), (Failed, Value::Null, Some(none))).await;
}

#[tokio::test]
async fn answer_that_was_cut_off_is_no_success() {
    let cut = |reason| {
        let mut reply = text_reply("half an");
        reply.pop();
        reply.push(finish_cue(reason));
        reply
    };
    let ask = json!({ "agent_name": "extractor", "input": { "prompt": "Hi" } });
    let limit = "The model reached its length limit for one answer.";
    let failed = InvocationStatus::Failed;
    check(vec![cut(FinishReason::Length)], ask.clone(), (failed, json!("half an"), Some(limit))).await;
    let refused = "The model's provider refused or cut off this answer.";
    check(vec![cut(FinishReason::ContentFilter)], ask.clone(), (failed, json!("half an"), Some(refused))).await;
    // JSON is asked for once more.
    let twice = vec![cut(FinishReason::Length), cut(FinishReason::Length)];
    check(twice, scores(), (failed, Value::Null, Some(limit))).await;
}

#[tokio::test]
async fn invalid_answer_is_sent_back_once() {
    use InvocationStatus::{Failed, Succeeded};
    let wrong = || text_reply(r#"{"score": "high"}"#);
    let mended = vec![wrong(), text_reply(r#"{"score": 7}"#)];
    let test = check(mended, scores(), (Succeeded, json!({ "score": 7 }), None)).await;
    let requests = test.model.requests();
    let [_, Message::Assistant(_), told] =
        requests[1].messages.iter().map(|message| &**message).collect::<Vec<_>>()[..]
    else {
        panic!("{requests:?}");
    };
    let fault = r#"/score: "high" is not of type "integer""#;
    assert!(format!("{told:?}").contains(&fault.replace('"', "\\\"")), "{told:?}");
    let error = format!("the answer does not fit the schema: {fault}");
    check(vec![wrong(), wrong()], scores(), (Failed, Value::Null, Some(&error))).await;
}

/// The agent's limits apply to both attempts together, and reaching a limit without an answer is
/// reported as such.
#[tokio::test]
async fn both_attempts_share_the_limits() {
    let check = async |limits: TurnLimits, asked: usize, reason: Option<EndReason>| {
        let settings = RunSettings { limits, max_retries: 0, ..RunSettings::default() };
        let test = open_with(vec![text_reply("none"), text_reply(r#"{"score": 7}"#)], settings).await;
        let answer = invoke(&test, scores()).await.unwrap();
        assert_eq!((test.model.requests().len(), answer.reason), (asked, reason));
        assert_eq!(test.chat.invocation(&caller("ada"), &answer.run_id).await.unwrap().reason, reason);
    };
    check(TurnLimits::default(), 2, Some(EndReason::Done)).await;
    check(TurnLimits { requests: Some(2), ..TurnLimits::default() }, 2, Some(EndReason::Done)).await;
    check(TurnLimits { requests: Some(1), ..TurnLimits::default() }, 1, Some(EndReason::Requests)).await;
    // A scripted reply uses 15 tokens.
    check(TurnLimits { total_tokens: Some(15), ..TurnLimits::default() }, 1, Some(EndReason::TotalTokens)).await;
    check(TurnLimits { cost_usd: Some(1.0), ..TurnLimits::default() }, 0, Some(EndReason::UnknownPrice)).await;
}

/// No tools are offered, not even those that the provider runs.
#[tokio::test]
async fn provider_tools_are_disabled() {
    let options = json!({
        "openai": { "tools": [{ "type": "web_search" }], "tool_choice": "required", "allowedTools": {}, "text": { "verbosity": "low" } },
        "google": { "tools": [{ "googleSearch": {} }], "toolConfig": {} },
        "anthropic": { "tools": [{ "type": "web_search_20250305" }], "mcp_servers": [], "mcpServers": [{}], "thinking": {} },
    });
    let provider_options = serde_json::from_value(options).unwrap();
    let test = open_with(vec![text_reply("ok")], RunSettings { provider_options, ..RunSettings::default() }).await;
    invoke(&test, json!({ "agent_name": "extractor", "input": { "prompt": "Hi" } })).await.unwrap();
    let expected =
        json!({ "openai": { "text": { "verbosity": "low" } }, "google": {}, "anthropic": { "thinking": {} } });
    assert_eq!(Value::from(test.model.requests()[0].provider_options.clone()), expected);
}

#[tokio::test]
async fn invalid_invocations_are_rejected() {
    let test = open(vec![]).await;
    let refused = async |change: fn(&mut Value)| {
        let mut request = scores();
        change(&mut request);
        let error = invoke(&test, request).await.unwrap_err();
        format!("{:?} {}", error.code, error.path.unwrap_or_default())
    };
    assert_eq!(refused(|request| request["agent_name"] = json!("other")).await, "NotFound ");
    assert_eq!(refused(|request| request["input"]["prompt"] = json!(" ")).await, "Invalid /input/prompt");
    assert_eq!(
        refused(|request| request["response_schema"]["name"] = json!("a b")).await,
        "Invalid /response_schema/name"
    );
    let refused_schema = async |schema: Value| {
        let mut request = scores();
        request["response_schema"]["schema"] = schema;
        let error = invoke(&test, request).await.unwrap_err();
        format!("{:?} {} {}", error.code, error.path.unwrap_or_default(), error.message)
    };
    assert_eq!(
        refused_schema(json!({ "properties": { "score": { "type": "count" } } })).await,
        "Invalid /response_schema/schema/properties/score/type This is not a JSON Schema: \"count\" is not valid under any of the schemas listed in the 'anyOf' keyword."
    );
    assert_eq!(
        refused_schema(json!({ "pattern": "(?=x)" })).await,
        "Invalid /response_schema/schema This schema cannot be used: the pattern `(?=x)` needs look-around or a back-reference, which can take unbounded time."
    );
    let tier = json!({ "agent_name": "extractor", "input": { "prompt": "Hi" }, "agent_tier": "huge" });
    let error = serde_json::from_value::<wire::invoke::InvokeRequest>(tier).unwrap_err();
    assert!(error.to_string().starts_with("unknown variant `huge`, expected one of"), "{error}");
    assert_eq!(test.chat.invocations(&caller("ada"), 10).await.unwrap().items, []);
}

/// An invocation that a dead server left open does not stay `running`.
#[tokio::test]
async fn crash_ends_a_running_invocation() {
    let TestChat { chat, folder, .. } = open(vec![vec![Cue::Silence]]).await;
    let request = serde_json::from_value(scores()).unwrap();
    let asked = tokio::spawn(async move { chat.invoke(&caller("ada"), request).await });
    let url = test_postgres::database_for(folder.path()).await;
    let store = Store::open(&url).await.unwrap();
    while store.invocations("ada", 1).await.unwrap().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    asked.abort();
    // The lease of the server may have been renewed meanwhile.
    test_postgres::database_for(folder.path()).await;
    let chat = Chat::open(store, Arc::new(nothing()), 8).await.unwrap();
    let found = &chat.invocations(&caller("ada"), 1).await.unwrap().items[0];
    assert_eq!(
        (found.status, found.error.as_deref()),
        (InvocationStatus::Failed, Some("The server stopped before the answer was complete."))
    );
}

/// The agents of a server that starts again.
fn nothing() -> OneAgent {
    OneAgent { agent: Arc::new(Agent::new("", Arc::new(ScriptedModel::new(vec![])))), hooks: None }
}

fn with_tools(more: Value) -> Value {
    let mut request = json!({ "agent_name": "extractor", "input": { "prompt": "Hi" }, "tools": true });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request
}

/// Only tools that run on the server are offered. The model's text before a call is not part of
/// the answer, and each call is in the audit log.
#[tokio::test]
async fn invocation_with_tools_runs_them() {
    let mut first = text_reply("Let me look.");
    first.pop();
    first.extend(tool_call_reply(&[("c", "act", r#"{"a":1}"#)]));
    let test = open(vec![first, text_reply("Found.")]).await;
    let answer = invoke(&test, with_tools(json!({}))).await.unwrap();
    assert_eq!((answer.status, answer.output), (InvocationStatus::Succeeded, json!("Found.")));
    let requests = test.model.requests();
    let offered: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["act", "pay", "wait"]);
    assert!(format!("{:?}", requests[1].messages).contains("did"), "{:?}", requests[1].messages);
    assert_eq!(test.log().await, "ada c act ok []");
}

/// Nobody can be asked, so a call that needs an approval is denied unless the program approved the
/// tool.
#[tokio::test]
async fn invocation_denies_calls_that_need_an_approval() {
    let check = async |more: Value, paid: usize, log: &str| {
        let test = open(vec![tool_call_reply(&[("c", "pay", "{}")]), text_reply("Ok.")]).await;
        let answer = invoke(&test, with_tools(more)).await.unwrap();
        assert_eq!((answer.output, test.paid.lock().unwrap().len()), (json!("Ok."), paid));
        assert_eq!(test.log().await, log);
        format!("{:?}", test.model.requests()[1].messages.last().unwrap())
    };
    let why = "Not run: it needs the user's approval, and nobody can be asked here.";
    let denied = format!(r#"ada c pay denied [{{"gate":"approval","decision":"denied","reason":"{why}"}}]"#);
    let told = check(json!({}), 0, &denied).await;
    assert!(told.contains(why), "{told}");
    let granted = r#"ada c pay ok [{"gate":"approval","decision":"approved","by":"ada","reason":"standing approval given with the request"}]"#;
    check(json!({ "approved_tools": ["pay"] }), 1, granted).await;
}

#[tokio::test]
async fn invocation_offers_only_the_named_tools() {
    let calls = || vec![tool_call_reply(&[("c", "pay", "{}")]), text_reply("Ok.")];
    let test = open(calls()).await;
    invoke(&test, with_tools(json!({ "tools": ["act"], "approved_tools": ["pay"] }))).await.unwrap();
    let requests = test.model.requests();
    assert_eq!(requests[0].tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["act"]);
    assert_eq!(test.paid.lock().unwrap().len(), 0);
    let refused = async |more: Value| {
        let error = invoke(&open(vec![]).await, with_tools(more)).await.unwrap_err();
        format!("{:?} {}", error.code, error.path.unwrap_or_default())
    };
    assert_eq!(refused(json!({ "tools": ["act", "nowhere"] })).await, "Invalid /tools/1");
    assert_eq!(refused(json!({ "tools": ["page"] })).await, "Invalid /tools/0");
    assert_eq!(refused(json!({ "approved_tools": ["nowhere"] })).await, "Invalid /approved_tools/0");
    assert_eq!(refused(json!({ "tools": false, "approved_tools": ["pay"] })).await, "Invalid /approved_tools");
    assert_eq!(refused(json!({ "limits": { "request_limit": 0 } })).await, "Invalid /limits/request_limit");
    assert_eq!(refused(json!({ "limits": { "max_cost_dollars": 0.0 } })).await, "Invalid /limits/max_cost_dollars");
}

/// The limits of a request only lower those of the agent.
#[tokio::test]
async fn invocation_has_limits_of_its_own() {
    let check = async |more: Value, own: TurnLimits, asked: usize, reason: EndReason| {
        let call = |id: &str, n: u8| tool_call_reply(&[(id, "act", &format!("{{\"n\":{n}}}"))]);
        let settings = RunSettings { limits: own, max_retries: 0, ..RunSettings::default() };
        let test = open_with(vec![call("a", 1), call("b", 2), text_reply("Ok.")], settings).await;
        let answer = invoke(&test, with_tools(json!({ "limits": more }))).await.unwrap();
        assert_eq!((test.model.requests().len(), answer.reason), (asked, Some(reason)));
    };
    let none = TurnLimits::default;
    check(json!({}), none(), 3, EndReason::Done).await;
    check(json!({ "request_limit": 2 }), none(), 2, EndReason::Requests).await;
    check(json!({ "request_limit": 9 }), TurnLimits { requests: Some(1), ..none() }, 1, EndReason::Requests).await;
    check(json!({ "tool_calls_limit": 1 }), none(), 2, EndReason::ToolCalls).await;
    check(json!({ "total_tokens_limit": 15 }), none(), 1, EndReason::TotalTokens).await;
    check(json!({ "max_cost_dollars": 1.0 }), none(), 0, EndReason::UnknownPrice).await;
}

/// The result of a tool that ends the turn is the answer.
#[tokio::test]
async fn result_of_the_last_tool_is_the_answer() {
    let settings = RunSettings { stop_on_tool_call: vec!["act".to_owned()], ..RunSettings::default() };
    let test = open_with(vec![tool_call_reply(&[("c", "act", r#"{"a":1}"#)])], settings).await;
    let answer = invoke(&test, with_tools(json!({}))).await.unwrap();
    assert_eq!((answer.status, answer.output), (InvocationStatus::Succeeded, json!({ "did": { "a": 1 } })));
}

/// The model corrects the form of its answer with the results of its calls, and calls nothing again.
#[tokio::test]
async fn invalid_answer_is_corrected_without_further_calls() {
    let replies = vec![tool_call_reply(&[("c", "act", "{}")]), text_reply("Three."), text_reply(r#"{"score": 3}"#)];
    let test = open(replies).await;
    let request = with_tools(json!({ "response_schema": scores()["response_schema"] }));
    assert_eq!(invoke(&test, request).await.unwrap().output, json!({ "score": 3 }));
    let requests = test.model.requests();
    let choices: Vec<_> = requests.iter().map(|request| request.tool_choice.clone()).collect();
    assert_eq!(choices, [ToolChoice::Auto, ToolChoice::Auto, ToolChoice::None]);
    assert!(requests.iter().all(|request| request.response_format.is_none() && !request.tools.is_empty()));
    assert_eq!(requests[2].messages.len(), 5, "{:?}", requests[2].messages);
}
