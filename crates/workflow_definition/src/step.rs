//! The steps of a workflow.

use crate::HumanStep;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use settings::{EndpointId, Id, Text, ToolName};
use wire::invoke::AgentTier;

/// A step of a workflow.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The id, unique in the workflow. Later steps read the output with `_step: ID` or `$.ID`.
    pub id: Id,
    /// The type of the step, with its keys.
    #[serde(flatten)]
    pub kind: StepKind,
    /// How often the step is tried. Default: once. For agents, endpoints and child workflows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// The time limit of one attempt in seconds. For agents, tools and endpoints, at most 1,800;
    /// default: 300. For a wait for an event, after which the step fails, and for `if`, `switch`, `parallel` and
    /// `loop`, which fail then with all steps in them; default: until the run's time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 31_536_000))]
    pub timeout_seconds: Option<u32>,
    /// The steps that run when this one has failed. They read the error with `_error: message`,
    /// `kind` and `step`. The output of the last one is the output of this step. Default: the error
    /// is that of the steps around it, and in the end of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_error: Vec<Self>,
    /// Whether the step may run again when the server was killed and it is not known whether the step
    /// had its effect. Otherwise a person is asked. For agents, tools and endpoints. Default: false;
    /// true for an agent without tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
}

/// The type of a step, with its keys.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type")]
#[schemars(extend("x-names" = "type of step"))]
pub enum StepKind {
    /// Asks an agent. The output is its answer: a text, or JSON by `responseSchema`.
    Agent(AgentStep),
    /// Calls a tool of an agent, as the agent's model would. The output is its result.
    Tool(ToolStep),
    /// Runs an endpoint of the section `api`. The output is its result.
    Endpoint(EndpointStep),
    /// Runs steps depending on a condition. The output is that of the last of them.
    If(IfStep),
    /// Runs the steps of the first case that is true. The output is that of the last of them.
    Switch(SwitchStep),
    /// Runs branches concurrently. The output has the output of each branch by its name. All branches
    /// run to their end; if any has failed, so has the step.
    Parallel(ParallelStep),
    /// Repeats steps for the items of a list, or until a condition is true. The output is the list of
    /// the iterations' outputs.
    Loop(LoopStep),
    /// Asks a person.
    Human(Box<HumanStep>),
    /// Waits.
    Wait(WaitStep),
    /// Runs another workflow. The output is that of its run.
    Workflow(WorkflowStep),
    /// Ends the run with an output. Not in branches or iterations that run concurrently.
    Return(ReturnStep),
    /// Fails, as a step that has an error.
    Fail(FailStep),
}

/// Asks an agent.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct AgentStep {
    /// The agent.
    pub agent_id: Id,
    /// The prompt: a text, with operators or a `$.` path. A value that is not a text is sent as JSON.
    pub prompt: Value,
    /// The JSON Schema of the answer. Without it, the answer is a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Map<String, Value>>,
    /// The names of the agent's tools that it may use. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolName>,
    /// The tools whose calls are approved in advance. A call of another one that needs an approval is a
    /// question to people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_tools: Vec<ToolName>,
    /// The limits of time and memory, as `limits.invocationTiers` sets them. With a tier here or of
    /// the workflow, its time is the default of `timeoutSeconds`; the shorter of both applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-names" = "tier"))]
    pub tier: Option<AgentTier>,
}

/// Calls a tool of an agent: of an MCP server, of a remote agent, an endpoint, or a built-in one. No
/// model is asked. The agent's policy applies, and the call is in the audit log.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ToolStep {
    /// The agent that has the tool.
    pub agent_id: Id,
    /// The name of the tool, as the agent's model knows it.
    pub tool_name: ToolName,
    /// The arguments. Operators and `$.` paths are allowed. Default: an empty mapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Whether the call is approved in advance, if the tool needs an approval. A policy that asks is not
    /// satisfied by this. Default: the call is denied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved: bool,
}

/// Runs an endpoint.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct EndpointStep {
    /// The endpoint. It may be an internal one.
    pub endpoint_id: EndpointId,
    /// The payload. Operators and `$.` paths are allowed. Default: an empty mapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
}

/// Runs steps depending on a condition.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct IfStep {
    /// The condition. `null`, `false`, `0` and an empty text count as false.
    pub test: Value,
    /// The steps to run if the condition is true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Step>,
    /// The steps to run otherwise.
    #[serde(default, rename = "else", skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Step>,
}

/// Runs the steps of the first case that is true.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct SwitchStep {
    /// The cases.
    pub cases: Vec<Case>,
    /// The steps to run if no case is true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default: Vec<Step>,
}

/// A case of a switch.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// The condition. `null`, `false`, `0` and an empty text count as false.
    pub test: Value,
    /// The steps of this case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Step>,
}

/// Runs branches concurrently.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ParallelStep {
    /// The steps of the branches by name, at most 16 branches.
    pub branches: IndexMap<String, Vec<Step>>,
}

/// Repeats steps.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct LoopStep {
    /// The list. Operators and `$.` paths are allowed. Either this or `until` is set.
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    pub list: Option<Value>,
    /// The condition that ends the loop, which is evaluated after each iteration and may read the
    /// steps of `do`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Value>,
    /// The most iterations. A longer list, or a condition that never is true, is an error.
    #[schemars(range(min = 1, max = 1000))]
    pub max: u32,
    /// The name under which the steps read the item: `_item: NAME`. Default: `item`. They read the
    /// index, from 0, with `_item: index`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Id>,
    /// How many iterations run at once, for a list. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub concurrency: Option<u32>,
    /// The steps of an iteration.
    #[serde(rename = "do")]
    #[schemars(length(min = 1))]
    pub body: Vec<Step>,
}

/// Waits. One of `seconds`, `until` and `event` is set. The output is `null`, or the event.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct WaitStep {
    /// How long, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub seconds: Option<u32>,
    /// Until when: a time such as `2026-12-24T09:00:00Z`, or milliseconds since 1970. Operators and
    /// `$.` paths are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Value>,
    /// Until this event happens: one of the product, or one that a program reports with
    /// `POST /api/events/{name}`. Events count that have happened since the step before has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Text>,
    /// For `event`: the condition that it must meet, in which `_event` reads the event. Operators and
    /// `$.` paths are allowed. Default: any event of this name.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Value>,
    /// For `event`: the roles of users and API keys that may report it. Default: `admin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub senders: Option<Vec<Text>>,
}

/// Runs another workflow.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct WorkflowStep {
    /// The workflow. It may not run this one again.
    pub workflow_id: Id,
    /// The input. Operators and `$.` paths are allowed. Default: an empty mapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// Ends the run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ReturnStep {
    /// The output of the run. Operators and `$.` paths are allowed. Default: `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// Fails.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct FailStep {
    /// The message. Operators and `$.` paths are allowed.
    pub message: Value,
}

/// How often a step is tried.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// The most attempts, the first one included.
    #[schemars(range(min = 2, max = 10))]
    pub attempts: u32,
    /// The time before the second attempt in seconds. It doubles before each further one, up to an
    /// hour. Default: 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3600))]
    pub delay_seconds: Option<u32>,
    /// The kinds of errors after which it is tried again: `timeout`, `unavailable`, `invalid` or
    /// `failed`. Default: `timeout`, `unavailable` and `failed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<Text>,
}

impl Retry {
    /// Returns the time in milliseconds before the attempt after `attempt`, counted from 1.
    pub fn delay_ms(&self, attempt: u32) -> i64 {
        let first = i64::from(self.delay_seconds.unwrap_or(5)) * 1_000;
        let doubled = first.saturating_mul(1_i64 << attempt.saturating_sub(1).min(20));
        doubled.min(3_600_000)
    }

    /// Returns whether a step is tried again after an error of this kind.
    pub fn covers(&self, kind: &str) -> bool {
        if self.on.is_empty() {
            matches!(kind, "timeout" | "unavailable" | "failed")
        } else {
            self.on.iter().any(|named| named.0 == kind)
        }
    }
}

/// A list of steps within a step, with the keys that lead to it.
#[derive(Debug)]
pub struct StepList<'s> {
    /// The keys from the step to the list; a number is an index.
    pub keys: Vec<ListKey<'s>>,
    /// The steps.
    pub steps: &'s [Step],
    /// Whether it runs beside other lists, or beside itself.
    pub is_concurrent: bool,
}

/// A key or an index on the way to a list of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKey<'s> {
    /// A key.
    Key(&'s str),
    /// An index.
    Index(usize),
}

impl Step {
    /// Returns the lists of steps in it, that of `onError` last.
    pub fn lists(&self) -> impl Iterator<Item = StepList<'_>> {
        use ListKey::{Index, Key};
        let list = |keys: &[ListKey<'static>], steps| StepList { keys: keys.to_vec(), steps, is_concurrent: false };
        let mut lists = match &self.kind {
            StepKind::If(step) => vec![list(&[Key("then")], &*step.then), list(&[Key("else")], &step.otherwise)],
            StepKind::Switch(step) => {
                let cases = step.cases.iter().enumerate();
                let cases = cases.map(|(index, case)| list(&[Key("cases"), Index(index), Key("then")], &*case.then));
                cases.chain([list(&[Key("default")], &*step.default)]).collect()
            }
            StepKind::Parallel(step) => {
                let branch = |(name, steps)| {
                    let keys = vec![Key("branches"), Key(name)];
                    StepList { keys, steps, is_concurrent: true }
                };
                step.branches.iter().map(|(name, steps)| branch((name.as_str(), steps.as_slice()))).collect()
            }
            StepKind::Loop(step) => {
                let is_concurrent = step.concurrency.unwrap_or(1) > 1;
                vec![StepList { is_concurrent, ..list(&[Key("do")], &*step.body) }]
            }
            _ => Vec::new(),
        };
        if let StepKind::Human(human) = &self.kind
            && let Some(lapse) = &human.on_lapse
        {
            lists.push(list(&[Key("onLapse"), Key("steps")], &*lapse.steps));
        }
        lists.push(list(&[Key("onError")], &*self.on_error));
        lists.into_iter()
    }

    /// Returns the name of the step's type.
    pub fn type_name(&self) -> &'static str {
        match &self.kind {
            StepKind::Agent(_) => "agent",
            StepKind::Tool(_) => "tool",
            StepKind::Endpoint(_) => "endpoint",
            StepKind::If(_) => "if",
            StepKind::Switch(_) => "switch",
            StepKind::Parallel(_) => "parallel",
            StepKind::Loop(_) => "loop",
            StepKind::Human(_) => "human",
            StepKind::Wait(_) => "wait",
            StepKind::Workflow(_) => "workflow",
            StepKind::Return(_) => "return",
            StepKind::Fail(_) => "fail",
        }
    }

    /// Returns whether the step may run again when it is not known whether it had its effect.
    pub fn is_idempotent(&self) -> bool {
        let without_effect = match &self.kind {
            StepKind::Agent(step) => step.tools.is_empty(),
            StepKind::Tool(_) | StepKind::Endpoint(_) => false,
            _ => true,
        };
        self.idempotent.unwrap_or(without_effect)
    }

    /// Returns whether the step calls something that takes time and may have an effect.
    pub fn is_call(&self) -> bool {
        matches!(self.kind, StepKind::Agent(_) | StepKind::Tool(_) | StepKind::Endpoint(_))
    }

    /// Returns whether the step consists of other steps.
    pub fn is_container(&self) -> bool {
        matches!(self.kind, StepKind::If(_) | StepKind::Switch(_) | StepKind::Parallel(_) | StepKind::Loop(_))
    }

    /// Returns the time limit of one attempt in seconds.
    pub fn timeout(&self) -> u32 {
        self.timeout_seconds.unwrap_or(300)
    }
}
