//! The data of the blocks for workflows: the tasks and runs of the capability `workflows`, and the calls of agents that
//! wait for a decision.

use super::agent_run_tasks::{self, WaitingCall};
use app::context::{WorkflowFuture, WorkflowSource};
use capability::Context;
use chat::Caller;
use serde_json::{Map, Value};
use wire::api::SendRequest;
use wire::workflow::{RunChange, RunItem, RunList, RunProgress, RunView, TaskAnswer, TaskList, WorkflowItem};
use workflows::pages;

/// The workflows of this server.
#[derive(Clone)]
pub(crate) struct WorkflowPages(pub(crate) Context);

/// How far the two lists behind the block `WorkflowTasks` were read: the cursors of the questions of workflows and of the
/// calls of agents. An empty one is the beginning, `None` the end.
#[derive(Debug, PartialEq, Eq)]
struct TaskCursor {
    tasks: Option<String>,
    calls: Option<String>,
}

impl Default for TaskCursor {
    fn default() -> Self {
        Self { tasks: Some(String::new()), calls: Some(String::new()) }
    }
}

impl TaskCursor {
    fn end() -> Self {
        Self { tasks: None, calls: None }
    }

    fn read(text: &str) -> Self {
        let part = |part: &str| (!part.is_empty()).then(|| part.to_owned());
        let (tasks, calls) = text.split_once('~').unwrap_or_default();
        Self { tasks: part(tasks), calls: part(calls) }
    }

    /// Writes a cursor behind the first page; `None` if both lists have ended.
    fn write(self) -> Option<String> {
        match (self.tasks, self.calls) {
            (None, None) => None,
            (tasks, calls) => Some(format!("{}~{}", tasks.unwrap_or_default(), calls.unwrap_or_default())),
        }
    }
}

impl WorkflowSource for WorkflowPages {
    fn tasks(&self, caller: Caller, after: Option<String>) -> WorkflowFuture<TaskList> {
        let Self(context) = self.clone();
        Box::pin(async move {
            let after = after.map_or_else(TaskCursor::default, |text| TaskCursor::read(&text));
            let (mut list, mut next) = (TaskList::default(), TaskCursor::end());
            if let Some(after) = &after.tasks {
                list = pages::tasks(&context, &caller, after).await?;
                next.tasks = list.next.take();
            }
            if let Some(after) = &after.calls {
                let after = Some(after.as_str()).filter(|after| !after.is_empty());
                let (calls, next_calls) = agent_run_tasks::load(&context, &caller, after).await?;
                list.items.extend(calls);
                next.calls = next_calls;
            }
            list.next = next.write();
            Ok(list)
        })
    }

    fn count_tasks(&self, caller: Caller) -> WorkflowFuture<u32> {
        let Self(context) = self.clone();
        Box::pin(async move {
            let of_workflows = pages::count_tasks(&context, &caller).await?;
            let of_agents = agent_run_tasks::load(&context, &caller, None).await?.0.len();
            let of_agents = u32::try_from(of_agents).unwrap_or(pages::MAX_COUNT);
            Ok(of_workflows.saturating_add(of_agents).min(pages::MAX_COUNT))
        })
    }

    fn answer_task(&self, caller: Caller, id: String, answer: TaskAnswer) -> WorkflowFuture<()> {
        let Self(context) = self.clone();
        Box::pin(async move {
            match WaitingCall::from_task_id(&id) {
                Some(call) => call.decide(&context, &caller, answer).await,
                None => pages::answer_task(&context, &caller, &id, answer).await,
            }
        })
    }

    fn runs(&self, caller: Caller, after: Option<String>, workflow: Option<String>) -> WorkflowFuture<RunList> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::runs(&context, &caller, after.as_deref(), workflow.as_deref()).await })
    }

    fn run(&self, caller: Caller, id: String) -> WorkflowFuture<RunView> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::run(&context, &caller, &id).await })
    }

    fn progress(&self, caller: Caller, id: String) -> WorkflowFuture<RunProgress> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::progress(&context, &caller, &id).await })
    }

    fn waiting_conversations(&self, caller: Caller, ids: Vec<String>) -> WorkflowFuture<Vec<String>> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::waiting_conversations(&context, &caller, ids).await })
    }

    fn start(&self, caller: Caller, id: String, input: Map<String, Value>) -> WorkflowFuture<RunItem> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::start(&context, &caller, &id, input).await })
    }

    fn startable(&self, caller: Caller, id: String) -> WorkflowFuture<WorkflowItem> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::startable_workflow(&context, &caller, &id) })
    }

    fn start_in_chat(
        &self,
        caller: Caller,
        request: SendRequest,
        id: String,
        input: Map<String, Value>,
    ) -> WorkflowFuture<()> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::start_in_chat(&context, &caller, request, &id, input).await })
    }

    fn rerun(&self, caller: Caller, id: String, input: Map<String, Value>) -> WorkflowFuture<RunItem> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::rerun(&context, &caller, &id, input).await })
    }

    fn change_run(&self, caller: Caller, id: String, change: RunChange) -> WorkflowFuture<()> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::change_run(&context, &caller, &id, change).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_name_the_lists_that_have_more() {
        let check = |tasks: Option<&str>, calls: Option<&str>, expected: Option<&str>| {
            let cursor = |part: Option<&str>| part.map(str::to_owned);
            let written = TaskCursor { tasks: cursor(tasks), calls: cursor(calls) }.write();
            assert_eq!(written.as_deref(), expected);
            if let Some(text) = written {
                assert_eq!(TaskCursor::read(&text), TaskCursor { tasks: cursor(tasks), calls: cursor(calls) });
            }
        };
        check(Some("0198"), Some("7_r"), Some("0198~7_r"));
        check(Some("0198"), None, Some("0198~"));
        check(None, Some("7_r"), Some("~7_r"));
        check(None, None, None);
        assert_eq!(TaskCursor::read("nonsense"), TaskCursor::end());
    }
}
