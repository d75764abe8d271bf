//! HTML, converted to Markdown.

use crate::collector::Collector;
use crate::encoding;
use crate::sections::{Numbering, push_sections};
use crate::{Failure, FailureCode, Source};
use htmd::options::{BulletListMarker, Options};
use htmd::{HtmlToMarkdown, Node};
use std::rc::Rc;

/// Elements that are no text of the document.
const SKIPPED: [&str; 10] =
    ["script", "style", "noscript", "template", "svg", "iframe", "object", "nav", "head", "title"];
/// The maximum depth of elements. The conversion is recursive and copies the text of an element at
/// each level above it.
const MAX_DEPTH: usize = 300;
/// The maximum depth of tags before they are parsed. Parsing takes time that is proportional to the
/// depth for each tag.
const MAX_OPEN_TAGS: usize = 2_000;
/// Elements whose end tags are usually left out, or which have none: their tags say nothing about
/// the depth.
const OPEN_ENDED: [&str; 33] = [
    "area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html", "img", "input", "li",
    "link", "meta", "optgroup", "option", "p", "param", "rb", "rp", "rt", "rtc", "source", "tbody", "td", "tfoot",
    "th", "thead", "tr", "wbr",
];
/// The number of bytes in which a document states its encoding and its title.
const HEAD: usize = 64 * 1024;

/// Adds the sections.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let decoded = encoding::decode(source.bytes, declared_encoding(source).as_deref());
    collector.warn_of_encoding(decoded.is_lossy);
    let markdown = to_markdown(&decoded.text, source.name)?;
    if let Some(title) = title(&decoded.text) {
        collector.set_title(&title);
    }
    push_sections(collector, &markdown, &Numbering::Sections);
    Ok(())
}

/// Converts HTML to Markdown.
pub(crate) fn to_markdown(html: &str, file_name: &str) -> Result<String, Failure> {
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let converter = HtmlToMarkdown::builder().options(options).skip_tags(SKIPPED.to_vec()).build();
    let damaged = |detail: String| Failure::new(FailureCode::Damaged, file_name).with_detail(detail);
    if max_open_tags(html) > MAX_OPEN_TAGS {
        return Err(damaged(format!("more than {MAX_OPEN_TAGS} tags are open at once")));
    }
    let tree = converter.html_to_tree(html).map_err(|error| damaged(error.to_string()))?;
    if is_deeper_than(&tree, MAX_DEPTH) {
        return Err(damaged(format!("elements are nested deeper than {MAX_DEPTH}")));
    }
    Ok(encoding::normalize(converter.tree_to_markdown(&tree)))
}

/// Returns how many tags are open at once at most, of elements that are closed by a tag.
fn max_open_tags(html: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let length = tag.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = tag[..length.min(16)].to_ascii_lowercase();
        if name.is_empty() || OPEN_ENDED.contains(&name.as_str()) {
            continue;
        }
        open = if is_end { open.saturating_sub(1) } else { open + 1 };
        most = most.max(open);
    }
    most
}

/// Walks the tree without recursion.
fn is_deeper_than(tree: &Rc<Node>, most: usize) -> bool {
    let mut waiting = vec![(tree.clone(), 0)];
    while let Some((node, depth)) = waiting.pop() {
        if depth > most {
            return true;
        }
        waiting.extend(node.children.borrow().iter().map(|child| (child.clone(), depth + 1)));
    }
    false
}

/// Returns the encoding that the media type or the first bytes state.
fn declared_encoding(source: &Source<'_>) -> Option<String> {
    let head = String::from_utf8_lossy(&source.bytes[..source.bytes.len().min(HEAD)]);
    [source.media_type.unwrap_or_default(), &head].into_iter().find_map(|text| {
        let text = text.to_ascii_lowercase();
        let value = text.split_once("charset=")?.1.trim_start_matches(['"', '\'']);
        let end = value.find(|char: char| !char.is_ascii_alphanumeric() && !"-_:".contains(char));
        Some(value[..end.unwrap_or(value.len())].to_owned())
    })
}

/// Returns the title of the document.
fn title(html: &str) -> Option<String> {
    let head = html[..html.floor_char_boundary(HEAD)].to_ascii_lowercase();
    let start = head.find("<title")?;
    let start = start + head[start..].find('>')? + 1;
    let end = start + head[start..].find("</title")?;
    // Lowercase ASCII has the same length. Entities are resolved as in a paragraph.
    let text = html[start..end].replace('<', "&lt;");
    htmd::convert(&format!("<p>{text}</p>")).ok().map(|text| text.replace('\\', ""))
}
