//! Handles a request that the provider refuses because it is longer than the model's context: makes the
//! context smaller, and asks the model once more.

use crate::context::settings::ContextBudget;
use crate::context::size;
use crate::model::reply::{ModelReply, RunFailure};
use crate::run::Run;
use crate::{Event, EventSink};
use contract::{ModelError, Request};
use std::time::Duration;

impl Run<'_> {
    /// Asks the model. Returns `None` if the request was too long and has to be built again, because the
    /// context is smaller now.
    pub(crate) async fn reply_or_shrink<S: EventSink>(
        &mut self,
        request: Request,
        sink: &mut S,
    ) -> Result<Option<ModelReply>, RunFailure> {
        match self.request_reply(request, sink).await {
            Ok(reply) => Ok(Some(reply)),
            Err(RunFailure::TooLong(error)) => {
                Box::pin(self.shrink_context(error, sink)).await?;
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Makes the context smaller after a refusal: to half of what was sent, for the rest of the run. The
    /// refusal shows that the known size of the model's context is wrong, or that the request was
    /// estimated too small. The next run begins with the context that this one leaves.
    ///
    /// # Errors
    /// The refusal itself, if it is the second one in a row, if nothing can be made smaller, or if the
    /// agent's context is not kept small.
    async fn shrink_context<S: EventSink>(&mut self, error: ModelError, sink: &mut S) -> Result<(), RunFailure> {
        let Some(budget) = self.agent.settings.context_budget().filter(|_| !self.is_refused) else {
            return Err(error.into());
        };
        self.is_refused = true;
        let request = self.build_request();
        let fixed = size::fixed_tokens(&request);
        let sent = self.view(fixed).size(&self.context.projection).tokens;
        let before = self.context.projection.clone();
        let limited = ContextBudget { messages: None, ..budget.after_refusal(sent) };
        // A summary that failed lately is tried again: without one the turn fails.
        (self.context.rests, self.has_failed_summary) = (false, false);
        self.fit_to(limited, fixed, sink).await?;
        if self.context.projection == before {
            return Err(error.into());
        }
        self.refused_size = Some(sent);
        tracing::warn!(agent = self.agent.id, %error, sent, "the request was too long; asking again with a smaller context");
        sink.emit(Event::Retry { attempt: 1, wait: Duration::ZERO, error: error.to_string() }).await?;
        Ok(())
    }
}
