//! The tasks of people in workflows.

use crate::read::{read_names, read_struct};
use serde::Serialize;
use serde_json::{Map, Value};

/// A question of a workflow to a person, or a call of an agent without a conversation that waits for a decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub id: String,
    /// The run that asks.
    pub run_id: String,
    /// The title of the workflow, or the agent.
    pub workflow: String,
    /// The name of the user who started the run, if it is known.
    pub started_by: Option<String>,
    /// The kind of decision that the person makes.
    pub ask: TaskKind,
    /// The question.
    pub title: String,
    /// The facts for the decision.
    pub details: Value,
    /// The choices of [`TaskKind::Choose`].
    pub choices: Vec<String>,
    /// The JSON Schema of the values of [`TaskKind::Form`].
    pub form: Value,
    /// Whether the server died while the call ran, so that it may have had its effect.
    pub is_cut_off: bool,
    /// When it was asked; Unix time, milliseconds.
    pub created_at: i64,
    /// When it lapses; Unix time, milliseconds.
    pub due_at: Option<i64>,
}

read_struct!(Task {
    id: "id",
    run_id: "runId",
    workflow: "workflow",
    started_by: "startedBy",
    ask: "ask",
    title: "title",
    details: "details" or default,
    choices: "choices" or default,
    form: "form" or default,
    is_cut_off: "isCutOff" or default,
    created_at: "createdAt",
    due_at: "dueAt",
});

/// The kind of decision that a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskKind {
    /// Approves or rejects.
    Approve,
    /// Chooses one of several answers.
    Choose,
    /// Fills in a form.
    Form,
}

read_names!(TaskKind { "approve" => Approve, "choose" => Choose, "form" => Form });

/// The open questions that a user may answer, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskList {
    /// The questions, at most a page of them.
    pub items: Vec<Task>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

read_struct!(TaskList { items: "items", next: "next" });

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskAnswer {
    /// For [`TaskKind::Approve`]: whether it is approved.
    pub approved: Option<bool>,
    /// For [`TaskKind::Choose`]: the choice.
    pub choice: Option<String>,
    /// For [`TaskKind::Form`]: the values.
    pub values: Option<Map<String, Value>>,
    /// A comment.
    pub comment: Option<String>,
}

read_struct!(TaskAnswer { approved: "approved", choice: "choice", values: "values", comment: "comment" });
