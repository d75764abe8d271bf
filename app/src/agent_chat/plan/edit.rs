//! Changes of a plan. A step is found by its text, of which there is one, so that a change can be made
//! again when the agent has changed the plan in the meantime.

use crate::prelude::*;
use crate::texts::{Text, fill, t};
use wire::plan::{MAX_STEPS, Plan, Todo, TodoStatus};

/// A change of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PlanEdit {
    /// Checks a step off, or opens it again.
    Check(String, bool),
    /// Gives a step another text.
    Rename(String, String),
    /// Moves a step up or down.
    Move(String, isize),
    /// Removes a step.
    Remove(String),
    /// Adds a step at the end.
    Add(String),
}

impl PlanEdit {
    /// Makes the change. A step that is gone stays gone.
    ///
    /// # Errors
    /// The message for the user.
    pub(super) fn apply(&self, todos: &mut Vec<Todo>) -> Result<(), String> {
        let find = |todos: &[Todo], content: &str| todos.iter().position(|todo| todo.content == content);
        match self {
            Self::Check(content, is_done) => {
                if let Some(at) = find(todos, content) {
                    todos[at].status = if *is_done { TodoStatus::Completed } else { TodoStatus::Pending };
                }
            }
            Self::Rename(content, _) | Self::Add(content) if content.is_empty() => {}
            Self::Rename(content, new) => {
                let new = new.trim();
                if new.is_empty() || new == content {
                    return Ok(());
                }
                if find(todos, new).is_some() {
                    return Err(t(Text::PlanSameStep).to_owned());
                }
                if let Some(at) = find(todos, content) {
                    new.clone_into(&mut todos[at].content);
                }
            }
            Self::Move(content, by) => {
                if let Some(at) = find(todos, content)
                    && let Some(to) = at.checked_add_signed(*by).filter(|to| *to < todos.len())
                {
                    todos.swap(at, to);
                }
            }
            Self::Remove(content) => todos.retain(|todo| todo.content != *content),
            Self::Add(content) => {
                if find(todos, content).is_some() {
                    return Err(t(Text::PlanSameStep).to_owned());
                }
                if todos.len() >= MAX_STEPS {
                    return Err(fill(Text::PlanFull, &[&MAX_STEPS.to_string()]));
                }
                todos.push(Todo { content: content.clone(), status: TodoStatus::Pending });
            }
        }
        Ok(())
    }
}

/// Returns the steps after a change.
///
/// # Errors
/// The message for the user.
pub(super) fn changed(plan: &Plan, edit: &PlanEdit) -> Result<Vec<Todo>, String> {
    let mut todos = plan.todos.clone();
    untrack(|| edit.apply(&mut todos))?;
    Ok(todos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_finds_its_step_by_the_text() {
        let check = |edit: PlanEdit, expected: Result<&str, &str>| {
            let todo = |content: &str, status| Todo { content: content.to_owned(), status };
            let mut todos = vec![todo("a", TodoStatus::Completed), todo("b", TodoStatus::InProgress)];
            let text = |todos: &[Todo]| {
                let all = todos.iter().map(|todo| format!("{} {}", todo.content, todo.status.name()));
                all.collect::<Vec<_>>().join(", ")
            };
            let outcome = edit.apply(&mut todos).map(|()| text(&todos));
            assert_eq!(outcome, expected.map(str::to_owned).map_err(str::to_owned), "{edit:?}");
        };
        let text = str::to_owned;
        check(PlanEdit::Check(text("b"), true), Ok("a completed, b completed"));
        check(PlanEdit::Check(text("a"), false), Ok("a pending, b in_progress"));
        check(PlanEdit::Check(text("gone"), true), Ok("a completed, b in_progress"));
        check(PlanEdit::Rename(text("a"), text(" c ")), Ok("c completed, b in_progress"));
        check(PlanEdit::Rename(text("a"), text("b")), Err("The plan has this step already."));
        check(PlanEdit::Rename(text("a"), text(" ")), Ok("a completed, b in_progress"));
        check(PlanEdit::Move(text("a"), 1), Ok("b in_progress, a completed"));
        check(PlanEdit::Move(text("a"), -1), Ok("a completed, b in_progress"));
        check(PlanEdit::Move(text("b"), 1), Ok("a completed, b in_progress"));
        check(PlanEdit::Remove(text("a")), Ok("b in_progress"));
        check(PlanEdit::Add(text("c")), Ok("a completed, b in_progress, c pending"));
        check(PlanEdit::Add(text("b")), Err("The plan has this step already."));
    }
}
