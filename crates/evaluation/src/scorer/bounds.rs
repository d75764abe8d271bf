//! Scorers of what an answer costs, how long it takes, and of its sources.

use super::verdict::{Checked, Scored, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::citations::cited_sources;
use wire::{TextPart, UiMessage, UiPart};

/// The answers of a case cost at most so much.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Cost {
    /// US dollars.
    pub(crate) max_usd: f64,
}

impl Cost {
    pub(super) fn check(&self, scored: Scored<'_>) -> Checked {
        let cost = scored.transcript.cost_usd;
        let cost = cost.ok_or("the cost is unknown: add the price of the model to `prices` in the config")?;
        Ok(Some(if cost <= self.max_usd {
            Verdict::passed()
        } else {
            Verdict::failed(format!("the answer costs ${cost:.6}, more than ${}", self.max_usd))
        }))
    }
}

/// The answers of a case take at most so long.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Time {
    pub(crate) max_seconds: f64,
}

impl Time {
    pub(super) fn check(&self, scored: Scored<'_>) -> Checked {
        let seconds = scored.transcript.seconds;
        Ok(Some(if seconds <= self.max_seconds {
            Verdict::passed()
        } else {
            Verdict::failed(format!("the answer took {seconds:.1} s, longer than {} s", self.max_seconds))
        }))
    }
}

/// The last answer cites sources, and each citation is of a passage of its text.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Citations {
    /// The fewest sources.
    #[serde(default = "one")]
    min: usize,
}

fn one() -> usize {
    1
}

impl Citations {
    pub(super) fn check(&self, scored: Scored<'_>) -> Checked {
        let none = UiMessage::new("", wire::Role::Assistant);
        let answer = scored.transcript.answers.last().unwrap_or(&none);
        let mut problems = Vec::new();
        let sources = cited_sources(answer).len();
        if sources < self.min {
            problems.push(format!("the answer cites {sources} sources, fewer than {}", self.min));
        }
        let texts = answer.parts.iter().filter_map(|part| match part {
            UiPart::Text(text) => Some(text),
            _ => None,
        });
        let invalid =
            texts.map(|text| text.citations.iter().filter(|citation| !is_valid(citation, text)).count()).sum::<usize>();
        if invalid > 0 {
            problems.push(format!("{invalid} citations are of no passage of the text, or name no source"));
        }
        Ok(Some(Verdict::without(&problems)))
    }
}

/// Returns whether a citation names its source, and a passage in the text if it has one.
fn is_valid(citation: &Value, text: &TextPart) -> bool {
    let length = text.text.chars().map(char::len_utf16).sum::<usize>() as u64;
    let position = |key: &str| citation.get(key).map(|value| value.as_u64().unwrap_or(u64::MAX));
    let (start, end) = (position("startIndex"), position("endIndex"));
    citation.get("source").is_some_and(|source| !source.is_null())
        && start.is_none_or(|start| start <= end.unwrap_or(length))
        && end.is_none_or(|end| end <= length)
}
