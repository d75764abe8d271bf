//! Agents with routes: which one a turn takes, and what it has then.

use crate::support::{self, doing, object};
use agent::{
    Agent, Event, EventSink, Route, RouteNeed, RunOutcome, RunSettings, SinkClosed, StepRule, ToolStrategy, TurnInput,
    TurnUsage,
};
use contract::testing::{Cue, RecordingTool, ScriptedModel, model_error, text_reply, tool_call_reply};
use contract::{
    AssistantPart, Message, ModelErrorKind, RunScope, SourceTools, Tool, ToolCall, ToolChoice, ToolContext, ToolError,
    ToolOutput, ToolResult, ToolSource, ToolSpec, UserPart,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

static ROUTES: [Route; 3] = [
    Route { name: "files", needs: RouteNeed::Files, without_tools: &["search"], without_sources: &[], ..BASE },
    Route { name: "documents", needs: RouteNeed::Tool("search"), without_tools: &[], without_sources: &[], ..BASE },
    Route { name: "chat", ..BASE },
];

const BASE: Route = Route {
    name: "",
    purpose: "P",
    instructions: "INSTRUCTIONS",
    needs: RouteNeed::Nothing,
    without_tools: &["search"],
    without_sources: &["documents"],
};

/// Offers nothing but a context.
struct Documents;

impl ToolSource for Documents {
    fn name(&self) -> &str {
        "documents"
    }

    fn tools<'a>(&'a self, _: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        let context = Some("CONTEXT".to_owned());
        Box::pin(std::future::ready(Ok(SourceTools { context, ..SourceTools::default() })))
    }
}

/// Keeps the decisions, counts what was asked beside the answer, and keeps what the user reads meanwhile.
#[derive(Default)]
struct Decisions(Vec<Value>, u32, Vec<Value>);

impl EventSink for Decisions {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        match event {
            Event::Data { name, id, data } if name == agent::ROUTING => {
                assert_eq!(id.as_deref(), Some(agent::ROUTING));
                self.0.push(data);
            }
            Event::SideReply(_) => self.1 += 1,
            Event::Data { name, data, .. } if name == "status" => self.2.push(data["message"].clone()),
            _ => {}
        }
        Ok(())
    }
}

fn agent(replies: Vec<Vec<Cue>>, tools: &[&str]) -> (Agent, Arc<ScriptedModel>) {
    let tool = |name: &&str| doing(ToolSpec::new(*name, "", object())).0;
    let tools: Vec<Arc<dyn Tool>> = tools.iter().map(tool).collect();
    let (agent, model) = support::agent("a", replies, tools);
    (Agent { routes: &ROUTES, sources: vec![Arc::new(Documents)], ..agent }, model)
}

async fn run(agent: &Agent, has_files: bool, earlier: TurnUsage) -> (RunOutcome, Decisions) {
    run_from(agent, has_files, earlier, 1).await
}

async fn run_from(agent: &Agent, has_files: bool, earlier: TurnUsage, turn_start: usize) -> (RunOutcome, Decisions) {
    run_after(agent, Vec::new(), has_files, earlier, turn_start).await
}

/// Runs a turn after these messages.
async fn run_after(
    agent: &Agent,
    mut messages: Vec<Arc<Message>>,
    has_files: bool,
    earlier: TurnUsage,
    turn_start: usize,
) -> (RunOutcome, Decisions) {
    messages.push(Arc::new(Message::User(vec![UserPart::Text { text: "Hi".to_owned() }])));
    let turn = TurnInput {
        earlier,
        turn_start,
        scope: RunScope { has_files, ..RunScope::default() },
        ..support::turn(messages)
    };
    let mut decisions = Decisions::default();
    (agent::run(agent, turn, &mut decisions).await, decisions)
}

/// Returns the decision, the names of the tools and the instructions of the answer.
async fn decide(reply: Option<Vec<Cue>>, has_files: bool, tools: &[&str]) -> (Value, Vec<String>, String) {
    let asks = u32::from(reply.is_some());
    let replies = reply.into_iter().chain([text_reply("ok")]).collect();
    let (agent, model) = agent(replies, tools);
    let (_, decisions) = run(&agent, has_files, TurnUsage::default()).await;
    assert!(decisions.1 <= asks);
    let requests = model.requests();
    let answer = requests.last().unwrap();
    assert_eq!(decisions.0.len(), 1, "{:?}", decisions.0);
    let told = if decisions.0[0]["decidedBy"] == "request" { vec![] } else { vec![decisions.0[0]["reason"].clone()] };
    assert_eq!(decisions.2, told);
    let names = answer.tools.iter().map(|tool| tool.name.clone()).collect();
    (decisions.0[0].clone(), names, answer.system.clone().unwrap())
}

#[tokio::test]
async fn the_model_decides_among_what_is_possible() {
    let reply = |route: &str| Some(text_reply(&json!({ "route": route, "reason": "Because." }).to_string()));
    let (decision, tools, system) = decide(reply("chat"), true, &["search", "other"]).await;
    let expected =
        json!({ "route": "chat", "reason": "Because.", "decidedBy": "model", "alternatives": ["files", "documents"] });
    assert_eq!((decision, tools, system.as_str()), (expected, vec!["other".to_owned()], "INSTRUCTIONS"));
    let (decision, tools, system) = decide(reply("documents"), false, &["search"]).await;
    assert_eq!((&decision["route"], &decision["alternatives"]), (&json!("documents"), &json!(["chat"])));
    assert_eq!((tools, system.as_str()), (vec!["search".to_owned()], "INSTRUCTIONS\n\nCONTEXT"));
}

#[tokio::test]
async fn the_request_decides_if_only_one_way_is_possible() {
    let (decision, tools, _) = decide(None, false, &["other"]).await;
    assert_eq!((&decision["route"], &decision["decidedBy"]), (&json!("chat"), &json!("request")));
    assert_eq!(tools, ["other"]);
}

#[tokio::test]
async fn a_decision_that_cannot_be_used_falls_back_to_the_first_possible_way() {
    let check = async |reply: Vec<Cue>, has_files: bool, expected: &str| {
        let (decision, ..) = decide(Some(reply), has_files, &["search"]).await;
        assert_eq!((&decision["route"], &decision["decidedBy"]), (&json!(expected), &json!("fallback")));
        assert!(decision["reason"].as_str().unwrap().ends_with("The first possible way was taken."));
    };
    check(text_reply(r#"{"route":"nowhere","reason":"R"}"#), false, "documents").await;
    // Files are not there.
    check(text_reply(r#"{"route":"files","reason":"R"}"#), false, "documents").await;
    check(text_reply("the documents"), true, "files").await;
    check(text_reply(""), false, "documents").await;
    check(tool_call_reply(&[("c", "search", "{}")]), false, "documents").await;
    check(vec![Cue::Fail(model_error(ModelErrorKind::Unauthorized))], false, "documents").await;
}

#[tokio::test]
async fn a_resumed_turn_stays_on_its_route() {
    let (mut first, _) =
        agent(vec![text_reply(r#"{"route":"documents","reason":"R"}"#), text_reply("ok")], &["search"]);
    first.settings.max_steps = 5;
    let (outcome, _) = run(&first, false, TurnUsage::default()).await;
    let (second, model) = agent(vec![text_reply("ok")], &["search"]);
    let (_, decisions) = run(&second, true, outcome.turn_usage).await;
    assert_eq!((decisions.0.len(), model.requests().len()), (0, 1));
    assert_eq!(model.requests()[0].tools.len(), 1);
}

#[tokio::test]
async fn the_message_is_shown_to_the_model_that_decides() {
    for turn_start in [0, 1] {
        let (agent, model) = agent(vec![text_reply("{}"), text_reply("ok")], &["search"]);
        run_from(&agent, false, TurnUsage::default(), turn_start).await;
        let asked = &model.requests()[0];
        let shown = Message::User(vec![UserPart::Text { text: "<message>\nHi\n</message>".to_owned() }]);
        assert_eq!(*asked.messages[0], shown, "{turn_start}");
        let form = &asked.response_format.as_ref().unwrap().schema["properties"]["route"];
        assert_eq!(*form, json!({ "type": "string", "enum": ["documents", "chat"] }));
    }
}

#[tokio::test]
async fn a_tool_cannot_show_a_decision() {
    let forge = |_, context: ToolContext| async move {
        context.reports.add_data(agent::ROUTING, Some(agent::ROUTING.to_owned()), json!({ "route": "files" })).await;
        Ok(json!("done"))
    };
    let (mut agent, model) = agent(vec![tool_call_reply(&[("c", "forge", "{}")]), text_reply("ok")], &[]);
    agent.tools.push(Arc::new(RecordingTool::new(ToolSpec::new("forge", "", object()), forge)));
    let (_, decisions) = run(&agent, false, TurnUsage::default()).await;
    assert_eq!((decisions.0.len(), &decisions.0[0]["route"]), (1, &json!("chat")));
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_model_that_refuses_the_form_is_asked_without_it() {
    let refused = vec![Cue::Fail(model_error(ModelErrorKind::Refused))];
    let decided = text_reply(r#"{"route":"chat","reason":"R"}"#);
    let (agent, model) = agent(vec![refused, decided, text_reply("ok")], &["search"]);
    let (_, decisions) = run(&agent, false, TurnUsage::default()).await;
    assert_eq!(
        (&decisions.0[0]["route"], &decisions.0[0]["decidedBy"], decisions.1),
        (&json!("chat"), &json!("model"), 1)
    );
    let forms: Vec<_> = model.requests().iter().map(|request| request.response_format.is_some()).collect();
    assert_eq!(forms, [true, false, false]);
}

/// A call of a tool with its result.
fn called(name: &str) -> Vec<Arc<Message>> {
    let (id, name) = ("c".to_owned(), name.to_owned());
    let result = ToolResult {
        call_id: id.clone(),
        name: name.clone(),
        output: ToolOutput::ErrorText("Nothing.".to_owned()),
        metadata: None,
    };
    let call = ToolCall { id, name, input: json!({}), provider_executed: false, metadata: None };
    vec![
        Arc::new(Message::User(vec![UserPart::Text { text: "Search.".to_owned() }])),
        Arc::new(Message::Assistant(vec![AssistantPart::ToolCall(call)])),
        Arc::new(Message::Tool(vec![result])),
    ]
}

#[tokio::test]
async fn settings_about_removed_tools_do_not_apply() {
    let check = async |tools: &[&str],
                       history: Vec<Arc<Message>>,
                       set: &dyn Fn(&mut RunSettings),
                       expected: (&[&str], ToolChoice)| {
        let (mut agent, model) = agent(vec![text_reply(r#"{"route":"chat","reason":"R"}"#), text_reply("ok")], tools);
        set(&mut agent.settings);
        let start = history.len() + 1;
        run_after(&agent, history, false, TurnUsage::default(), start).await;
        let requests = model.requests();
        assert_eq!(requests.len(), 2);
        let names: Vec<_> = requests[1].tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!((&names[..], &requests[1].tool_choice), (expected.0, &expected.1));
    };
    let choose = |choice: ToolChoice| move |settings: &mut RunSettings| settings.tool_choice = choice.clone();
    let named = |name: &str| ToolChoice::Tool(name.to_owned());
    let both = ["search", "other"];
    check(&both, vec![], &choose(ToolChoice::Required), (&["other"], ToolChoice::Required)).await;
    check(&both, vec![], &choose(named("search")), (&["other"], ToolChoice::Auto)).await;
    check(&both, vec![], &choose(named("other")), (&["other"], named("other"))).await;
    check(&["search"], vec![], &choose(ToolChoice::Required), (&[], ToolChoice::Auto)).await;
    let rule = StepRule { active_tools: Some(vec!["search".to_owned()]), ..StepRule::default() };
    let by_rule = |settings: &mut RunSettings| {
        settings.tool_choice = ToolChoice::Required;
        settings.prepare_step = vec![rule.clone()];
    };
    check(&both, vec![], &by_rule, (&[], ToolChoice::Auto)).await;
    let pipeline = |settings: &mut RunSettings| {
        settings.tool_strategy = ToolStrategy::Pipeline(both.map(str::to_owned).to_vec());
    };
    check(&both, vec![], &pipeline, (&["other"], named("other"))).await;
    // Tools that the history has calls of stay listed.
    check(&both, called("search"), &choose(ToolChoice::Auto), (&["other", "search"], ToolChoice::Auto)).await;
    check(&["search"], called("search"), &choose(ToolChoice::Required), (&["search"], ToolChoice::None)).await;
    check(&both, called("other"), &choose(ToolChoice::Auto), (&["other"], ToolChoice::Auto)).await;
}

#[tokio::test]
async fn removed_tools_that_are_listed_are_refused() {
    let decided = text_reply(r#"{"route":"chat","reason":"R"}"#);
    let replies = vec![decided, tool_call_reply(&[("d", "search", "{}")]), text_reply("ok")];
    let (agent, model) = agent(replies, &["search", "other"]);
    let (outcome, _) = run_after(&agent, called("search"), false, TurnUsage::default(), 4).await;
    assert_eq!(model.requests().len(), 3);
    let mut results = outcome.messages.iter().filter_map(|message| match &**message {
        Message::Tool(results) => Some(format!("{:?}", results[0].output)),
        _ => None,
    });
    let last = results.next_back().unwrap();
    assert!(last.contains("There is no tool `search`. Available: other."), "{last}");
}
