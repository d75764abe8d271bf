//! Evaluates one case.

use super::Candidate;
use super::results::{CaseResult, RatedScore};
use crate::case::Case;
use crate::definition::Evaluation;
use crate::scorer::{Score, Scored};
use crate::subject::{Subject, Transcript};
use wire::text::shortened;

/// The longest answer in the results, in characters.
const MAX_ANSWER: usize = 32_000;

/// Asks the agent and scores the answer. `judge` has the agents that judge, and the endpoints that score. `is_first`: it is
/// the first result of the case, with which judges also score the rated answer.
pub(super) async fn score_case(
    evaluation: &Evaluation,
    case: &Case,
    candidate: &Candidate,
    judge: &dyn Subject,
    (repeat, is_first): (u32, bool),
) -> CaseResult {
    let agent_id = candidate.agent_id.as_ref().unwrap_or(&evaluation.agent_id);
    let transcript = candidate.subject.answer(agent_id, &case.input, evaluation.timeout()).await;
    let error = transcript.error.clone();
    let text = transcript.text();
    let (mut scores, mut rated, mut judge_cost_usd) = (Vec::<Score>::new(), Vec::new(), 0.0);
    if error.is_none() {
        let value = case.to_value();
        let scored = Scored { case: &value, transcript: &transcript, text: &text, subject: judge };
        for scorer in evaluation.scorers.iter().chain(&case.scorers) {
            let (score, cost_usd) = scorer.score(&case.tags, scored).await;
            scores.extend(score);
            judge_cost_usd += cost_usd;
        }
    }
    // Also if the agent has failed: the rated answer is an earlier one.
    if is_first {
        judge_cost_usd += score_rated(evaluation, case, judge, &mut rated).await;
    }
    CaseResult {
        config: candidate.name.clone(),
        case: case.id.clone(),
        repeat,
        passed: error.is_none() && scores.iter().all(|score| score.passed),
        error,
        scores,
        answer: shortened(&text, MAX_ANSWER),
        tools: transcript.calls().map(|call| call.tool_name.clone()).collect(),
        conversation_id: transcript.conversation_id.clone(),
        input_tokens: transcript.usage.input_tokens,
        output_tokens: transcript.usage.output_tokens,
        cost_usd: transcript.cost_usd,
        judge_cost_usd,
        seconds: transcript.seconds,
        rated,
    }
}

/// Lets the judges score the answer of the case that a person has rated. Returns what that has cost. A judge that fails
/// has said nothing.
async fn score_rated(evaluation: &Evaluation, case: &Case, judge: &dyn Subject, scores: &mut Vec<RatedScore>) -> f64 {
    let Some(rated) = &case.rated else { return 0.0 };
    let (value, transcript) = (case.to_value_without_rating(rated), Transcript::default());
    let scored = Scored { case: &value, transcript: &transcript, text: &rated.answer, subject: judge };
    let mut all_usd = 0.0;
    for scorer in evaluation.scorers.iter().filter(|scorer| scorer.judges_all_alike()) {
        let (score, cost_usd) = scorer.score(&case.tags, scored).await;
        all_usd += cost_usd;
        let score = score.filter(|score| !score.is_error);
        scores.extend(score.map(|score| RatedScore { liked: rated.liked, score }));
    }
    all_usd
}
