//! The usage of a conversation.

use crate::errors::Result;
use crate::{Caller, Chat, Inner};
use schemars::JsonSchema;
use serde::Serialize;
use store::{StepRecord, StepTotals};
use wire::UserError;

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
