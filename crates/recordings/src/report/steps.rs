//! The steps of a recording: each request to a model with its reply and the calls of that reply.

use crate::format::{Entry, NeutralRequest, Outcome, Recording};
use contract::Part;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

/// A request to a model with its reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The path of the agent.
    pub agent: String,
    /// The number of the agent's request, from 1.
    pub number: u32,
    /// The request.
    pub request: NeutralRequest,
    /// The text of the reply.
    pub text: String,
    /// The calls of the reply, in its order.
    pub calls: Vec<Call>,
    /// The reason why the reply ended or failed.
    pub finish: String,
    /// Tokens, cost and time.
    pub totals: Totals,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The arguments as text.
    pub input: String,
    /// The result, if the tool has run.
    pub outcome: Option<Outcome>,
}

/// Tokens, cost and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// The input tokens.
    pub input_tokens: u64,
    /// The output tokens.
    pub output_tokens: u64,
    /// The cost in US dollars, as far as prices are known.
    pub cost_usd: Option<f64>,
    /// The time in milliseconds.
    pub ms: u64,
}

impl Totals {
    pub(super) fn add(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.ms = self.ms.saturating_add(other.ms);
        if let Some(cost) = other.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + cost);
        }
    }
}

/// Returns the steps of a recording in the order of their requests.
pub(crate) fn steps(recording: &Recording) -> Vec<Step> {
    let (mut steps, mut numbers) = (Vec::<Step>::new(), HashMap::<&str, u32>::new());
    let mut by_id = HashMap::new();
    for entry in &recording.entries {
        match entry {
            Entry::Request { id, agent, request } => {
                let number = numbers.entry(agent).or_default();
                *number += 1;
                by_id.insert(*id, steps.len());
                steps.push(Step {
                    agent: agent.clone(),
                    number: *number,
                    request: request.clone(),
                    text: String::new(),
                    calls: Vec::new(),
                    finish: "none".to_owned(),
                    totals: Totals::default(),
                });
            }
            Entry::Reply { id, parts, error, cost_usd, whole_ms, .. } => {
                let Some(step) = by_id.get(id).and_then(|at| steps.get_mut(*at)) else { continue };
                step.totals.ms = *whole_ms;
                step.totals.cost_usd = *cost_usd;
                parts.iter().for_each(|part| add_part(step, part));
                if let Some(error) = error {
                    step.finish = format!("failed: {error}");
                }
            }
            Entry::Tool { agent, call_id, tool, input, outcome, .. } => {
                add_outcome(&mut steps, (agent, call_id, tool), input, outcome);
            }
            _ => {}
        }
    }
    steps
}

fn add_part(step: &mut Step, part: &Part) {
    match part {
        Part::TextDelta { delta, .. } => step.text.push_str(delta),
        Part::ToolCall { id, name, input, .. } => step.calls.push(Call {
            id: id.clone(),
            tool: name.clone(),
            input: if input.is_empty() { "{}".to_owned() } else { input.clone() },
            outcome: None,
        }),
        Part::Finish { reason, usage, .. } => {
            step.finish =
                serde_json::to_value(reason).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
            step.totals.input_tokens = usage.input_tokens;
            step.totals.output_tokens = usage.output_tokens;
        }
        _ => {}
    }
}

/// Adds a result to its call: the newest one of the agent with this tool that has none. The id that
/// a call has in a conversation may differ from the provider's, so it only decides among equal
/// ones.
fn add_outcome(steps: &mut [Step], (agent, id, tool): (&str, &str, &str), input: &Value, outcome: &Outcome) {
    let mut calls: Vec<&mut Call> = steps
        .iter_mut()
        .filter(|step| step.agent == agent)
        .flat_map(|step| &mut step.calls)
        .filter(|call| call.tool == tool && call.outcome.is_none())
        .collect();
    let same_id = calls.iter().rposition(|call| call.id == id);
    let same_input =
        || calls.iter().position(|call| serde_json::from_str::<Value>(&call.input).ok().as_ref() == Some(input));
    if let Some(at) = same_id.or_else(same_input) {
        calls[at].outcome = Some(outcome.clone());
    }
}

/// Returns the text of a result.
pub(crate) fn outcome_text(outcome: Option<&Outcome>) -> String {
    match outcome {
        Some(Outcome::Output(Value::String(text))) => text.clone(),
        Some(Outcome::Output(value)) => value.to_string(),
        Some(Outcome::Error(message)) => format!("error: {message}"),
        None => "(no result)".to_owned(),
    }
}
