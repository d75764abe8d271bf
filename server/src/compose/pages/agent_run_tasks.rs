//! The calls of agents without a conversation that wait for a user, as questions of the block `WorkflowTasks`.

use capability::Context;
use chat::Caller;
use wire::UserError;
use wire::invoke::{RunAnswer, UndecidedRun, UndecidedRunList};
use wire::workflow::{Task, TaskAnswer, TaskKind};

/// The prefix of the ids of these questions: `agent-run/{run}/{call}`. The ids of workflow tasks are UUIDs.
const PREFIX: &str = "agent-run/";

/// A call of a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WaitingCall<'a> {
    run_id: &'a str,
    call_id: &'a str,
}

impl<'a> WaitingCall<'a> {
    /// Reads the id of a question; `None` for that of a workflow.
    pub(super) fn from_task_id(id: &'a str) -> Option<Self> {
        let (run_id, call_id) = id.strip_prefix(PREFIX)?.split_once('/')?;
        Some(Self { run_id, call_id })
    }

    fn task_id(&self) -> String {
        format!("{PREFIX}{}/{}", self.run_id, self.call_id)
    }

    /// Approves or denies the call.
    ///
    /// # Errors
    /// 404 for a call that does not wait for the caller, 422 for an answer that does not decide.
    pub(super) async fn decide(&self, context: &Context, caller: &Caller, answer: TaskAnswer) -> Result<(), UserError> {
        let approved = answer.approved.ok_or_else(|| UserError::invalid("/approved", "Approve it, or reject it."))?;
        let answer = RunAnswer { call_id: self.call_id.to_owned(), approved, reason: answer.comment };
        context.chat.answer_run(caller, self.run_id, answer).await.map(drop)
    }
}

/// Returns a page of the calls on which the caller may decide, oldest first, and the cursor of the next one.
///
/// # Errors
/// 422 for a cursor that is none; the database is not available.
pub(super) async fn load(
    context: &Context,
    caller: &Caller,
    after: Option<&str>,
) -> Result<(Vec<Task>, Option<String>), UserError> {
    let UndecidedRunList { items: runs, next } = context.chat.undecided_runs(caller, after).await?;
    let config = context.current.config();
    let title = |id: &str| {
        let agent = config.agents.get(id);
        agent.and_then(|agent| agent.title.clone()).unwrap_or_else(|| id.to_owned())
    };
    Ok((runs.into_iter().flat_map(|run| tasks(&title(&run.agent_name), run)).collect(), next))
}

fn tasks(agent: &str, run: UndecidedRun) -> Vec<Task> {
    let UndecidedRun { run_id, questions, started_by_name, created_at, .. } = run;
    let task = |question: wire::invoke::RunQuestion| Task {
        id: WaitingCall { run_id: &run_id, call_id: &question.call_id }.task_id(),
        run_id: run_id.clone(),
        workflow: agent.to_owned(),
        started_by: started_by_name.clone(),
        ask: TaskKind::Approve,
        title: question.tool_name,
        details: question.input,
        choices: Vec::new(),
        form: serde_json::Value::Null,
        is_cut_off: question.cut_off,
        created_at,
        due_at: question.expires_at,
    };
    questions.into_iter().map(task).collect()
}

#[cfg(test)]
mod tests {
    use super::WaitingCall;

    #[test]
    fn ids_name_the_run_and_the_call() {
        let check = |id: &str, expected: Option<(&str, &str)>| {
            let found = WaitingCall::from_task_id(id);
            assert_eq!(found.as_ref().map(|call| (call.run_id, call.call_id)), expected, "{id}");
            found.into_iter().for_each(|call| assert_eq!(call.task_id(), id));
        };
        check("agent-run/7/call_1", Some(("7", "call_1")));
        check("agent-run/7/a/b", Some(("7", "a/b")));
        check("agent-run/7", None);
        check("0192f0c1-0000-7000-8000-000000000000", None);
    }
}
