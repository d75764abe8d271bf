//! Records a run while it happens, in memory.

mod approvals;
mod model;
mod session;
mod sources;
mod tool;

pub(crate) use session::{Budget, Session};

use crate::format::{
    BlobId, End, Entry, Header, NeutralRequest, Outcome, RecordedCompaction, RecordedContext, RecordedScope,
    RecordedTool, Turn,
};
use crate::wrap::{self, Layer};
use agent::{Agent, Policy, RunOutcome, TurnInput};
use approvals::{RecordingGrants, RecordingPolicy};
use contract::{Model, ModelId, Price, Request, Tool, ToolError, ToolSource, ToolSpec};
use model::RecordingModel;
use serde_json::Value;
use sources::RecordingSource;
use std::collections::HashMap;
use std::sync::Arc;
use tool::RecordingTool;

/// Begins to record a run: returns the agent that runs instead. The standing approvals of the turn
/// are wrapped, too.
pub(crate) fn begin(session: &Arc<Session>, agent: &Agent, turn: &mut TurnInput) -> Agent {
    let entry = Entry::Turn(Box::new(recorded_turn(session, turn)));
    session.push(entry);
    if let Some(grants) = turn.grants.take() {
        turn.grants = Some(Arc::new(RecordingGrants { session: session.clone(), inner: grants }));
    }
    wrap::agent(agent, &RecordingLayer(session.clone()))
}

/// Completes a recording.
pub(crate) fn finish(session: &Session, outcome: &RunOutcome) {
    let messages = session.messages(&outcome.messages);
    session.push(Entry::End(End {
        ending: ending(outcome),
        finish_reason: outcome.finish_reason,
        usage: outcome.usage,
        cost_usd: outcome.cost_usd,
        steps: outcome.steps,
        messages,
        waiting: outcome.waiting.iter().map(|waiting| waiting.call.id.clone()).collect(),
        ms: session.elapsed_ms(),
    }));
}

/// Returns the reason why a run ended, without causes that may contain text of a provider.
fn ending(outcome: &RunOutcome) -> String {
    use agent::Ending::{Done, EmptySummary, Failed, InvalidCall, Limit, SinkClosed, Stopped, UnknownPrice, Waiting};
    match &outcome.ending {
        Done => "done".to_owned(),
        Waiting => "waiting".to_owned(),
        Limit(limit) => format!("limit: {limit:?}"),
        Stopped => "stopped".to_owned(),
        Failed(error) => format!("failed: {}", error.kind),
        EmptySummary => "empty summary".to_owned(),
        UnknownPrice { model } => format!("unknown price: {model}"),
        InvalidCall { tool } => format!("invalid call: {tool}"),
        SinkClosed => "closed".to_owned(),
    }
}

fn recorded_turn(session: &Session, turn: &TurnInput) -> Turn {
    let scope = &turn.scope;
    let context = &turn.context;
    Turn {
        messages: session.messages(&turn.messages),
        turn_start: turn.turn_start,
        pending: turn.pending.iter().map(Into::into).collect(),
        scope: RecordedScope {
            user_id: scope.user_id.clone(),
            roles: scope.roles.clone(),
            is_authenticated: scope.is_authenticated,
            has_files: scope.has_files,
        },
        exposure: turn.exposure.snapshot(),
        earlier: turn.earlier.clone(),
        can_ask: turn.grants.as_ref().map(|grants| grants.can_ask()),
        context: RecordedContext {
            summary: context.projection.summary.as_ref().map(|summary| (summary.text.clone(), summary.covers)),
            cleared_through: context.projection.cleared_through.clone(),
            shortened_through: context.projection.shortened_through.clone(),
            measured: context.measured.map(|size| (size.estimated, size.reported)),
            boundaries: context.boundaries.iter().map(|place| (place.at, place.message_id.clone())).collect(),
            rests: context.rests,
            page: context.page.as_ref().map(|page| (page.text.clone(), page.is_known)),
            compaction: context
                .compaction
                .as_ref()
                .map(|compaction| RecordedCompaction { focus: compaction.focus.clone() }),
        },
    }
}

/// Returns a request in the form of recordings.
pub(crate) fn neutral_request(session: &Session, model: &ModelId, request: &Request) -> NeutralRequest {
    NeutralRequest {
        model: model.clone(),
        system: request.system.as_ref().map(|text| session.blob(Value::from(text.as_str()))),
        messages: session.messages(&request.messages),
        tools: tool_list(session, request.tools.iter()),
        tool_choice: request.tool_choice.clone(),
        sampling: request.sampling.clone(),
        response_format: request.response_format.clone(),
        provider_options: crate::format::blob_id(&Value::from(request.provider_options.clone())),
    }
}

/// Stores a list of tools.
fn tool_list<'a>(session: &Session, tools: impl Iterator<Item = &'a ToolSpec>) -> BlobId {
    let tools: Vec<_> = tools.map(RecordedTool::from).collect();
    session.blob(serde_json::to_value(tools).unwrap_or_default())
}

/// Returns the result of a call with masked secrets.
pub(crate) fn recorded_outcome(result: &Result<Value, ToolError>) -> Outcome {
    match result {
        Ok(output) => Outcome::Output(contract::mask_secrets(output)),
        Err(error) => Outcome::Error(error.message.clone()),
    }
}

/// Records everything into a session.
struct RecordingLayer(Arc<Session>);

impl Layer for RecordingLayer {
    fn model(&self, agent: &str, model: Arc<dyn Model>, prices: &HashMap<String, Price>) -> Arc<dyn Model> {
        let price = prices.get(&model.id().model).copied();
        Arc::new(RecordingModel { session: self.0.clone(), agent: agent.to_owned(), inner: model, price })
    }

    fn tool(&self, agent: &str, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        Arc::new(RecordingTool { session: self.0.clone(), agent: agent.to_owned(), inner: tool })
    }

    fn source(&self, agent: &str, source: Arc<dyn ToolSource>) -> Arc<dyn ToolSource> {
        Arc::new(RecordingSource { session: self.0.clone(), agent: agent.to_owned(), inner: source })
    }

    fn policy(&self, agent: &str, policy: Arc<dyn Policy>) -> Arc<dyn Policy> {
        Arc::new(RecordingPolicy { session: self.0.clone(), agent: agent.to_owned(), inner: policy })
    }
}

/// Returns the header of a recording.
pub(crate) fn header(agent: &Agent, turn: &TurnInput, config: &str, input: crate::format::RequestInput) -> Header {
    Header {
        version: crate::format::VERSION,
        run_id: turn.scope.run_id.clone(),
        conversation_id: turn.scope.conversation_id.clone(),
        agent_id: agent.id.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        config: config.to_owned(),
        started_at: web::times::now_millis(),
        input,
    }
}
