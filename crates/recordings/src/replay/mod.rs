//! Replays a recorded run with an agent: the same messages of the user, with replies of models and
//! results of tools from the recording as far as it has them.

mod approvals;
mod model;
mod sources;
mod tape;
mod tool;
mod turn;

pub use tape::Miss;

use crate::format::{Header, Recording};
use crate::record::{self, Budget, Session};
use crate::wrap::{self, Layer};
use agent::{Agent, Event, EventSink, Policy, SinkClosed};
use contract::{Model, Price, Tool, ToolSource};
use std::collections::HashMap;
use std::sync::Arc;
use tape::Tape;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// The most memory that the recording of a replay takes, in bytes.
const MAX_MEMORY: usize = 1024 * 1024 * 1024;

/// The source of replies to model requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replies {
    /// The recording, where it has the same request; otherwise the model.
    #[default]
    Auto,
    /// The recording. A request that it does not have is a miss, and fails.
    Recorded,
    /// The model.
    Live,
}

/// The source of results of tool calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolMode {
    /// The recording. A call that it does not have is a miss, which the model reads as an error.
    #[default]
    Recorded,
    /// The recording. A call that it does not have is a miss, and stops the run.
    Stop,
    /// The recording, and the agent's model for calls that it does not have.
    Simulate,
    /// The tools that [`Options::allow_effects`] names run; the recording answers for all others.
    /// No annotation says that a tool has no effect: `idempotent` only means that a repetition has
    /// no further one.
    Live,
}

/// The options of a replay.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether the config is the one of the recording. Then whole requests are compared, not only
    /// the conversation in them, and decisions of policies come from the recording.
    pub same_config: bool,
    /// The source of replies to model requests.
    pub replies: Replies,
    /// The source of results of tool calls.
    pub tools: ToolMode,
    /// The names of the tools that run with [`ToolMode::Live`].
    pub allow_effects: Vec<String>,
    /// The request of the agent's model with which the replay begins, from 1. Earlier steps are
    /// taken from the recording. 0 is the same as 1.
    pub from_step: u32,
}

/// A replay of a run.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The recording of the replay.
    pub recording: Recording,
    /// The requests and calls that the recording did not have.
    pub misses: Vec<Miss>,
    /// The number of requests that a model has answered rather than the recording.
    pub live_requests: u32,
    /// The number of results that a model has made up.
    pub simulated: u32,
}

/// The reason why a run cannot be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The recording cannot be used.
    #[error("the recording is damaged: {0}")]
    Damaged(String),
    /// There is no such request.
    #[error("the recording has {steps} request(s) of the agent, so the replay cannot begin with number {from}")]
    NoStep {
        /// The number of requests.
        steps: usize,
        /// The requested first step.
        from: u32,
    },
    /// The replay became too large.
    #[error("the replay needs too much memory")]
    TooLarge,
}

/// Replays a run with this agent. Ends early when `cancel` is cancelled.
///
/// # Errors
/// The recording cannot be used, or lacks the first step.
pub async fn replay(
    recorded: &Recording,
    agent: &Agent,
    options: &Options,
    cancel: CancellationToken,
) -> Result<Replayed, ReplayError> {
    let session = Session::new(Budget::new(MAX_MEMORY), MAX_MEMORY);
    let first = tape::first_request(recorded, &agent.id, options.from_step)?;
    let begin = first.map_or(0, |(at, _)| at);
    let tape = Arc::new(Tape::new(recorded, agent, options, begin, session.clone(), cancel.clone())?);
    let first = first.map(|(_, request)| request);
    let mut turn = turn::turn_input(recorded, first, options.from_step, tape.clone(), cancel)?;
    let header = Header {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: web::times::now_millis(),
        ..recorded.header.clone()
    };
    let replaying = wrap::agent(agent, &ReplayLayer(tape.clone()));
    let replaying = record::begin(&session, &replaying, &mut turn);
    let outcome = agent::run(&replaying, turn, &mut NoSink).await;
    record::finish(&session, &outcome);
    let recording = session.take(header).ok_or(ReplayError::TooLarge)?;
    let tape::ReplayStats { misses, live_requests, simulated } = tape.stats();
    Ok(Replayed { recording, misses, live_requests, simulated })
}

/// Answers from the recording.
struct ReplayLayer(Arc<Tape>);

impl Layer for ReplayLayer {
    fn model(&self, agent: &str, model: Arc<dyn Model>, _: &HashMap<String, Price>) -> Arc<dyn Model> {
        Arc::new(model::ReplayModel { tape: self.0.clone(), agent: agent.to_owned(), inner: model })
    }

    fn tool(&self, agent: &str, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        let spec = tool.spec().clone();
        Arc::new(tool::ReplayTool { tape: self.0.clone(), agent: agent.to_owned(), spec, inner: Some(tool) })
    }

    fn source(&self, agent: &str, source: Arc<dyn ToolSource>) -> Arc<dyn ToolSource> {
        Arc::new(sources::ReplaySource { tape: self.0.clone(), agent: agent.to_owned(), inner: source })
    }

    fn policy(&self, agent: &str, policy: Arc<dyn Policy>) -> Arc<dyn Policy> {
        Arc::new(approvals::ReplayPolicy { tape: self.0.clone(), agent: agent.to_owned(), inner: policy })
    }
}

/// Drops all events: the compared data is recorded below them.
pub(crate) struct NoSink;

impl EventSink for NoSink {
    async fn emit(&mut self, _: Event) -> Result<(), SinkClosed> {
        Ok(())
    }
}
