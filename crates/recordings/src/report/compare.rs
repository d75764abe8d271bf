//! Compares the steps of two recordings.

use super::messages::first_difference;
use super::steps::{Step, Totals, outcome_text, steps};
use crate::format::{BlobId, RecordedTool, Recording};
use crate::replay::Miss;
use serde::Serialize;
use std::collections::HashMap;

/// The kind of the difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The model that is asked.
    Model,
    /// The system prompt.
    Prompt,
    /// The declarations of the tools that the model reads.
    Schema,
    /// The sampling and other settings of the request.
    Settings,
    /// The messages, although everything before was the same.
    Messages,
    /// The calls of the reply: tools and arguments.
    Tools,
    /// The text of the reply.
    Text,
    /// The result of a tool.
    Results,
    /// The end of the reply or of the run.
    Ending,
    /// A step that only one of the two has.
    Steps,
    /// Something that the recording did not have.
    Miss,
    /// The replay used more tokens.
    Tokens,
    /// The replay cost more.
    Cost,
}

impl Kind {
    /// Returns whether it is a change of the agent's behaviour, and not only of its input or usage.
    pub fn is_divergence(self) -> bool {
        !matches!(self, Self::Model | Self::Prompt | Self::Schema | Self::Settings | Self::Tokens | Self::Cost)
    }
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The kind of the difference.
    pub kind: Kind,
    /// The details, such as the name of a tool.
    pub what: String,
    /// As recorded.
    pub before: String,
    /// In the replay.
    pub after: String,
    /// Whether it also differs between repetitions with the recorded config, so that it says
    /// nothing about the change.
    pub unstable: bool,
}

/// A step of the recording beside the one of the replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepPair {
    /// The path of the agent.
    pub agent: String,
    /// The number of the agent's request, from 1.
    pub number: u32,
    /// The differences.
    pub findings: Vec<Finding>,
    /// The tools that were called in the recording.
    pub tools_before: Vec<String>,
    /// The tools that were called in the replay.
    pub tools_after: Vec<String>,
    /// The usage of the recorded step.
    pub before: Totals,
    /// The usage of the replayed step.
    pub after: Totals,
    /// The recorded step, if there is one.
    #[serde(skip)]
    pub recorded: Option<Step>,
    /// The replayed step, if there is one.
    #[serde(skip)]
    pub replayed: Option<Step>,
}

/// The comparison of a recording with a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The run.
    pub run_id: String,
    /// The steps, in the order of the recording; those that only the replay has follow.
    pub steps: Vec<StepPair>,
    /// The differences of the run as a whole.
    pub run: Vec<Finding>,
    /// The index in `steps` of the first step in which the agent's behaviour differs.
    pub first_divergence: Option<usize>,
    /// The usage of the recorded run, from the first compared step on.
    pub before: Totals,
    /// The usage of the replay.
    pub after: Totals,
}

impl Comparison {
    /// Returns all differences.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.steps.iter().flat_map(|step| &step.findings).chain(&self.run)
    }
}

/// Compares a replay with the recording, whose steps before `from_step` of the agent were not
/// replayed.
pub fn compare(recorded: &Recording, replayed: &Recording, misses: &[Miss], from_step: u32) -> Comparison {
    let root = &recorded.header.agent_id;
    let skipped = from_step.saturating_sub(1);
    let mut before = steps(recorded);
    if skipped > 0 {
        let first = before.iter().position(|step| step.agent == *root && step.number > skipped);
        before.drain(..first.unwrap_or(before.len()));
    }
    let mut after = steps(replayed);
    after.iter_mut().filter(|step| step.agent == *root).for_each(|step| step.number += skipped);
    let mut differs_by_agent: HashMap<String, bool> = HashMap::new();
    let mut pairs = Vec::new();
    let mut partners: Vec<Option<Step>> = after.into_iter().map(Some).collect();
    for old in &before {
        let partner = partners
            .iter_mut()
            .find(|new| new.as_ref().is_some_and(|new| new.agent == old.agent && new.number == old.number));
        let new = partner.and_then(Option::take);
        let is_changed = differs_by_agent.entry(old.agent.clone()).or_default();
        let pair = pair(recorded, replayed, old, new.as_ref(), *is_changed);
        *is_changed |= pair.findings.iter().any(|finding| finding.kind.is_divergence());
        pairs.push(pair);
    }
    pairs.extend(partners.into_iter().flatten().map(|new| added(&new)));
    for miss in misses {
        let finding = finding(Kind::Miss, &miss.what, "", "not in the recording");
        match pairs.iter_mut().find(|pair| pair.agent == miss.agent && pair.number == miss.step) {
            Some(pair) => pair.findings.push(finding),
            None => pairs.push(StepPair { findings: vec![finding], ..empty_pair(&miss.agent, miss.step) }),
        }
    }
    let (mut total_before, mut total_after) = (Totals::default(), Totals::default());
    pairs.iter().for_each(|pair| total_before.add(pair.before));
    pairs.iter().for_each(|pair| total_after.add(pair.after));
    let first_divergence = pairs.iter().position(|pair| pair.findings.iter().any(|it| it.kind.is_divergence()));
    let mut run = run_findings(recorded, replayed, total_before, total_after);
    if first_divergence.is_none() {
        run.extend(super::imported::decoding_finding(recorded, replayed));
    }
    let run_id = recorded.header.run_id.clone();
    Comparison { run_id, steps: pairs, run, first_divergence, before: total_before, after: total_after }
}

pub(super) fn finding(kind: Kind, what: &str, before: impl Into<String>, after: impl Into<String>) -> Finding {
    Finding { kind, what: what.to_owned(), before: before.into(), after: after.into(), unstable: false }
}

fn empty_pair(agent: &str, number: u32) -> StepPair {
    StepPair {
        agent: agent.to_owned(),
        number,
        findings: Vec::new(),
        tools_before: Vec::new(),
        tools_after: Vec::new(),
        before: Totals::default(),
        after: Totals::default(),
        recorded: None,
        replayed: None,
    }
}

fn tool_names(step: &Step) -> Vec<String> {
    step.calls.iter().map(|call| call.tool.clone()).collect()
}

/// A step that only the replay has.
fn added(new: &Step) -> StepPair {
    let findings = vec![finding(Kind::Steps, "this step is new", "", &new.text)];
    let replayed = Some(new.clone());
    StepPair {
        findings,
        tools_after: tool_names(new),
        after: new.totals,
        replayed,
        ..empty_pair(&new.agent, new.number)
    }
}

/// Compares a step with its partner. `is_changed` says whether the agent's behaviour has already
/// differed, so that different messages are expected.
fn pair(recorded: &Recording, replayed: &Recording, old: &Step, new: Option<&Step>, is_changed: bool) -> StepPair {
    let empty = empty_pair(&old.agent, old.number);
    let recorded_step = Some(old.clone());
    let base = StepPair { tools_before: tool_names(old), before: old.totals, recorded: recorded_step, ..empty };
    let Some(new) = new else {
        let missing = finding(Kind::Steps, "the replay lacks this step", &old.text, "");
        return StepPair { findings: vec![missing], ..base };
    };
    let mut findings = request_findings(recorded, replayed, old, new, is_changed);
    findings.extend(reply_findings(old, new));
    StepPair { findings, tools_after: tool_names(new), after: new.totals, replayed: Some(new.clone()), ..base }
}

fn request_findings(
    recorded: &Recording,
    replayed: &Recording,
    old: &Step,
    new: &Step,
    is_changed: bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (before, after) = (&old.request, &new.request);
    if before.model != after.model {
        findings.push(finding(Kind::Model, "the model", before.model.to_string(), after.model.to_string()));
    }
    let prompt = |recording: &Recording, id: &Option<BlobId>| {
        id.as_ref().and_then(|id| recording.blob(id).as_str()).unwrap_or_default().to_owned()
    };
    if before.system != after.system {
        let (before, after) = (prompt(recorded, &before.system), prompt(replayed, &after.system));
        findings.push(finding(Kind::Prompt, "the system prompt", before, after));
    }
    if before.tools != after.tools {
        findings.extend(schema_findings(&tools(recorded, &before.tools), &tools(replayed, &after.tools)));
    }
    let settings = |request: &crate::format::NeutralRequest| {
        let parts = (&request.tool_choice, &request.sampling, &request.response_format, &request.provider_options);
        serde_json::to_string(&parts).unwrap_or_default()
    };
    if settings(before) != settings(after) {
        findings.push(finding(Kind::Settings, "the settings", settings(before), settings(after)));
    }
    if !is_changed && let Some(found) = first_difference((recorded, &before.messages), (replayed, &after.messages)) {
        findings.push(finding(Kind::Messages, &format!("message {}", found.number), found.before, found.after));
    }
    findings
}

fn tools(recording: &Recording, id: &str) -> Vec<RecordedTool> {
    serde_json::from_value(recording.blob(id).clone()).unwrap_or_default()
}

fn schema_findings(before: &[RecordedTool], after: &[RecordedTool]) -> Vec<Finding> {
    let text = |tool: &RecordedTool| serde_json::to_string(tool).unwrap_or_default();
    let find = |tools: &[RecordedTool], name: &str| tools.iter().find(|tool| tool.name == name).map(text);
    let mut findings: Vec<_> = before
        .iter()
        .filter_map(|tool| {
            let (old, new) = (text(tool), find(after, &tool.name).unwrap_or_default());
            (old != new).then(|| finding(Kind::Schema, &format!("the tool {}", tool.name), old, new))
        })
        .collect();
    let added = after.iter().filter(|tool| find(before, &tool.name).is_none());
    findings.extend(added.map(|tool| finding(Kind::Schema, &format!("the tool {}", tool.name), "", text(tool))));
    if findings.is_empty() {
        let names = |tools: &[RecordedTool]| tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" ");
        findings.push(finding(Kind::Schema, "the order of the tools", names(before), names(after)));
    }
    findings
}

fn reply_findings(old: &Step, new: &Step) -> Vec<Finding> {
    let mut findings = Vec::new();
    if old.text != new.text {
        findings.push(finding(Kind::Text, "the text", &old.text, &new.text));
    }
    for at in 0..old.calls.len().max(new.calls.len()) {
        let (before, after) = (old.calls.get(at), new.calls.get(at));
        let text =
            |call: Option<&super::Call>| call.map(|call| format!("{} {}", call.tool, call.input)).unwrap_or_default();
        if text(before) != text(after) {
            findings.push(finding(Kind::Tools, &format!("call {}", at + 1), text(before), text(after)));
            continue;
        }
        let (Some(before), Some(after)) = (before, after) else { continue };
        let (old, new) = (outcome_text(before.outcome.as_ref()), outcome_text(after.outcome.as_ref()));
        if old != new {
            let what = format!("the result of {}", before.tool);
            findings.push(finding(Kind::Results, &what, old, new));
        }
    }
    if old.finish != new.finish {
        findings.push(finding(Kind::Ending, "the end of the reply", &old.finish, &new.finish));
    }
    findings
}

fn run_findings(recorded: &Recording, replayed: &Recording, before: Totals, after: Totals) -> Vec<Finding> {
    let mut findings = Vec::new();
    let ending = |recording: &Recording| recording.end().map(|end| end.ending.clone()).unwrap_or_default();
    if ending(recorded) != ending(replayed) {
        findings.push(finding(Kind::Ending, "the end of the run", ending(recorded), ending(replayed)));
    }
    let tokens = |totals: Totals| totals.input_tokens.saturating_add(totals.output_tokens);
    if tokens(after) > tokens(before) {
        let (before, after) = (tokens(before).to_string(), tokens(after).to_string());
        findings.push(finding(Kind::Tokens, "the tokens", before, after));
    }
    let cost = |totals: Totals| totals.cost_usd.unwrap_or_default();
    if cost(after) > cost(before) {
        let text = |totals: Totals| format!("${:.6}", cost(totals));
        findings.push(finding(Kind::Cost, "the cost", text(before), text(after)));
    }
    findings
}

/// Marks differences that also occur in repetitions with the recorded config: those of the same
/// kind in the same step. The first divergence is the first one that is left.
pub fn mark_unstable(comparison: &mut Comparison, repetitions: &[Comparison]) {
    let differs = |agent: &str, number: u32, kind: Kind| {
        let steps = repetitions.iter().flat_map(|comparison| &comparison.steps);
        steps
            .filter(|step| step.agent == agent && step.number == number)
            .any(|step| step.findings.iter().any(|finding| finding.kind == kind))
    };
    for step in &mut comparison.steps {
        for finding in &mut step.findings {
            finding.unstable = differs(&step.agent, step.number, finding.kind);
        }
    }
    for finding in &mut comparison.run {
        let mut of_runs = repetitions.iter().flat_map(|comparison| &comparison.run);
        finding.unstable = of_runs.any(|other| other.kind == finding.kind);
    }
    let is_stable = |finding: &Finding| finding.kind.is_divergence() && !finding.unstable;
    comparison.first_divergence = comparison.steps.iter().position(|step| step.findings.iter().any(is_stable));
}
