//! Workflows as pages show them: what waits for people, runs, and the picture of a run's steps.

mod picture;
mod task;
mod timeline;

pub use picture::{Picture, PictureEdge, PictureFrame, PictureNode};
pub use task::{Task, TaskAnswer, TaskKind, TaskList};
pub use timeline::{TimelineBar, timeline_bars};

use crate::read::{read_names, read_struct};
use serde::Serialize;
use serde_json::Value;

/// A workflow that a user may start.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowItem {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: Option<String>,
    /// The JSON Schema of its input.
    pub input: Option<Value>,
}

read_struct!(WorkflowItem { id: "id", title: "title", description: "description", input: "input" });

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RunState {
    /// Steps run, or are about to.
    Running,
    /// It waits: for a person, for a time, or for a child workflow.
    Waiting,
    /// It has an output.
    Done,
    /// It has failed.
    Failed,
    /// It was stopped.
    Stopped,
}

read_names!(RunState {
    "running" => Running, "waiting" => Waiting, "done" => Done, "failed" => Failed, "stopped" => Stopped,
});

impl RunState {
    /// Returns whether the run has ended.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Stopped)
    }
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunItem {
    /// Its id.
    pub id: String,
    /// The title of the workflow.
    pub workflow: String,
    /// Its state.
    pub state: RunState,
    /// Why it has failed or was stopped.
    pub cause: Option<String>,
    /// The cost in US dollars, formatted.
    pub cost: String,
    /// When it was created; Unix time, milliseconds.
    pub created_at: i64,
    /// When it ended; Unix time, milliseconds.
    pub ended_at: Option<i64>,
}

read_struct!(RunItem {
    id: "id",
    workflow: "workflow",
    state: "state",
    cause: "cause",
    cost: "cost",
    created_at: "createdAt",
    ended_at: "endedAt",
});

/// A run that belongs to a conversation, as a part of a message names it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationRun {
    /// Its id.
    pub run_id: String,
    /// The title of the workflow.
    pub workflow: String,
}

read_struct!(ConversationRun { run_id: "runId", workflow: "workflow" });

/// The end of a run that belongs to a conversation, as a message of it shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// The run.
    pub run_id: String,
    /// The title of the workflow.
    pub workflow: String,
    /// How it has ended.
    pub state: RunState,
    /// The output; the beginning of its text if it is long.
    pub output: Value,
    /// Whether `output` is only the beginning.
    pub is_cut: bool,
    /// Why it has failed or was stopped.
    pub cause: Option<String>,
}

read_struct!(RunResult {
    run_id: "runId",
    workflow: "workflow",
    state: "state",
    output: "output" or default,
    is_cut: "isCut" or default,
    cause: "cause",
});

/// A run that belongs to a conversation, as its card shows it now.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunProgress {
    /// The run.
    pub run: RunItem,
    /// The questions of the run that wait for the user.
    pub tasks: Vec<Task>,
    /// The message with the result, once the conversation has it.
    pub result_id: Option<String>,
    /// Whether the conversation is still to get the result.
    pub is_awaited: bool,
}

read_struct!(RunProgress {
    run: "run",
    tasks: "tasks" or default,
    result_id: "resultId",
    is_awaited: "isAwaited" or default,
});

/// A page of a user's runs, newest first, and the workflows that they may start.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunList {
    /// The runs.
    pub items: Vec<RunItem>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// The workflows that the user may start.
    pub workflows: Vec<WorkflowItem>,
}

read_struct!(RunList { items: "items", next: "next", workflows: "workflows" or default });

/// A run with its steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// The run.
    pub run: RunItem,
    /// The input.
    pub input: Value,
    /// The output.
    pub output: Value,
    /// The steps in the order in which they started.
    pub steps: Vec<StepView>,
    /// The picture of the definition with the states of the steps; absent if the definition is gone.
    pub picture: Option<Picture>,
    /// Whether the run may be retried: it has ended and is not a step of another one.
    pub may_retry: bool,
    /// The workflow as it is now, of which the user may start a new run with this one's input; absent
    /// while the run goes on.
    pub again: Option<WorkflowItem>,
    /// The run that was started again as this one.
    pub rerun_of: Option<String>,
}

read_struct!(RunView {
    run: "run",
    input: "input" or default,
    output: "output" or default,
    steps: "steps",
    picture: "picture",
    may_retry: "mayRetry" or default,
    again: "again",
    rerun_of: "rerunOf",
});

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    /// Its path, such as `each[3]/post`.
    pub path: String,
    /// Its type.
    pub kind: String,
    /// Its state.
    pub state: StepState,
    /// The number of attempts.
    pub attempts: u32,
    /// Its input.
    pub input: Value,
    /// Its output.
    pub output: Value,
    /// Why it has failed.
    pub error: Option<String>,
    /// The tokens of all attempts.
    pub tokens: u64,
    /// The cost of all attempts in US dollars, formatted.
    pub cost: String,
    /// When the first attempt started; Unix time, milliseconds.
    pub started_at: i64,
    /// When it ended; Unix time, milliseconds.
    pub ended_at: Option<i64>,
}

read_struct!(StepView {
    path: "path",
    kind: "kind",
    state: "state",
    attempts: "attempts",
    input: "input" or default,
    output: "output" or default,
    error: "error",
    tokens: "tokens" or default,
    cost: "cost",
    started_at: "startedAt",
    ended_at: "endedAt",
});

/// The state of a step, or of several runs of the same step: then the one that needs most attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StepState {
    /// It has not started.
    Pending,
    /// The run ended without it.
    Skipped,
    /// It has an output.
    Done,
    /// It runs.
    Running,
    /// It has failed and is tried again later.
    Retrying,
    /// It waits: for a person, for a time, or for a child workflow.
    Waiting,
    /// It has failed.
    Failed,
    /// The server was killed while it ran. A person decides.
    Unknown,
}

read_names!(StepState {
    "pending" => Pending, "skipped" => Skipped, "done" => Done, "running" => Running, "retrying" => Retrying,
    "waiting" => Waiting, "failed" => Failed, "unknown" => Unknown,
});

impl StepState {
    /// Returns the name, which style sheets use as `data-state`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Skipped => "skipped",
            Self::Done => "done",
            Self::Running => "running",
            Self::Retrying => "retrying",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the path of the symbol on a grid of 20 by 20 units, so that no state is told by its
    /// colour alone.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Pending => "M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12z",
            Self::Skipped => "M5 10h10",
            Self::Done => "M4 10.5l4 4L16 6",
            Self::Running => "M7 4.5l8 5.5-8 5.5z",
            Self::Retrying => "M15.8 8A6.2 6.2 0 1 0 16 11.8M16.2 3.5V8h-4.5",
            Self::Waiting => "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 6v4l2.5 2",
            Self::Failed => "M5 5l10 10M15 5L5 15",
            Self::Unknown => "M7.2 7.2a2.9 2.9 0 1 1 4.4 2.5c-1 .7-1.6 1.3-1.6 2.5M10 15.4v.1",
        }
    }
}

/// A change of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunChange {
    /// The action.
    pub action: RunAction,
    /// The path of the step that it is about. For [`RunAction::Retry`]: the step from which the run
    /// goes on; without it the steps that have failed run again.
    pub path: Option<String>,
}

read_struct!(RunChange { action: "action", path: "path" });

/// An action on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RunAction {
    /// It stops.
    Stop,
    /// It goes on after its end.
    Retry,
    /// A step whose outcome is unknown runs again.
    RunAgain,
    /// A step whose outcome is unknown counts as done without an output.
    Skip,
    /// A step whose outcome is unknown counts as failed.
    Fail,
}

read_names!(RunAction {
    "stop" => Stop, "retry" => Retry, "runAgain" => RunAgain, "skip" => Skip, "fail" => Fail,
});
