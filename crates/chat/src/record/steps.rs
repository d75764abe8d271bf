//! Usage of model requests, as rows for the store.

use crate::record::audit::RunContext;
use agent::ReplyUsage;
use store::StepRecord;
use wire::api::TokenUsage;

/// Builds the row of a request in a run; `below` is the call and the agent of a sub-agent.
pub(crate) fn for_run(subject: &RunContext, replied: ReplyUsage, below: Option<(String, String)>) -> StepRecord {
    let (call_id, agent_id) = match below {
        Some((call_id, agent_id)) => (Some(call_id), agent_id),
        None => (None, subject.agent_id.clone()),
    };
    StepRecord {
        conversation_id: Some(subject.conversation_id.clone()),
        message_id: Some(subject.message_id.clone()),
        call_id,
        ..row(&subject.user_id, &subject.run_id, agent_id, replied)
    }
}

/// Builds the row of a request outside of conversations: of an invocation, a routine or a trial.
pub(crate) fn outside_conversation(owner: &str, id: &str, agent_id: &str, replied: ReplyUsage) -> StepRecord {
    row(owner, id, agent_id.to_owned(), replied)
}

fn row(owner: &str, run_id: &str, agent_id: String, replied: ReplyUsage) -> StepRecord {
    StepRecord {
        at: crate::now(),
        owner: owner.to_owned(),
        conversation_id: None,
        message_id: None,
        run_id: run_id.to_owned(),
        agent_id,
        call_id: None,
        number: replied.step,
        provider: replied.model.provider,
        model: replied.model.model,
        finish_reason: reason(replied.finish_reason).to_owned(),
        usage: usage(replied.usage),
        cost_usd: replied.cost_usd,
        saved_usd: replied.saved_usd,
        first_part_ms: replied.first_part.as_millis() as i64,
        whole_ms: replied.whole.as_millis() as i64,
    }
}

/// Converts usage to the wire type.
pub(crate) fn usage(usage: contract::Usage) -> TokenUsage {
    TokenUsage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_tokens: usage.cache_read_tokens,
        cache_write_tokens: usage.cache_write_tokens,
        reasoning_tokens: usage.reasoning_tokens,
    }
}

fn reason(reason: contract::FinishReason) -> &'static str {
    use contract::FinishReason::{ContentFilter, Error, Length, Other, Pause, Stop, ToolCalls};
    match reason {
        Stop => "stop",
        Length => "length",
        ContentFilter => "content-filter",
        ToolCalls => "tool-calls",
        Pause => "pause",
        Error => "error",
        Other => "other",
    }
}
