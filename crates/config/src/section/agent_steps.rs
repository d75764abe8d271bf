//! Settings of an agent that differ from step to step, and what it forgets.

use super::agent_entry::ToolChoiceEntry;
use super::agents::{names, tool_choice};
use super::value::ToolName;
use crate::agent::{Prune, PruneReasoning, PruneToolCalls, StepRule, Steps};
use crate::shape::pattern::WHICH_CALLS;
use crate::source::{Node, Report, Step};
use schemars::JsonSchema;
use serde::Deserialize;

/// Settings for some requests of a turn.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::agent_operators::allow)]
pub(crate) struct StepRuleEntry {
    /// The requests, counted from 1.
    steps: Option<Vec<StepNumber>>,
    /// Instead of `steps`: the first request.
    from: Option<StepNumber>,
    /// With `from`: the last request; without it, all that follow.
    to: Option<StepNumber>,
    /// The tools that are offered, by name.
    pub(super) active_tools: Option<Vec<ToolName>>,
    /// Whether and which tool must be called.
    pub(super) tool_choice: Option<ToolChoiceEntry>,
    /// The longest answer, in tokens.
    #[schemars(range(min = 1))]
    max_output_tokens: Option<u32>,
    /// Low for sober answers, high for lively ones.
    #[schemars(range(min = 0, max = 2))]
    temperature: Option<f64>,
}

/// A request of a turn, counted from 1.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct StepNumber(#[schemars(range(min = 1, max = 1000))] u32);

/// What is left out of the history that the model reads.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = super::agent_operators::allow)]
pub(crate) struct PruneEntry {
    /// Which reasoning is left out.
    reasoning: ReasoningEntry,
    /// Which tool calls are left out, with their results.
    tool_calls: Option<ToolCallsEntry>,
    /// What becomes of messages that are empty afterwards.
    empty_messages: EmptyEntry,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ReasoningEntry {
    /// None.
    #[default]
    None,
    /// That of all messages but the last.
    BeforeLastMessage,
    /// All.
    All,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum EmptyEntry {
    /// They count as messages; they are never sent.
    #[default]
    Keep,
    /// They are left out.
    Remove,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum ToolCallsEntry {
    /// Of all tools.
    Which(CallsWord),
    /// Tool by tool.
    Rules(Vec<ToolCallsRule>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ToolCallsRule {
    /// Which calls.
    #[serde(rename = "type")]
    which: CallsWord,
    /// Only calls of these tools; of all, without it.
    tools: Option<Vec<ToolName>>,
}

/// `none`, `all`, `before-last-message`, or `before-last-N-messages`.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct CallsWord(#[schemars(regex(pattern = WHICH_CALLS))] String);

impl CallsWord {
    /// In how many of the last messages calls stay; nothing for `none`.
    fn keep_last(&self) -> Option<usize> {
        match self.0.as_str() {
            "none" => None,
            "all" => Some(0),
            "before-last-message" => Some(1),
            // The pattern has been checked.
            last => last.strip_prefix("before-last-")?.strip_suffix("-messages")?.parse().ok(),
        }
    }
}

/// Whether each rule says clearly which requests it is for.
pub(super) fn check(rules: &[StepRuleEntry], place: &Node, report: &mut Report) {
    for (index, rule) in rules.iter().enumerate() {
        let at = place.at(&[Step::Key("prepareStep"), Step::Index(index)]);
        match (&rule.steps, rule.from, rule.to) {
            (Some(_), None, None) => {}
            (None, Some(StepNumber(from)), Some(StepNumber(to))) if to < from => {
                report.error(at, format!("no request has a number from {from} to {to}"), None);
            }
            (None, Some(_), _) => {}
            (Some(_), ..) => report.error(at, "a rule has either `steps` or `from` and `to`", None),
            (None, None, _) => {
                let help = "add `steps: [1]`, or `from: 2`".to_owned();
                report.error(at, "this rule does not say for which requests it is", Some(help));
            }
        }
    }
}

/// The checked rules.
pub(super) fn rules(entries: Vec<StepRuleEntry>) -> Vec<StepRule> {
    let number = |StepNumber(number)| number;
    let rule = |entry: StepRuleEntry| StepRule {
        steps: match entry.steps {
            Some(steps) => Steps::These(steps.into_iter().map(number).collect()),
            None => Steps::Range(entry.from.map_or(1, number), entry.to.map(number)),
        },
        active_tools: entry.active_tools.map(names),
        tool_choice: entry.tool_choice.map(tool_choice),
        max_output_tokens: entry.max_output_tokens,
        temperature: entry.temperature,
    };
    entries.into_iter().map(rule).collect()
}

/// What is left out.
pub(super) fn prune(entry: PruneEntry) -> Prune {
    let rule = |which: &CallsWord, tools| Some(PruneToolCalls { keep_last: which.keep_last()?, tools });
    Prune {
        reasoning: match entry.reasoning {
            ReasoningEntry::None => PruneReasoning::None,
            ReasoningEntry::BeforeLastMessage => PruneReasoning::BeforeLastMessage,
            ReasoningEntry::All => PruneReasoning::All,
        },
        tool_calls: match entry.tool_calls {
            None => Vec::new(),
            Some(ToolCallsEntry::Which(which)) => rule(&which, None).into_iter().collect(),
            Some(ToolCallsEntry::Rules(rules)) => {
                rules.into_iter().filter_map(|entry| rule(&entry.which, entry.tools.map(names))).collect()
            }
        },
        remove_empty: entry.empty_messages == EmptyEntry::Remove,
    }
}
