//! Usage of model requests, as rows for the store.

use crate::errors::Result;
use crate::record::audit::RunContext;
use crate::{Caller, Chat, Inner};
use agent::ReplyUsage;
use schemars::JsonSchema;
use serde::Serialize;
use store::{StepRecord, StepTotals};
use wire::UserError;
use wire::api::TokenUsage;

/// The usage of a conversation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConversationUsage {
    /// The totals.
    #[serde(flatten)]
    pub total: StepTotals,
    /// The last model requests, oldest first.
    #[serde(rename = "requests")]
    pub steps: Vec<StepRecord>,
}

impl Chat {
    /// Returns the usage of a conversation: the totals, including inactive branches, and the last
    /// 500 model requests.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn usage(&self, caller: &Caller, id: &str) -> Result<ConversationUsage, UserError> {
        Ok(self.inner.usage(caller, id).await?)
    }
}

impl Inner {
    /// See [`Chat::usage`].
    pub(crate) async fn usage(&self, caller: &Caller, id: &str) -> Result<ConversationUsage> {
        let known = self.store.conversation(&caller.user_id, id).await?;
        known.ok_or_else(UserError::not_found)?;
        let total = self.store.totals(&caller.user_id, id).await?;
        let steps = self.store.steps(&caller.user_id, id).await?;
        Ok(ConversationUsage { total, steps })
    }
}

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
