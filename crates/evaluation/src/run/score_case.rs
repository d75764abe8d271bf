//! Evaluates one case.

use super::Candidate;
use super::results::CaseResult;
use crate::case::Case;
use crate::definition::Evaluation;
use crate::scorer::{Score, Scored, shortened};
use crate::subject::Subject;

/// The longest answer in the results, in characters.
const MAX_ANSWER: usize = 32_000;

/// Asks the agent and scores the answer. `judge` has the agents that judge, and the endpoints that score.
pub(super) async fn score_case(
    evaluation: &Evaluation,
    case: &Case,
    candidate: &Candidate,
    judge: &dyn Subject,
    repeat: u32,
) -> CaseResult {
    let agent_id = candidate.agent_id.as_ref().unwrap_or(&evaluation.agent_id);
    let transcript = candidate.subject.answer(agent_id, &case.input, evaluation.timeout()).await;
    let error = transcript.error.clone();
    let text = transcript.text();
    let (mut scores, mut judge_cost_usd) = (Vec::<Score>::new(), 0.0);
    if error.is_none() {
        let value = case.to_value();
        let scored = Scored { case: &value, transcript: &transcript, text: &text, subject: judge };
        for scorer in evaluation.scorers.iter().chain(&case.scorers) {
            let (score, cost_usd) = scorer.score(case, scored).await;
            scores.extend(score);
            judge_cost_usd += cost_usd;
        }
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
    }
}
