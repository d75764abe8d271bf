//! Recordings for other capabilities, which store them themselves.

use crate::format::{Header, Recording, RequestInput};
use crate::record::{self, Budget, Session};
use agent::{Agent, RecordedRun, RunOutcome, RunRecorder, TurnInput};
use chat::AgentRequest;
use config::Config;
use std::sync::Arc;

/// Receives a recording when its run has ended. It must return quickly.
pub type RecordingHandler = Arc<dyn Fn(Recording) + Send + Sync>;

/// Records runs for a capability. All its recordings that are not complete yet share a budget of
/// memory.
pub struct Observer {
    budget: Arc<Budget>,
    run_bytes: usize,
}

impl Observer {
    /// Creates an observer. Runs with a larger recording than `run_bytes` have none, nor have runs
    /// that would need more than `all_bytes` together.
    pub fn new(run_bytes: usize, all_bytes: usize) -> Self {
        Self { budget: Budget::new(all_bytes), run_bytes }
    }

    /// Returns the recorder of the runs of a request.
    pub fn recorder(
        &self,
        config: &Config,
        request: &AgentRequest<'_>,
        take: RecordingHandler,
    ) -> Arc<dyn RunRecorder> {
        Arc::new(ObservedRequest {
            budget: self.budget.clone(),
            run_bytes: self.run_bytes,
            config: format!("{:016x}", config.fingerprint),
            input: RequestInput::from(request),
            take,
        })
    }
}

/// Records the runs of one request.
struct ObservedRequest {
    budget: Arc<Budget>,
    run_bytes: usize,
    config: String,
    input: RequestInput,
    take: RecordingHandler,
}

impl RunRecorder for ObservedRequest {
    fn begin(&self, agent: &Agent, turn: &mut TurnInput) -> Option<RecordedRun> {
        let session = Session::new(self.budget.clone(), self.run_bytes);
        let header = record::header(agent, turn, &self.config, self.input.clone());
        let agent = record::begin(&session, agent, turn);
        let recording = Box::new(ObservedRun { session, header, take: self.take.clone() });
        Some(RecordedRun { agent, recording })
    }
}

struct ObservedRun {
    session: Arc<Session>,
    header: Header,
    take: RecordingHandler,
}

impl agent::RunRecording for ObservedRun {
    fn finish(self: Box<Self>, outcome: &RunOutcome) {
        let Self { session, header, take } = *self;
        record::finish(&session, outcome);
        if let Some(recording) = session.take(header) {
            take(recording);
        }
    }
}
