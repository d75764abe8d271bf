//! The tool with which the model writes its plan.

use crate::notes::block;
use crate::store::{self, Conversation, WriteOutcome};
use ::store::{Store, StoreError};
use contract::{Annotations, RunScope, Tool, ToolContext, ToolError, ToolSpec, read_arguments};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use wire::plan::{MAX_STEP, MAX_STEPS, PLAN, Plan, Todo, checked_todos};

/// The name of the tool.
pub(crate) const WRITE_TODOS: &str = "write_todos";

/// The id of the data part: each call of an answer replaces what the one before has shown.
const PART_ID: &str = "plan";

const DESCRIPTION: &str = "Writes the plan of this conversation, which the user sees and can change. Each call replaces the whole plan: \
     list all steps in their order, also those that are completed. At most one step is in_progress.";

/// The arguments.
#[derive(Deserialize)]
struct Arguments {
    todos: Vec<Todo>,
}

/// The tool.
pub(crate) struct WriteTodos {
    spec: ToolSpec,
    store: Store,
    /// Whether the user approves new steps.
    approve: bool,
}

impl WriteTodos {
    pub(crate) fn new(store: Store, approve: bool) -> Self {
        let status = json!({ "type": "string", "enum": ["pending", "in_progress", "completed"] });
        let content = json!({ "type": "string", "description": format!("The step, in 1 to {MAX_STEP} characters, unlike any other.") });
        let todo = json!({ "type": "object", "properties": { "content": content, "status": status }, "required": ["content", "status"], "additionalProperties": false });
        let description = format!("All steps, in their order; at most {MAX_STEPS}.");
        // The bounds are checked by the tool, whose errors say what to do.
        let todos = json!({ "type": "array", "items": todo, "description": description });
        let schema = json!({ "type": "object", "properties": { "todos": todos }, "required": ["todos"], "additionalProperties": false });
        // It replaces the whole plan, so a call that a crash cut off may run again.
        let annotations = Annotations { idempotent: true, ..Annotations::default() };
        Self { spec: ToolSpec { annotations, ..ToolSpec::new(WRITE_TODOS, DESCRIPTION, schema) }, store, approve }
    }

    /// Returns whether the plan has a step that the stored plan does not have. The stored steps were approved, or
    /// written by the user.
    async fn has_new_steps(&self, input: &Value, scope: &RunScope) -> Result<bool, StoreError> {
        let Ok(Arguments { todos }) = read_arguments(input.clone()) else { return Ok(false) };
        // An invalid plan is answered with an error, without a question.
        let Ok(todos) = checked_todos(todos) else { return Ok(false) };
        let known = store::current(&self.store, conversation(scope)).await?;
        let known = known.map(|known| known.plan.todos).unwrap_or_default();
        let known: HashSet<_> = known.iter().map(|todo| todo.content.as_str()).collect();
        Ok(todos.iter().any(|todo| !known.contains(todo.content.as_str())))
    }
}

impl Tool for WriteTodos {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn needs_approval_for<'a>(&'a self, input: &'a Value, scope: &'a RunScope) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            // If the stored plan cannot be read, the user decides.
            self.approve && self.has_new_steps(input, scope).await.unwrap_or(true)
        })
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let Arguments { todos } = read_arguments(input)?;
            let todos = checked_todos(todos).map_err(|error| ToolError::new(error.message))?;
            let (of, run_id) = (conversation(&context.scope), context.scope.run_id.clone());
            match store::write_of_run(&self.store, of, run_id, todos).await.map_err(failed)? {
                WriteOutcome::Written(plan) => {
                    let name = PLAN.strip_prefix("data-").unwrap_or(PLAN);
                    let data = serde_json::to_value(&plan).unwrap_or_default();
                    context.reports.add_data(name, Some(PART_ID.to_owned()), data).await;
                    Ok(result(&plan).into())
                }
                WriteOutcome::Changed(plan) => {
                    let plan = block(&plan);
                    Err(ToolError::new(format!(
                        "Not stored: the user has changed the plan in the meantime. Keep these changes.\n{plan}"
                    )))
                }
                WriteOutcome::Gone => Err(ToolError::new("The plan cannot be stored: the conversation is gone.")),
            }
        })
    }
}

/// Returns the result of a call for the model. It names the revision, by which a later step knows that the model has
/// read this state.
fn result(plan: &Plan) -> String {
    let (completed, count) = (plan.completed(), plan.todos.len());
    let next = match plan.current() {
        Some(todo) => format!("The current step is: {}", todo.content),
        None => "All steps are completed.".to_owned(),
    };
    format!("The plan is stored (revision {}): {completed} of {count} steps are completed. {next}", plan.revision)
}

/// Returns the conversation of a run.
pub(crate) fn conversation(scope: &RunScope) -> Conversation {
    Conversation { owner: scope.user_id.clone(), id: scope.conversation_id.clone() }
}

/// Returns the message for the model when the database fails. The cause is for the operator.
fn failed(error: StoreError) -> ToolError {
    tracing::error!(%error, "a plan could not be stored");
    ToolError::new("The plan cannot be stored right now.")
}
