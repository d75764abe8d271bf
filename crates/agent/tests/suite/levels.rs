//! The limits that apply on all levels of agents: policies, the exposure, and the number of concurrent
//! sub-agents.

use crate::support::{TASK, agent, agent_of, asked, below, doing, object, run_turn};
use agent::{
    Agent, Decision, Ending, Event, EventSink, ExposureState, PendingCall, Policy, PolicyQuery, Ruling, RunOutcome,
    SinkClosed,
};
use contract::testing::{ScriptedModel, text_reply, tool_call_reply};
use contract::{
    Annotations, Exposure, Message, Model, ModelError, ModelId, PartStream, Request, RunScope, Tool, ToolContext,
    ToolError, ToolOutput, ToolSpec,
};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The approval requests and the rulings on all levels.
#[derive(Default)]
struct Told {
    /// The states of the root agent's suspended calls.
    states: Vec<Value>,
    /// The rulings by call id.
    rulings: Vec<(String, Ruling)>,
    /// The exposures that the user was shown.
    exposed: Vec<Exposure>,
}

impl EventSink for Told {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        let event = match event {
            Event::Nested { event, .. } => *event,
            Event::ToolSuspended { state, .. } => {
                self.states.push(state);
                return Ok(());
            }
            event => event,
        };
        match event {
            Event::CallRuled { call_id, ruling } => self.rulings.push((call_id, ruling)),
            Event::ApprovalRequest { terms, .. } => self.exposed.extend(terms.exposed),
            _ => {}
        }
        Ok(())
    }
}

async fn ask(agent: &Agent, told: &mut Told) -> RunOutcome {
    ask_after(agent, ExposureState::default(), told).await
}

async fn ask_after(agent: &Agent, seen: ExposureState, told: &mut Told) -> RunOutcome {
    run_turn(agent, asked(), Vec::new(), (seen, CancellationToken::new()), told).await
}

/// Approves what waits; the state is stored and read in between.
async fn approve(agent: &Agent, outcome: RunOutcome, told: &mut Told) -> RunOutcome {
    let state = told.states.last().map(|state| serde_json::from_str(&state.to_string()).unwrap());
    let (call, decision) = (outcome.waiting[0].call.clone(), Decision::Approved);
    let pending = vec![PendingCall { call, decision, state, tool_fingerprint: None, grant: None, cut_off: false }];
    run_turn(agent, outcome.messages, pending, (ExposureState::default(), CancellationToken::new()), told).await
}

/// Rules on calls of `write`, and records the agents that it was asked about.
struct OfWrite {
    ruling: Mutex<Ruling>,
    asked: Mutex<Vec<(String, bool)>>,
}

impl OfWrite {
    fn new(ruling: Ruling) -> Arc<Self> {
        Arc::new(Self { ruling: Mutex::new(ruling), asked: Mutex::default() })
    }
}

impl Policy for OfWrite {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        let ruling = if asked.call.name == "write" {
            self.asked.lock().unwrap().push((asked.agent_id.to_owned(), asked.is_sub_agent));
            self.ruling.lock().unwrap().clone()
        } else {
            Ruling::Allow
        };
        Box::pin(std::future::ready(ruling))
    }
}

fn deny(why: &str) -> Ruling {
    Ruling::Deny(why.to_owned())
}

/// Three levels of agents. The lowest one calls this tool. Each level has its policy, the root
/// agent's first.
fn three(tool: Arc<dyn Tool>, policies: [Option<Arc<OfWrite>>; 3]) -> (Agent, Arc<ScriptedModel>) {
    let [first, second, third] = policies.map(|policy| policy.map(|policy| policy as Arc<dyn Policy>));
    let name = tool.spec().name.clone();
    let (mut lowest, model) =
        agent("lowest", vec![tool_call_reply(&[("w", &name, r#"{"n":1}"#)]), text_reply("Ended.")], vec![tool]);
    lowest.policy = third;
    let (mut middle, _) =
        agent("middle", vec![tool_call_reply(&[("l", "lowest", TASK)]), text_reply("Ended.")], Vec::new());
    middle.policy = second;
    middle.agents.push(below(lowest));
    let (mut above, _) =
        agent("above", vec![tool_call_reply(&[("m", "middle", TASK)]), text_reply("Ended.")], Vec::new());
    above.policy = first;
    above.agents.push(below(middle));
    (above, model)
}

fn write() -> (Arc<dyn Tool>, impl Fn() -> Vec<Value>) {
    doing(ToolSpec::new("write", "", object()))
}

/// Returns the output of its call that the lowest agent reads.
fn read_of(model: &ScriptedModel) -> ToolOutput {
    match &**model.requests().last().unwrap().messages.last().unwrap() {
        Message::Tool(results) => results[0].output.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn strictest_policy_of_all_levels_decides() {
    let check = async |policies: [Option<Ruling>; 3], expected: &Ruling| {
        let (tool, written) = write();
        let (above, model) = three(tool, policies.clone().map(|ruling| ruling.map(OfWrite::new)));
        let mut told = Told::default();
        let outcome = ask(&above, &mut told).await;
        let is_waiting = matches!(outcome.ending, Ending::Waiting);
        assert_eq!(is_waiting, *expected == Ruling::Ask, "{policies:?}");
        assert_eq!(written().len(), usize::from(*expected == Ruling::Allow), "{policies:?}");
        if let Ruling::Deny(why) = expected {
            assert_eq!(read_of(&model), ToolOutput::ErrorText(format!("Not allowed: {why}")), "{policies:?}");
        }
    };
    let (allow, ask) = (Some(Ruling::Allow), Some(Ruling::Ask));
    check([None, None, None], &Ruling::Allow).await;
    check([allow.clone(), None, allow.clone()], &Ruling::Allow).await;
    check([Some(deny("first")), None, None], &deny("first")).await;
    check([Some(deny("first")), None, allow.clone()], &deny("first")).await;
    check([None, Some(deny("second")), allow.clone()], &deny("second")).await;
    check([ask.clone(), Some(deny("second")), ask.clone()], &deny("second")).await;
    check([Some(deny("first")), allow.clone(), Some(deny("third"))], &deny("first")).await;
    check([ask.clone(), None, None], &Ruling::Ask).await;
    check([ask.clone(), allow.clone(), allow.clone()], &Ruling::Ask).await;
    check([allow, ask.clone(), None], &Ruling::Ask).await;
    check([None, None, ask], &Ruling::Ask).await;
}

#[tokio::test(start_paused = true)]
async fn policy_of_a_calling_agent_is_asked_about_the_sub_agent() {
    let (first, third) = (OfWrite::new(Ruling::Allow), OfWrite::new(Ruling::Allow));
    let (tool, _) = write();
    let (above, _) = three(tool, [Some(first.clone()), None, Some(third.clone())]);
    ask(&above, &mut Told::default()).await;
    for policy in [first, third] {
        assert_eq!(*policy.asked.lock().unwrap(), [("lowest".to_owned(), true)]);
    }
}

/// The policy may have changed when the user answers.
#[tokio::test(start_paused = true)]
async fn approval_required_by_a_calling_agents_policy_is_given_by_the_user() {
    let check = async |by_then: Ruling, expected: usize| {
        let (tool, written) = write();
        let policy = OfWrite::new(Ruling::Ask);
        let (above, model) = three(tool, [Some(policy.clone()), None, None]);
        let mut told = Told::default();
        let outcome = ask(&above, &mut told).await;
        assert!(matches!(outcome.ending, Ending::Waiting), "{:?}", outcome.ending);
        assert!(!outcome.waiting[0].terms.may_remember, "this very call is to be looked at");
        *policy.ruling.lock().unwrap() = by_then.clone();
        let outcome = approve(&above, outcome, &mut told).await;
        assert!(matches!(outcome.ending, Ending::Done), "{by_then:?}: {:?}", outcome.ending);
        assert_eq!(written().len(), expected, "{by_then:?}");
        if let Ruling::Deny(why) = by_then {
            assert_eq!(read_of(&model), ToolOutput::ErrorText(format!("Not allowed: {why}")));
        }
    };
    check(Ruling::Ask, 1).await;
    check(deny("no more"), 0).await;
}

const PRIVATE: Annotations =
    Annotations { reads_private: true, returns_untrusted: false, egress: false, idempotent: false, reads_only: false };
const UNTRUSTED: Annotations =
    Annotations { reads_private: false, returns_untrusted: true, egress: false, idempotent: false, reads_only: false };
const EGRESS: Annotations =
    Annotations { reads_private: false, returns_untrusted: false, egress: true, idempotent: false, reads_only: false };

fn marked(name: &str, marks: Annotations) -> (Arc<dyn Tool>, impl Fn() -> Vec<Value>) {
    doing(ToolSpec { annotations: marks, ..ToolSpec::new(name, "", object()) })
}

/// The exposure from these two tools.
fn read(private: &str, untrusted: &str) -> Exposure {
    Exposure { private: Some(private.to_owned()), untrusted: Some(untrusted.to_owned()) }
}

#[tokio::test(start_paused = true)]
async fn exposure_of_a_calling_agent_applies_to_its_sub_agents() {
    let (send, sent) = marked("send", EGRESS);
    let (mut above, _) = three(send, [None, None, None]);
    let reads = [marked("customers", PRIVATE).0, marked("search", UNTRUSTED).0];
    let replies = vec![
        tool_call_reply(&[("p", "customers", "{}"), ("s", "search", "{}")]),
        tool_call_reply(&[("m", "middle", TASK)]),
        text_reply("Ended."),
    ];
    above.model = Arc::new(ScriptedModel::new(replies));
    above.tools = reads.to_vec();
    let mut told = Told::default();
    let outcome = ask(&above, &mut told).await;
    assert!(matches!(outcome.ending, Ending::Waiting), "{:?}", outcome.ending);
    assert_eq!(told.exposed[0], read("customers", "search"));
    assert_eq!(sent().len(), 0);
    approve(&above, outcome, &mut told).await;
    assert_eq!(sent().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn exposure_of_a_sub_agent_applies_to_its_caller_and_siblings() {
    let reader = |id: &str, tool: &str, marks| {
        let replies = vec![tool_call_reply(&[("r", tool, "{}")]), text_reply("Read.")];
        below(agent(id, replies, vec![marked(tool, marks).0]).0)
    };
    let check = async |second: &str, tool: &str| {
        let (send, sent) = marked("send", EGRESS);
        let (mailer, _) =
            agent("mailer", vec![tool_call_reply(&[("s", "send", "{}")]), text_reply("Sent.")], vec![send.clone()]);
        let replies = vec![
            tool_call_reply(&[("a", "private-reader", TASK)]),
            tool_call_reply(&[("b", "web-reader", TASK)]),
            tool_call_reply(&[("c", tool, second)]),
            text_reply("Ended."),
        ];
        let (mut above, _) = agent("above", replies, vec![send]);
        above.agents = vec![
            reader("private-reader", "customers", PRIVATE),
            reader("web-reader", "search", UNTRUSTED),
            below(mailer),
        ];
        let mut told = Told::default();
        let outcome = ask(&above, &mut told).await;
        assert!(matches!(outcome.ending, Ending::Waiting), "{tool}: {:?}", outcome.ending);
        assert_eq!(told.exposed[0], read("customers", "search"), "{tool}");
        assert_eq!(sent().len(), 0, "{tool}");
    };
    check("{}", "send").await;
    check(TASK, "mailer").await;
}

/// A model that takes a second, delegates its task to two sub-agents when it is asked first, and
/// then answers.
struct HandsOver {
    id: ModelId,
    below: Option<String>,
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
}

impl Model for HandsOver {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        Box::pin(async move {
            self.requests.fetch_add(1, Ordering::SeqCst);
            self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.now.fetch_sub(1, Ordering::SeqCst);
            let reply = match &self.below {
                Some(below) if request.messages.len() == 1 => {
                    tool_call_reply(&[("a", below, TASK), ("b", below, TASK)])
                }
                _ => text_reply("Ended."),
            };
            ScriptedModel::new(vec![reply]).stream(request, cancel).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn all_levels_share_the_permits_without_a_deadlock() {
    let [now, most, requests] = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
    let level = |number: u32, under: Option<Agent>| {
        let id = ModelId { provider: "scripted".to_owned(), model: format!("level-{number}") };
        let (now, most, requests) = (now.clone(), most.clone(), requests.clone());
        let model = HandsOver { id, below: under.as_ref().map(|under| under.id.clone()), now, most, requests };
        let mut agent = agent_of(&format!("level-{number}"), Arc::new(model), Vec::new());
        agent.agents = under.map(below).into_iter().collect();
        agent
    };
    // Five levels below the root agent.
    let lowest = level(5, None);
    let first = (0..5).rev().fold(lowest, |under, number| level(number, Some(under)));
    let outcome = ask(&first, &mut Told::default()).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    // Each of the 31 agents that delegate asks twice, each of the 32 lowest ones once.
    assert_eq!(requests.load(Ordering::SeqCst), 2 * 31 + 32);
    assert_eq!(most.load(Ordering::SeqCst), 3);
    // Stopping also ends the agents that wait for a permit.
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(3500)).await;
        stop.cancel();
    });
    let outcome = run_turn(&first, asked(), Vec::new(), (ExposureState::default(), cancel), &mut Told::default()).await;
    assert!(matches!(outcome.ending, Ending::Stopped), "{:?}", outcome.ending);
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

/// A tool that asks about calls with `n` above 1.
struct AsksAboutLarge(ToolSpec);

impl Tool for AsksAboutLarge {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn needs_approval_for<'a>(&'a self, input: &'a Value, _: &'a RunScope) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(input["n"].as_u64() > Some(1)))
    }

    fn call(&self, input: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(std::future::ready(Ok(input)))
    }
}

#[tokio::test]
async fn a_tool_may_ask_about_one_call_because_of_its_arguments() {
    let tool = Arc::new(AsksAboutLarge(ToolSpec::new("write", "", object())));
    let calls = tool_call_reply(&[("small", "write", r#"{"n":1}"#), ("large", "write", r#"{"n":2}"#)]);
    let (agent, _) = agent("a", vec![calls, text_reply("Ended.")], vec![tool]);
    let mut told = Told::default();
    let outcome = ask(&agent, &mut told).await;
    let waiting: Vec<_> = outcome.waiting.iter().map(|waiting| waiting.call.id.as_str()).collect();
    assert_eq!((waiting, &told.rulings[..]), (vec!["large"], &[("large".to_owned(), Ruling::Ask)][..]));
    assert!(!outcome.waiting[0].terms.may_remember, "no standing approval covers such a call");
    let outcome = approve(&agent, outcome, &mut told).await;
    assert!(outcome.waiting.is_empty());
}
