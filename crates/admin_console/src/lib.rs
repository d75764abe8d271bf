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

pub use audit::row_json as audit_row_json;
pub use state::{ConfigChange, ConfigState, ConsoleState, Host, Reload};

use axum::routing::{get, post};
use axum::{Extension, Router};
use web::admin::{Menu, MenuEntry};

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
pub fn routes<S: Clone + Send + Sync + 'static>(state: ConsoleState) -> Router<S> {
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
    let programs = Router::new()
        .route("/api/admin/overview", get(api::overview))
        .route("/api/admin/users", get(api::users).post(api::add_user))
        .route("/api/admin/users/{id}", get(api::user).patch(api::change_user).delete(api::delete_user))
        .route("/api/admin/users/{id}/password", post(api::reset_password))
        .route("/api/admin/users/{id}/sessions", axum::routing::delete(api::end_sessions))
        .route("/api/admin/access", get(operation_api::access))
        .route("/api/admin/access/{kind}/{id}", axum::routing::delete(operation_api::revoke_access))
        .route("/api/admin/conversations", get(api::conversations))
        .route("/api/admin/conversations/{id}", get(api::conversation).delete(api::delete_conversation))
        .route("/api/admin/feedback", get(api::feedback))
        .route("/api/admin/agents", get(operation_api::agents))
        .route("/api/admin/agents/{id}", get(operation_api::agent))
        .route("/api/admin/agents/{id}/ask", post(operation_api::ask))
        .route("/api/admin/agents/{id}/tools", get(operation_api::tools_of))
        .route("/api/admin/agents/{id}/tools/{tool}", post(operation_api::try_tool))
        .route("/api/admin/custom-agents", get(operation_api::custom_agents).post(operation_api::add_custom_agent))
        .route(
            "/api/admin/custom-agents/{id}",
            get(operation_api::custom_agent)
                .put(operation_api::change_custom_agent)
                .delete(operation_api::delete_custom_agent),
        )
        .route("/api/admin/tools", get(operation_api::tools))
        .route("/api/admin/approvals", get(operation_api::approvals))
        .route("/api/admin/approvals/{id}", axum::routing::delete(operation_api::revoke))
        .route("/api/admin/retention", get(operation_api::retention).post(operation_api::sweep))
        .route("/api/admin/config", get(operation_api::config))
        .route("/api/admin/audit", get(api::audit))
        .route("/api/admin/audit/verify", get(api::verify));
    pages.merge(programs).layer(Extension(MENU.into_iter().collect::<Menu>())).with_state(state)
}
