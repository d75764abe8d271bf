//! A run that summarises the history on the user's demand, instead of answering.

use crate::context::fit::PieceOutcome;
use crate::context::settings::ContextBudget;
use crate::context::size::{self, ContextSize};
use crate::context::summary::SummaryFailure;
use crate::model::reply::RunFailure;
use crate::run::Run;
use crate::{Ending, Event, EventSink};
use contract::FinishReason;

impl Run<'_> {
    /// Summarises all turns before the newest message of the user, whatever the size of the history is.
    /// Each piece is recorded when it is done, so a stop or a failure loses none of them, and never a
    /// message.
    pub(crate) async fn compact<S: EventSink>(&mut self, sink: &mut S) -> Result<Ending, RunFailure> {
        let budget = self.budget().unwrap_or(ContextBudget { tokens: None, messages: None });
        self.compile_offer().await;
        let fixed = size::fixed_tokens(&self.build_request());
        let open = self.view(fixed).open_boundaries(&self.context.projection).last().map(|boundary| boundary.at);
        let Some(cut) = open else { return Ok(Ending::Done) };
        while self.context.projection.start(&self.messages) < cut {
            self.check_not_stopped()?;
            if let Some(limit) = self.caller.meter.reached() {
                return Ok(Ending::Limit(limit));
            }
            match self.summarize_piece(cut, budget, fixed, sink).await? {
                PieceOutcome::Summarized => {}
                PieceOutcome::Nothing => break,
                PieceOutcome::Failed(SummaryFailure::Model(error)) => return Ok(Ending::Failed(error)),
                PieceOutcome::Failed(SummaryFailure::Empty) => return Ok(Ending::EmptySummary),
            }
        }
        let parts = size::parts(&self.build_request());
        sink.emit(Event::ContextSize(ContextSize { parts, used: parts.total(), reply: 0, is_measured: false })).await?;
        self.finish_reason = FinishReason::Stop;
        Ok(Ending::Done)
    }
}
