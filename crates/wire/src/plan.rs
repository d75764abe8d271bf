//! The plan of a conversation: the steps that an agent has written down, which the user can change.

use crate::hidden_characters::{TextKind, TextRun, code_points, text_runs};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The name of the data part with a [`Plan`] that the agent has written.
pub const PLAN: &str = "data-plan";

/// The most steps of a plan.
pub const MAX_STEPS: usize = 50;
/// The longest text of a step in characters.
pub const MAX_STEP: usize = 500;

/// A plan as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Identifies this state of the plan. A change names the state that it changes.
    #[cfg_attr(feature = "schema", schemars(length(max = 64)))]
    pub revision: String,
    /// The steps, in their order; at most 50.
    #[cfg_attr(feature = "schema", schemars(length(max = 50)))]
    pub todos: Vec<Todo>,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// The text of the step, in 1 to 500 characters. No two steps have the same text.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 500)))]
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being worked on; at most one step.
    InProgress,
    /// Done.
    Completed,
}

impl TodoStatus {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

/// Why a list of steps is not a plan. The text names the step by its number, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// The index of the step; `None` if the whole list is meant.
    pub index: Option<usize>,
    /// A sentence for a model or a person.
    pub message: String,
}

/// Checks the steps of a plan, and removes the space around their texts.
///
/// # Errors
/// The first thing that is wrong.
pub fn checked_todos(todos: Vec<Todo>) -> Result<Vec<Todo>, PlanError> {
    let error = |index: Option<usize>, message: String| Err(PlanError { index, message });
    if todos.len() > MAX_STEPS {
        let count = todos.len();
        return error(None, format!("A plan has at most {MAX_STEPS} steps, and this one has {count}. Combine some."));
    }
    let (mut checked, mut seen, mut current) = (Vec::with_capacity(todos.len()), HashSet::new(), None);
    for (index, Todo { content, status }) in todos.into_iter().enumerate() {
        let (number, content) = (index + 1, content.trim().to_owned());
        match content.chars().count() {
            0 => return error(Some(index), format!("Step {number} has no text.")),
            length if length > MAX_STEP => {
                return error(Some(index), format!("Step {number} has {length} characters; the limit is {MAX_STEP}."));
            }
            _ => {}
        }
        // The plan is approved as it is read.
        if let Some(hidden) = first_hidden(&content) {
            let message = format!("Step {number} has characters that cannot be seen: {}.", code_points(hidden));
            return error(Some(index), message);
        }
        if !seen.insert(content.clone()) {
            return error(Some(index), format!("Step {number} has the same text as an earlier step."));
        }
        if status == TodoStatus::InProgress
            && let Some(earlier) = current.replace(number)
        {
            let message = format!("Steps {earlier} and {number} are both in_progress. Only one step may be.");
            return error(Some(index), message);
        }
        checked.push(Todo { content, status });
    }
    Ok(checked)
}

/// Returns the first hidden characters of a step that no writing system needs.
fn first_hidden(content: &str) -> Option<&str> {
    text_runs(content, TextKind::Prose).into_iter().find_map(|run| match run {
        TextRun::Hidden(hidden) => Some(hidden),
        TextRun::Text(_) => None,
    })
}

impl Plan {
    /// Returns the number of completed steps.
    pub fn completed(&self) -> usize {
        self.todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count()
    }

    /// Returns the step that is being worked on, or else the first that is not done.
    pub fn current(&self) -> Option<&Todo> {
        let find = |status| self.todos.iter().find(|todo| todo.status == status);
        find(TodoStatus::InProgress).or_else(|| find(TodoStatus::Pending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_plan_is_checked() {
        let check = |todos: Value, expected: Result<usize, (Option<usize>, &str)>| {
            let todos: Vec<Todo> = serde_json::from_value(todos).unwrap();
            let checked = checked_todos(todos).map(|todos| todos.len());
            assert_eq!(
                checked.map_err(|error| (error.index, error.message)),
                expected.map_err(|(at, text)| (at, text.to_owned()))
            );
        };
        let step = |content: &str, status: &str| json!({ "content": content, "status": status });
        check(json!([]), Ok(0));
        check(json!([step(" read ", "completed"), step("write", "in_progress"), step("send", "pending")]), Ok(3));
        check(json!([step("a", "pending"), step("  ", "pending")]), Err((Some(1), "Step 2 has no text.")));
        check(
            json!([step("a", "pending"), step(" a", "completed")]),
            Err((Some(1), "Step 2 has the same text as an earlier step.")),
        );
        let hidden = "Step 2 has characters that cannot be seen: U+202E.";
        check(json!([step("a", "pending"), step("pay \u{202e}001", "pending")]), Err((Some(1), hidden)));
        check(json!([step("👩\u{200d}🔬 ❤\u{fe0f}", "pending")]), Ok(1));
        let two = "Steps 1 and 3 are both in_progress. Only one step may be.";
        check(json!([step("a", "in_progress"), step("b", "pending"), step("c", "in_progress")]), Err((Some(2), two)));
        check(json!([step(&"é".repeat(500), "pending")]), Ok(1));
        let long = "Step 1 has 501 characters; the limit is 500.";
        check(json!([step(&"é".repeat(501), "pending")]), Err((Some(0), long)));
        let many: Vec<_> = (0..51).map(|number| step(&number.to_string(), "pending")).collect();
        check(json!(many), Err((None, "A plan has at most 50 steps, and this one has 51. Combine some.")));
    }

    #[test]
    fn the_current_step_is_the_one_in_progress_or_the_next() {
        let plan = |statuses: &[TodoStatus]| {
            let todo = |(index, status): (usize, &TodoStatus)| Todo { content: index.to_string(), status: *status };
            Plan { revision: String::new(), todos: statuses.iter().enumerate().map(todo).collect() }
        };
        let check = |statuses: &[TodoStatus], completed: usize, current: Option<&str>| {
            let plan = plan(statuses);
            assert_eq!((plan.completed(), plan.current().map(|todo| todo.content.as_str())), (completed, current));
        };
        use TodoStatus::{Completed, InProgress, Pending};
        check(&[], 0, None);
        check(&[Completed, Pending, InProgress], 1, Some("2"));
        check(&[Completed, Pending, Pending], 1, Some("1"));
        check(&[Completed, Completed], 2, None);
    }
}
