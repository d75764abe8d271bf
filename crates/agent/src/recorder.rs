//! Recording of runs.

use crate::{Agent, RunOutcome, TurnInput};

/// Records runs of an agent.
pub trait RunRecorder: Send + Sync + 'static {
    /// Begins to record a run; `None` if this run is not recorded. Called before the run does anything, so
    /// it must return quickly. May wrap what the turn looks up, such as standing approvals.
    fn begin(&self, agent: &Agent, turn: &mut TurnInput) -> Option<RecordedRun>;
}

/// A run that is recorded.
pub struct RecordedRun {
    /// The agent that runs: the same agent, whose models, tools and sources also record what they are
    /// asked and what they answer.
    pub agent: Agent,
    /// Completes the recording.
    pub recording: Box<dyn RunRecording>,
}

/// The recording of one run.
pub trait RunRecording: Send {
    /// Completes the recording. It must return quickly; a failure to record never affects the run.
    fn finish(self: Box<Self>, outcome: &RunOutcome);
}
