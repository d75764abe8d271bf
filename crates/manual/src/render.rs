//! Pages as HTML.

use crate::pages::{self, Source};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A rendered page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) name: &'static str,
    pub(crate) title: String,
    /// The content with the title.
    pub(crate) html: String,
    /// Its parts: the text before the first heading, and that below each heading.
    pub(crate) parts: Vec<Part>,
}

/// The text below a heading, up to the next one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// The anchor of the heading; empty for the beginning of the page.
    pub(crate) anchor: String,
    /// The text of the heading; for the beginning, the title of the page.
    pub(crate) heading: String,
    /// How deep the heading is: 1 for the title.
    pub(crate) level: usize,
    pub(crate) text: String,
}

/// How a site refers to its pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    /// The text before the name of a page.
    pub(crate) before: &'static str,
    /// The text after it.
    pub(crate) after: &'static str,
}

/// How the server refers to them.
pub(crate) const SERVED: Links = Links { before: "/docs/", after: "" };

/// All pages with the links of the server. The first use renders them, which takes some ten milliseconds.
pub(crate) static PAGES: LazyLock<Vec<Page>> =
    LazyLock::new(|| pages::all().map(|source| render(source, SERVED)).collect());

/// Returns the page with a name, with the links of the server.
pub(crate) fn find(name: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.name == name)
}

/// Renders a page with the links of a site.
pub(crate) fn render(source: &Source, links: Links) -> Page {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<_> = Parser::new_ext(source.markdown, options).collect();
    let parts = divide(&mut events);
    let mut html = String::with_capacity(source.markdown.len() * 3 / 2);
    html::push_html(&mut html, follow_links(events, links).into_iter());
    let title = parts.iter().find(|part| part.level == 1).map_or(source.name, |part| &part.heading).to_owned();
    Page { name: source.name, title, html, parts }
}

/// Gives each heading its anchor, and returns the text below each.
fn divide(events: &mut [Event<'_>]) -> Vec<Part> {
    let mut used = HashMap::new();
    let mut parts: Vec<Part> = Vec::new();
    let mut at = 0;
    while at < events.len() {
        if let Event::Start(Tag::Heading { level, .. }) = events[at] {
            let heading = heading_text(&events[at + 1..]);
            let anchor = unique_anchor(&heading, &mut used);
            if let Event::Start(Tag::Heading { id, .. }) = &mut events[at] {
                *id = Some(CowStr::from(anchor.clone()));
            }
            parts.push(Part { anchor, heading, level: level as usize, text: String::new() });
            while !matches!(events[at], Event::End(TagEnd::Heading(_))) {
                at += 1;
            }
        } else if let Some(part) = parts.last_mut() {
            match &events[at] {
                Event::Text(text) | Event::Code(text) => part.text.push_str(text),
                Event::SoftBreak | Event::HardBreak => part.text.push(' '),
                Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock) => {
                    part.text.push('\n');
                }
                _ => {}
            }
        }
        at += 1;
    }
    parts
}

/// Returns the text of a heading whose content these events begin with.
fn heading_text(events: &[Event<'_>]) -> String {
    let content = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let texts = content.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

/// Returns the anchor of a heading, as GitHub makes them; further headings with the same text get a number.
fn unique_anchor(heading: &str, used: &mut HashMap<String, u32>) -> String {
    let kept = heading.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    let anchor: String = kept.map(|sign| if sign == ' ' { '-' } else { sign }).flat_map(char::to_lowercase).collect();
    let count = used.entry(anchor.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
}

/// Changes links to other files: those of the documentation lead to its pages, others are left as their text.
fn follow_links(events: Vec<Event<'_>>, links: Links) -> Vec<Event<'_>> {
    // Links do not nest, so one flag is enough.
    let mut is_dropped = false;
    let change = |event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => match target(&dest_url, links) {
            Some(target) => Some(Event::Start(Tag::Link { link_type, dest_url: target.into(), title, id })),
            None => {
                is_dropped = true;
                None
            }
        },
        Event::End(TagEnd::Link) if is_dropped => {
            is_dropped = false;
            None
        }
        // A server has the pictures of the app, not those of the repository.
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        event => Some(event),
    };
    events.into_iter().filter_map(change).collect()
}

/// Returns the address of a link in a page; `None` if a site has no such page.
fn target(link: &str, Links { before, after }: Links) -> Option<String> {
    if link.starts_with('#') || link.starts_with('/') || link.contains("://") {
        return Some(link.to_owned());
    }
    let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
    let name = file.strip_suffix(".md").filter(|name| pages::all().any(|page| page.name == *name))?;
    let hash = if fragment.is_empty() { "" } else { "#" };
    Some(format!("{before}{name}{after}{hash}{fragment}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn rendered(markdown: &'static str) -> Page {
        render(&Source { name: "test", markdown }, SERVED)
    }

    #[test]
    fn markdown_becomes_html_with_the_links_of_the_site() {
        let check = |markdown: &'static str, expected: &str| {
            assert_eq!(rendered(markdown).html.trim_end(), expected, "{markdown}");
        };
        check("# A *title*", "<h1 id=\"a-title\">A <em>title</em></h1>");
        check("## `chat:` & more", "<h2 id=\"chat--more\"><code>chat:</code> &amp; more</h2>");
        check("[tools](tools.md#hooks)", "<p><a href=\"/docs/tools#hooks\">tools</a></p>");
        check("[tools](tools.md)", "<p><a href=\"/docs/tools\">tools</a></p>");
        check("[a *test*](../server/tests/edges.rs)", "<p>a <em>test</em></p>");
        check("[b](../README.md) [c](#c)", "<p>b <a href=\"#c\">c</a></p>");
        check("[d](https://example.com)", "<p><a href=\"https://example.com\">d</a></p>");
        check("![picture](demo.png)", "<p>picture</p>");
    }

    #[test]
    fn equal_headings_get_numbers() {
        let page = rendered("# A\nzero\n## B\none\n## B\n`two` and\nthree\n");
        let parts: Vec<_> =
            page.parts.iter().map(|part| (part.anchor.as_str(), part.level, part.text.trim())).collect();
        assert_eq!(parts, [("a", 1, "zero"), ("b", 2, "one"), ("b-1", 2, "two and three")]);
        assert_eq!(page.title, "A");
    }

    #[test]
    fn links_between_pages_have_targets() {
        // The reference has anchors of its own.
        let ids = |page: &'static Page| page.html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let anchors: HashSet<_> = PAGES.iter().flat_map(|page| ids(page).map(|id| (page.name, id))).collect();
        for page in PAGES.iter() {
            assert_eq!(page.parts.first().map(|part| part.level), Some(1), "{}", page.name);
            for link in page.html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let (name, anchor) = match (link.strip_prefix(SERVED.before), link.strip_prefix('#')) {
                    (Some(link), _) => link.split_once('#').unwrap_or((link, "")),
                    (None, Some(anchor)) => (page.name, anchor),
                    (None, None) => continue,
                };
                assert!(find(name).is_some(), "{}: {link}", page.name);
                assert!(anchor.is_empty() || anchors.contains(&(name, anchor)), "{}: {link}", page.name);
            }
        }
    }
}
