//! The work of a sub-agent: its steps, its answer, its time and cost.

use super::card::{Card, failure, section};
use super::labels::{CallStatus, first_argument, reported_status};
use super::progress::CallProgress;
use super::sub_agent_output::{MAX_DEPTH, SubAgentOutput, text};
use super::tool_name::tool_label;
use super::tool_result::result_nodes;
use crate::approval::value::{MAX_ENTRIES, label_node, truncated, value_nodes, with_remainder};
use crate::markdown::markdown_node;
use crate::texts::{Text, t};
use crate::ui::node::{Node, element};
use crate::ui::numbers::{dollars, duration};
use serde_json::{Map, Value};

impl SubAgentOutput<'_> {
    /// The steps and the answer for the body of a card at this depth.
    pub(in crate::agent_chat) fn nodes(self, depth: usize) -> Vec<Node> {
        let answer = text(self.0, "text");
        let open = self.state() == "running";
        let mut nodes = Vec::new();
        let shown = self.steps().take(MAX_ENTRIES);
        let steps: Vec<_> = shown.filter_map(|step| self::step(step.as_object()?, depth)).collect();
        if !steps.is_empty() {
            let list = element("ol").attr("class", "cw-steps").attr("role", "list").children(steps);
            nodes.push(section(t(Text::Steps), with_remainder(list, self.steps().count())));
        }
        if !answer.is_empty() {
            nodes.push(section(t(Text::Answer), vec![markdown_node(&truncated(answer), open)]));
        }
        let took = usage_text(self.0);
        let is_over = !matches!(self.state(), "running" | "waiting");
        if is_over && !took.is_empty() {
            nodes.push(element("p").attr("class", "cw-tool-took").text(took));
        }
        if nodes.is_empty() {
            nodes.push(label_node(if is_over { t(Text::NoAnswer) } else { t(Text::NothingYet) }));
        }
        nodes
    }
}

/// The task of an agent: the text alone, if the input contains nothing else.
pub(in crate::agent_chat) fn task(input: &Value) -> &Value {
    match input.as_object() {
        Some(only) if only.len() == 1 => only.get("task").unwrap_or(input),
        _ => input,
    }
}

fn step(step: &Map<String, Value>, depth: usize) -> Option<Node> {
    let content = match text(step, "type") {
        "text" => markdown_node(&truncated(text(step, "text")), false),
        "tool" => tool(step, depth).node(),
        _ => return None,
    };
    Some(element("li").children(vec![content]))
}

fn tool(step: &Map<String, Value>, depth: usize) -> Card {
    let agent = SubAgentOutput::from_output(step.get("output"));
    let (standing, state) = match (reported_status(text(step, "state")), agent) {
        // The call is complete when the agent has ended, in whichever state.
        ((CallStatus::Done, _), Some(agent)) => reported_status(agent.state()),
        (told, _) => told,
    };
    let name = tool_label(text(step, "name"));
    let progress = CallProgress::from_output(step.get("output").filter(|_| standing == CallStatus::Running));
    let mut body = Vec::new();
    if let Some(input) = step.get("input").filter(|input| !input.is_null()) {
        body.push(section(if agent.is_some() { t(Text::Task) } else { t(Text::Input) }, value_nodes(task(input))));
    }
    match (agent, step.get("output")) {
        (Some(_), _) if depth >= MAX_DEPTH => body.push(label_node("…")),
        (Some(agent), _) => body.extend(agent.nodes(depth + 1)),
        (None, Some(output)) if progress.is_none() => body.push(section(t(Text::Result), result_nodes(output, &name))),
        _ => {}
    }
    if let Some(error) = step.get("error").and_then(Value::as_str) {
        body.push(failure(error));
    }
    if step.get("granted").is_some() {
        body.push(label_node(t(Text::AllowedByStanding)));
    }
    if body.is_empty() {
        body.push(label_node(t(Text::NothingYet)));
    }
    let doing = agent.map(SubAgentOutput::activity).or_else(|| progress.map(CallProgress::text)).unwrap_or_default();
    let detail = if doing.is_empty() { first_argument(step.get("input")) } else { doing };
    Card {
        status: standing,
        icon: standing.shape(),
        name,
        detail,
        bar: progress.and_then(CallProgress::bar),
        state: state_nodes(state, usage_text(step)),
        open: false,
        body,
    }
}

/// The state of a step. For a completed step the time is shown instead, since the icon shows the
/// state; screen readers announce both.
fn state_nodes(state: &'static str, took: String) -> Vec<Node> {
    if state != t(Text::StateDone) || took.is_empty() {
        return vec![Node::Text(state.to_owned())];
    }
    vec![element("span").attr("class", "cw-visually-hidden").text(t(Text::StateDoneBefore)), Node::Text(took)]
}

/// The duration, and the cost if known.
fn usage_text(of: &Map<String, Value>) -> String {
    let number = |key: &str| of.get(key).and_then(Value::as_f64).filter(|number| *number >= 0.0);
    let time = number("durationMs").map(|milliseconds| duration(milliseconds as u64));
    let cost = number("costUsd").map(dollars);
    [time, cost].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
