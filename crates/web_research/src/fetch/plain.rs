//! Text without an HTML parser: for text files, and for HTML that a parser must not read.

use crate::provider::is_invisible;

/// Elements whose content is not text.
const HIDDEN: [&str; 4] = ["script", "style", "noscript", "template"];
const ENTITIES: [(&str, &str); 6] =
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];

/// Returns a text without invisible characters.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

/// Returns the text of HTML: what stands between the tags, in one pass.
pub(super) fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(begin) = rest.find('<') {
        text.push_str(&rest[..begin]);
        let tag = &rest[begin + 1..];
        let Some(end) = tag.find('>') else { return finish(&text) };
        rest = &tag[end + 1..];
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if let Some(hidden) = HIDDEN.iter().find(|hidden| name.eq_ignore_ascii_case(hidden)) {
            match end_of(rest, hidden) {
                Some(end) => rest = &rest[end..],
                None => return finish(&text),
            }
        }
        text.push(' ');
    }
    text.push_str(rest);
    finish(&text)
}

/// Returns where the end tag of an element begins.
fn end_of(html: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = html.get(from..)?.find("</") {
        let at = from + found;
        let found = html.get(at + 2..at + 2 + name.len());
        if found.is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return Some(at);
        }
        from = at + 2;
    }
    None
}

fn finish(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    visible(&ENTITIES.iter().fold(text, |text, (entity, plain)| text.replace(entity, plain)))
}
