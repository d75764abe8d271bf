#![doc = include_str!("../README.md")]

mod access;
mod agent_runs;
mod agents;
mod approvals;
mod audit;
mod chart;
mod config_page;
mod conversations;
mod embed;
mod groups;
mod jobs;
mod overview;
mod reasons;
mod retention;
mod state;
mod tools;
mod users;

pub use agent_runs::count_waiting_runs;
pub use audit::AuditLine;
pub use state::{ConfigChange, ConfigState, ConsoleHost, ConsoleState, Reload};

use axum::middleware::from_extractor;
use axum::{Extension, Router};
use web::admin::MenuGroup::{Agents, Conversations, Overview, People, System, Work};
use web::admin::{ADMINISTRATION, Admin, Menu, MenuEntry, MenuSources, Section};
use web::openapi::ApiRouter;

/// The path of the console's first page.
pub const CONSOLE_PATH: &str = "/admin";

/// The pages of the menu. Each group has them in this order.
const MENU: [MenuEntry; 15] = [
    MenuEntry { group: Overview, path: CONSOLE_PATH, title: "Overview" },
    MenuEntry { group: People, path: "/admin/users", title: "Users" },
    MenuEntry { group: People, path: "/admin/groups", title: "Groups" },
    MenuEntry { group: People, path: "/admin/access", title: "Access" },
    MenuEntry { group: Conversations, path: "/admin/conversations", title: "Conversations" },
    MenuEntry { group: Conversations, path: "/admin/feedback", title: "Feedback" },
    MenuEntry { group: Agents, path: "/admin/agents", title: "Agents" },
    MenuEntry { group: Agents, path: "/admin/tools", title: "Tools" },
    MenuEntry { group: Agents, path: "/admin/approvals", title: "Approvals" },
    MenuEntry { group: Conversations, path: "/admin/retention", title: "Retention" },
    MenuEntry { group: Work, path: "/admin/agent-runs", title: "Agent runs" },
    MenuEntry { group: Work, path: "/admin/jobs", title: "Jobs" },
    MenuEntry { group: System, path: "/admin/config", title: "Config" },
    MenuEntry { group: System, path: "/admin/embed", title: "Embed" },
    MenuEntry { group: System, path: "/admin/audit", title: "Audit log" },
];

/// Returns the routes of the console, with those of capabilities. They expect the [`chat::Caller`]
/// in an extension of each request.
pub fn routes<S: Clone + Send + Sync + 'static>(
    state: ConsoleState,
    sections: Vec<Section>,
    sources: MenuSources,
) -> ApiRouter<S> {
    let subjects = [
        overview::routes(),
        users::routes(),
        groups::routes(),
        access::routes(),
        conversations::routes(),
        agents::routes(),
        tools::routes(),
        approvals::routes(),
        retention::routes(),
        agent_runs::routes(),
        jobs::routes(),
        config_page::routes(),
        embed::routes(),
        audit::routes(),
    ];
    let menu = menu(&sections, sources);
    let actions = sections.iter().flat_map(|section| section.actions.iter().cloned()).collect();
    let state = ConsoleState { actions, ..state };
    let own = subjects.into_iter().fold(ApiRouter::new(&ADMINISTRATION), ApiRouter::merge);
    let own = own.map(|router| router.with_state(state));
    let routes = sections.into_iter().fold(own, |routes, section| routes.merge(section.routes.map(admins_only)));
    routes.map(|router| router.layer(Extension(menu)))
}

/// Returns the menu with the entries of capabilities: an extension of all requests for pages of the console.
pub fn menu(sections: &[Section], sources: MenuSources) -> Menu {
    // The entries of capabilities come before the queue, which is used rarely.
    let brought = sections.iter().flat_map(|section| section.menu.iter().copied());
    let (front, back): (Vec<_>, Vec<_>) = MENU.into_iter().partition(|entry| entry.group != Work);
    front.into_iter().chain(brought).chain(back).collect::<Menu>().with_sources(sources)
}

/// Refuses everybody but administrators. The console's own routes do that with their first extractor;
/// a capability may have forgotten it.
fn admins_only<S: Clone + Send + Sync + 'static>(router: Router) -> Router<S> {
    router.route_layer(from_extractor::<Admin>()).with_state(())
}
