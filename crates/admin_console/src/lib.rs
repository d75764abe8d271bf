#![doc = include_str!("../README.md")]

mod access;
mod agents;
mod approvals;
mod audit;
mod chart;
mod config_page;
mod conversations;
mod custom_agents;
mod overview;
mod reasons;
mod retention;
mod state;
mod tools;
mod users;

pub use audit::row_json as audit_row_json;
pub use state::{ConfigChange, ConfigState, ConsoleState, Host, Reload};

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
    let subjects = [
        overview::routes(),
        users::routes(),
        access::routes(),
        conversations::routes(),
        agents::routes(),
        custom_agents::routes(),
        tools::routes(),
        approvals::routes(),
        retention::routes(),
        config_page::routes(),
        audit::routes(),
    ];
    let routes = subjects.into_iter().fold(Router::new(), Router::merge);
    routes.layer(Extension(MENU.into_iter().collect::<Menu>())).with_state(state)
}
