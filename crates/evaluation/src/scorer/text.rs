//! Scorers of an answer's text.

use super::verdict::{Checked, Scored, Verdict};
use crate::case_value::{CaseValue, Texts};
use regex::RegexBuilder;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::text::shortened;

/// The longest pattern in characters, and the size of its compiled form in bytes.
const MAX_PATTERN: usize = 2_000;
const MAX_COMPILED: usize = 4 << 20;
/// How much of a text is repeated in a reason.
const SHOWN: usize = 200;

/// The answer is a text; white space around it does not count.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Exact {
    /// The text. Default: the expected text of the case.
    #[serde(default = "expected")]
    pub(crate) value: CaseValue<String>,
    #[serde(default)]
    pub(crate) ignore_case: bool,
}

fn expected() -> CaseValue<String> {
    CaseValue::OfCase("expected".to_owned())
}

impl Exact {
    pub(super) fn check(&self, scored: Scored<'_>) -> Checked {
        let Some(value) = self.value.resolve(scored.case)? else { return Ok(None) };
        let folded = |text: &str| if self.ignore_case { text.trim().to_lowercase() } else { text.trim().to_owned() };
        Ok(Some(if folded(&value) == folded(scored.text) {
            Verdict::passed()
        } else {
            Verdict::failed(format!("the answer is not “{}”", shortened(value.trim(), SHOWN)))
        }))
    }

    pub(super) fn case_paths(&self) -> Vec<(&'static str, &str)> {
        self.value.path().map(|path| ("/exact", path)).into_iter().collect()
    }
}

/// The answer contains texts, or does not.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Contains {
    pub(crate) all: Option<CaseValue<Texts>>,
    pub(crate) any: Option<CaseValue<Texts>>,
    pub(crate) none: Option<CaseValue<Texts>>,
    #[serde(default = "yes")]
    pub(crate) ignore_case: bool,
}

fn yes() -> bool {
    true
}

impl Contains {
    /// The score is the part of the texts in `all` that occur; 0 if another condition fails.
    pub(super) fn check(&self, scored: Scored<'_>) -> Checked {
        let folded = |text: &str| if self.ignore_case { text.to_lowercase() } else { text.to_owned() };
        let texts = |value: &Option<CaseValue<Texts>>| match value {
            Some(value) => Ok::<_, String>(value.resolve(scored.case)?.map(|Texts(texts)| texts)),
            None => Ok(None),
        };
        let (all, any, none) = (texts(&self.all)?, texts(&self.any)?, texts(&self.none)?);
        if all.is_none() && any.is_none() && none.is_none() {
            return Ok(None);
        }
        let answer = folded(scored.text);
        let has = |text: &String| answer.contains(&folded(text));
        let (all, none) = (all.unwrap_or_default(), none.unwrap_or_default());
        let missing: Vec<_> = all.iter().filter(|text| !has(text)).map(|text| quoted(text)).collect();
        let mut problems = Vec::new();
        if !missing.is_empty() {
            problems.push(format!("the answer does not contain {}", missing.join(", ")));
        }
        let mut is_refused = false;
        if let Some(any) = any.filter(|any| !any.iter().any(has)) {
            is_refused = true;
            problems.push(format!(
                "the answer contains none of {}",
                any.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
            ));
        }
        let unwanted: Vec<_> = none.iter().filter(|text| has(text)).map(|text| quoted(text)).collect();
        if !unwanted.is_empty() {
            is_refused = true;
            problems.push(format!("the answer contains {}", unwanted.join(", ")));
        }
        let mut verdict = Verdict::without(&problems);
        if !is_refused && !all.is_empty() {
            verdict.score = (all.len() - missing.len()) as f64 / all.len() as f64;
        }
        Ok(Some(verdict))
    }

    pub(super) fn problem(&self) -> Option<String> {
        let is_empty = self.all.is_none() && self.any.is_none() && self.none.is_none();
        is_empty.then(|| "`contains` needs `all`, `any` or `none`".to_owned())
    }

    pub(super) fn has_values(&self, case: &Value) -> bool {
        [&self.all, &self.any, &self.none].into_iter().flatten().any(|texts| texts.has_value(case))
    }

    pub(super) fn case_paths(&self) -> Vec<(&'static str, &str)> {
        let keys = [("/contains/all", &self.all), ("/contains/any", &self.any), ("/contains/none", &self.none)];
        keys.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?.path()?))).collect()
    }
}

fn quoted(text: &str) -> String {
    format!("“{}”", shortened(text, SHOWN))
}

/// The answer matches a regular expression. The time is linear in the length of the answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Regex {
    pub(crate) pattern: String,
    /// Whether the answer must match, or must not.
    #[serde(default = "yes")]
    pub(crate) matches: bool,
}

impl Regex {
    fn compiled(&self) -> Result<regex::Regex, String> {
        if self.pattern.chars().count() > MAX_PATTERN {
            return Err(format!("the pattern is longer than {MAX_PATTERN} characters"));
        }
        let built = RegexBuilder::new(&self.pattern).size_limit(MAX_COMPILED).build();
        built.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
            error => format!("the pattern cannot be read: {}", error.to_string().lines().last().unwrap_or_default()),
        })
    }

    pub(super) fn check(&self, scored: Scored<'_>) -> Checked {
        let found = self.compiled()?.is_match(scored.text);
        let relation = if self.matches { "does not match" } else { "matches" };
        Ok(Some(if found == self.matches {
            Verdict::passed()
        } else {
            Verdict::failed(format!("the answer {relation} `{}`", shortened(&self.pattern, SHOWN)))
        }))
    }

    pub(super) fn problem(&self) -> Option<String> {
        self.compiled().err()
    }
}
