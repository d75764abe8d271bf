//! The sources that an answer refers to, numbered and without duplicates, and the positions in the
//! text where it cites them.

use crate::markdown::citation_mark;
use serde_json::Value;
use std::borrow::Cow;
use wire::{TextPart, UiMessage, UiPart};

/// A source of an answer. Its number is its position in the list, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent_chat) struct CitedSource {
    /// The address of a web page.
    pub(in crate::agent_chat) url: Option<String>,
    pub(in crate::agent_chat) title: String,
    /// The passage quoted from the source.
    pub(in crate::agent_chat) quote: Option<String>,
    /// Whether the text cites the source at a position, where its number is shown.
    pub(in crate::agent_chat) is_marked: bool,
}

/// All sources of a message, in the order of first mention, so that new sources do not change the
/// numbers of earlier ones.
pub(in crate::agent_chat) fn cited_sources(message: &UiMessage) -> Vec<CitedSource> {
    let mut all = Vec::new();
    for part in &message.parts {
        match part {
            UiPart::SourceUrl(source) => {
                let title = source.title.clone().unwrap_or_else(|| source.url.clone());
                add_source(
                    &mut all,
                    CitedSource { url: Some(source.url.clone()), title, quote: None, is_marked: false },
                );
            }
            UiPart::SourceDocument(source) => {
                add_source(
                    &mut all,
                    CitedSource { url: None, title: source.title.clone(), quote: None, is_marked: false },
                );
            }
            UiPart::Text(text) => {
                text.citations.iter().filter_map(source_of_citation).for_each(|cited| add_source(&mut all, cited));
            }
            _ => {}
        }
    }
    all
}

/// Returns the text with a mark after each passage that cites a source. If the provider does not
/// give the end of a passage, the mark is placed at the end of the part.
pub(in crate::agent_chat) fn text_with_marks<'t>(text: &'t TextPart, all: &[CitedSource]) -> Cow<'t, str> {
    if text.citations.is_empty() {
        return Cow::Borrowed(&text.text);
    }
    let end = text.text.trim_end().len();
    let mut marks: Vec<(usize, usize)> =
        text.citations.iter().filter_map(|citation| mark_position(citation, text, end, all)).collect();
    marks.sort_unstable();
    marks.dedup();
    let mut shown = String::with_capacity(text.text.len() + 4 * marks.len());
    let mut from = 0;
    for (at, number) in marks {
        shown.push_str(&text.text[from..at]);
        shown.push_str(&citation_mark(number));
        from = at;
    }
    shown.push_str(&text.text[from..]);
    Cow::Owned(shown)
}

/// The position of the mark of a citation, in bytes, and the number of its source.
fn mark_position(citation: &Value, text: &TextPart, end: usize, all: &[CitedSource]) -> Option<(usize, usize)> {
    let cited = source_of_citation(citation)?;
    let number = 1 + all.iter().position(|known| is_same(known, &cited))?;
    // Providers count characters, not bytes.
    let at = citation.get("endIndex").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    let at = at.and_then(|count| text.text.char_indices().nth(count)).map_or(end, |(at, _)| at);
    Some((at.min(end), number))
}

fn source_of_citation(citation: &Value) -> Option<CitedSource> {
    let source = citation.get("source")?;
    let text =
        |of: &Value, key: &str| of.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let url = text(source, "url");
    let title = text(source, "title").or_else(|| url.clone())?;
    Some(CitedSource { url, title, quote: text(citation, "citedText"), is_marked: true })
}

fn add_source(all: &mut Vec<CitedSource>, new: CitedSource) {
    match all.iter_mut().find(|known| is_same(known, &new)) {
        Some(known) => {
            known.quote = known.quote.take().or(new.quote);
            known.is_marked |= new.is_marked;
        }
        None => all.push(new),
    }
}

fn is_same(one: &CitedSource, other: &CitedSource) -> bool {
    match (&one.url, &other.url) {
        (None, None) => one.title == other.title,
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wire::Role;

    fn message(parts: Value) -> UiMessage {
        let parts: Vec<UiPart> = serde_json::from_value(parts).expect("parts");
        UiMessage { parts, ..UiMessage::new("m", Role::Assistant) }
    }

    fn check(parts: Value, sources: &[&str], shown: &str) {
        let message = message(parts);
        let all = cited_sources(&message);
        assert_eq!(all.iter().map(|cited| cited.title.as_str()).collect::<Vec<_>>(), sources);
        let texts = message.parts.iter().filter_map(|part| match part {
            UiPart::Text(text) => Some(text_with_marks(text, &all).replace('\u{e}', "[").replace('\u{f}', "]")),
            _ => None,
        });
        assert_eq!(texts.collect::<Vec<_>>().join("|"), shown);
    }

    #[test]
    fn each_source_has_one_number_and_each_passage_a_mark() {
        let page = |url: &str, end: Value| json!({ "source": { "url": url, "title": url }, "endIndex": end });
        let text = |text: &str, citations: Value| json!({ "type": "text", "text": text, "citations": citations });
        let source = json!({ "type": "source-url", "sourceId": "s", "url": "a", "title": "A" });
        check(
            json!([
                text("é one, two.\n", json!([page("b", json!(5)), page("a", json!(10)), page("b", json!(5))])),
                source
            ]),
            &["b", "a"],
            "é one[1], two[2].\n",
        );
        // Without a position, and with a position beyond the end.
        check(
            json!([
                source,
                text("One. ", json!([page("a", Value::Null)])),
                text("Two.", json!([page("c", json!(99))]))
            ]),
            &["A", "c"],
            "One.[1] |Two.[2]",
        );
        // A citation without a source has no number.
        check(json!([text("One.", json!([{ "source": {} }, {}, 1]))]), &[], "One.");
        check(
            json!([text("One.", json!([{ "source": { "title": "Book" }, "citedText": "w" }]))]),
            &["Book"],
            "One.[1]",
        );
    }
}
