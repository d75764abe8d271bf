//! Gives the blocks for workflows what the capability `workflows` knows.

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
        Box::pin(async move { pages::tasks(&context, &caller).await })
    }

    fn count_tasks(&self, caller: Caller) -> WorkflowFuture<u32> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::count_tasks(&context, &caller).await })
    }

    fn answer_task(&self, caller: Caller, id: String, answer: TaskAnswer) -> WorkflowFuture<()> {
        let Self(context) = self.clone();
        Box::pin(async move { pages::answer_task(&context, &caller, &id, answer).await })
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
