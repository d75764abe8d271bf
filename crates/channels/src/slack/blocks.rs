//! Messages as blocks of rich text: each part of a text has its style beside it, so nothing has to be escaped, no text
//! can break the markup, and none can mention anybody: that would be an element of another type.

use super::text::escape;
use crate::markdown::{Entity, Part, Rendered, parts};
use crate::messenger::Button;
use serde_json::{Map, Value, json};

/// The longest label of a button, in characters.
const MAX_LABEL: usize = 75;
/// The longest text for notifications and screen readers, in bytes after escaping. Slack refuses edits with more.
const MAX_FALLBACK: usize = 3_900;

/// Returns the blocks of a message with its buttons.
pub(crate) fn blocks(message: &Rendered, buttons: &[Vec<Button>]) -> Value {
    let mut blocks = vec![json!({ "type": "rich_text", "elements": containers(message) })];
    let elements: Vec<Value> = buttons.iter().flatten().map(button).collect();
    if !elements.is_empty() {
        blocks.push(json!({ "type": "actions", "elements": elements }));
    }
    blocks.into()
}

fn button(button: &Button) -> Value {
    let label: String = button.label.chars().take(MAX_LABEL).collect();
    json!({
        "type": "button", "action_id": button.data, "value": button.data,
        "text": { "type": "plain_text", "text": label, "emoji": false },
    })
}

/// Returns the text that notifications show, in which nothing is a mark.
pub(super) fn fallback(text: &str) -> String {
    let mut room = MAX_FALLBACK;
    let fits = |sign: &char| {
        let length = if matches!(sign, '&' | '<' | '>') { 5 } else { sign.len_utf8() };
        let fits = room >= length;
        room = room.saturating_sub(length);
        fits
    };
    escape(&text.chars().take_while(fits).collect::<String>())
}

/// The container of a part of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Section,
    Quote,
    Preformatted,
}

impl Container {
    fn for_styles(styles: &[&Entity]) -> Self {
        let has = |kind: &str| styles.iter().any(|style| style.kind == kind);
        match () {
            () if has("pre") => Self::Preformatted,
            () if has("blockquote") => Self::Quote,
            () => Self::Section,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Section => "rich_text_section",
            Self::Quote => "rich_text_quote",
            Self::Preformatted => "rich_text_preformatted",
        }
    }
}

/// Returns the text as sections, quotes and blocks of code.
fn containers(message: &Rendered) -> Vec<Value> {
    let mut containers: Vec<(Container, Vec<Part<'_>>)> = Vec::new();
    for (text, styles) in parts(message) {
        let container = Container::for_styles(&styles);
        match containers.last_mut() {
            Some((last, parts)) if *last == container => parts.push((text, styles)),
            _ => containers.push((container, vec![(text, styles)])),
        }
    }
    // Quotes and blocks of code have lines of their own, without line breaks around them.
    let count = containers.len();
    for (index, (_, parts)) in containers.iter_mut().enumerate() {
        if let Some((first, _)) = parts.first_mut().filter(|_| index > 0) {
            *first = first.trim_start_matches('\n').to_owned();
        }
        if let Some((last, _)) = parts.last_mut().filter(|_| index + 1 < count) {
            last.truncate(last.trim_end_matches('\n').len());
        }
    }
    let shown = containers.into_iter().filter_map(|(container, parts)| {
        let elements: Vec<Value> = parts
            .iter()
            .filter(|(text, _)| !text.is_empty())
            .map(|(text, styles)| element(text, styles, container))
            .collect();
        (!elements.is_empty()).then(|| json!({ "type": container.name(), "elements": elements }))
    });
    shown.collect()
}

fn element(text: &str, styles: &[&Entity], container: Container) -> Value {
    if container == Container::Preformatted {
        return json!({ "type": "text", "text": text });
    }
    let link = styles.iter().find_map(|style| style.url.as_deref());
    let mut element = match link {
        Some(url) => json!({ "type": "link", "url": url, "text": text }),
        None => json!({ "type": "text", "text": text }),
    };
    let names = [("bold", "bold"), ("italic", "italic"), ("strikethrough", "strike"), ("code", "code")];
    let is_on = |kind: &str| styles.iter().any(|style| style.kind == kind);
    let style: Map<String, Value> =
        names.iter().filter(|(kind, _)| is_on(kind)).map(|(_, name)| ((*name).to_owned(), true.into())).collect();
    if !style.is_empty() {
        element["style"] = style.into();
    }
    element
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::messages;
    use crate::messenger::Messenger;

    fn check(markdown: &str) -> String {
        let shown = messages(markdown, Messenger::Slack.limits());
        let line = |block: &Value| {
            let elements = block["elements"].as_array().unwrap().iter();
            let shown: Vec<String> = elements
                .map(|element| {
                    let mut parts = vec![element["text"].to_string()];
                    parts.extend(element["url"].as_str().map(str::to_owned));
                    parts.extend(element["style"].as_object().into_iter().flat_map(|style| style.keys().cloned()));
                    parts.join(" ")
                })
                .collect();
            format!("{}: {}", block["type"].as_str().unwrap(), shown.join(" | "))
        };
        shown.iter().flat_map(containers).map(|block| line(&block)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn markdown_becomes_rich_text() {
        insta::assert_snapshot!(check("# Refunds\n\nWithin **30 *days***, see [the rules](https://a.test/r) or `§ 3`.\n\n> So it is.\n\n```rust\nfn f() {}\n```\nEnd"), @r#"
        rich_text_section: "Refunds" bold | "\n\nWithin " | "30 " bold | "days" bold italic | ", see " | "the rules" https://a.test/r | " or " | "§ 3" code | "."
        rich_text_quote: "So it is."
        rich_text_preformatted: "fn f() {}"
        rich_text_section: "End"
        "#);
    }

    #[test]
    fn text_of_a_model_mentions_no_user() {
        insta::assert_snapshot!(check("<!channel> <@U1> @here &lt;!here&gt; [x](<!everyone>)"), @r#"rich_text_section: "<!channel> <@U1> @here &lt;!here&gt; [x](<!everyone>)""#);
        assert_eq!(fallback("<!channel> & you"), "&lt;!channel&gt; &amp; you");
        assert!(fallback(&"<".repeat(3_000)).len() <= MAX_FALLBACK);
    }

    #[test]
    fn buttons_come_below() {
        let rows = [vec![Button { label: "x".repeat(80), data: "a:y".to_owned() }]];
        let shown = blocks(&Rendered::plain("Go?"), &rows);
        assert_eq!(shown[1]["elements"][0]["value"], "a:y");
        assert_eq!(shown[1]["elements"][0]["text"]["text"].as_str().unwrap().len(), MAX_LABEL);
        assert!(blocks(&Rendered::plain("Go?"), &[]).as_array().unwrap().len() == 1);
    }
}
