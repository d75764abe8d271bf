//! Shows hidden characters as small boxes, see [`wire::hidden_characters`].

use super::node::{Node, element};
use crate::texts::{Text, fill};
use wire::hidden_characters::{TextRun, code_points, quoted_json, text_runs};

pub(crate) use wire::hidden_characters::{TextKind, escaped_json, text_with_code_points};

/// The maximum number of boxes in one text; the rest of the text is shown as one string with
/// escapes.
const MAX_BOXES: usize = 300;

/// Returns a text as nodes, with boxes for hidden characters.
pub(crate) fn visible_nodes(text: &str, kind: TextKind) -> Vec<Node> {
    let mut boxes = 0;
    let mut at = 0;
    let mut nodes = Vec::new();
    for run in text_runs(text, kind) {
        let (TextRun::Text(part) | TextRun::Hidden(part)) = run;
        if boxes == MAX_BOXES {
            let rest = quoted_json(&text[at..]);
            nodes.push(element("code").attr("class", "cw-hidden-rest").attr("dir", "ltr").text(rest));
            break;
        }
        nodes.push(match run {
            TextRun::Text(part) => Node::Text(part.to_owned()),
            TextRun::Hidden(part) => {
                boxes += 1;
                hidden_box(part)
            }
        });
        at += part.len();
    }
    nodes
}

/// Returns the box for a run of hidden characters.
fn hidden_box(hidden: &str) -> Node {
    let points = code_points(hidden);
    let label = fill(Text::HiddenCharacters, &[&points]);
    element("span")
        .attr("class", "cw-hidden-sign")
        .attr("role", "img")
        .attr("aria-label", label.clone())
        .attr("title", label)
        .attr("dir", "ltr")
        .text(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_over_the_limit_are_shown_escaped() {
        let text = "a\u{200b}".repeat(10_000);
        let nodes = visible_nodes(&text, TextKind::Value);
        assert_eq!(nodes.len(), 2 * MAX_BOXES + 1);
        let Some(Node::Element { tag: "code", children, .. }) = nodes.last() else { panic!("no rest") };
        let [Node::Text(rest)] = &children[..] else { panic!("not a text") };
        let rest: String = serde_json::from_str(rest).unwrap();
        assert_eq!(rest.len(), text.len() - MAX_BOXES * "a\u{200b}".len());
    }
}
