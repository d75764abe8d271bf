//! The document around a page.

use crate::pages::GROUPS;
use crate::render::{Links, Page};
use crate::search::{Found, MAX_QUERY};
use leptos::prelude::*;

/// Renders the menu of all pages; below the current one are its headings of the second level. `titles` has the pages
/// of the site.
pub(crate) fn menu(titles: &[Page], current: Option<&str>, Links { before, after }: Links) -> AnyView {
    let page_link = |name: &'static str| {
        let page = titles.iter().find(|page| page.name == name)?;
        let is_current = current == Some(name);
        let headings = is_current.then(|| {
            let parts = page.parts.iter().filter(|part| part.level == 2);
            let links =
                parts.map(|part| view! { <li><a href=format!("#{}", part.anchor)>{part.heading.clone()}</a></li> });
            view! { <ul>{links.collect_view()}</ul> }
        });
        let mark = is_current.then_some("page");
        let address = format!("{before}{name}{after}");
        Some(view! { <li><a href=address aria-current=mark>{page.title.clone()}</a>{headings}</li> })
    };
    let groups = GROUPS.iter().map(|group| {
        let links = group.pages.iter().filter_map(|page| page_link(page.name)).collect_view();
        view! { <li><span class="cw-docs-group">{group.title}</span><ul>{links}</ul></li> }
    });
    view! { <nav id="pages" class="cw-docs-menu" aria-label="Documentation"><ul>{groups.collect_view()}</ul></nav> }
        .into_any()
}

/// Renders a page of the site: a bar, the menu and the content.
pub(crate) fn layout(start: String, search: AnyView, menu: AnyView, content: AnyView) -> impl IntoView {
    view! {
        <a class="cw-admin-skip" href="#content">"Skip to content"</a>
        <header class="cw-admin-bar">
            <strong><a href=start>"Documentation"</a></strong>
            <a class="cw-docs-to-pages" href="#pages">"All pages"</a>
            {search}
            <span class="cw-admin-who">{concat!("Version ", env!("CARGO_PKG_VERSION"))}</span>
        </header>
        <div class="cw-docs">
            {menu}
            <main id="content" class="cw-docs-content">{content}</main>
        </div>
    }
}

/// Renders the form of the search.
pub(crate) fn search_form(path: &'static str, question: &str) -> AnyView {
    view! {
        <form class="cw-docs-search" role="search" action=path>
            <input
                class="cw-control"
                type="search"
                name="q"
                value=question.to_owned()
                maxlength=MAX_QUERY
                placeholder="Search the documentation"
                aria-label="Search the documentation"
            />
            <button class="cw-button">"Search"</button>
        </form>
    }
    .into_any()
}

/// Renders what a search has found.
pub(crate) fn results(question: &str, found: Vec<Found>, Links { before, after }: Links) -> AnyView {
    let is_empty = found.is_empty();
    let line = |found: Found| {
        let hash = if found.part.level == 1 { String::new() } else { format!("#{}", found.part.anchor) };
        let address = format!("{before}{}{after}{hash}", found.page);
        let page = (found.part.level > 1).then_some(found.page_title);
        view! {
            <li>
                <a href=address>{found.part.heading.clone()}</a>
                {page.map(|page| view! { " " <span class="cw-account-note">{page}</span> })}
                <p>{found.snippet}</p>
            </li>
        }
    };
    view! {
        <h1>{format!("Results for “{question}”")}</h1>
        {is_empty.then(|| view! { <p>"Nothing was found. Try other words."</p> })}
        <ol class="cw-docs-results">{found.into_iter().map(line).collect_view()}</ol>
    }
    .into_any()
}

/// Renders the start page: all pages with their groups.
pub(crate) fn overview(titles: &[Page], Links { before, after }: Links) -> AnyView {
    let group = |group: &crate::pages::Group| {
        let links = group.pages.iter().filter_map(|source| {
            let page = titles.iter().find(|page| page.name == source.name)?;
            let about = page.parts.first().map(|part| first_sentence(&part.text)).unwrap_or_default();
            let address = format!("{before}{}{after}", page.name);
            Some(view! { <li><a href=address>{page.title.clone()}</a><p>{about}</p></li> })
        });
        view! { <section><h2>{group.title}</h2><ul class="cw-docs-results">{links.collect_view()}</ul></section> }
    };
    view! { <h1>"Documentation"</h1> {GROUPS.iter().map(group).collect_view()} }.into_any()
}

/// Returns the first sentence of a text, if it begins with one and not with code.
fn first_sentence(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    let sentence = &line[..end];
    let is_sentence = sentence.chars().next().is_some_and(char::is_uppercase) && sentence.ends_with(['.', ':']);
    match sentence.strip_suffix(':') {
        _ if !is_sentence => String::new(),
        Some(sentence) => format!("{sentence}."),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sentences_are_taken_from_prose() {
        let check = |text: &str, expected: &str| assert_eq!(first_sentence(text), expected, "{text}");
        check("\nUsers sign in. More follows.\nAnd", "Users sign in.");
        check("One sentence.", "One sentence.");
        check("It has: one, two. More", "It has: one, two.");
        check("What there is:\n- one", "What there is.");
        check("- id: chat\n  type: AgentChat", "");
        check("", "");
    }
}
