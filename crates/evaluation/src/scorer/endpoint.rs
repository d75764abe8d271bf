//! Scorers of one's own: endpoints of the config.

use super::verdict::{Checked, Scored, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// An endpoint scores the answer. Its payload is `{ case, answer: { text, messages } }`; it returns a
/// number from 0 to 1 or a truth value, or `{ score, passed?, reason? }`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Endpoint {
    pub(super) endpoint_id: String,
    /// The lowest score with which an answer passes, if the endpoint does not say so itself.
    #[serde(default = "half")]
    pass_mark: f64,
}

fn half() -> f64 {
    0.5
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Returned {
    Truth(bool),
    Number(f64),
    Score { score: f64, passed: Option<bool>, reason: Option<String> },
}

impl Endpoint {
    pub(super) async fn check(&self, scored: Scored<'_>) -> Checked {
        let answer = json!({ "text": scored.text, "messages": scored.transcript.answers });
        let payload = json!({ "case": scored.case, "answer": answer });
        let id = &self.endpoint_id;
        let returned = scored.subject.call_endpoint(id, payload).await;
        let returned = match returned {
            Ok(returned) => returned,
            Err(error) => return Ok(Some(Verdict::error(format!("the endpoint `{id}` failed: {error}"), 0.0))),
        };
        let (score, passed, reason) = match serde_json::from_value(returned) {
            Ok(Returned::Truth(passed)) => (f64::from(u8::from(passed)), Some(passed), None),
            Ok(Returned::Number(score)) => (score, None, None),
            Ok(Returned::Score { score, passed, reason }) => (score, passed, reason),
            Err(_) => {
                let problem = format!("the endpoint `{id}` returned no score: a number, or `{{ score, reason }}`");
                return Ok(Some(Verdict::error(problem, 0.0)));
            }
        };
        if !(0.0..=1.0).contains(&score) {
            let problem = format!("the endpoint `{id}` returned the score {score}, which is not between 0 and 1");
            return Ok(Some(Verdict::error(problem, 0.0)));
        }
        let passed = passed.unwrap_or(score >= self.pass_mark);
        let default = if passed { String::new() } else { format!("`{id}` gave the score {score}") };
        Ok(Some(Verdict { score, passed, reason: reason.unwrap_or(default), cost_usd: 0.0, is_error: false }))
    }
}
