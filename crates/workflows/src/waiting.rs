//! Questions that wait, for what tells people of them.

use crate::store::{self, Assignee, TaskRow, TaskState};
use ::store::StoreError;
use capability::{Context, FindWaiting, WaitingItem, WaitingKind};
use chat::Caller;
use futures::future::BoxFuture;
use workflow_definition::{Workflow, Workflows};

/// Finds the questions that wait.
pub(crate) struct WaitingTasks;

impl FindWaiting for WaitingTasks {
    fn find<'a>(
        &'a self,
        context: &'a Context,
        kind: WaitingKind,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<WaitingItem>, StoreError>> {
        Box::pin(async move {
            if kind != WaitingKind::Task {
                return Ok(None);
            }
            let task = store::task(&context.store, id).await?;
            let Some(task) = task.filter(|task| task.state == TaskState::Open) else { return Ok(None) };
            let assignees = store::assignees(&context.store, id).await?;
            Ok(Some(item(context, task, assignees)))
        })
    }

    fn for_user<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        since: i64,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<WaitingItem>, StoreError>> {
        Box::pin(async move {
            let tasks = store::tasks_since(&context.store, caller, since, most).await?;
            let own = || vec![Assignee::User(caller.user_id.clone())];
            Ok(tasks.into_iter().map(|task| item(context, task, own())).collect())
        })
    }
}

fn item(context: &Context, task: TaskRow, assignees: Vec<Assignee>) -> WaitingItem {
    let config = context.current.config();
    let workflow = config.section::<Workflows>().and_then(|all| all.get(&task.workflow_id));
    let (mut users, mut roles) = (Vec::new(), Vec::new());
    for assignee in assignees {
        match assignee {
            Assignee::User(id) => users.push(id),
            Assignee::Role(name) => roles.push(name),
        }
    }
    WaitingItem {
        kind: WaitingKind::Task,
        subject: workflow.map_or(&*task.workflow_id, Workflow::title).to_owned(),
        title: task.title,
        since: task.created_at,
        console_path: format!("/admin/workflow-tasks/{}", task.id),
        users,
        roles,
    }
}
