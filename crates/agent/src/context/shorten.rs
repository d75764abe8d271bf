//! Shortens the results that clearing and summaries must keep: the newest ones, and those that the model
//! has not read yet.

use crate::context::large_result::can_be_shortened;
use crate::context::plan::HistoryView;
use crate::context::projection::Projection;
use crate::context::settings::ContextBudget;
use crate::model::reply::RunFailure;
use crate::run::Run;
use crate::{Event, EventSink};
use contract::Message;

impl Run<'_> {
    /// Shortens results, the oldest first, if the request would still reach the budget. If it then
    /// reaches it, all results that the model has read are cleared.
    pub(super) async fn shorten_results<S: EventSink>(
        &mut self,
        budget: ContextBudget,
        fixed: u64,
        sink: &mut S,
    ) -> Result<(), RunFailure> {
        let Some(most) = budget.tokens else { return Ok(()) };
        let is_reached = |run: &Self| run.view(fixed).size(&run.context.projection).tokens >= most;
        if !is_reached(self) {
            return Ok(());
        }
        let view = self.view(fixed);
        let known = &self.context.projection;
        if let Some(projection) = view.shortened(known, most) {
            let (before, after) = (view.size(known).tokens, view.size(&projection).tokens);
            let through = projection.shortened_through.clone().unwrap_or_default();
            sink.emit(Event::ContextShortened { through, tokens_before: before, tokens_after: after }).await?;
            self.context.projection = projection;
            self.offer_reading().await;
        }
        if is_reached(self)
            && let Some(through) = self.view(fixed).clear_through(&self.context.projection, budget, 0)
        {
            self.clear_through(through, fixed, sink).await?;
        }
        Ok(())
    }
}

impl HistoryView<'_> {
    /// Returns the projection that shortens as many results as the request needs to have some room
    /// again; `None` if none can be shortened.
    fn shortened(&self, known: &Projection, most: u64) -> Option<Projection> {
        let projected = known.apply(self.messages, self.result_limit);
        let results = projected.iter().filter_map(|message| match &**message {
            Message::Tool(results) => Some(results),
            _ => None,
        });
        let ids: Vec<_> =
            results.flatten().filter(|result| can_be_shortened(result)).map(|result| &result.call_id).collect();
        let through = |id: &String| Projection { shortened_through: Some(id.clone()), ..known.clone() };
        // A little room, so that the next step does not reach the budget again.
        let needs_more = |id: &&String| self.size(&through(id)).tokens > most / 4 * 3;
        // The more results are shortened, the smaller the request is.
        let at = ids.partition_point(needs_more);
        ids.get(at).or(ids.last()).map(|id| through(id))
    }
}
