//! The pages of the admin console: the runs of all users, and the questions that wait.

mod list;
mod pages;
mod tasks;

use capability::Context;
use web::admin::list::List;
use web::admin::{ADMINISTRATION, MenuEntry, Section};
use web::openapi::ApiRouter;

/// Returns the section of the console.
pub(crate) fn section(context: Context) -> Section {
    let detail = ApiRouter::new(&ADMINISTRATION).get(
        "/api/admin/workflows/{id}",
        pages::detail,
        "Get the run of a workflow with its steps and questions",
    );
    let lists = web::admin::list::routes::<list::RunList>().merge(web::admin::list::routes::<tasks::TaskList>());
    let routes = detail.merge(lists);
    let actions = [
        "stop_workflow_run",
        "retry_workflow_run",
        "decide_workflow_step",
        "export_workflows",
        "export_workflow_tasks",
    ];
    Section {
        menu: vec![
            MenuEntry { path: list::RunList::PATH, title: list::RunList::TITLE },
            MenuEntry { path: tasks::TaskList::PATH, title: tasks::TaskList::TITLE },
        ],
        actions: actions.map(|action| format!("admin:{action}")).to_vec(),
        routes: routes.with_pages(pages::routes()).map(|router| router.with_state(context)),
    }
}
