//! Parses MathML into nodes. Only the listed elements and attributes are allowed.

use crate::ui::node::{MATHML_ELEMENTS, Node, element};

/// The attributes that are kept. Not `style`, which the content security policy forbids, and no
/// links.
const ATTRIBUTES: [&str; 24] = [
    "accent",
    "accentunder",
    "class",
    "columnspan",
    "depth",
    "display",
    "displaystyle",
    "fence",
    "form",
    "height",
    "largeop",
    "linethickness",
    "lspace",
    "mathvariant",
    "maxsize",
    "minsize",
    "movablelimits",
    "rowspan",
    "rspace",
    "scriptlevel",
    "separator",
    "stretchy",
    "symmetric",
    "width",
];
/// The maximum nesting depth of elements.
const MAX_DEPTH: usize = 96;

/// Parses markup that is a single element; returns `None` for anything else.
pub(super) fn parse_mathml(markup: &str) -> Option<Node> {
    let mut reader = MathmlParser { rest: markup.trim(), depth: 0 };
    let node = reader.node()?;
    reader.rest.is_empty().then_some(node)
}

struct MathmlParser<'m> {
    rest: &'m str,
    depth: usize,
}

impl<'m> MathmlParser<'m> {
    fn node(&mut self) -> Option<Node> {
        if self.rest.is_empty() {
            return None;
        }
        let end = tag_start(self.rest);
        if end > 0 {
            let text = self.advance(end);
            return Some(Node::Text(decode_entities(text)));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let end = tag_end(self.rest)?;
        let tag = self.advance(end + 1);
        let is_empty = tag.ends_with("/>");
        let inner = tag.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
        let (name, attributes) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
        let known = MATHML_ELEMENTS.iter().find(|known| **known == name)?;
        let node = with_attributes(element(known), attributes);
        let mut children = Vec::new();
        while !is_empty && !self.rest.starts_with("</") {
            children.push(self.node()?);
        }
        if !is_empty {
            let end = self.rest.find('>')?;
            self.advance(end + 1);
        }
        self.depth -= 1;
        Some(node.children(children.into_iter().filter(|child| !is_blank(child)).collect()))
    }

    fn advance(&mut self, length: usize) -> &'m str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }
}

/// Returns whether a node is an empty text: the browser would not find it in the rendered page.
fn is_blank(node: &Node) -> bool {
    matches!(node, Node::Text(text) if text.is_empty())
}

/// Returns the position of the next tag. The operator `<` is not escaped, and begins none.
fn tag_start(markup: &str) -> usize {
    let begins = |at: &usize| markup[at + 1..].starts_with(|sign: char| sign == '/' || sign.is_ascii_alphabetic());
    markup.match_indices('<').map(|(at, _)| at).find(begins).unwrap_or(markup.len())
}

/// Returns the position of the end of a tag, ignoring `>` within attribute values.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quoted = false;
    tag.char_indices().find_map(|(at, sign)| {
        quoted ^= sign == '"';
        (sign == '>' && !quoted).then_some(at)
    })
}

fn with_attributes(mut node: Node, mut rest: &str) -> Node {
    while let Some((name, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else { break };
        if let Some(known) = ATTRIBUTES.iter().find(|known| **known == name.trim()) {
            node = node.attr(known, decode_entities(value));
        }
        rest = after;
    }
    node
}

fn decode_entities(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut all = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let known = piece.split_once(';').and_then(|(name, after)| Some((entity_char(name)?, after)));
        // A `&` may be unescaped, too.
        let (sign, after) = known.unwrap_or(('&', piece));
        all.push(sign);
        all.push_str(after);
    }
    all
}

fn entity_char(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "amp" => Some('&'),
        name => char_code(name).and_then(char::from_u32),
    }
}

fn char_code(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('#')?;
    match digits.strip_prefix('x') {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_mathml;
    use leptos::prelude::RenderHtml;

    #[test]
    fn only_listed_elements_and_attributes_are_allowed() {
        fn check(markup: &str, expected: Option<&str>) {
            assert_eq!(parse_mathml(markup).map(RenderHtml::to_html).as_deref(), expected, "{markup}");
        }
        check("<math><mi>x</mi></math>", Some("<math><mi>x</mi></math>"));
        check(r#"<mo style="a>b" form="infix">&lt;&amp;&#x2211;</mo>"#, Some(r#"<mo form="infix">&lt;&amp;∑</mo>"#));
        check(r#"<mspace width="1em" onclick="x" />"#, Some(r#"<mspace width="1em"></mspace>"#));
        check("<mo><</mo>", Some("<mo>&lt;</mo>"));
        check("<mi>a&b</mi>", Some("<mi>a&amp;b</mi>"));
        check("<script>x</script>", None);
        check("<math><script></math>", None);
        check("<math>", None);
        check("<mi>x</mi><mi>y</mi>", None);
        check(&"<mrow>".repeat(200), None);
    }
}
