//! Properties of an agent that differ from step to step, and how its history is pruned.

use super::entry::ToolChoiceEntry;
use crate::agent::{Prune, PruneReasoning, PruneToolCalls, StepRule, StepSelector};
use crate::section::agents::{names, tool_choice};
use crate::section::value::ToolName;
use crate::shape::pattern::PRUNED_CALLS;
use crate::source::{Node, PathStep, Report};
use schemars::JsonSchema;
use serde::Deserialize;

/// Overrides of settings for some steps of a turn. A step is one request to the model.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::operators::allow_operators)]
pub(crate) struct StepRuleEntry {
    /// The numbers of the steps, counted from 1.
    steps: Option<Vec<StepNumber>>,
    /// Instead of `steps`: the first step.
    from: Option<StepNumber>,
    /// With `from`: the last step. Default: the rest of the turn.
    to: Option<StepNumber>,
    /// The names of the tools that are offered.
    pub(crate) active_tools: Option<Vec<ToolName>>,
    /// Whether the model must call a tool, and which.
    pub(crate) tool_choice: Option<ToolChoiceEntry>,
    /// The longest reply in tokens.
    #[schemars(range(min = 1))]
    max_output_tokens: Option<u32>,
    /// The sampling temperature: low values make replies more predictable, high values more varied.
    #[schemars(range(min = 0, max = 2))]
    temperature: Option<f64>,
}

/// The number of a step in a turn, counted from 1.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct StepNumber(#[schemars(range(min = 1, max = 1000))] u32);

/// Which parts of the history the model does not get.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = super::operators::allow_operators)]
pub(crate) struct PruneEntry {
    /// The reasoning to leave out.
    reasoning: ReasoningEntry,
    /// The tool calls to leave out, with their results.
    tool_calls: Option<ToolCallsEntry>,
    /// Whether messages that become empty are left out as well.
    empty_messages: EmptyEntry,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ReasoningEntry {
    /// No reasoning.
    #[default]
    None,
    /// The reasoning of all messages but the last.
    BeforeLastMessage,
    /// All reasoning.
    All,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum EmptyEntry {
    /// They still count as messages, but are not sent.
    #[default]
    Keep,
    /// They are left out.
    Remove,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum ToolCallsEntry {
    /// The same for all tools.
    Which(CallsWord),
    /// Rules for single tools.
    Rules(Vec<ToolCallsRule>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ToolCallsRule {
    /// The calls to leave out: `none`, `all`, `before-last-message`, or `before-last-N-messages`.
    #[serde(rename = "type")]
    which: CallsWord,
    /// The names of the tools that the rule applies to. Default: all.
    tools: Option<Vec<ToolName>>,
}

/// The calls to leave out: `none`, `all`, `before-last-message`, or `before-last-N-messages`.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct CallsWord(#[schemars(regex(pattern = PRUNED_CALLS))] String);

impl CallsWord {
    /// Returns the number of messages at the end that keep their calls; nothing for `none`.
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

/// Reports rules whose steps are missing or contradictory.
pub(crate) fn check(rules: &[StepRuleEntry], place: &Node, report: &mut Report) {
    for (index, rule) in rules.iter().enumerate() {
        let at = place.span_at(&[PathStep::Key("prepareStep"), PathStep::Index(index)]);
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

/// Converts checked rules.
pub(crate) fn rules(entries: Vec<StepRuleEntry>) -> Vec<StepRule> {
    let number = |StepNumber(number)| number;
    let rule = |entry: StepRuleEntry| StepRule {
        steps: match entry.steps {
            Some(steps) => StepSelector::Numbers(steps.into_iter().map(number).collect()),
            None => StepSelector::Range(entry.from.map_or(1, number), entry.to.map(number)),
        },
        active_tools: entry.active_tools.map(names),
        tool_choice: entry.tool_choice.map(tool_choice),
        max_output_tokens: entry.max_output_tokens,
        temperature: entry.temperature,
    };
    entries.into_iter().map(rule).collect()
}

/// Converts the pruning settings.
pub(crate) fn prune(entry: PruneEntry) -> Prune {
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
