//! Checks what a model cites while it writes.
//!
//! The ids that may be cited are those of results in the history of the request. Markers never reach the
//! reader: a known one becomes a citation of the text, as those of providers, with the quote, and an
//! unknown one is left out and counted.

mod group;
mod known;
mod marker;
mod scan;

#[cfg(feature = "fuzz")]
pub use marker::fuzz_markers;

use crate::tools::SEARCH;
use contract::{Citation, Model, ModelError, ModelId, Part, PartStream, Request};
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use known::KnownSources;
use marker::{Group, Marker, MarkerReader, Piece};
use metrics::counter;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The answer of an agent that answers only from documents, if it has found nothing.
const NOTHING_FOUND: &str = "I found nothing about this in the documents.";
/// The id of the text that says so.
const NOTHING_FOUND_ID: &str = "nothing-found";
/// The most text that is held back before the first citation, in bytes.
const MAX_HELD: usize = 64 * 1024;

/// A model whose citations are checked.
pub(crate) struct CitingModel {
    model: Arc<dyn Model>,
    is_strict: bool,
}

impl CitingModel {
    /// Checks the citations of a model. With `is_strict`, an answer without a citation is replaced by the
    /// sentence that nothing was found.
    pub(crate) fn new(model: Arc<dyn Model>, is_strict: bool) -> Self {
        Self { model, is_strict }
    }
}

impl Model for CitingModel {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        Box::pin(async move {
            // Requests without the tools are no answers, for example that for a title.
            let is_strict = self.is_strict && request.tools.iter().any(|tool| tool.name == SEARCH);
            let mut check = Check::new(KnownSources::from_history(&request.messages), is_strict);
            let parts = self.model.stream(request, cancel).await?;
            let checked = parts.flat_map(move |part| match part {
                Ok(part) => stream::iter(check.part(part).into_iter().map(Ok).collect::<Vec<_>>()),
                Err(error) => stream::iter(vec![Err(error)]),
            });
            Ok(checked.boxed())
        })
    }
}

/// The check of a reply.
struct Check {
    known: KnownSources,
    texts: HashMap<String, OpenText>,
    /// The parts that are held back until something is cited; `None` if nothing is.
    held: Option<Vec<Part>>,
    held_bytes: usize,
    has_calls: bool,
}

/// A text that is being written.
#[derive(Default)]
struct OpenText {
    reader: MarkerReader,
    /// The number of characters that were let through.
    chars: u64,
    citations: Vec<Citation>,
}

impl OpenText {
    /// Adds the citations of known sources; returns whether there are any.
    fn cite(&mut self, known: &KnownSources, markers: Vec<Marker>) -> bool {
        let before = self.citations.len();
        for Marker { number, quote } in markers {
            match known.citation(number, quote.as_deref(), self.chars) {
                Some(citation) => self.citations.push(citation),
                None => {
                    counter!("chatwright_citations_total", "outcome" => "unknown").increment(1);
                    tracing::debug!(number, "a model cited a source that it does not have");
                }
            }
        }
        self.citations.len() > before
    }
}

impl Check {
    fn new(known: KnownSources, is_strict: bool) -> Self {
        let held = is_strict.then(Vec::new);
        Self { known, texts: HashMap::new(), held, held_bytes: 0, has_calls: false }
    }

    /// Returns the parts to let through when a part arrives.
    fn part(&mut self, part: Part) -> Vec<Part> {
        match part {
            Part::TextStart { id } => {
                self.texts.insert(id.clone(), OpenText::default());
                self.pass(vec![Part::TextStart { id }])
            }
            Part::TextDelta { id, delta } => {
                let pieces = self.texts.entry(id.clone()).or_default().reader.push(&delta);
                let parts = self.text(&id, pieces);
                self.pass(parts)
            }
            Part::TextEnd { id, metadata, citations } => {
                let pieces = self.texts.entry(id.clone()).or_default().reader.finish();
                let mut parts = self.text(&id, pieces);
                let own = self.texts.remove(&id).map(|text| text.citations).unwrap_or_default();
                let citations = citations.into_iter().chain(own).collect();
                parts.push(Part::TextEnd { id, metadata, citations });
                self.pass(parts)
            }
            Part::ToolCall { .. } => {
                self.has_calls = true;
                vec![part]
            }
            Part::Finish { .. } => {
                let mut parts = match self.held.take() {
                    Some(held) if !self.has_calls && held.iter().any(is_text) => nothing_found(),
                    _ => Vec::new(),
                };
                parts.push(part);
                parts
            }
            part => vec![part],
        }
    }

    /// Converts pieces of a text, and remembers what it cites.
    fn text(&mut self, id: &str, pieces: Vec<Piece>) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut has_cited = false;
        for piece in pieces {
            let text = self.texts.entry(id.to_owned()).or_default();
            let delta = match piece {
                Piece::Text(delta) => Some(delta),
                Piece::Markers(Group { markers, text: Some(delta) }) if !self.known.has_all(&markers) => Some(delta),
                Piece::Markers(Group { markers, .. }) => {
                    has_cited |= text.cite(&self.known, markers);
                    None
                }
            };
            if let Some(delta) = delta {
                text.chars += delta.chars().count() as u64;
                parts.push(Part::TextDelta { id: id.to_owned(), delta });
            }
        }
        if has_cited {
            // From here on nothing is held back.
            if let Some(held) = self.held.take() {
                parts.splice(0..0, held);
            }
        }
        parts
    }

    /// Lets parts through, or holds them back.
    fn pass(&mut self, parts: Vec<Part>) -> Vec<Part> {
        let Some(held) = &mut self.held else { return parts };
        for part in parts {
            if let Part::TextDelta { delta, .. } = &part {
                self.held_bytes += delta.len();
                if self.held_bytes > MAX_HELD {
                    continue;
                }
            }
            held.push(part);
        }
        Vec::new()
    }
}

fn is_text(part: &Part) -> bool {
    matches!(part, Part::TextDelta { delta, .. } if !delta.trim().is_empty())
}

fn nothing_found() -> Vec<Part> {
    let id = NOTHING_FOUND_ID.to_owned();
    vec![
        Part::TextStart { id: id.clone() },
        Part::TextDelta { id: id.clone(), delta: NOTHING_FOUND.to_owned() },
        Part::TextEnd { id, metadata: None, citations: Vec::new() },
    ]
}

#[cfg(test)]
mod tests;
