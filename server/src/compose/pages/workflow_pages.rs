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

impl WorkflowSource for WorkflowPages {
    fn tasks(&self, caller: Caller) -> WorkflowFuture<TaskList> {
        let Self(context) = self.clone();
        Box::pin(async move {
            let mut list = pages::tasks(&context, &caller).await?;
            list.items.extend(agent_run_tasks::load(&context, &caller).await?);
            Ok(list)
        })
    }

    fn count_tasks(&self, caller: Caller) -> WorkflowFuture<u32> {
        let Self(context) = self.clone();
        Box::pin(async move {
            let of_workflows = pages::count_tasks(&context, &caller).await?;
            let of_agents = agent_run_tasks::load(&context, &caller).await?.len();
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

    fn change_run(&self, caller: Caller, id: String, change: RunChange) -> WorkflowFuture<()> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::change_run(&context, &caller, &id, change).await })
    }
}
