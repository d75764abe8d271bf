//! The sources that an answer refers to, numbered and without duplicates, the positions in its text
//! where it cites them, and footnotes for texts without links between both.

use crate::{TextPart, UiMessage, UiPart};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

/// A source of an answer. Its number is its position in the list, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CitedSource {
    /// The address of a web page.
    pub url: Option<String>,
    /// Its title; of a passage of a document, the file and the place in it.
    pub title: String,
    /// The passage quoted from the source.
    pub quote: Option<String>,
    /// The passage of a library's document.
    pub passage: Option<CitedPassage>,
    /// Whether the text cites the source at a position, where its number is shown.
    pub is_marked: bool,
}

/// A passage of a library's document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CitedPassage {
    /// The document.
    pub document_id: String,
    /// The chunk of its text.
    pub chunk_id: String,
    /// The name of the file.
    pub file: String,
    /// The place in the file, for the user.
    pub place: String,
    /// The headings above it.
    pub heading: String,
    /// How well it fits the question in percent, compared with the best passage that was found.
    pub relevance: Option<u8>,
}

/// Returns all sources of a message, in the order of first mention, so that new sources do not change
/// the numbers of earlier ones.
pub fn cited_sources(message: &UiMessage) -> Vec<CitedSource> {
    let mut all = Vec::new();
    for part in &message.parts {
        match part {
            UiPart::SourceUrl(source) => {
                let title = source.title.clone().unwrap_or_else(|| source.url.clone());
                add_source(&mut all, CitedSource { url: Some(source.url.clone()), title, ..CitedSource::default() });
            }
            UiPart::SourceDocument(source) => {
                add_source(&mut all, CitedSource { title: source.title.clone(), ..CitedSource::default() });
            }
            UiPart::Text(text) => {
                text.citations.iter().filter_map(source_of_citation).for_each(|cited| add_source(&mut all, cited));
            }
            _ => {}
        }
    }
    all
}

/// Returns the text with `mark`, given the number of the source, after each passage that cites one. If
/// the end of a passage is not known, the mark is placed at the end of the text.
pub fn text_with_marks<'t>(text: &'t TextPart, all: &[CitedSource], mark: impl Fn(usize) -> String) -> Cow<'t, str> {
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
        shown.push_str(&mark(number));
        from = at;
    }
    shown.push_str(&text.text[from..]);
    Cow::Owned(shown)
}

/// Returns the definitions of the Markdown footnotes for the sources that a text cites, with `offset` added to
/// their numbers; empty without any.
pub fn footnotes(all: &[CitedSource], offset: usize) -> String {
    let mut notes = String::new();
    for (cited, number) in all.iter().zip(1..).filter(|(cited, _)| cited.is_marked) {
        let title = escaped(&cited.title);
        // Writing to a string cannot fail.
        let _ = write!(notes, "[^{}]: ", number + offset);
        let _ = match cited.url.as_deref().filter(|url| !url.contains(['<', '>', '\n', ' '])) {
            Some(url) => write!(notes, "[{title}](<{url}>)"),
            None => write!(notes, "{title}"),
        };
        if let Some(quote) = &cited.quote {
            let _ = write!(notes, ": “{}”", escaped(quote));
        }
        notes.push('\n');
    }
    notes
}

/// Returns the lines of [`footnotes`] for a text without markup, with numbers in brackets.
pub fn plain_footnotes(all: &[CitedSource]) -> String {
    let mut notes = String::new();
    for (cited, number) in all.iter().zip(1..).filter(|(cited, _)| cited.is_marked) {
        // Writing to a string cannot fail.
        let _ = write!(notes, "[{number}] {}", cited.title);
        if let Some(url) = cited.url.as_deref().filter(|url| *url != cited.title) {
            let _ = write!(notes, ", {url}");
        }
        if let Some(quote) = &cited.quote {
            let _ = write!(notes, ": “{}”", one_line(quote));
        }
        notes.push('\n');
    }
    notes
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text in one line, without meaning in Markdown.
fn escaped(text: &str) -> String {
    let line = one_line(text);
    let mut escaped = String::with_capacity(line.len());
    for char in line.chars() {
        if matches!(char, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '$' | '~') {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
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
    let passage = source.pointer("/providerMetadata/knowledge").and_then(|of| {
        Some(CitedPassage {
            document_id: text(of, "documentId")?,
            chunk_id: text(of, "chunkId")?,
            file: text(source, "filename").unwrap_or_else(|| title.clone()),
            place: text(of, "place").unwrap_or_default(),
            heading: text(of, "heading").unwrap_or_default(),
            relevance: of
                .get("score")
                .and_then(Value::as_f64)
                .map(|score| (score.clamp(0.0, 1.0) * 100.0).round() as u8),
        })
    });
    Some(CitedSource { url, title, quote: text(citation, "citedText"), passage, is_marked: true })
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

/// Returns whether both are one source. Each quote from a library has a number of its own, which opens the
/// document where it stands.
fn is_same(one: &CitedSource, other: &CitedSource) -> bool {
    match (&one.passage, &other.passage) {
        (Some(passage), Some(of_other)) => passage.chunk_id == of_other.chunk_id && one.quote == other.quote,
        (None, None) => match (&one.url, &other.url) {
            (None, None) => one.title == other.title,
            (one, other) => one == other,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use serde_json::json;

    fn message(parts: Value) -> UiMessage {
        let parts: Vec<UiPart> = serde_json::from_value(parts).expect("parts");
        UiMessage { parts, ..UiMessage::new("m", Role::Assistant) }
    }

    fn check(parts: Value, sources: &[&str], shown: &str) {
        let message = message(parts);
        let all = cited_sources(&message);
        assert_eq!(all.iter().map(|cited| cited.title.as_str()).collect::<Vec<_>>(), sources);
        let texts = message.parts.iter().filter_map(|part| match part {
            UiPart::Text(text) => Some(text_with_marks(text, &all, |number| format!("[{number}]"))),
            _ => None,
        });
        assert_eq!(texts.collect::<Vec<_>>().join("|"), shown);
    }

    fn passage(chunk: &str, quote: &str, end: u64) -> Value {
        let about = json!({ "knowledge": { "documentId": "d", "chunkId": chunk, "place": "page 3", "heading": "Pumps", "score": 0.826 } });
        let source = json!({ "title": "pumps.md, page 3", "filename": "pumps.md", "providerMetadata": about });
        json!({ "source": source, "citedText": quote, "endIndex": end })
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
        // Each quote of a passage has its number.
        check(
            json!([text("A. B. C.", json!([passage("v.0", "a", 1), passage("v.0", "b", 4), passage("v.0", "a", 7)]))]),
            &["pumps.md, page 3", "pumps.md, page 3"],
            "A[1]. B[2]. C[1].",
        );
    }

    #[test]
    fn passages_say_what_to_open() {
        let all =
            cited_sources(&message(json!([{ "type": "text", "text": "A", "citations": [passage("v.0", "a", 1)] }])));
        let expected = CitedPassage {
            document_id: "d".to_owned(),
            chunk_id: "v.0".to_owned(),
            file: "pumps.md".to_owned(),
            place: "page 3".to_owned(),
            heading: "Pumps".to_owned(),
            relevance: Some(83),
        };
        assert_eq!(all[0].passage, Some(expected));
    }

    #[test]
    fn footnotes_have_title_address_and_quote() {
        let web = json!({ "source": { "url": "https://a.example/x", "title": "A [1]" }, "endIndex": 1 });
        let parts = json!([
            { "type": "source-url", "sourceId": "s", "url": "https://b.example/", "title": "Not cited" },
            { "type": "text", "text": "A", "citations": [web, passage("v.0", "runs\n*at* night", 1)] },
        ]);
        let all = cited_sources(&message(parts));
        let notes = footnotes(&all, 4);
        let expected = "[^6]: [A \\[1\\]](<https://a.example/x>)\n[^7]: pumps.md, page 3: “runs \\*at\\* night”\n";
        assert_eq!(notes, expected);
        let expected = "[2] A [1], https://a.example/x\n[3] pumps.md, page 3: “runs *at* night”\n";
        assert_eq!(plain_footnotes(&all), expected);
    }
}
