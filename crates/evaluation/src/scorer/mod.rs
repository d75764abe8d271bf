//! Scorers: the checks of an answer.

mod bounds;
mod calls;
mod endpoint;
pub(crate) mod judge;
mod structured;
mod text;
mod verdict;

pub(crate) use verdict::Scored;

use crate::case_value::has_value;
use bounds::{Citations, Cost, Time};
use calls::Tools;
use endpoint::Endpoint;
use judge::Judge;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use structured::{JsonPathCheck, SchemaCheck};
use text::{Contains, Exact, Regex};
use verdict::{Checked, Verdict};
use wire::text::shortened;

/// The longest reason in characters.
const MAX_REASON: usize = 2_000;

/// A scorer: an id, and exactly one of the kinds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scorer {
    /// The name in reports.
    pub(crate) id: String,
    /// Scores only cases with one of these tags. Empty: all.
    #[serde(default)]
    tags: Vec<String>,
    exact: Option<Exact>,
    contains: Option<Contains>,
    regex: Option<Regex>,
    schema: Option<SchemaCheck>,
    json_path: Option<JsonPathCheck>,
    tools: Option<Tools>,
    cost: Option<Cost>,
    time: Option<Time>,
    citations: Option<Citations>,
    judge: Option<Judge>,
    endpoint: Option<Endpoint>,
}

/// A kind of scorer with its settings.
#[derive(Clone, Copy)]
pub(crate) enum Kind<'a> {
    Exact(&'a Exact),
    Contains(&'a Contains),
    Regex(&'a Regex),
    Schema(&'a SchemaCheck),
    JsonPath(&'a JsonPathCheck),
    Tools(&'a Tools),
    Cost(&'a Cost),
    Time(&'a Time),
    Citations(&'a Citations),
    Judge(&'a Judge),
    Endpoint(&'a Endpoint),
}

/// The score of an answer by one scorer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Score {
    /// The scorer.
    pub scorer: String,
    /// From 0 to 1.
    pub score: f64,
    /// Whether the answer passes.
    pub passed: bool,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Whether the scorer itself failed, so that the score says nothing about the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Whether an agent has judged, so that people can say whether they agree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_judged: bool,
}

impl Scorer {
    /// Scores an answer to a case with these tags. Returns also what that has cost. `None` if the scorer does not apply
    /// to the case.
    pub(crate) async fn score(&self, tags: &[String], scored: Scored<'_>) -> (Option<Score>, f64) {
        if !self.has_tag_of(tags) {
            return (None, 0.0);
        }
        let verdict = match self.check(scored).await {
            Ok(None) => return (None, 0.0),
            Ok(Some(verdict)) => verdict,
            Err(problem) => Verdict::failed(problem),
        };
        let cost_usd = verdict.cost_usd;
        let reason = shortened(&verdict.reason, MAX_REASON);
        let Verdict { score, passed, is_error, .. } = verdict;
        let (scorer, is_judged) = (self.id.clone(), self.judge.is_some());
        (Some(Score { scorer, score, passed, reason, is_error, is_judged }), cost_usd)
    }

    /// Returns whether it scores cases with these tags.
    pub(crate) fn has_tag_of(&self, tags: &[String]) -> bool {
        self.tags.is_empty() || tags.iter().any(|tag| self.tags.contains(tag))
    }

    /// Returns whether it scores answers to a case: not if it takes its values from the case, and the
    /// case has none of them. `value` is the case with these tags as scorers see it.
    pub(crate) fn applies(&self, tags: &[String], value: &Value) -> bool {
        let has_values = match self.kinds().first().copied() {
            Some(Kind::Contains(contains)) => contains.has_values(value),
            Some(Kind::Tools(tools)) => tools.has_values(value),
            _ => self.case_paths().iter().all(|(_, path)| has_value(value, path)),
        };
        has_values && self.has_tag_of(tags)
    }

    async fn check(&self, scored: Scored<'_>) -> Checked {
        match self.kinds().first().copied() {
            Some(Kind::Exact(exact)) => exact.check(scored),
            Some(Kind::Contains(contains)) => contains.check(scored),
            Some(Kind::Regex(regex)) => regex.check(scored),
            Some(Kind::Schema(schema)) => schema.check(scored).await,
            Some(Kind::JsonPath(path)) => path.check(scored),
            Some(Kind::Tools(tools)) => tools.check(scored),
            Some(Kind::Cost(cost)) => cost.check(scored),
            Some(Kind::Time(time)) => time.check(scored),
            Some(Kind::Citations(citations)) => citations.check(scored),
            Some(Kind::Judge(judge)) => judge.check(scored).await,
            Some(Kind::Endpoint(endpoint)) => endpoint.check(scored).await,
            None => Ok(None),
        }
    }

    /// Returns the kinds that are set; of a valid scorer, it is one.
    pub(crate) fn kinds(&self) -> Vec<Kind<'_>> {
        [
            self.exact.as_ref().map(Kind::Exact),
            self.contains.as_ref().map(Kind::Contains),
            self.regex.as_ref().map(Kind::Regex),
            self.schema.as_ref().map(Kind::Schema),
            self.json_path.as_ref().map(Kind::JsonPath),
            self.tools.as_ref().map(Kind::Tools),
            self.cost.as_ref().map(Kind::Cost),
            self.time.as_ref().map(Kind::Time),
            self.citations.as_ref().map(Kind::Citations),
            self.judge.as_ref().map(Kind::Judge),
            self.endpoint.as_ref().map(Kind::Endpoint),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the problems of its settings: pairs of a JSON pointer and a message.
    pub(crate) fn problems(&self) -> Vec<(String, String)> {
        let problem = |path: &str, message: String| vec![(path.to_owned(), message)];
        if self.id.trim().is_empty() || self.id.chars().any(char::is_control) {
            return problem("/id", "the id is empty".to_owned());
        }
        let kinds = self.kinds();
        let [kind] = kinds.as_slice() else {
            let kinds = "`exact`, `contains`, `regex`, `schema`, `jsonPath`, `tools`, `cost`, `time`, `citations`, `judge` or `endpoint`";
            return problem("", format!("a scorer has exactly one of {kinds}"));
        };
        let found = match kind {
            Kind::Regex(regex) => regex.problem().map(|message| ("/regex/pattern", message)),
            Kind::Contains(contains) => contains.problem().map(|message| ("/contains", message)),
            Kind::Schema(schema) => schema.problem().map(|message| ("/schema", message)),
            Kind::JsonPath(path) => path.problem().map(|message| ("/jsonPath", message)),
            Kind::Tools(tools) => tools.problem().map(|message| ("/tools", message)),
            Kind::Judge(judge) => judge.problem().map(|message| ("/judge", message)),
            _ => None,
        };
        found.map_or_else(Vec::new, |(path, message)| problem(path, message))
    }

    /// Returns the values that are taken from each case: pairs of a JSON pointer and the path in the case.
    pub(crate) fn case_paths(&self) -> Vec<(&'static str, &str)> {
        self.kinds()
            .into_iter()
            .flat_map(|kind| match kind {
                Kind::Exact(exact) => exact.case_paths(),
                Kind::Contains(contains) => contains.case_paths(),
                Kind::JsonPath(path) => path.case_paths(),
                Kind::Tools(tools) => tools.case_paths(),
                Kind::Judge(judge) => judge.case_paths(),
                _ => Vec::new(),
            })
            .collect()
    }

    /// Returns the endpoint that scores, if one does.
    pub(crate) fn scoring_endpoint(&self) -> Option<&str> {
        self.endpoint.as_ref().map(|endpoint| endpoint.endpoint_id.as_str())
    }

    /// Returns whether it is a judge whose rubric is the same for all cases. That of a case may repeat what a person has
    /// said of its rated answer.
    pub(crate) fn judges_all_alike(&self) -> bool {
        self.judge.as_ref().is_some_and(|judge| judge.rubric.path().is_none())
    }

    /// Returns the agent that judges, if one does.
    pub(crate) fn judging_agent(&self) -> Option<&str> {
        self.judge.as_ref().map(|judge| judge.agent_id.as_str())
    }
}
