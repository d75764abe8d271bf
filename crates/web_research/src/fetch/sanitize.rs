//! Reduces HTML to what a parser can read in bounded time and memory.
//!
//! A parser of HTML makes up what is missing, so that some documents take far more time and memory
//! than their size: formatting that is opened again in each paragraph, deep nesting, thousands of
//! attributes. So the tags are read here, by the rules of the standard's tokenizer, and written anew:
//! only known attributes, no formatting, no scripts and comments, at most 128 levels. Since every
//! other `<` is escaped, the parser sees exactly these tags.

use std::fmt::Write;

/// The deepest nesting.
const MAX_DEPTH: usize = 128;
/// The most attributes of a tag.
const MAX_ATTRIBUTES: usize = 16;
/// The longest name of a tag, and the longest value of an attribute, in bytes.
const MAX_NAME: usize = 24;
const MAX_VALUE: usize = 2_000;

/// Elements that are left out with all that is in them. The content of most is not markup.
const LEFT_OUT: [&str; 16] = [
    "script",
    "style",
    "noscript",
    "template",
    "iframe",
    "noembed",
    "noframes",
    "xmp",
    "textarea",
    "select",
    "svg",
    "math",
    "object",
    "applet",
    "marquee",
    "plaintext",
];
/// Elements whose tags are left out: formatting, which a parser opens again in each block, and frames.
const UNWRAPPED: [&str; 17] = [
    "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u", "frameset", "frame",
    "image", "form",
];
/// Elements without an end tag.
const VOID: [&str; 8] = ["br", "hr", "img", "meta", "link", "base", "wbr", "col"];
/// Elements that end where the next one begins, so that they do not nest by themselves.
const IMPLIED_END: [&str; 20] = [
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "caption", "html", "head", "body",
    "title", "h1", "h2", "h3", "h4",
];
/// Elements that do not keep an end tag of an element around them from ending it.
const INLINE: [&str; 16] = [
    "a", "span", "label", "abbr", "cite", "q", "sub", "sup", "time", "var", "kbd", "samp", "ins", "del", "bdi", "mark",
];
const ATTRIBUTES: [&str; 16] = [
    "href", "src", "alt", "title", "class", "id", "name", "property", "content", "itemprop", "rel", "datetime", "lang",
    "dir", "colspan", "role",
];

/// Returns the reduced document.
pub(super) fn sanitize(html: &str) -> String {
    let mut writer = Writer { html: String::with_capacity(html.len()), open: Vec::new() };
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        writer.text(&rest[..at]);
        rest = writer.markup(&rest[at..]);
    }
    writer.text(rest);
    writer.html
}

/// The reduced document, and the elements that are open.
struct Writer {
    html: String,
    open: Vec<String>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        // Entities stay as they are.
        self.html.push_str(text);
    }

    /// Reads markup that begins with `<`; returns the rest.
    fn markup<'a>(&mut self, html: &'a str) -> &'a str {
        let after = &html[1..];
        if let Some(comment) = after.strip_prefix("!--") {
            // A comment may also end at once: `<!-->`.
            let at_once = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->"));
            return at_once.unwrap_or_else(|| after_comment(comment));
        }
        if after.starts_with(['!', '?']) {
            return after.find('>').map_or("", |end| &after[end + 1..]);
        }
        let (is_end, name) = after.strip_prefix('/').map_or((false, after), |name| (true, name));
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            if is_end {
                // Other characters after `</` begin a comment.
                return name.find('>').map_or("", |end| &name[end + 1..]);
            }
            self.html.push_str("&lt;");
            return after;
        }
        let Some(tag) = Tag::read(name) else { return "" };
        if is_end {
            self.end(&tag.name);
        } else if LEFT_OUT.contains(&tag.name.as_str()) {
            self.space();
            return after_element(tag.rest, &tag.name);
        } else {
            self.start(&tag);
        }
        tag.rest
    }

    /// Separates what is around an element that is left out.
    fn space(&mut self) {
        if !self.html.ends_with(' ') {
            self.html.push(' ');
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let name = tag.name.as_str();
        if !is_plain(name) || UNWRAPPED.contains(&name) {
            return;
        }
        if !VOID.contains(&name) && !IMPLIED_END.contains(&name) {
            if self.open.len() >= MAX_DEPTH {
                return self.space();
            }
            self.open.push(name.to_owned());
        }
        self.html.push('<');
        self.html.push_str(name);
        for (name, value) in &tag.attributes {
            // Writing to a string cannot fail.
            let _ = write!(self.html, " {name}=\"{}\"", value.replace('"', "&quot;"));
        }
        self.html.push('>');
    }

    /// Ends an element. One that other elements keep open counts as open, even if a parser ends it.
    fn end(&mut self, name: &str) {
        if !is_plain(name) || UNWRAPPED.contains(&name) || VOID.contains(&name) || LEFT_OUT.contains(&name) {
            return;
        }
        if !IMPLIED_END.contains(&name) {
            let crossed = self.open.iter().rev().take_while(|open| *open != name);
            let is_near = crossed.clone().all(|open| INLINE.contains(&open.as_str()));
            let length = self.open.len() - crossed.count();
            if length == 0 {
                return;
            }
            if is_near {
                self.open.truncate(length - 1);
            }
        }
        let _ = write!(self.html, "</{name}>");
    }
}

/// Returns whether a name is one of HTML.
fn is_plain(name: &str) -> bool {
    name.len() <= MAX_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns the text after a comment, given the text after its beginning.
fn after_comment(comment: &str) -> &str {
    let mut rest = comment;
    while let Some(at) = rest.find("--") {
        let after = &rest[at + 2..];
        if let Some(after) = after.strip_prefix('>').or_else(|| after.strip_prefix("!>")) {
            return after;
        }
        // The next pair may begin with the second dash.
        rest = &rest[at + 1..];
    }
    ""
}

/// Returns the rest after an element whose content is left out.
fn after_element<'a>(html: &'a str, name: &str) -> &'a str {
    let mut rest = html;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        let is_it = rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
        if is_it && rest[name.len()..].starts_with(|c: char| c.is_ascii_whitespace() || c == '/' || c == '>') {
            return Tag::read(rest).map_or("", |tag| tag.rest);
        }
    }
    ""
}

/// A tag, in lower case, with the attributes that are kept.
struct Tag<'a> {
    name: String,
    attributes: Vec<(&'static str, &'a str)>,
    /// The text after it.
    rest: &'a str,
}

impl<'a> Tag<'a> {
    /// Reads a tag from its name on. `None` if the document ends within it.
    fn read(html: &'a str) -> Option<Self> {
        let end = html.find(|c: char| is_space(c) || c == '/' || c == '>')?;
        let name = html[..end].to_ascii_lowercase();
        let mut tag = Self { name, attributes: Vec::new(), rest: &html[end..] };
        loop {
            tag.rest = tag.rest.trim_start_matches(|c: char| is_space(c) || c == '/');
            if let Some(rest) = tag.rest.strip_prefix('>') {
                tag.rest = rest;
                return Some(tag);
            }
            tag.attribute()?;
        }
    }

    fn attribute(&mut self) -> Option<()> {
        // A name may begin with `=`.
        let first = self.rest.chars().next()?.len_utf8();
        let end = self.rest[first..].find(|c: char| is_space(c) || matches!(c, '/' | '>' | '='))? + first;
        let name = &self.rest[..end];
        let after = self.rest[end..].trim_start_matches(is_space);
        let Some(value) = after.strip_prefix('=') else {
            self.rest = &self.rest[end..];
            return Some(());
        };
        let value = value.trim_start_matches(is_space);
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, rest) = match quote {
            Some(quote) => value[1..].split_once(quote)?,
            None => value.split_at(value.find(|c: char| is_space(c) || c == '>')?),
        };
        self.rest = rest;
        let known = ATTRIBUTES.iter().find(|known| name.eq_ignore_ascii_case(known));
        if let Some(known) = known
            && self.attributes.len() < MAX_ATTRIBUTES
            && value.len() <= MAX_VALUE
        {
            self.attributes.push((known, value));
        }
        Some(())
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_written_anew_and_everything_else_is_text() {
        let check = |html: &str, expected: &str| assert_eq!(sanitize(html), expected, "{html}");
        check("<P CLASS=x onclick='y'>a <b>b</b></P>", r#"<p class="x">a b</p>"#);
        check(r#"<a href='a"b' href=c>x</a>"#, r#"<a href="a&quot;b" href="c">x</a>"#);
        check("a<!-- <div> --><!--><p>b", "a<p>b");
        check("a<!-- x --!><p>b<!-- never", "a<p>b");
        check("a<!doctype html><?php x ?></ x><p>", "a<p>");
        check("<script>if (a<b) '</div>'</script >x<style>", " x ");
        check("1 < 2 <3", "1 &lt; 2 &lt;3");
        check("<x a=\"</div>\"><div>", "<x><div>");
        check("<div / =a b = c/>x</div", "<div>x");
        check("<a/href=x>", r#"<a href="x">"#);
        check("<<b>b x>", "&lt;b x>");
        check("<table><svg><path/></svg><td>", "<table> <td>");
    }

    /// Returns how deep a parser nests the elements of a reduced document.
    fn depth(html: &str) -> usize {
        let parsed = dom_smoothie::Readability::new(sanitize(html), None, None).unwrap();
        let root = parsed.doc.root();
        root.descendants_it().map(|node| node.ancestors_it(None).count()).max().unwrap_or_default()
    }

    #[test]
    fn nesting_is_limited_despite_unmatched_end_tags() {
        let check = |html: &str, least: usize| {
            let depth = depth(&html.repeat(1_000));
            assert!((least..=4 * MAX_DEPTH + 10).contains(&depth), "{html}: {depth}");
        };
        check("<div>", MAX_DEPTH);
        check("<div><!--</div>-->", MAX_DEPTH);
        check("<div><script></div></script>", MAX_DEPTH);
        check("<div><x a='</div>'></x>", MAX_DEPTH);
        check("<div><table></div></table>", MAX_DEPTH);
        check("<span><div></span></div>", MAX_DEPTH);
        check("<table><tr><td>", MAX_DEPTH);
        check("<ul><li><p>", MAX_DEPTH);
        check("<a href=x><p>", 3);
        check("<p><b>", 3);
        let flat = sanitize(&"<div><span>a</div>".repeat(1_000));
        assert_eq!(flat.matches("<div").count(), 1_000);
    }
}
