//! The sources that a request may cite: the results of the tools in its history.

use super::marker::Marker;
use crate::quote::PlainText;
use crate::tools::{EXPLORE, QUERY, READ, SEARCH};
use contract::{Citation, Message, Source, ToolOutput};
use metrics::counter;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// The longest quote in characters.
const MAX_QUOTE: usize = 300;

/// The results by the number of their id.
#[derive(Default)]
pub(super) struct KnownSources(HashMap<u32, Value>);

impl KnownSources {
    /// Collects the results of the tools in a history.
    pub(super) fn from_history(messages: &[Arc<Message>]) -> Self {
        let mut known = HashMap::new();
        for message in messages {
            let Message::Tool(results) = &**message else { continue };
            let has_passages = |name: &str| [SEARCH, READ, QUERY, EXPLORE].contains(&name);
            for result in results.iter().filter(|result| has_passages(&result.name)) {
                let ToolOutput::Json(output) = &result.output else { continue };
                for item in output["results"].as_array().into_iter().flatten() {
                    if let Some(number) = number(item["id"].as_str().unwrap_or_default()) {
                        known.insert(number, item.clone());
                    }
                }
            }
        }
        Self(known)
    }

    /// Returns whether all sources of citations are known.
    pub(super) fn has_all(&self, markers: &[Marker]) -> bool {
        markers.iter().all(|marker| self.0.contains_key(&marker.number))
    }

    /// Returns the citation of a source after `end` characters of a text; `None` for an unknown number.
    pub(super) fn citation(&self, number: u32, quote: Option<&str>, end: u64) -> Option<Citation> {
        let item = self.0.get(&number)?;
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let passage = text("text");
        let cited = match quote {
            Some(quote) if PlainText::new(&passage).contains(&PlainText::new(quote)) => {
                count("quoted");
                shortened(quote)
            }
            Some(_) => {
                count("misquoted");
                shortened(&passage)
            }
            None => {
                count("known");
                shortened(&passage)
            }
        };
        let place = text("place");
        let file = text("file");
        let about = json!({ "chunkId": item["chunkId"], "documentId": item["documentId"], "place": place,
            "heading": item["heading"], "score": item["score"] });
        let metadata = serde_json::Map::from_iter([("knowledge".to_owned(), about)]);
        let source = Source::Document {
            id: text("documentId"),
            media_type: text("mediaType"),
            title: format!("{file}, {place}"),
            filename: Some(file),
            metadata: Some(metadata),
        };
        Some(Citation { source, start_index: None, end_index: Some(end), cited_text: Some(cited) })
    }
}

fn count(outcome: &'static str) {
    counter!("chatwright_citations_total", "outcome" => outcome).increment(1);
}

fn number(id: &str) -> Option<u32> {
    id.strip_prefix('S')?.parse().ok()
}

/// Cuts a text at a word.
fn shortened(text: &str) -> String {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(MAX_QUOTE) else { return text.to_owned() };
    let cut = &text[..end];
    let cut = cut.rsplit_once(char::is_whitespace).map_or(cut, |(words, _)| words);
    format!("{}…", cut.chars().take(MAX_QUOTE - 1).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_quotes_are_cut_at_a_word() {
        assert_eq!(shortened(" short "), "short");
        let cut = shortened(&"word ".repeat(100));
        assert!(cut.chars().count() <= MAX_QUOTE && cut.ends_with("word…"), "{cut}");
    }
}
