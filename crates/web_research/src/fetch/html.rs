//! The readable text of HTML as Markdown.
//!
//! A parser of HTML makes up what is missing, so that some documents take much more time and memory
//! than their size: elements that are opened again in each paragraph, deep nesting. What could do that
//! is removed or counted before.

use super::{Page, plain};
use crate::urls;
use dom_smoothie::{Config, Readability, TextMode};
use regex::Regex;
use std::collections::HashMap;
use std::sync::LazyLock;
use url::Url;

/// The most HTML that is parsed, in bytes; the rest is left out.
const MAX_HTML: usize = 2 << 20;
/// The deepest nesting.
const MAX_DEPTH: usize = 256;
/// The most elements.
const MAX_ELEMENTS: usize = 100_000;
/// The most links that are returned.
const MAX_LINKS: usize = 500;
/// The longest title in characters.
const MAX_TITLE: usize = 300;

/// Elements that a parser opens again in each following block until they are closed. Markdown without
/// bold words is as readable.
static FORMATTING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)</?(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?:[\s/][^>]*)?>").ok()
});
/// Stands where such a tag was, so that what surrounds it does not become a tag.
const REMOVED: &str = "\u{200b}";

/// Elements that have no end tag, or whose end tag is often left out and which do not nest by
/// themselves.
const NOT_NESTED: [&str; 29] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "p",
    "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead", "tbody", "tfoot", "html", "head", "body",
];

/// Reads a page. One that cannot be parsed is returned as its text.
pub(super) fn read(html: &str, url: &Url, with_links: bool) -> Page {
    let (html, is_cut) = cut(html);
    let Some(formatting) = &*FORMATTING else { return as_text(html, is_cut) };
    let html = formatting.replace_all(html, REMOVED);
    if depth(&html) > MAX_DEPTH {
        return as_text(&html, is_cut);
    }
    let config = Config {
        text_mode: TextMode::Markdown,
        max_elements_to_parse: MAX_ELEMENTS,
        disable_json_ld: true,
        ..Config::default()
    };
    let Ok(mut readability) = Readability::new(&*html, Some(url.as_str()), Some(config)) else {
        return as_text(&html, is_cut);
    };
    if readability.doc.root().descendants_it().any(|node| node.ancestors_it(None).nth(MAX_DEPTH).is_some()) {
        return as_text(&html, is_cut);
    }
    let links = if with_links { links(&readability, url) } else { Vec::new() };
    // Readability fails for pages that are no article: lists, tables, applications.
    let whole = readability.doc.md(Some(&["script", "style", "noscript", "template", "svg", "iframe"]));
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

/// Returns how deep elements are nested at most, if all end tags fit. Counted per name, so that an
/// end tag without its start tag changes nothing.
fn depth(html: &str) -> usize {
    let (mut open, mut depth, mut deepest) = (HashMap::<String, usize>::new(), 0_usize, 0);
    for tag in html.split('<').skip(1) {
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let name = tag.split(|c: char| c.is_whitespace() || c == '/' || c == '>').next().unwrap_or_default();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || name.len() > 40 {
            continue;
        }
        let name = name.to_ascii_lowercase();
        if NOT_NESTED.contains(&name.as_str()) {
            continue;
        }
        let count = open.entry(name).or_default();
        if !is_end {
            *count += 1;
            depth += 1;
        } else if *count > 0 {
            *count -= 1;
            depth -= 1;
        }
        deepest = deepest.max(depth);
    }
    deepest
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
