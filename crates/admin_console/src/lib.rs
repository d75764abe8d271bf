#![doc = include_str!("../README.md")]

mod access;
mod agents;
mod api;
mod approvals;
mod audit;
mod chart;
mod config_page;
mod conversations;
mod custom_agents;
mod operation_api;
mod overview;
mod reasons;
mod retention;
mod state;
mod tools;
mod users;

pub use audit::AuditItem;
pub use state::{ConfigChange, ConfigState, ConsoleState, Host, Reload};

use axum::routing::{get, post};
use axum::{Extension, Router};
use web::admin::{Menu, MenuEntry};
use web::openapi::{Access, ApiRouter, Tag};

/// The group of the routes in the OpenAPI document.
const ADMINISTRATION: Tag = Tag {
    name: "administration",
    description: "The admin console. Scope `admin`, and the role `admin`.",
    access: Access::Users { scope: Some("admin") },
};

/// The pages of the menu, in its order.
const MENU: [MenuEntry; 11] = [
    MenuEntry { path: "/admin", title: "Overview" },
    MenuEntry { path: "/admin/users", title: "Users" },
    MenuEntry { path: "/admin/access", title: "Access" },
    MenuEntry { path: "/admin/conversations", title: "Conversations" },
    MenuEntry { path: "/admin/feedback", title: "Feedback" },
    MenuEntry { path: "/admin/agents", title: "Agents" },
    MenuEntry { path: "/admin/tools", title: "Tools" },
    MenuEntry { path: "/admin/approvals", title: "Approvals" },
    MenuEntry { path: "/admin/retention", title: "Retention" },
    MenuEntry { path: "/admin/config", title: "Config" },
    MenuEntry { path: "/admin/audit", title: "Audit log" },
];

/// Returns the routes of the console. They expect the [`chat::Caller`] in an extension of each request.
pub fn routes<S: Clone + Send + Sync + 'static>(state: ConsoleState) -> ApiRouter<S> {
    let pages = Router::new()
        .route("/admin", get(overview::show))
        .route("/admin/users", get(users::list_page::list).post(users::list_page::add))
        .route("/admin/users.csv", get(users::list_page::export))
        .route("/admin/users/{id}", get(users::page::show))
        .route("/admin/users/{id}/{act}", post(users::page::apply_action))
        .route("/admin/access", get(access::list))
        .route("/admin/access.csv", get(access::export))
        .route("/admin/access/{kind}/{id}/revoke", post(access::revoke))
        .route("/admin/conversations", get(conversations::list))
        .route("/admin/conversations.csv", get(conversations::export_list))
        .route("/admin/conversations/{id}", get(conversations::show))
        .route("/admin/conversations/{id}/export", get(conversations::export))
        .route("/admin/conversations/{id}/delete", post(conversations::delete))
        .route("/admin/feedback", get(conversations::feedback::list))
        .route("/admin/feedback.csv", get(conversations::feedback::export))
        .route("/admin/agents", get(agents::pages::list))
        .route("/admin/agents.csv", get(agents::pages::export))
        .route("/admin/agents/{id}", get(agents::pages::show))
        .route("/admin/agents/{id}/ask", post(agents::pages::ask))
        .route("/admin/agents/{id}/tools", get(agents::pages::tools))
        .route("/admin/agents/{id}/tools/{tool}", get(tools::show).post(tools::call))
        .route("/admin/custom-agents", get(custom_agents::pages::list).post(custom_agents::pages::add))
        .route("/admin/custom-agents.csv", get(custom_agents::pages::export))
        .route("/admin/custom-agents/new", get(custom_agents::pages::new))
        .route("/admin/custom-agents/{id}", get(custom_agents::pages::show).post(custom_agents::pages::change))
        .route("/admin/custom-agents/{id}/delete", post(custom_agents::pages::delete))
        .route("/admin/tools", get(tools::list))
        .route("/admin/tools.csv", get(tools::export))
        .route("/admin/approvals", get(approvals::list))
        .route("/admin/approvals.csv", get(approvals::export))
        .route("/admin/approvals/{id}/revoke", post(approvals::revoke))
        .route("/admin/retention", get(retention::show).post(retention::sweep))
        .route("/admin/config", get(config_page::show))
        .route("/admin/audit", get(audit::list))
        .route("/admin/audit.csv", get(audit::export));
    let menu: Menu = MENU.into_iter().collect();
    let api = api::routes().merge(operation_api::routes()).with_pages(pages);
    api.map(|router| router.layer(Extension(menu)).with_state(state))
}
