//! The readable text of HTML as Markdown.

use super::page::Page;
use super::plain;
use super::sanitize::sanitize;
use crate::urls;
use dom_smoothie::{Config, Readability, TextMode};
use url::Url;

/// The most HTML that is parsed, in bytes; the rest is left out.
const MAX_HTML: usize = 2 << 20;
/// The deepest nesting that is read: more than [`sanitize`] leaves, with what a parser adds to tables.
const MAX_DEPTH: usize = 1_024;
/// The most elements.
pub(super) const MAX_ELEMENTS: usize = 100_000;
/// The most links that are returned.
const MAX_LINKS: usize = 500;
/// The longest title in characters.
const MAX_TITLE: usize = 300;

/// Reads a page. One that cannot be parsed is returned as its text.
pub(super) fn read(html: &str, url: &Url, with_links: bool) -> Page {
    let (html, is_cut) = cut(html);
    let html = sanitize(html);
    let config = Config {
        text_mode: TextMode::Markdown,
        max_elements_to_parse: MAX_ELEMENTS,
        disable_json_ld: true,
        ..Config::default()
    };
    let Ok(mut readability) = Readability::new(html.as_str(), Some(url.as_str()), Some(config)) else {
        return as_text(&html, is_cut);
    };
    if readability.doc.root().descendants_it().any(|node| node.ancestors_it(None).nth(MAX_DEPTH).is_some()) {
        return as_text(&html, is_cut);
    }
    let links = if with_links { links(&readability, url) } else { Vec::new() };
    // Readability fails for pages that are no article: lists, tables, applications.
    let whole = readability.doc.md(None);
    let title = readability.get_article_title().to_string();
    let (title, text, published) = match readability.parse() {
        Ok(article) => (article.title, article.text_content.to_string(), article.published_time),
        Err(_) => (title, whole.to_string(), None),
    };
    let title = plain::visible(title.trim()).chars().take(MAX_TITLE).collect::<String>();
    Page {
        title: Some(title).filter(|title| !title.is_empty()),
        text: plain::visible(&text).trim().to_owned(),
        published: published.filter(|date| date.len() <= 40 && !date.chars().any(char::is_control)),
        links,
        is_cut,
        ..Page::default()
    }
}

fn cut(html: &str) -> (&str, bool) {
    if html.len() <= MAX_HTML {
        return (html, false);
    }
    (&html[..html.floor_char_boundary(MAX_HTML)], true)
}

fn as_text(html: &str, is_cut: bool) -> Page {
    Page { text: plain::without_tags(html), is_cut, ..Page::default() }
}

/// Returns the URLs to which a page links.
fn links(readability: &Readability, url: &Url) -> Vec<String> {
    let anchors = readability.doc.select("a[href]");
    let targets = anchors.iter().filter_map(|anchor| {
        let target = url.join(anchor.attr("href")?.trim()).ok()?;
        urls::parse(target.as_str()).ok().map(String::from)
    });
    targets.take(MAX_LINKS).collect()
}
