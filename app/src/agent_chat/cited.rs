//! What an answer refers to, each thing once and numbered, and where in its text it does so.

use crate::markdown::mark;
use serde_json::Value;
use std::borrow::Cow;
use wire::{TextPart, UiMessage, UiPart};

/// Something that an answer refers to. Its number is its place among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cited {
    /// Of a page on the web.
    pub(super) url: Option<String>,
    pub(super) title: String,
    /// The words that were taken from it.
    pub(super) words: Option<String>,
    /// A passage rests on it, behind which stands its number.
    pub(super) is_marked: bool,
}

/// All of a message, in the order in which it names them: later ones do not change the numbers of earlier ones.
pub(super) fn all_of(message: &UiMessage) -> Vec<Cited> {
    let mut all = Vec::new();
    for part in &message.parts {
        match part {
            UiPart::SourceUrl(source) => {
                let title = source.title.clone().unwrap_or_else(|| source.url.clone());
                add(&mut all, Cited { url: Some(source.url.clone()), title, words: None, is_marked: false });
            }
            UiPart::SourceDocument(source) => {
                add(&mut all, Cited { url: None, title: source.title.clone(), words: None, is_marked: false });
            }
            UiPart::Text(text) => {
                text.citations.iter().filter_map(cited).for_each(|cited| add(&mut all, cited));
            }
            _ => {}
        }
    }
    all
}

/// The text with a mark behind each passage that rests on something. Providers that do not say where a passage ends mean the whole part.
pub(super) fn marked<'t>(text: &'t TextPart, all: &[Cited]) -> Cow<'t, str> {
    if text.citations.is_empty() {
        return Cow::Borrowed(&text.text);
    }
    let end = text.text.trim_end().len();
    let mut marks: Vec<(usize, usize)> =
        text.citations.iter().filter_map(|citation| place(citation, text, end, all)).collect();
    marks.sort_unstable();
    marks.dedup();
    let mut shown = String::with_capacity(text.text.len() + 4 * marks.len());
    let mut from = 0;
    for (at, number) in marks {
        shown.push_str(&text.text[from..at]);
        shown.push_str(&mark(number));
        from = at;
    }
    shown.push_str(&text.text[from..]);
    Cow::Owned(shown)
}

/// Where the mark of a citation stands, in bytes, and its number.
fn place(citation: &Value, text: &TextPart, end: usize, all: &[Cited]) -> Option<(usize, usize)> {
    let cited = cited(citation)?;
    let number = 1 + all.iter().position(|known| is_same(known, &cited))?;
    // Providers count characters.
    let at = citation.get("endIndex").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    let at = at.and_then(|count| text.text.char_indices().nth(count)).map_or(end, |(at, _)| at);
    Some((at.min(end), number))
}

fn cited(citation: &Value) -> Option<Cited> {
    let source = citation.get("source")?;
    let text =
        |of: &Value, key: &str| of.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let url = text(source, "url");
    let title = text(source, "title").or_else(|| url.clone())?;
    Some(Cited { url, title, words: text(citation, "citedText"), is_marked: true })
}

fn add(all: &mut Vec<Cited>, new: Cited) {
    match all.iter_mut().find(|known| is_same(known, &new)) {
        Some(known) => {
            known.words = known.words.take().or(new.words);
            known.is_marked |= new.is_marked;
        }
        None => all.push(new),
    }
}

fn is_same(one: &Cited, other: &Cited) -> bool {
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
        let all = all_of(&message);
        assert_eq!(all.iter().map(|cited| cited.title.as_str()).collect::<Vec<_>>(), sources);
        let texts = message.parts.iter().filter_map(|part| match part {
            UiPart::Text(text) => Some(marked(text, &all).replace('\u{e}', "[").replace('\u{f}', "]")),
            _ => None,
        });
        assert_eq!(texts.collect::<Vec<_>>().join("|"), shown);
    }

    #[test]
    fn each_source_has_one_number_and_each_passage_its_mark() {
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
        // Without a place, and with one beyond the end.
        check(
            json!([
                source,
                text("One. ", json!([page("a", Value::Null)])),
                text("Two.", json!([page("c", json!(99))]))
            ]),
            &["A", "c"],
            "One.[1] |Two.[2]",
        );
        // What names no source has no number.
        check(json!([text("One.", json!([{ "source": {} }, {}, 1]))]), &[], "One.");
        check(
            json!([text("One.", json!([{ "source": { "title": "Book" }, "citedText": "w" }]))]),
            &["Book"],
            "One.[1]",
        );
    }
}
