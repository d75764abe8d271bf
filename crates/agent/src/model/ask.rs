//! One request to the model: its limits, its reply, and what it has cost.

use crate::context::{ContextSize, size};
use crate::limits::estimate::estimated_usage;
use crate::model::reply::{self, ModelReply, RunFailure};
use crate::model::retry;
use crate::run::Run;
use crate::{Event, EventSink};
use contract::{ModelError, ModelErrorKind, Price, ReplyUsage, Request, Usage};
use std::time::Duration;
use tokio::time::Instant;

impl Run<'_> {
    /// Sends one request and reads its reply to the end.
    pub(crate) async fn request_reply<S: EventSink>(
        &mut self,
        request: Request,
        sink: &mut S,
    ) -> Result<ModelReply, RunFailure> {
        self.check_prices()?;
        self.steps += 1;
        self.has_begun = true;
        self.caller.meter.count_request();
        let cancel = self.caller.cancel.clone();
        let (asked, mut first_part) = (Instant::now(), Duration::ZERO);
        let ask = async {
            // Boxed, so that its memory is free while the reply is read.
            let begun = Box::pin(retry::start_reply(&self.agent, &mut self.model, &request, &cancel, sink)).await;
            let begun = begun.map_err(too_long)?;
            first_part = asked.elapsed();
            sink.emit(Event::StepStart { number: self.steps }).await?;
            reply::read(&self.agent, &self.offer, &mut self.ids, begun, &cancel, sink).await
        };
        let asked_for = match self.agent.settings.timeouts.step {
            None => ask.await,
            Some(limit) => tokio::time::timeout(limit, ask).await.unwrap_or_else(|_| {
                Err(ModelError::new(ModelErrorKind::Timeout, format!("no complete reply within {limit:?} (step)"))
                    .into())
            }),
        };
        if matches!(asked_for, Err(RunFailure::TooLong(_))) {
            // The model has not answered, so there was no step.
            self.steps -= 1;
        }
        let mut reply = asked_for?;
        self.is_refused = false;
        let is_measured = reply.usage != Usage::default();
        if !is_measured {
            reply.usage = estimated_usage(&request, &reply.said);
        }
        let parts = size::parts(&request);
        self.correct_estimate(parts.total(), reply.usage.input_tokens);
        let used = reply.usage.input_tokens.saturating_add(reply.usage.output_tokens);
        sink.emit(Event::ContextSize(ContextSize { parts, used, reply: reply.usage.output_tokens, is_measured }))
            .await?;
        self.finish_reason = reply.reason;
        let cost_usd = self.cost(reply.usage);
        self.caller.meter.count_reply(reply.usage, cost_usd);
        if let Some(model) = self.agent.models().nth(self.model) {
            let replied = ReplyUsage {
                step: self.steps,
                model: model.id().clone(),
                finish_reason: reply.reason,
                usage: reply.usage,
                cost_usd,
                saved_usd: self.price().map(|price| price.saved(reply.usage)),
                first_part,
                whole: asked.elapsed(),
            };
            sink.emit(Event::ReplyComplete(replied)).await?;
        }
        Ok(reply)
    }

    /// Returns the cost of a request at the price of the model that answered it.
    pub(crate) fn cost(&self, usage: Usage) -> Option<f64> {
        self.price().map(|price| price.cost(usage))
    }

    /// Returns the price of the model that answered.
    fn price(&self) -> Option<&Price> {
        let model = self.agent.models().nth(self.model)?;
        self.agent.settings.prices.get(&model.id().model)
    }

    /// Refuses a request whose cost could not be limited.
    pub(crate) fn check_prices(&self) -> Result<(), RunFailure> {
        if !self.caller.meter.limits_cost() {
            return Ok(());
        }
        // Each of the models may be the one that answers.
        let mut names = self.agent.models().chain(&self.agent.summary_model).map(|model| &model.id().model);
        match names.find(|name| !self.agent.settings.prices.contains_key(*name)) {
            Some(model) => Err(RunFailure::UnknownPrice { model: model.clone() }),
            None => Ok(()),
        }
    }
}

/// Marks the refusal of a request that is too long.
fn too_long(failure: RunFailure) -> RunFailure {
    match failure {
        RunFailure::Model(error) if error.kind == ModelErrorKind::ContextTooLong => RunFailure::TooLong(error),
        failure => failure,
    }
}
