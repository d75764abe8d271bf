//! What another agent did that was asked for help: its steps, its answer, what that took.

use super::card::{Card, failure, section};
use super::progress::Progress;
use super::tool_result::result_nodes;
use super::value::{MAX_ENTRIES, shortened, value_nodes, with_rest, word};
use super::words::{Standing, first_argument, told_state, tool_words};
use crate::markdown::markdown_node;
use crate::node::{Node, element};
use crate::numbers::{dollars, time};
use crate::texts::{Text, t};
use serde_json::{Map, Value};

/// Agents that ask agents are shown in each other up to this depth.
const MAX_DEPTH: usize = 5;

/// The output of a call that asked another agent, while it works too.
#[derive(Clone, Copy)]
pub(super) struct SubAgent<'v>(&'v Map<String, Value>);

impl<'v> SubAgent<'v> {
    /// If that is what the output is.
    pub(super) fn of(output: Option<&'v Value>) -> Option<Self> {
        let output = output?.as_object()?;
        (output.get("_subAgent")? == &Value::Bool(true)).then_some(Self(output))
    }

    /// Its name in words.
    pub(super) fn name(self) -> String {
        tool_words(text(self.0, "agentId"))
    }

    /// `running`, `waiting`, `done`, `failed`, `limit` or `stopped`.
    pub(super) fn state(self) -> &'v str {
        text(self.0, "state")
    }

    /// The tool that it may not run before the user has decided, in words, and the arguments.
    pub(super) fn waiting(self) -> Option<(String, Option<&'v Value>)> {
        let waiting = self.0.get("waiting")?.as_object()?;
        Some((tool_words(text(waiting, "toolName")), waiting.get("input")))
    }

    /// What it does now, in a few words; empty when it does nothing more.
    pub(super) fn doing(self) -> String {
        self.doing_at(1)
    }

    fn doing_at(self, depth: usize) -> String {
        if !matches!(self.state(), "running" | "waiting") {
            return String::new();
        }
        let is_open = |step: &&'v Map<String, Value>| matches!(text(step, "state"), "running" | "waiting");
        if let Some(step) = self.steps().filter_map(Value::as_object).filter(is_open).last() {
            let name = tool_words(text(step, "name"));
            let inner = Self::of(step.get("output")).filter(|_| depth < MAX_DEPTH);
            let inner = inner.map(|inner| inner.doing_at(depth + 1)).unwrap_or_default();
            return if inner.is_empty() { name } else { format!("{name} › {inner}") };
        }
        if text(self.0, "text").is_empty() { t(Text::Thinking) } else { t(Text::Writing) }.to_owned()
    }

    /// Its work, as it is shown in the body of its card, which is this deep.
    pub(super) fn nodes(self, depth: usize) -> Vec<Node> {
        let answer = text(self.0, "text");
        let open = self.state() == "running";
        let mut nodes = Vec::new();
        let shown = self.steps().take(MAX_ENTRIES);
        let steps: Vec<_> = shown.filter_map(|step| self::step(step.as_object()?, depth)).collect();
        if !steps.is_empty() {
            let list = element("ol").with("class", "cw-steps").with("role", "list").around(steps);
            nodes.push(section(t(Text::Steps), with_rest(list, self.steps().count())));
        }
        if !answer.is_empty() {
            nodes.push(section(t(Text::Answer), vec![markdown_node(&shortened(answer), open)]));
        }
        let took = took(self.0);
        let is_over = !matches!(self.state(), "running" | "waiting");
        if is_over && !took.is_empty() {
            nodes.push(element("p").with("class", "cw-tool-took").text(took));
        }
        if nodes.is_empty() {
            nodes.push(word(if is_over { t(Text::NoAnswer) } else { t(Text::NothingYet) }));
        }
        nodes
    }

    fn steps(self) -> impl Iterator<Item = &'v Value> {
        self.0.get("steps").and_then(Value::as_array).into_iter().flatten()
    }
}

/// What an agent was asked: the text alone, if there is nothing else.
pub(super) fn task(input: &Value) -> &Value {
    match input.as_object() {
        Some(only) if only.len() == 1 => only.get("task").unwrap_or(input),
        _ => input,
    }
}

fn step(step: &Map<String, Value>, depth: usize) -> Option<Node> {
    let content = match text(step, "type") {
        "text" => markdown_node(&shortened(text(step, "text")), false),
        "tool" => tool(step, depth).node(),
        _ => return None,
    };
    Some(element("li").around(vec![content]))
}

fn tool(step: &Map<String, Value>, depth: usize) -> Card {
    let agent = SubAgent::of(step.get("output"));
    let (standing, state) = match (told_state(text(step, "state")), agent) {
        // It is done when the agent is, however that went.
        ((Standing::Done, _), Some(agent)) => told_state(agent.state()),
        (told, _) => told,
    };
    let name = tool_words(text(step, "name"));
    let progress = Progress::of(step.get("output").filter(|_| standing == Standing::Running));
    let mut body = Vec::new();
    if let Some(input) = step.get("input").filter(|input| !input.is_null()) {
        body.push(section(if agent.is_some() { t(Text::Task) } else { t(Text::Input) }, value_nodes(task(input))));
    }
    match (agent, step.get("output")) {
        (Some(_), _) if depth >= MAX_DEPTH => body.push(word("…")),
        (Some(agent), _) => body.extend(agent.nodes(depth + 1)),
        (None, Some(output)) if progress.is_none() => body.push(section(t(Text::Result), result_nodes(output, &name))),
        _ => {}
    }
    if let Some(error) = step.get("error").and_then(Value::as_str) {
        body.push(failure(error));
    }
    if step.get("granted").is_some() {
        body.push(word(t(Text::AllowedByStanding)));
    }
    if body.is_empty() {
        body.push(word(t(Text::NothingYet)));
    }
    let doing = agent.map(SubAgent::doing).or_else(|| progress.map(Progress::words)).unwrap_or_default();
    let detail = if doing.is_empty() { first_argument(step.get("input")) } else { doing };
    Card {
        standing,
        icon: standing.shape(),
        name,
        detail,
        bar: progress.and_then(Progress::bar),
        state: words_of(state, took(step)),
        open: false,
        body,
    }
}

/// How a step stands. Of one that is done the icon says so, and the time is more telling; whoever cannot see the icon hears both.
fn words_of(state: &'static str, took: String) -> Vec<Node> {
    if state != t(Text::StateDone) || took.is_empty() {
        return vec![Node::Text(state.to_owned())];
    }
    vec![element("span").with("class", "cw-visually-hidden").text(t(Text::StateDoneBefore)), Node::Text(took)]
}

/// How long it took, and what it cost where that is known.
fn took(of: &Map<String, Value>) -> String {
    let number = |key: &str| of.get(key).and_then(Value::as_f64).filter(|number| *number >= 0.0);
    let time = number("durationMs").map(|milliseconds| time(milliseconds as u64));
    let cost = number("costUsd").map(dollars);
    [time, cost].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn text<'v>(of: &'v Map<String, Value>, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}
