//! The pages of the admin console: the runs of all users, the questions that wait, and the definitions.

mod actions;
mod definitions;
mod list;
mod picture_view;
mod rerun_page;
mod run_page;
mod task_field;
mod task_form;
mod task_page;
mod tasks;

pub(crate) use list::RunList;
pub(crate) use tasks::TaskList;

use axum::routing::{get, post};
use axum::{Extension, Router};
use capability::{Context, Waiting};
use definitions::DefinitionList;
use web::admin::list::List;
use web::admin::{ADMINISTRATION, MenuEntry, MenuGroup, Section};
use web::openapi::ApiRouter;

/// Returns the section of the console. `waiting` tells people of questions.
pub(crate) fn section(context: Context, waiting: Waiting) -> Section {
    let detail = ApiRouter::new(&ADMINISTRATION).get(
        "/api/admin/workflows/{id}",
        run_page::detail,
        "Get the run of a workflow with its steps and questions",
    );
    let lists = web::admin::list::routes::<RunList>()
        .merge(web::admin::list::routes::<TaskList>())
        .merge(web::admin::list::routes::<DefinitionList>());
    let routes = detail.merge(lists);
    let actions = [
        "stop_workflow_run",
        "retry_workflow_run",
        "rerun_workflow_run",
        "decide_workflow_step",
        "assign_workflow_task",
        "export_workflows",
        "export_workflow_tasks",
        "add_workflow",
        "change_workflow",
        "delete_workflow",
        "workflow_disabled_itself",
        "export_workflow_definitions",
    ];
    Section {
        menu: vec![
            MenuEntry { group: MenuGroup::Work, path: RunList::PATH, title: RunList::TITLE },
            MenuEntry { group: MenuGroup::Work, path: TaskList::PATH, title: TaskList::TITLE },
            MenuEntry { group: MenuGroup::Work, path: DefinitionList::PATH, title: DefinitionList::TITLE },
        ],
        actions: actions.map(|action| format!("admin:{action}")).to_vec(),
        routes: routes.with_pages(page_routes()).map(|router| router.layer(Extension(waiting)).with_state(context)),
    }
}

fn page_routes() -> Router<Context> {
    definitions::routes()
        .route("/admin/workflows/{id}", get(run_page::show))
        .route("/admin/workflows/{id}/stop", post(actions::stop))
        .route("/admin/workflows/{id}/retry", post(actions::retry))
        .route("/admin/workflows/{id}/rerun", get(rerun_page::show).post(rerun_page::start))
        .route("/admin/workflows/{id}/decide", post(actions::decide))
        .route("/admin/workflow-tasks/{id}", get(task_page::show).post(task_page::answer))
        .route("/admin/workflow-tasks/{id}/assign", post(task_page::assign))
}
