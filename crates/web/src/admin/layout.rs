//! The layout of the console's pages.

use super::Admin;
use crate::html::{document, live_document};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use std::fmt;
use std::sync::Arc;
use wire::UserError;

/// A group of the console's menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuGroup {
    /// The first page, which is a group of its own.
    Overview,
    /// What users and agents say.
    Conversations,
    /// Agents and what they may do.
    Agents,
    /// Workflows, triggers and the queue.
    Work,
    /// Users and their access.
    People,
    /// The config, the audit log, and what belongs to no other group.
    System,
}

impl MenuGroup {
    /// All groups in the order of the menu.
    const ALL: [Self; 6] = [Self::Overview, Self::Conversations, Self::Agents, Self::Work, Self::People, Self::System];

    /// Returns the name.
    fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Conversations => "Conversations",
            Self::Agents => "Agents",
            Self::Work => "Work",
            Self::People => "People",
            Self::System => "System",
        }
    }
}

/// An entry of the console's menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MenuEntry {
    /// The group.
    pub group: MenuGroup,
    /// The path of the page.
    pub path: &'static str,
    /// The text of the link.
    pub title: &'static str,
}

/// Returns the entries that depend on the config in use.
pub type MenuLinks = Arc<dyn Fn() -> Vec<MenuEntry> + Send + Sync>;

/// The menu of the console: an extension of its requests.
#[derive(Clone, Default)]
pub struct Menu {
    entries: Arc<[MenuEntry]>,
    links: Option<MenuLinks>,
}

impl Menu {
    /// Adds entries that each page asks for, after the others of their groups.
    #[must_use]
    pub fn with_links(self, links: MenuLinks) -> Self {
        Self { links: Some(links), ..self }
    }

    /// Returns the entries as of now.
    pub(super) fn entries(&self) -> Vec<MenuEntry> {
        let links = self.links.as_ref().map(|links| links()).unwrap_or_default();
        self.entries.iter().copied().chain(links).collect()
    }
}

/// Formats the entries.
impl fmt::Debug for Menu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter()).finish()
    }
}

impl FromIterator<MenuEntry> for Menu {
    fn from_iter<I: IntoIterator<Item = MenuEntry>>(entries: I) -> Self {
        Self { entries: entries.into_iter().collect(), links: None }
    }
}

/// Renders a page with the menu, in which the entry with the path `tab` is marked as the current
/// one.
pub fn page(admin: &Admin, tab: &str, status: StatusCode, title: &str, content: impl IntoView + 'static) -> Response {
    live_page(admin, tab, status, title, false, content)
}

/// Renders a page like [`page`]. While `is_live`, the browser loads it again every few seconds and
/// replaces the elements with the attribute `data-live` that have changed.
pub fn live_page(
    admin: &Admin,
    tab: &str,
    status: StatusCode,
    title: &str,
    is_live: bool,
    content: impl IntoView + 'static,
) -> Response {
    let who = admin.caller.name.clone().unwrap_or_else(|| "Owner".to_owned());
    let entries = &admin.menu.entries();
    let current = entries.iter().find(|entry| entry.path == tab).map(|entry| entry.group);
    let body = view! {
        <a class="cw-admin-skip" href="#content">"Skip to content"</a>
        <header class="cw-admin-bar">
            <strong>"Admin console"</strong>
            <nav aria-label="Admin console">
                <ul class="cw-admin-menu">{group_links(entries, current)}</ul>
            </nav>
            <span class="cw-admin-who" title=who.clone()>{who.clone()}</span>
            <a href="/">"Back to the app"</a>
        </header>
        {current.and_then(|group| group_pages(entries, group, tab))}
        <main class="cw-admin" id="content" tabindex="-1">
            <h1>{title.to_owned()}</h1>
            {content}
        </main>
    };
    if is_live { live_document(status, title, body) } else { document(status, title, body) }
}

/// Renders the groups of the menu. Each is a link to its first page.
fn group_links(entries: &[MenuEntry], current: Option<MenuGroup>) -> Vec<AnyView> {
    let link = |group: MenuGroup| {
        let first = entries.iter().find(|entry| entry.group == group)?;
        let mark = (current == Some(group)).then_some("true");
        Some(view! { <li><a href=first.path aria-current=mark>{group.name()}</a></li> }.into_any())
    };
    MenuGroup::ALL.into_iter().filter_map(link).collect()
}

/// Renders the pages of a group; none if it has a single one.
fn group_pages(entries: &[MenuEntry], group: MenuGroup, tab: &str) -> Option<AnyView> {
    let pages: Vec<_> = entries.iter().filter(|entry| entry.group == group).collect();
    let link = |entry: &&MenuEntry| {
        let current = (entry.path == tab).then_some("page");
        view! { <li><a href=entry.path aria-current=current>{entry.title}</a></li> }
    };
    (pages.len() > 1).then(|| {
        view! {
            <nav class="cw-admin-pages" aria-label=group.name()>
                <ul class="cw-admin-menu">{pages.iter().map(link).collect_view()}</ul>
            </nav>
        }
        .into_any()
    })
}

/// Renders an error, with a link to the overview.
pub(super) fn error_page(error: &UserError) -> Response {
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = view! {
        <main class="cw-account-page">
            <div class="cw-account-sheet">
                <h1>"Something went wrong"</h1>
                <p class="cw-account-problem" role="alert">{error.message.clone()}</p>
                <a class="cw-button" href="/admin">"Go to the overview"</a>
            </div>
        </main>
    };
    document(status, "Something went wrong", body)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: [MenuEntry; 4] = [
        MenuEntry { group: MenuGroup::Overview, path: "/admin", title: "Overview" },
        MenuEntry { group: MenuGroup::System, path: "/admin/config", title: "Config" },
        MenuEntry { group: MenuGroup::Agents, path: "/admin/agents", title: "Agents" },
        MenuEntry { group: MenuGroup::System, path: "/admin/audit", title: "Audit log" },
    ];

    #[test]
    fn menu_shows_the_groups_and_the_pages_of_the_current_one() {
        let check = |tab: &str, expected_groups: &str, expected_pages: &str| {
            let current = ENTRIES.iter().find(|entry| entry.path == tab).map(|entry| entry.group);
            let groups = group_links(&ENTRIES, current).into_iter().map(|link| link.to_html()).collect::<String>();
            let pages = current.and_then(|group| group_pages(&ENTRIES, group, tab));
            let pages = pages.map(|pages| pages.to_html()).unwrap_or_default();
            let links = |html: &str| {
                let texts =
                    html.split("</a>").filter_map(|part| part.rsplit_once("href=\"")).map(|(_, link)| link.to_owned());
                texts.collect::<Vec<_>>().join(", ")
            };
            assert_eq!((links(&groups).as_str(), links(&pages).as_str()), (expected_groups, expected_pages), "{tab}");
        };
        check("/admin", r#"/admin" aria-current="true">Overview, /admin/agents">Agents, /admin/config">System"#, "");
        check(
            "/admin/audit",
            r#"/admin">Overview, /admin/agents">Agents, /admin/config" aria-current="true">System"#,
            r#"/admin/config">Config, /admin/audit" aria-current="page">Audit log"#,
        );
    }
}
