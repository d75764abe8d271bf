//! The menu of the console.

use futures::future::BoxFuture;
use leptos::prelude::*;
use std::fmt;
use std::sync::Arc;

/// A group of the console's menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuGroup {
    /// The first page, which is a group of its own.
    Overview,
    /// Conversations and the feedback on them.
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

/// The highest count that the menu shows as a number.
pub const MAX_MENU_COUNT: u32 = 99;

/// How many things wait for people on a page of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MenuCount {
    /// The path of the entry.
    pub path: &'static str,
    /// The number, counted up to one more than [`MAX_MENU_COUNT`].
    pub count: u32,
}

/// The sources of the entries and counts that the server adds to the menu.
#[derive(Clone)]
pub struct MenuSources {
    /// Returns the entries that depend on the config in use. They stand after the others of their groups.
    pub links: Arc<dyn Fn() -> Vec<MenuEntry> + Send + Sync>,
    /// Counts the items that wait for people. Each page asks.
    pub counts: Arc<dyn Fn() -> BoxFuture<'static, Vec<MenuCount>> + Send + Sync>,
}

/// The menu of the console: an extension of its requests.
#[derive(Clone, Default)]
pub struct Menu {
    entries: Arc<[MenuEntry]>,
    sources: Option<MenuSources>,
    counts: Vec<MenuCount>,
}

impl Menu {
    /// Adds what each page asks for.
    #[must_use]
    pub fn with_sources(self, sources: MenuSources) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// Counts the items that wait for people, for a page.
    pub(super) async fn counted(self) -> Self {
        let counts = match &self.sources {
            Some(sources) => (sources.counts)().await,
            None => Vec::new(),
        };
        Self { counts, ..self }
    }

    /// Returns the counts.
    pub(super) fn counts(&self) -> &[MenuCount] {
        &self.counts
    }

    /// Returns the entries as of now.
    pub(super) fn entries(&self) -> Vec<MenuEntry> {
        let links = self.sources.as_ref().map(|sources| (sources.links)()).unwrap_or_default();
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
        Self { entries: entries.into_iter().collect(), ..Self::default() }
    }
}

/// The id of the menu's element.
const MENU_ID: &str = "admin-menu";

/// Renders the menu. The entry with the path `tab` is the current one. In a narrow window the style sheet makes the menu a
/// popover of the button, which shows how many items wait on all pages.
pub(super) fn menu_view(entries: &[MenuEntry], counts: &[MenuCount], tab: &str) -> AnyView {
    let current = entries.iter().find(|entry| entry.path == tab).map(|entry| entry.group);
    let waiting = entries.iter().map(|entry| count_of(counts, entry)).sum();
    view! {
        <button type="button" class="cw-button cw-admin-fold" popovertarget=MENU_ID>"Menu"{count_view(waiting)}</button>
        <div id=MENU_ID class="cw-admin-menus" popover="auto">
            <nav class="cw-admin-groups" aria-label="Admin console">
                <ul class="cw-admin-menu">{group_links(entries, counts, current)}</ul>
            </nav>
            {current.and_then(|group| group_pages(entries, counts, group, tab))}
        </div>
    }
    .into_any()
}

/// Renders the groups of the menu. Each is a link to its first page, with what waits on its pages.
fn group_links(entries: &[MenuEntry], counts: &[MenuCount], current: Option<MenuGroup>) -> Vec<AnyView> {
    let link = |group: MenuGroup| {
        let pages = || entries.iter().filter(|entry| entry.group == group);
        let first = pages().next()?;
        let mark = (current == Some(group)).then_some("true");
        let waiting = pages().map(|entry| count_of(counts, entry)).sum();
        Some(view! { <li><a href=first.path aria-current=mark>{group.name()}{count_view(waiting)}</a></li> }.into_any())
    };
    MenuGroup::ALL.into_iter().filter_map(link).collect()
}

/// Renders the pages of a group; none if it has a single one.
fn group_pages(entries: &[MenuEntry], counts: &[MenuCount], group: MenuGroup, tab: &str) -> Option<AnyView> {
    let pages: Vec<_> = entries.iter().filter(|entry| entry.group == group).collect();
    let link = |entry: &&MenuEntry| {
        let current = (entry.path == tab).then_some("page");
        let waiting = count_view(count_of(counts, entry));
        view! { <li><a href=entry.path aria-current=current>{entry.title}{waiting}</a></li> }
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

fn count_of(counts: &[MenuCount], entry: &MenuEntry) -> u32 {
    counts.iter().filter(|count| count.path == entry.path).map(|count| count.count).sum()
}

/// Renders how many things wait; nothing if none does.
fn count_view(count: u32) -> Option<AnyView> {
    let shown = match count {
        0 => return None,
        count if count > MAX_MENU_COUNT => format!("{MAX_MENU_COUNT}+"),
        count => count.to_string(),
    };
    Some(
        view! { " "<span class="cw-admin-count">{shown}<span class="cw-visually-hidden">" waiting"</span></span> }
            .into_any(),
    )
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
            let groups = group_links(&ENTRIES, &[], current).into_iter().map(|link| link.to_html()).collect::<String>();
            let pages = current.and_then(|group| group_pages(&ENTRIES, &[], group, tab));
            let pages = pages.map(|pages| pages.to_html()).unwrap_or_default();
            let links = |html: &str| {
                // Where the count would be.
                let html = html.replace("<!>", "");
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

    #[test]
    fn button_opens_the_menu_and_shows_what_waits_on_all_pages() {
        let check = |counts: &[(&'static str, u32)], expected: &str| {
            let counts: Vec<_> = counts.iter().map(|(path, count)| MenuCount { path, count: *count }).collect();
            let html = menu_view(&ENTRIES, &counts, "/admin/audit").to_html().replace("<!>", "");
            let (button, menu) = html.split_once("</button>").unwrap();
            let texts = button.split('>').skip(1).filter_map(|part| part.split('<').next()).collect::<String>();
            assert_eq!(texts, expected, "{button}");
            let id = menu.contains(r#"id="admin-menu""#) && button.contains(r#"popovertarget="admin-menu""#);
            assert!(id && menu.matches("<nav").count() == 2, "{html}");
        };
        check(&[], "Menu");
        check(&[("/admin/audit", 3), ("/admin/agents", 2)], "Menu 5 waiting");
        check(&[("/admin/audit", 90), ("/admin/agents", 20)], "Menu 99+ waiting");
    }

    #[test]
    fn menu_shows_what_waits() {
        let check = |counts: &[(&'static str, u32)], expected: &[&str]| {
            let counts: Vec<_> = counts.iter().map(|(path, count)| MenuCount { path, count: *count }).collect();
            let groups = group_links(&ENTRIES, &counts, None).into_iter().map(|link| link.to_html());
            let pages = group_pages(&ENTRIES, &counts, MenuGroup::System, "/admin").unwrap().to_html();
            let links: Vec<_> = groups.chain([pages]).collect();
            let html = links.concat().replace("<!>", "");
            let shown = html.split(r#"<span class="cw-admin-count">"#).skip(1);
            let shown: Vec<_> = shown.filter_map(|part| part.split('<').next()).collect();
            assert_eq!(shown, expected);
        };
        check(&[], &[]);
        check(&[("/admin/audit", 0), ("/admin/elsewhere", 7)], &[]);
        check(&[("/admin/audit", 3), ("/admin/config", 2)], &["5", "2", "3"]);
        check(&[("/admin/agents", 100)], &["99+"]);
    }
}
