//! Standing approvals: which calls they cover, on every level, and which they do not.

use crate::support;
use agent::{
    Agent, Decision, Ending, Event, EventSink, Grant, GrantLookup, GrantQuery, PendingCall, Policy, PolicyQuery,
    Ruling, RunOutcome, SinkClosed, SubAgent, TurnInput, waiting_nested_calls,
};
use contract::testing::{Cue, RecordingTool, ScriptedModel, text_reply, tool_call_reply};
use contract::{ApprovalTerms, Message, Tool, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The events of calls, and the last suspended state.
#[derive(Default)]
struct Told {
    lines: Vec<String>,
    state: Option<Value>,
}

impl EventSink for Told {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        let (path, event) = match event {
            Event::Nested { call_id, event, .. } => (format!("{call_id}/"), *event),
            event => (String::new(), event),
        };
        let line = match event {
            Event::CallGranted { call_id, tool, grant } => format!("granted {path}{call_id} {tool} {}", grant.id),
            Event::ApprovalRequest { call_id, terms, .. } => {
                format!("ask {path}{call_id}{}", if terms.may_remember { "" } else { " this once" })
            }
            Event::ToolStarted { call_id, .. } => format!("run {path}{call_id}"),
            Event::ToolSuspended { state, .. } if path.is_empty() => {
                self.state = Some(state);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.lines.push(line);
        Ok(())
    }
}

/// The standing approvals of a user: for this agent's tool with this fingerprint.
struct Given(&'static str, String);

impl GrantLookup for Given {
    fn find<'a>(&'a self, wanted: GrantQuery<'a>) -> BoxFuture<'a, Option<Grant>> {
        let covers = (wanted.agent_id, wanted.tool, wanted.fingerprint) == (self.0, "write", &self.1);
        let grant = covers.then(|| Grant { id: "g".to_owned(), is_for_conversation: false });
        Box::pin(std::future::ready(grant))
    }
}

struct Says(Ruling);

impl Policy for Says {
    fn decide<'a>(&'a self, _: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

fn write(may_remember: bool) -> ToolSpec {
    let approval = ApprovalTerms { may_remember, ..ApprovalTerms::default() };
    ToolSpec { needs_approval: true, approval, ..ToolSpec::new("write", "Writes.", json!({ "type": "object" })) }
}

fn agent(id: &str, replies: Vec<Vec<Cue>>, spec: Option<ToolSpec>) -> Agent {
    let tool = |spec| Arc::new(RecordingTool::new(spec, |input, _| async move { Ok(input) })) as Arc<dyn Tool>;
    Agent { tools: spec.map(tool).into_iter().collect(), ..Agent::new(id, Arc::new(ScriptedModel::new(replies))) }
}

/// An agent that delegates a task to `helper`, which writes twice.
fn above() -> Agent {
    let twice = tool_call_reply(&[("w1", "write", r#"{"n":1}"#), ("w2", "write", r#"{"n":2}"#)]);
    let helper = agent("helper", vec![twice, text_reply("Written.")], Some(write(true)));
    let spec = ToolSpec::new("helper", "", SubAgent::default_schema());
    let task = tool_call_reply(&[("a", "helper", r#"{"task":"Write."}"#)]);
    let agents = vec![Arc::new(SubAgent::new(spec, helper))];
    Agent { agents, ..agent("above", vec![task, text_reply("Done.")], None) }
}

async fn run(
    agent: &Agent,
    messages: Vec<Arc<Message>>,
    pending: Vec<PendingCall>,
    given: Option<Given>,
    told: &mut Told,
) -> RunOutcome {
    let grants = given.map(|given| Arc::new(given) as Arc<dyn GrantLookup>);
    let (user_id, conversation_id) = ("u".to_owned(), "c".to_owned());
    let cancel = CancellationToken::new();
    agent::run(
        agent,
        TurnInput {
            pending,
            scope: contract::RunScope { user_id, conversation_id, ..contract::RunScope::default() },
            grants,
            cancel,
            ..support::turn(messages)
        },
        told,
    )
    .await
}

#[tokio::test(start_paused = true)]
async fn a_standing_approval_covers_the_tools_confirmation_only() {
    let check =
        async |spec: ToolSpec, policy: Option<Ruling>, given: &'static str, asked: &ToolSpec, expected: &[&str]| {
            let reply = tool_call_reply(&[("a", "write", "{}")]);
            let mut agent = agent("writer", vec![reply, text_reply("ok")], Some(spec));
            agent.policy = policy.clone().map(|ruling| Arc::new(Says(ruling)) as Arc<dyn Policy>);
            let mut told = Told::default();
            run(&agent, support::asked(), Vec::new(), Some(Given(given, asked.fingerprint())), &mut told).await;
            assert_eq!(told.lines, expected, "{given} {policy:?}");
        };
    let runs = ["granted a write g", "run a"];
    let today = write(true);
    let before = ToolSpec { description: "Writes, and more.".to_owned(), ..write(true) };
    let plain = ToolSpec { needs_approval: false, ..write(true) };
    check(write(true), None, "writer", &today, &runs).await;
    check(write(true), Some(Ruling::Allow), "writer", &today, &runs).await;
    check(write(true), None, "another", &today, &["ask a"]).await;
    check(write(true), None, "writer", &before, &["ask a"]).await;
    check(write(false), None, "writer", &today, &["ask a this once"]).await;
    check(write(true), Some(Ruling::Ask), "writer", &today, &["ask a this once"]).await;
    check(plain.clone(), Some(Ruling::Ask), "writer", &today, &["ask a this once"]).await;
    check(plain, None, "writer", &today, &["run a"]).await;
    check(write(true), Some(Ruling::Deny("no".to_owned())), "writer", &today, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_standing_approval_covers_calls_of_sub_agents() {
    let mut told = Told::default();
    let given = Given("helper", write(true).fingerprint());
    let outcome = run(&above(), support::asked(), Vec::new(), Some(given), &mut told).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    let granted = ["granted a/w1 write g", "granted a/w2 write g", "run a/w1", "run a/w2"];
    assert_eq!(told.lines, [&["run a"], &granted[..]].concat());
}

#[tokio::test(start_paused = true)]
async fn a_standing_approval_given_within_a_task_covers_the_rest_of_it() {
    let above = above();
    let mut told = Told::default();
    let outcome = run(&above, support::asked(), Vec::new(), None, &mut told).await;
    assert_eq!(told.lines, ["run a", "ask a/w1", "ask a/w2", "ask a"]);
    let state = told.state.take().unwrap();
    let within = waiting_nested_calls("a", &state);
    let ids: Vec<_> = within.iter().map(|within| within.call.id.as_str()).collect();
    assert_eq!(ids, ["a/w1", "a/w2"]);
    let fingerprint = write(true).fingerprint();
    let first = &within[0];
    let seen = (first.agent_id.as_str(), first.call.name.as_str(), first.tool_fingerprint.as_ref());
    assert_eq!(seen, ("helper", "write", Some(&fingerprint)));
    let call = outcome.waiting[0].call.clone();
    let grant = Some(Grant { id: "g".to_owned(), is_for_conversation: false });
    let pending = PendingCall {
        call,
        decision: Decision::Approved,
        state: Some(state),
        tool_fingerprint: None,
        grant,
        cut_off: false,
    };
    told.lines.clear();
    let given = Given("helper", fingerprint);
    let outcome = run(&above, outcome.messages, vec![pending], Some(given), &mut told).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    assert_eq!(told.lines, ["run a", "granted a/w1 write g", "granted a/w2 write g", "run a/w1", "run a/w2"]);
}
