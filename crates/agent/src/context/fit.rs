//! Fits the next request into its budget.

use crate::context::large_result::has_large;
use crate::context::plan::HistoryView;
use crate::context::projection::{ContextSummary, Projection};
use crate::context::read_result::{READ_RESULT_TOOL, ReadResult};
use crate::context::settings::ContextBudget;
use crate::context::size::{self, MeasuredSize};
use crate::context::summary::{self, SummaryFailure, SummaryOutcome, SummaryTask};
use crate::model::reply::RunFailure;
use crate::run::Run;
use crate::{Event, EventSink};
use contract::Request;
use std::borrow::Cow;
use std::sync::Arc;

/// The outcome for a piece of the history that is to be summarised.
pub(super) enum PieceOutcome {
    /// There is a summary through it.
    Summarized,
    /// Nothing is left before the cut.
    Nothing,
    /// There is no summary, and the projection is as before.
    Failed(SummaryFailure),
}

impl Run<'_> {
    /// Makes the context smaller if the next request would reach a limit. It clears old results. If
    /// that is not enough, it summarises older turns, and at last shortens the results that are left.
    /// Each change is recorded before it is used. A summary that fails
    /// changes nothing. Returns whether the request has to be built again.
    pub(crate) async fn fit_context<S: EventSink>(
        &mut self,
        request: &Request,
        sink: &mut S,
    ) -> Result<bool, RunFailure> {
        let Some(budget) = self.budget() else { return Ok(false) };
        let fixed = size::fixed_tokens(request);
        if !budget.is_reached(self.view(fixed).size(&self.context.projection)) {
            return Ok(false);
        }
        self.fit_to(budget, fixed, sink).await?;
        Ok(true)
    }

    /// Makes the context smaller until it is within a budget that the next request reaches.
    pub(super) async fn fit_to<S: EventSink>(
        &mut self,
        budget: ContextBudget,
        fixed: u64,
        sink: &mut S,
    ) -> Result<(), RunFailure> {
        self.clear_results(budget, fixed, sink).await?;
        let size = self.view(fixed).size(&self.context.projection);
        // A little room, so that the next step does not reach the limit again.
        let needs_more = budget.tokens.is_some_and(|most| size.tokens >= most / 4 * 3)
            || budget.messages.is_some_and(|most| size.messages >= most);
        if needs_more && self.agent.settings.context.summary.enabled && !self.rests(size.tokens) {
            self.summarize_turns(budget, fixed, sink).await?;
        }
        self.shorten_results(budget, fixed, sink).await
    }

    /// Returns whether no summary is attempted, because one has failed lately. It is attempted all the same for
    /// a request that is larger than the model's context: servers that do not refuse it cut its beginning off.
    fn rests(&self, tokens: u64) -> bool {
        let is_over = self.agent.settings.context_tokens.is_some_and(|most| tokens > most);
        self.has_failed_summary || self.context.rests && !is_over
    }

    /// Returns the limits of the next request, which are stricter after a refusal of the provider.
    pub(super) fn budget(&self) -> Option<ContextBudget> {
        let budget = self.agent.settings.context_budget()?;
        Some(self.refused_size.map_or(budget, |refused| budget.after_refusal(refused)))
    }

    pub(super) fn view(&self, fixed: u64) -> HistoryView<'_> {
        HistoryView {
            messages: &self.messages,
            boundaries: &self.context.boundaries,
            fixed,
            factor: self.estimate_factor,
            result_limit: self.agent.settings.result_limit(),
        }
    }

    async fn clear_results<S: EventSink>(
        &mut self,
        budget: ContextBudget,
        fixed: u64,
        sink: &mut S,
    ) -> Result<(), RunFailure> {
        let view = self.view(fixed);
        let known = &self.context.projection;
        let keep = self.agent.settings.context.keep_tool_results;
        let Some(through) = view.clear_through(known, budget, keep) else { return Ok(()) };
        self.clear_through(through, fixed, sink).await
    }

    /// Clears the results through that of a call.
    pub(super) async fn clear_through<S: EventSink>(
        &mut self,
        through: String,
        fixed: u64,
        sink: &mut S,
    ) -> Result<(), RunFailure> {
        let (view, known) = (self.view(fixed), &self.context.projection);
        let projection = Projection { cleared_through: Some(through.clone()), ..known.clone() };
        let (before, after) = (view.size(known).tokens, view.size(&projection).tokens);
        sink.emit(Event::ContextCleared { through, tokens_before: before, tokens_after: after }).await?;
        self.context.projection = projection;
        self.offer_reading().await;
        Ok(())
    }

    /// Summarises turns up to the cut, in pieces that fit into one request each.
    async fn summarize_turns<S: EventSink>(
        &mut self,
        budget: ContextBudget,
        fixed: u64,
        sink: &mut S,
    ) -> Result<(), RunFailure> {
        let view = self.view(fixed);
        let Some(cut) = view.cut(&self.context.projection, budget, &self.agent.settings.context) else { return Ok(()) };
        let cut = cut.at;
        while self.context.projection.start(&self.messages) < cut {
            self.check_not_stopped()?;
            // The next request to the model would be refused as well.
            if self.caller.meter.reached().is_some() {
                break;
            }
            match self.summarize_piece(cut, budget, fixed, sink).await? {
                PieceOutcome::Summarized => {}
                PieceOutcome::Nothing | PieceOutcome::Failed(_) => break,
            }
        }
        Ok(())
    }

    /// Summarises as many turns before the cut as fit into one request, at least one.
    pub(super) async fn summarize_piece<S: EventSink>(
        &mut self,
        cut: usize,
        budget: ContextBudget,
        fixed: u64,
        sink: &mut S,
    ) -> Result<PieceOutcome, RunFailure> {
        let view = self.view(fixed);
        let known = &self.context.projection;
        let start = known.start(&self.messages);
        let most = summary::piece_bytes(budget.tokens, self.estimate_factor);
        let open = view.open_boundaries(known);
        let mut fitting = open.first().copied();
        let (mut bytes, mut at) = (0_usize, start);
        for boundary in open.iter().copied().take_while(|boundary| boundary.at <= cut) {
            let added = self.messages[at..boundary.at].iter().map(|message| summary::rendered_bytes(message));
            bytes = added.fold(bytes, usize::saturating_add);
            at = boundary.at;
            if bytes > most {
                break;
            }
            fitting = Some(boundary);
        }
        let Some(end) = fitting.cloned() else { return Ok(PieceOutcome::Nothing) };
        self.check_prices()?;
        self.caller.meter.count_request();
        let earlier = known.summary.as_ref().map(|summary| summary.text.as_str());
        let focus = self.context.compaction.as_ref().and_then(|compaction| compaction.focus.as_deref());
        let task = SummaryTask { earlier, focus, messages: &self.messages[start..end.at], most };
        let SummaryOutcome { text, usage } = summary::ask(&self.agent, &task, &self.caller.cancel).await;
        let before = view.size(known).tokens;
        let model = usage.as_ref().map(|usage| usage.model.to_string()).unwrap_or_default();
        if let Some(usage) = usage {
            self.caller.meter.count_reply(usage.usage, usage.cost_usd);
            sink.emit(Event::SideReply(usage)).await?;
        }
        self.check_not_stopped()?;
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                tracing::warn!(agent = self.agent.id, %error, "older messages could not be summarised");
                self.has_failed_summary = true;
                sink.emit(Event::SummaryFailed { error: error.to_string() }).await?;
                return Ok(PieceOutcome::Failed(error));
            }
        };
        let summary = ContextSummary { text: text.clone(), covers: end.at };
        let projection = Projection { summary: Some(summary), ..self.context.projection.clone() };
        let after = self.view(fixed).size(&projection).tokens;
        sink.emit(Event::ContextSummarized {
            text,
            through: end.message_id,
            model,
            tokens_before: before,
            tokens_after: after,
        })
        .await?;
        self.context.projection = projection;
        self.forget_page_context();
        Ok(PieceOutcome::Summarized)
    }

    /// Looks for large results among the messages that are new since the last call. The first one of a
    /// conversation is recorded: it adds a tool, and tools come first in what providers cache.
    pub(crate) async fn find_large_results<S: EventSink>(&mut self, sink: &mut S) -> Result<(), RunFailure> {
        let limit = self.agent.settings.result_limit();
        // Whether the first large result is older matters only until the tool is offered.
        if self.searched_messages == 0
            && !self.offers_reading()
            && self.context.earlier.as_ref().is_some_and(|earlier| earlier.may_have_longer_result(limit))
        {
            self.complete_history().await;
        }
        let new = self.messages.get(self.searched_messages..).unwrap_or_default();
        let first = new.iter().position(|message| has_large(message, limit)).map(|at| at + self.searched_messages);
        self.searched_messages = self.messages.len();
        let Some(first) = first else { return Ok(()) };
        if !self.offers_reading() && first >= self.turn_start {
            sink.emit(Event::ReadingOffered).await?;
        }
        self.has_large_results = true;
        self.offer_reading().await;
        Ok(())
    }

    /// Offers the tool that reads cleared and large results, once there are some. It is not offered
    /// before, so that agents with short conversations do not pay for it.
    pub(crate) async fn offer_reading(&mut self) {
        if !self.offers_reading() {
            return;
        }
        let mut agent = self.agent.clone().into_owned();
        agent.tools.retain(|tool| tool.spec().name != READ_RESULT_TOOL);
        let earlier = self.context.earlier.clone();
        agent.tools.push(Arc::new(ReadResult::new(&self.messages, earlier, self.agent.settings.result_limit())));
        self.agent = Cow::Owned(agent);
        self.compile_offer().await;
    }

    /// Returns whether there are results that are not sent whole.
    fn offers_reading(&self) -> bool {
        let Projection { cleared_through, shortened_through, .. } = &self.context.projection;
        self.has_large_results || cleared_through.is_some() || shortened_through.is_some()
    }

    /// Corrects the estimates by what the provider reports.
    pub(crate) fn correct_estimate(&mut self, estimated: u64, reported: u64) {
        self.estimate_factor = MeasuredSize { estimated, reported }.factor().unwrap_or(self.estimate_factor);
    }
}
