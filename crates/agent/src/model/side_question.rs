//! Asks a model something beside the answer, such as for a summary. Nobody sees the reply.

use crate::calls::ids::ConversationCallIds;
use crate::calls::validation::OfferedTools;
use crate::limits::estimate::estimated_usage;
use crate::model::reply::{self, ModelReply, RunFailure};
use crate::model::retry;
use crate::{Agent, Event, EventSink, RunSettings, SinkClosed};
use contract::{AssistantPart, ModelError, ModelErrorKind, ReplyUsage, Request, Sampling, Usage};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A reply, or why there is none.
pub(crate) struct SideReply {
    pub(crate) reply: Result<ModelReply, ModelError>,
    /// The usage, if the model answered.
    pub(crate) usage: Option<ReplyUsage>,
}

/// Returns an agent that only answers a question. Of the settings, only those of a gateway are taken
/// over, such as the user's own key.
pub(crate) fn answerer(agent: &Agent, max_output_tokens: u32) -> Agent {
    let gateway = agent.settings.provider_options.get("gateway").cloned();
    let settings = RunSettings {
        sampling: Sampling { max_output_tokens: Some(max_output_tokens), ..Sampling::default() },
        no_think: agent.settings.no_think,
        max_retries: agent.settings.max_retries.min(1),
        timeouts: agent.settings.timeouts,
        provider_options: gateway.map(|options| ("gateway".to_owned(), options)).into_iter().collect(),
        prices: agent.settings.prices.clone(),
        ..RunSettings::default()
    };
    Agent { fallbacks: agent.fallbacks.clone(), settings, ..Agent::new(agent.id.clone(), agent.model.clone()) }
}

/// Asks the models of an agent, in their order, within this time.
pub(crate) async fn ask(agent: &Agent, request: &Request, time: Duration, cancel: &CancellationToken) -> SideReply {
    let asked = Instant::now();
    let mut model = 0;
    let read = async {
        let begun = retry::start_reply(agent, &mut model, request, cancel, &mut NoSink).await?;
        let first_part = asked.elapsed();
        let mut ids = ConversationCallIds::from_history(&[]);
        let reply = reply::read(agent, &OfferedTools::default(), &mut ids, begun, cancel, &mut NoSink).await?;
        Ok((reply, first_part))
    };
    let read: Result<(ModelReply, Duration), RunFailure> = tokio::time::timeout(time, read)
        .await
        .unwrap_or_else(|_| Err(ModelError::new(ModelErrorKind::Timeout, format!("no reply within {time:?}")).into()));
    let (mut reply, first_part) = match read {
        Ok(read) => read,
        Err(RunFailure::Model(error) | RunFailure::TooLong(error)) => {
            return SideReply { reply: Err(error), usage: None };
        }
        Err(RunFailure::Sink | RunFailure::UnknownPrice { .. }) => {
            return SideReply { reply: Err(retry::cancelled_error()), usage: None };
        }
    };
    if reply.usage == Usage::default() {
        reply.usage = estimated_usage(request, &reply.said);
    }
    let answered = agent.models().nth(model).unwrap_or(&agent.model).id().clone();
    let price = agent.settings.prices.get(&answered.model);
    let usage = ReplyUsage {
        step: 0,
        cost_usd: price.map(|price| price.cost(reply.usage)),
        saved_usd: price.map(|price| price.saved(reply.usage)),
        model: answered,
        finish_reason: reply.reason,
        usage: reply.usage,
        first_part,
        whole: asked.elapsed(),
    };
    SideReply { reply: Ok(reply), usage: Some(usage) }
}

/// Returns the text of a reply.
pub(crate) fn text_of(reply: &ModelReply) -> String {
    let texts = reply.said.iter().filter_map(|part| match part {
        AssistantPart::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().concat()
}

/// Drops all events: nobody sees the reply.
struct NoSink;

impl EventSink for NoSink {
    async fn emit(&mut self, _: Event) -> Result<(), SinkClosed> {
        Ok(())
    }
}
