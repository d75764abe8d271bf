//! Agents as tools: what the calling agent reads, what the user sees, and how an approval request
//! within a task is answered.

use crate::support::{self, TASK, agent, asked, below, object, run_turn};
use agent::{
    Agent, Decision, Ending, Event, EventSink, ExposureState, Limit, PendingCall, RunOutcome, RunSettings, SinkClosed,
    SubAgent, TurnLimits,
};
use contract::testing::{Cue, RecordingTool, ScriptedModel, text_reply, tool_call_reply};
use contract::{Message, Part, Tool, ToolOutput, ToolSpec, UserPart};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The events of the root agent's calls.
#[derive(Default)]
struct Told {
    progress: Vec<Value>,
    suspended: Vec<(Value, Value)>,
    finished: Vec<Result<Value, String>>,
    /// The call, the step's number and its tokens.
    took: Vec<(String, u32, u64)>,
    cancel: Option<(usize, CancellationToken)>,
}

impl EventSink for Told {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        match event {
            Event::ToolProgress { output, .. } => self.progress.push(output),
            Event::ToolSuspended { output, state, .. } => self.suspended.push((output, state)),
            Event::ToolFinished { result, .. } => self.finished.push(result.map_err(|error| error.message)),
            Event::ReplyComplete(reply) => self.took.push((String::new(), reply.step, reply.usage.input_tokens)),
            Event::Nested { call_id, event, .. } => {
                if let Event::ReplyComplete(reply) = *event {
                    self.took.push((call_id, reply.step, reply.usage.input_tokens));
                }
            }
            _ => {}
        }
        if let Some((after, cancel)) = &self.cancel
            && self.progress.len() > *after
        {
            cancel.cancel();
        }
        Ok(())
    }
}

fn doing(name: &str, needs_approval: bool) -> (Arc<dyn Tool>, impl Fn() -> Vec<Value>) {
    support::doing(ToolSpec { needs_approval, ..ToolSpec::new(name, "", object()) })
}

async fn run(agent: &Agent, messages: Vec<Arc<Message>>, pending: Vec<PendingCall>, told: &mut Told) -> RunOutcome {
    let cancel = told.cancel.as_ref().map_or_else(CancellationToken::new, |(_, cancel)| cancel.clone());
    run_turn(agent, messages, pending, (ExposureState::default(), cancel), told).await
}

async fn ask(agent: &Agent, told: &mut Told) -> RunOutcome {
    run(agent, asked(), Vec::new(), told).await
}

/// Returns the last message of the last request, which has what the calling agent reads about its
/// sub-agent.
fn read_of(model: &ScriptedModel) -> ToolOutput {
    match &**model.requests().last().unwrap().messages.last().unwrap() {
        Message::Tool(results) => results[0].output.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_delegated_and_its_answer_is_read() {
    let (search, searched) = doing("search", false);
    let mut first = text_reply("I look. ");
    first.pop();
    first.extend(tool_call_reply(&[("s", "search", r#"{"q":"x"}"#)]));
    let (helper, helper_model) = agent("helper", vec![first, text_reply("It is on page 7.")], vec![search]);
    let (mut above, model) =
        agent("above", vec![tool_call_reply(&[("a", "helper", TASK)]), text_reply("Page 7.")], Vec::new());
    above.agents.push(below(helper));
    let mut told = Told::default();
    let outcome = ask(&above, &mut told).await;
    assert!(matches!(outcome.ending, Ending::Done));
    assert_eq!(searched(), [json!({ "q": "x" })]);
    assert_eq!(
        helper_model.requests()[0].messages,
        [Arc::new(Message::User(vec![UserPart::Text { text: "Find it.".to_owned() }]))]
    );
    assert_eq!(read_of(&model), ToolOutput::Text("It is on page 7.".to_owned()));
    let view = told.finished[0].clone().unwrap();
    let expected = json!({
        "_subAgent": true, "agentId": "helper", "state": "done", "text": "It is on page 7.", "durationMs": 10,
        "usage": { "inputTokens": 20, "outputTokens": 10 },
        "steps": [
            { "type": "text", "text": "I look. " },
            { "type": "tool", "id": "s", "name": "search", "state": "done", "input": { "q": "x" }, "output": "search done" },
        ],
    });
    assert_eq!(view, expected);
    // The tokens of the sub-agent count, too.
    assert_eq!((outcome.usage.input_tokens, outcome.steps), (40, 2));
    let took: Vec<_> = told.took.iter().map(|(at, number, tokens)| (at.as_str(), *number, *tokens)).collect();
    assert_eq!(took, [("", 1, 10), ("a", 1, 10), ("a", 2, 10), ("", 2, 10)]);
    assert!(told.progress.iter().any(|view| view["steps"][1]["state"] == "running"), "{:?}", told.progress);
}

/// Calls that the provider of a sub-agent runs are steps like its own calls; a result without a call is shown as an
/// item.
#[tokio::test(start_paused = true)]
async fn tools_and_items_of_the_provider_are_steps() {
    let text = |text: &str| text.to_owned();
    let item = |item: Value, shown_as: Option<&str>| {
        Cue::Part(Part::ProviderItem { provider: text("p"), item, shown_as: shown_as.map(str::to_owned) })
    };
    let result = |id: &str, is_error: bool| {
        let output = json!({ "found": 1 });
        Cue::Part(Part::ToolResult { id: text(id), name: text("web_search"), output, is_error, metadata: None })
    };
    let call = |id: &str| {
        let (id, name, input) = (text(id), text("web_search"), text("{}"));
        Cue::Part(Part::ToolCall { id, name, input, provider_executed: true, metadata: None })
    };
    let mut reply = vec![call("w1"), result("w1", false), item(json!({ "type": "search" }), None)];
    reply.extend([call("w2"), result("w2", true), result("unknown", false), item(json!({ "type": "later" }), None)]);
    reply.push(item(json!({ "type": "tools" }), Some("mcp_list_tools")));
    reply.extend(text_reply("Found."));
    let (helper, _) = agent("helper", vec![reply], Vec::new());
    let (mut above, _) = agent("above", vec![tool_call_reply(&[("a", "helper", TASK)]), text_reply("ok")], Vec::new());
    above.agents.push(below(helper));
    let mut told = Told::default();
    ask(&above, &mut told).await;
    let steps = told.finished[0].clone().unwrap()["steps"].clone();
    let step = |id: &str, name: &str, state: &str, input: Value, output: Value| json!({ "type": "tool", "id": id, "name": name, "state": state, "input": input, "output": output });
    assert_eq!(
        steps,
        json!([
            step("w1", "web_search", "done", json!({}), json!({ "found": 1 })),
            step("w2", "web_search", "failed", json!({}), json!({ "found": 1 })),
            step("", "web_search", "done", json!({}), json!({ "type": "later" })),
            step("", "mcp_list_tools", "done", json!({}), json!({ "type": "tools" })),
        ])
    );
}

#[tokio::test(start_paused = true)]
async fn concurrent_sub_agents_are_limited() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, peak) = (running.clone(), most.clone());
    let work = RecordingTool::new(ToolSpec::new("work", "", object()), move |_, _| {
        let (now, peak) = (now.clone(), peak.clone());
        async move {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(json!("done"))
        }
    });
    let replies = (0..10)
        .flat_map(|_| [tool_call_reply(&[("w", "work", "{}")])])
        .chain((0..10).map(|_| text_reply("ok")))
        .collect();
    let (helper, _) = agent("helper", replies, vec![Arc::new(work)]);
    let ids: Vec<_> = (0..6).map(|number| format!("a{number}")).collect();
    let six: Vec<_> = ids.iter().map(|id| (id.as_str(), "helper", TASK)).collect();
    let (mut above, _) = agent("above", vec![tool_call_reply(&six), text_reply("ok")], Vec::new());
    above.agents.push(below(helper));
    ask(&above, &mut Told::default()).await;
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

/// Tasks for copies of the agent do not wait for a place: the model reads that they were not begun.
#[tokio::test(start_paused = true)]
async fn more_copies_than_places_are_refused() {
    let (helper, helper_model) = agent("general-purpose", (0..3).map(|_| text_reply("ok")).collect(), Vec::new());
    let spec = ToolSpec::new("task", "", object());
    let copy = Arc::new(SubAgent { is_copy: true, ..SubAgent::new(spec, helper) });
    let tasks: Vec<_> = ["a", "b", "c", "d"].map(|id| (id, "task", r#"{"prompt":"Find it.","max_turns":2}"#)).into();
    let (mut above, _) = agent("above", vec![tool_call_reply(&tasks), text_reply("ok")], Vec::new());
    above.agents.push(copy);
    let mut told = Told::default();
    let outcome = ask(&above, &mut told).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    let refused: Vec<_> = told.finished.iter().filter_map(|result| result.clone().err()).collect();
    assert_eq!((helper_model.requests().len(), refused.len()), (3, 1));
    assert!(refused[0].starts_with("Not run: at most 3 tasks are worked on at the same time"), "{refused:?}");
    let read = &helper_model.requests()[0].messages[0];
    assert_eq!(**read, Message::User(vec![UserPart::Text { text: "Find it.".to_owned() }]));
}

/// A call may end the task sooner than the agent's settings, and not later.
#[tokio::test(start_paused = true)]
async fn a_call_bounds_its_requests() {
    for (asked, expected) in [(2, 2), (9, 3)] {
        let (work, _) = doing("work", false);
        let replies = (0..5).map(|n| tool_call_reply(&[("w", "work", &format!(r#"{{"n":{n}}}"#))])).collect();
        let (mut helper, model) = agent("general-purpose", replies, vec![work]);
        helper.settings.max_steps = 3;
        let copy = SubAgent { is_copy: true, ..SubAgent::new(ToolSpec::new("task", "", object()), helper) };
        let call = format!(r#"{{"prompt":"Find it.","max_turns":{asked}}}"#);
        let (mut above, _) =
            agent("above", vec![tool_call_reply(&[("a", "task", &call)]), text_reply("ok")], Vec::new());
        above.agents.push(Arc::new(copy));
        ask(&above, &mut Told::default()).await;
        assert_eq!(model.requests().len(), expected, "{asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn limits_include_sub_agents() {
    let (work, worked) = doing("work", false);
    let again = || tool_call_reply(&[("w", "work", "{}")]);
    let (helper, _) =
        agent("helper", vec![again(), tool_call_reply(&[("v", "work", r#"{"n":2}"#)]), text_reply("ok")], vec![work]);
    let (mut above, _) =
        agent("above", vec![tool_call_reply(&[("a", "helper", TASK)]), text_reply("never asked")], Vec::new());
    above.settings.limits = TurnLimits { requests: Some(3), ..TurnLimits::default() };
    above.agents.push(below(helper));
    let mut told = Told::default();
    let outcome = ask(&above, &mut told).await;
    assert!(matches!(outcome.ending, Ending::Limit(Limit::Requests)), "{:?}", outcome.ending);
    assert_eq!(worked().len(), 2);
    assert_eq!(told.finished[0], Err("The agent was stopped at a limit before it had an answer.".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn stopping_reaches_all_levels() {
    let hangs = RecordingTool::new(ToolSpec::new("hangs", "", object()), |_, _| std::future::pending());
    let (lowest, _) = agent("lowest", vec![tool_call_reply(&[("h", "hangs", "{}")])], vec![Arc::new(hangs)]);
    let (mut middle, _) = agent("middle", vec![tool_call_reply(&[("l", "lowest", TASK)])], Vec::new());
    middle.agents.push(below(lowest));
    let (mut above, _) = agent("above", vec![tool_call_reply(&[("m", "middle", TASK)])], Vec::new());
    above.agents.push(below(middle));
    let mut told = Told { cancel: Some((3, CancellationToken::new())), ..Told::default() };
    let begun = tokio::time::Instant::now();
    let outcome = ask(&above, &mut told).await;
    assert!(matches!(outcome.ending, Ending::Stopped), "{:?}", outcome.ending);
    assert!(begun.elapsed() <= Duration::from_secs(1), "{:?}", begun.elapsed());
}

/// A helper that writes twice in one reply, with approval, two levels down.
fn asking() -> (Agent, Arc<ScriptedModel>, impl Fn() -> Vec<Value>) {
    let (write, written) = doing("write", true);
    let both = tool_call_reply(&[("w1", "write", r#"{"n":1}"#), ("w2", "write", r#"{"n":2}"#)]);
    let (lowest, _) = agent("lowest", vec![both, text_reply("I have written.")], vec![write]);
    let (mut middle, _) =
        agent("middle", vec![tool_call_reply(&[("l", "lowest", TASK)]), text_reply("All is written.")], Vec::new());
    middle.agents.push(below(lowest));
    let (mut above, model) =
        agent("above", vec![tool_call_reply(&[("m", "middle", TASK)]), text_reply("Done.")], Vec::new());
    above.agents.push(below(middle));
    (above, model, written)
}

#[tokio::test(start_paused = true)]
async fn an_approval_request_of_a_sub_agent_waits_for_the_user() {
    let (above, model, written) = asking();
    let mut told = Told::default();
    let mut outcome = ask(&above, &mut told).await;
    let mut answers = [Decision::Approved, Decision::Denied(Some("not that".to_owned()))].into_iter();
    let mut asked = Vec::new();
    while matches!(outcome.ending, Ending::Waiting) {
        // As it is stored and read again.
        let (view, state) = told.suspended.last().unwrap().clone();
        let state: Value = serde_json::from_str(&state.to_string()).unwrap();
        assert_eq!(view["state"], "waiting");
        asked.push(view["waiting"].clone());
        let call = outcome.waiting[0].call.clone();
        let pending = vec![PendingCall {
            call,
            decision: answers.next().unwrap(),
            state: Some(state),
            tool_fingerprint: None,
            grant: None,
            cut_off: false,
        }];
        outcome = run(&above, outcome.messages, pending, &mut told).await;
    }
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    let question = |n: u32| json!({ "toolName": "write", "input": { "n": n } });
    assert_eq!(asked, [question(1), question(2)]);
    assert_eq!(written(), [json!({ "n": 1 })]);
    assert_eq!(read_of(&model), ToolOutput::Text("All is written.".to_owned()));
    let lowest = &told.finished.last().unwrap().clone().unwrap()["steps"][0]["output"];
    let states: Vec<_> = lowest["steps"].as_array().unwrap().iter().map(|step| step["state"].clone()).collect();
    assert_eq!(states, ["done", "denied"]);
}

/// The usage of an agent from before it waited counts when it resumes.
#[tokio::test(start_paused = true)]
async fn limits_count_across_suspensions() {
    for settings in [
        RunSettings { limits: TurnLimits { requests: Some(2), ..TurnLimits::default() }, ..RunSettings::default() },
        RunSettings { limits: TurnLimits { tool_calls: Some(1), ..TurnLimits::default() }, ..RunSettings::default() },
        RunSettings { max_steps: 2, ..RunSettings::default() },
    ] {
        let (write, written) = doing("write", true);
        let (work, _) = doing("work", false);
        let once = |id: &str, name: &str| tool_call_reply(&[(id, name, "{}")]);
        let replies = vec![once("w", "write"), once("x", "work"), once("y", "work"), text_reply("never asked")];
        let (mut helper, model) = agent("helper", replies, vec![write, work]);
        helper.settings = settings;
        let (mut above, _) =
            agent("above", vec![tool_call_reply(&[("h", "helper", TASK)]), text_reply("ok")], Vec::new());
        above.agents.push(below(helper));
        let mut told = Told::default();
        let outcome = ask(&above, &mut told).await;
        let state = Some(told.suspended[0].1.clone());
        let call = outcome.waiting[0].call.clone();
        let pending = vec![PendingCall {
            call,
            decision: Decision::Approved,
            state,
            tool_fingerprint: None,
            grant: None,
            cut_off: false,
        }];
        run(&above, outcome.messages, pending, &mut told).await;
        assert_eq!((written().len(), model.requests().len()), (1, 2));
        assert_eq!(told.finished[0], Err("The agent was stopped at a limit before it had an answer.".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn unreadable_state_is_an_error_for_the_model() {
    let (above, model, written) = asking();
    let mut told = Told::default();
    let outcome = ask(&above, &mut told).await;
    let call = outcome.waiting[0].call.clone();
    let pending = vec![PendingCall {
        call,
        decision: Decision::Approved,
        state: Some(json!({ "old": 1 })),
        tool_fingerprint: None,
        grant: None,
        cut_off: false,
    }];
    let outcome = run(&above, outcome.messages, pending, &mut told).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    assert_eq!(written().len(), 0);
    let lost = "The agent's previous state is lost. Give it the task again.".to_owned();
    assert_eq!(read_of(&model), ToolOutput::ErrorText(lost));
}
