//! Tools that are found by search and called through a bridge.

use crate::support::{TASK, agent, asked, below, doing, object, run_turn};
use agent::{
    Agent, Decision, DeferTools, Ending, Event, EventSink, ExposureState, PendingCall, Policy, PolicyQuery, Ruling,
    RunOutcome, SinkClosed, StepRule,
};
use contract::testing::{Cue, ScriptedModel, history_error, text_reply, tool_call_reply};
use contract::{AssistantPart, Message, Part, Request, Tool, ToolChoice, ToolOutput, ToolSpec, estimated_tokens};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Records the names of the tools in the events.
#[derive(Default)]
struct Names(Vec<String>);

impl EventSink for Names {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        match event {
            Event::ToolCall { call, .. } => self.0.push(format!("call {} {}", call.name, call.input)),
            Event::ToolCallInvalid { name, input, .. } => self.0.push(format!("invalid {name} {input}")),
            Event::ToolStarted { name, .. } => self.0.push(format!("start {name}")),
            Event::Part(Part::ToolInputStart { name, .. }) => self.0.push(format!("input {name}")),
            _ => {}
        }
        Ok(())
    }
}

fn remote(name: &str) -> (Arc<dyn Tool>, impl Fn() -> Vec<Value>) {
    let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] });
    doing(ToolSpec { deferrable: true, ..ToolSpec::new(name, "Does it. At once.", schema) })
}

async fn run(agent: &Agent, messages: Vec<Arc<Message>>, pending: Vec<PendingCall>) -> (RunOutcome, Vec<String>) {
    let mut names = Names::default();
    let seen = (ExposureState::default(), CancellationToken::new());
    let outcome = run_turn(agent, messages, pending, seen, &mut names).await;
    (outcome, names.0)
}

fn listed(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// Returns the calls and results of a request as a provider gets them.
fn written(request: &Request) -> Vec<String> {
    let mut texts = Vec::new();
    for message in &request.messages {
        match &**message {
            Message::Assistant(parts) => texts.extend(parts.iter().filter_map(|part| match part {
                AssistantPart::ToolCall(call) => Some(format!("{} {} {}", call.id, call.name, call.input)),
                _ => None,
            })),
            Message::Tool(results) => texts.extend(
                results.iter().map(|result| format!("{} {}: {}", result.call_id, result.name, result.output.to_text())),
            ),
            _ => {}
        }
    }
    texts
}

const CREATE: &str = r#"{"name":"tracker_create","arguments":{"title":"Leak"}}"#;

#[tokio::test(start_paused = true)]
async fn deferred_tools_are_found_and_called_under_their_own_names() {
    let (create, called) = remote("tracker_create");
    let replies = vec![
        tool_call_reply(&[("a", "tool_search", r#"{"query":"create title"}"#)]),
        tool_call_reply(&[("b", "tool_call", CREATE), ("c", "own", "{}")]),
        text_reply("ok"),
    ];
    let tools = vec![create, doing(ToolSpec::new("own", "", object())).0, remote("tracker_find").0];
    let (mut agent, model) = agent("a", replies, tools);
    agent.settings.defer_tools = DeferTools::Above(2);
    let (outcome, names) = run(&agent, asked(), Vec::new()).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    assert_eq!(called(), [json!({ "title": "Leak" })]);
    insta::assert_snapshot!(names.join("\n"), @r#"
    input tool_search
    call tool_search {"query":"create title"}
    start tool_search
    call tracker_create {"title":"Leak"}
    input own
    call own {}
    start tracker_create
    start own
    "#);
    let requests = model.requests();
    assert!(requests.iter().all(|request| listed(request) == ["own", "tool_search", "tool_call"]));
    assert!(requests.iter().all(|request| history_error(&request.messages).is_none()));
    let system = requests[0].system.clone().unwrap_or_default();
    assert!(system.contains("- tracker_create: Does it\n- tracker_find: Does it\n"), "{system}");
    assert!(requests.iter().all(|request| request.system.as_ref() == Some(&system)));
    insta::assert_snapshot!(written(&requests[2]).join("\n"), @r#"
    a tool_search {"query":"create title"}
    a tool_search: {"tools":[{"name":"tracker_create","description":"Does it. At once.","parameters":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}},{"name":"tracker_find","description":"Does it. At once.","parameters":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}]}
    b tool_call {"name":"tracker_create","arguments":{"title":"Leak"}}
    c own {}
    b tool_call: tracker_create done
    c own: own done
    "#);
    assert_eq!(requests[2].messages[..requests[1].messages.len()], requests[1].messages[..]);
}

/// Returns what the model reads about a call, and the events.
async fn answer(tool: &str, arguments: &str) -> (String, Vec<String>) {
    let replies = vec![tool_call_reply(&[("a", tool, arguments)]), text_reply("ok")];
    let (mut agent, model) = agent("a", replies, vec![remote("tracker_create").0, remote("mail_send").0]);
    agent.settings.defer_tools = DeferTools::Always;
    let (_, names) = run(&agent, asked(), Vec::new()).await;
    let requests = model.requests();
    assert_eq!(history_error(&requests[1].messages), None);
    (written(&requests[1]).join("\n"), names)
}

#[tokio::test(start_paused = true)]
async fn calls_that_do_not_fit_are_explained() {
    insta::assert_snapshot!(answer("tool_call", r#"{"name":"tracker_creates","arguments":{}}"#).await.0, @r#"
    a tool_call {"name":"tracker_creates","arguments":{}}
    a tool_call: There is no tool `tracker_creates`. Similar tools: tracker_create. Find others with tool_search.
    "#);
    insta::assert_snapshot!(answer("tool_call", r#"{"name":"tool_call","arguments":{}}"#).await.0, @r#"
    a tool_call {"name":"tool_call","arguments":{}}
    a tool_call: There is no tool `tool_call`. Find tools with tool_search.
    "#);
    insta::assert_snapshot!(answer("tool_call", "{}").await.0, @r"
    a tool_call {}
    a tool_call: Give the `name` of a tool and its `arguments`.
    ");
    let (text, names) = answer("tool_call", r#"{"name":"mail_send","arguments":{"title":1}}"#).await;
    insta::assert_snapshot!(text, @r#"
    a tool_call {"name":"mail_send","arguments":{"title":1}}
    a tool_call: The arguments do not fit: /title: 1 is not of type "string" The parameters are: {"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}
    "#);
    assert_eq!(names, [r#"invalid mail_send {"title":1}"#]);
    // A model that calls the tool directly means the same.
    insta::assert_snapshot!(answer("mail_send", r#"{"title":"x"}"#).await.0, @r#"
    a tool_call {"name":"mail_send","arguments":{"title":"x"}}
    a tool_call: mail_send done
    "#);
}

/// Asks about one tool and denies another.
struct ByName;

impl Policy for ByName {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        let ruling = match asked.call.name.as_str() {
            "tracker_create" => Ruling::Ask,
            "mail_send" => Ruling::Deny("no mail.".to_owned()),
            _ => Ruling::Allow,
        };
        Box::pin(std::future::ready(ruling))
    }
}

#[tokio::test(start_paused = true)]
async fn policies_and_approvals_are_about_the_called_tool() {
    let mail = r#"{"name":"mail_send","arguments":{"title":"x"}}"#;
    let replies = vec![tool_call_reply(&[("a", "tool_call", CREATE), ("b", "tool_call", mail)]), text_reply("ok")];
    let ((create, created), (mail, sent)) = (remote("tracker_create"), remote("mail_send"));
    let (mut agent, model) = agent("a", replies, vec![create, mail]);
    agent.settings.defer_tools = DeferTools::Always;
    agent.policy = Some(Arc::new(ByName));
    let (outcome, _) = run(&agent, asked(), Vec::new()).await;
    assert!(matches!(outcome.ending, Ending::Waiting), "{:?}", outcome.ending);
    let waiting = outcome.waiting[0].call.clone();
    assert_eq!((waiting.name.as_str(), &waiting.input), ("tracker_create", &json!({ "title": "Leak" })));
    let pending = PendingCall {
        call: waiting,
        decision: Decision::Approved,
        state: None,
        tool_fingerprint: outcome.waiting[0].tool_fingerprint.clone(),
        grant: None,
        cut_off: false,
    };
    // The tools stay deferred in a conversation in which they were called so.
    agent.settings.defer_tools = DeferTools::Above(40);
    let (outcome, _) = run(&agent, outcome.messages, vec![pending]).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    assert_eq!((created().len(), sent().len()), (1, 0));
    let requests = model.requests();
    assert_eq!(listed(&requests[1]), ["tool_search", "tool_call"]);
    insta::assert_snapshot!(written(&requests[1]).join("\n"), @r#"
    a tool_call {"name":"tracker_create","arguments":{"title":"Leak"}}
    b tool_call {"name":"mail_send","arguments":{"title":"x"}}
    a tool_call: tracker_create done
    b tool_call: Not allowed: no mail.
    "#);
}

#[tokio::test(start_paused = true)]
async fn settings_decide_what_is_deferred() {
    let check = async |set: fn(&mut Agent), expected: &[&str]| {
        let tools = vec![remote("one").0, remote("two").0, doing(ToolSpec::new("own", "", object())).0];
        let (mut agent, model) = agent("a", vec![text_reply("ok")], tools);
        set(&mut agent);
        run(&agent, asked(), Vec::new()).await;
        assert_eq!(listed(&model.requests()[0]), expected);
    };
    check(|_| (), &["one", "two", "own"]).await;
    check(|agent| agent.settings.defer_tools = DeferTools::Above(3), &["one", "two", "own"]).await;
    check(|agent| agent.settings.defer_tools = DeferTools::Above(2), &["own", "tool_search", "tool_call"]).await;
    check(|agent| agent.settings.defer_tools = DeferTools::Never, &["one", "two", "own"]).await;
    let set = |agent: &mut Agent| {
        agent.settings.defer_tools = DeferTools::Always;
        agent.settings.tool_choice = ToolChoice::Tool("two".to_owned());
    };
    check(set, &["two", "own", "tool_search", "tool_call"]).await;
    let set = |agent: &mut Agent| {
        agent.settings.defer_tools = DeferTools::Always;
        let active_tools = Some(vec!["own".to_owned()]);
        agent.settings.prepare_step = vec![StepRule { active_tools, ..StepRule::default() }];
    };
    check(set, &["own"]).await;
    let set = |agent: &mut Agent| {
        agent.settings.defer_tools = DeferTools::Always;
        agent.settings.active_tools = Some(vec!["own".to_owned(), "one".to_owned()]);
    };
    check(set, &["own", "tool_search", "tool_call"]).await;
}

#[tokio::test(start_paused = true)]
async fn sub_agents_find_tools_too() {
    let (create, called) = remote("tracker_create");
    let (mut lower, _) =
        agent("lower", vec![tool_call_reply(&[("b", "tool_call", CREATE)]), text_reply("made")], vec![create]);
    lower.settings.defer_tools = DeferTools::Always;
    let (mut upper, model) =
        agent("upper", vec![tool_call_reply(&[("a", "lower", TASK)]), text_reply("ok")], Vec::new());
    upper.agents.push(below(lower));
    run(&upper, asked(), Vec::new()).await;
    assert_eq!(called(), [json!({ "title": "Leak" })]);
    let requests = model.requests();
    let Message::Tool(results) = &**requests[1].messages.last().unwrap() else { panic!() };
    assert_eq!(results[0].output, ToolOutput::Text("made".to_owned()));
}

/// A tool as large as those of well-known MCP servers.
fn usual(server: usize, at: usize) -> Arc<dyn Tool> {
    let argument = |name: &str| {
        let about = format!("The {name} of the record, as it was returned by an earlier call of this server.");
        (name.to_owned(), json!({ "type": "string", "description": about }))
    };
    let names = ["owner", "repository", "title", "body", "state", "labels", "page"];
    let properties: serde_json::Map<_, _> = names.iter().map(|name| argument(name)).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": ["owner", "repository"] });
    let about =
        format!("Updates records of the kind {at}. Needs the right to write. Returns the changed records as JSON.");
    doing(ToolSpec { deferrable: true, ..ToolSpec::new(format!("server{server}_update_record_{at}"), about, schema) }).0
}

#[tokio::test(start_paused = true)]
async fn requests_with_200_tools_are_small() {
    let measure = async |defer_tools: DeferTools| {
        let tools = (0..200).map(|at| usual(at % 5, at / 5)).collect();
        let (mut agent, model) = agent("a", vec![text_reply("ok")], tools);
        agent.settings.defer_tools = defer_tools;
        run(&agent, asked(), Vec::new()).await;
        let request = &model.requests()[0];
        let tools = request.tools.iter().map(|tool| {
            let tool = json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema });
            tool.to_string().len()
        });
        estimated_tokens(tools.sum::<usize>() + request.system.as_ref().map_or(0, String::len))
    };
    let (before, after) = (measure(DeferTools::Never).await, measure(DeferTools::default()).await);
    println!("200 tools of 5 servers: {before} tokens in each request, {after} with search");
    assert!(after * 10 <= before, "{before} {after}");
}

#[test]
fn setting_is_read() {
    let check = |value: Value, expected: DeferTools| {
        assert_eq!(serde_json::from_value::<DeferTools>(value.clone()).unwrap(), expected, "{value}");
    };
    check(json!(true), DeferTools::Always);
    check(json!(false), DeferTools::Never);
    check(json!({ "above": 12 }), DeferTools::Above(12));
    check(json!({ "above": 12, "by": "own" }), DeferTools::Above(12));
    check(json!({ "above": 12, "by": "provider" }), DeferTools::AtProvider(12));
    check(json!({ "by": "provider" }), DeferTools::AtProvider(40));
}

/// Returns an agent that prefers the search of its provider, and has one tool more than it lists.
fn at_provider(replies: Vec<Vec<Cue>>) -> (Agent, Arc<ScriptedModel>, impl Fn() -> Vec<Value>) {
    let (create, called) = remote("tracker_create");
    let tools = vec![create, doing(ToolSpec::new("own", "", object())).0, remote("tracker_find").0];
    let (mut agent, model) = agent("a", replies, tools);
    agent.settings.defer_tools = DeferTools::AtProvider(2);
    agent.settings.provider_has_search = true;
    (agent, model, called)
}

/// Returns the tools of a request that its provider finds.
fn found_at_provider(request: &Request) -> Vec<&str> {
    let deferrable = request.tools.iter().filter(|tool| request.provider_search && tool.deferrable);
    deferrable.map(|tool| tool.name.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn providers_find_tools_of_agents_that_prefer_it() {
    let call = || tool_call_reply(&[("a", "tracker_create", r#"{"title":"Leak"}"#)]);
    let (agent, model, called) = at_provider(vec![call(), text_reply("ok")]);
    let (outcome, names) = run(&agent, asked(), Vec::new()).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    assert_eq!(called(), [json!({ "title": "Leak" })]);
    assert_eq!(names, ["input tracker_create", r#"call tracker_create {"title":"Leak"}"#, "start tracker_create"]);
    let requests = model.requests();
    for request in &requests {
        assert_eq!(listed(request), ["tracker_create", "own", "tracker_find"]);
        assert_eq!(found_at_provider(request), ["tracker_create", "tracker_find"]);
        assert!(!request.system.clone().unwrap_or_default().contains("tools-found-by-search"));
    }
    assert_eq!(requests[1].messages[..requests[0].messages.len()], requests[0].messages[..]);
    // Policies are asked as about every other call.
    let (mut agent, _, called) = at_provider(vec![call()]);
    agent.policy = Some(Arc::new(ByName));
    let (outcome, _) = run(&agent, asked(), Vec::new()).await;
    assert!(matches!(outcome.ending, Ending::Waiting), "{:?}", outcome.ending);
    assert_eq!((outcome.waiting[0].call.name.as_str(), called().len()), ("tracker_create", 0));
}

#[tokio::test(start_paused = true)]
async fn search_of_the_provider_depends_on_models_settings_and_history() {
    let check = async |set: fn(&mut Agent), messages: Vec<Arc<Message>>, expected: (&[&str], &[&str])| {
        let (mut agent, model, _) = at_provider(vec![text_reply("ok")]);
        set(&mut agent);
        run(&agent, messages, Vec::new()).await;
        let requests = model.requests();
        assert_eq!((&listed(&requests[0])[..], &found_at_provider(&requests[0])[..]), expected);
    };
    let all: &[&str] = &["tracker_create", "own", "tracker_find"];
    check(|_| (), asked(), (all, &["tracker_create", "tracker_find"])).await;
    // A model that has none: the agent's own search.
    let set = |agent: &mut Agent| agent.settings.provider_has_search = false;
    check(set, asked(), (&["own", "tool_search", "tool_call"], &[])).await;
    let few = |agent: &mut Agent| agent.settings.defer_tools = DeferTools::AtProvider(3);
    check(few, asked(), (all, &[])).await;
    // A conversation that has begun with the search goes on with it.
    let item = json!({ "type": "tool_search_tool_result" });
    let item = AssistantPart::ProviderItem { provider: "anthropic".to_owned(), item };
    let says = AssistantPart::Text { text: "Hi".to_owned(), metadata: None };
    let begun = [asked(), vec![Arc::new(Message::Assistant(vec![item, says]))], asked()].concat();
    check(few, begun, (all, &["tracker_create", "tracker_find"])).await;
    // A tool that must be called is listed.
    let set = |agent: &mut Agent| agent.settings.tool_choice = ToolChoice::Tool("tracker_find".to_owned());
    check(set, asked(), (all, &["tracker_create"])).await;
}

/// Records from where an agent has read text from outside.
#[derive(Default)]
struct Untrusted(Vec<String>);

impl EventSink for Untrusted {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        if let Event::Exposed { exposure } = event {
            self.0.extend(exposure.untrusted);
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn tools_that_a_provider_has_found_are_no_text_from_outside() {
    let check = async |name: &str, expected: &[&str]| {
        let (id, name) = ("s".to_owned(), name.to_owned());
        let (input, call_id, called) = ("{}".to_owned(), id.clone(), name.clone());
        let call = Part::ToolCall { id: call_id, name: called, input, provider_executed: true, metadata: None };
        let result = Part::ToolResult { id, name, output: json!({}), is_error: false, metadata: None };
        let reply = [vec![Cue::Part(call), Cue::Part(result)], text_reply("ok")];
        let (agent, _, _) = at_provider(vec![reply.into_iter().flatten().collect()]);
        let mut read = Untrusted::default();
        let seen = (ExposureState::default(), CancellationToken::new());
        run_turn(&agent, asked(), Vec::new(), seen, &mut read).await;
        assert_eq!(read.0, expected);
    };
    check("tool_search_tool_bm25", &[]).await;
    check("tool_search", &[]).await;
    check("web_search", &["web_search"]).await;
}
