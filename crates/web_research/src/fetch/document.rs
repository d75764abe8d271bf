//! Reads documents, such as PDF files, in child processes with limits.

use super::client::Received;
use super::{MAX_TEXT, Page, plain};
use bytes::Bytes;
use documents::{Converter, Document, Failure, FailureCode, Limits, Place, WarningCode};
use percent_encoding::percent_decode_str;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The largest document in bytes.
pub(crate) const MAX_DOCUMENT: usize = 20 << 20;
/// How long a document may wait and be read.
pub(super) const TIME: Duration = Duration::from_secs(40);
/// How many documents are being received or read, or wait: each is in memory.
const MAX_WAITING: usize = 16;
/// The longest title in characters.
const MAX_TITLE: usize = 300;
/// The most warnings that are returned.
const MAX_WARNINGS: usize = 8;

/// The message for the model when there is no place.
pub(super) const BUSY: &str = "Too many documents are being read. Try again in a moment.";

const LIMITS: Limits = Limits {
    input_bytes: MAX_DOCUMENT as u64,
    unpacked_bytes: 128 << 20,
    // A character has at most four bytes.
    output_bytes: 4 * MAX_TEXT,
    parts: 10_000,
    time: Duration::from_secs(30),
    memory_bytes: 512 << 20,
};

/// Reads documents for all agents.
pub(crate) struct DocumentReader {
    converter: Converter,
    places: Arc<Semaphore>,
}

impl Default for DocumentReader {
    fn default() -> Self {
        Self::new(Converter::new(LIMITS))
    }
}

impl DocumentReader {
    pub(super) fn new(converter: Converter) -> Self {
        Self { converter, places: Arc::new(Semaphore::new(MAX_WAITING)) }
    }

    /// Returns a place for a document, if one is free. A document that is larger than a page is received and read
    /// with it.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// A message for the model.
    pub(super) async fn read(&self, received: Received) -> Result<Page, String> {
        let Received { url, content_type, body, place } = received;
        let _place = place.or_else(|| self.place()).ok_or(BUSY)?;
        let segment = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
        let name = percent_decode_str(segment).decode_utf8_lossy();
        let reading = self.converter.convert_bytes(&name, content_type.as_deref(), Bytes::from(body));
        match tokio::time::timeout(TIME, reading).await {
            Ok(Ok(document)) => Ok(page(&document)),
            Ok(Err(Failure { code, detail, .. })) => {
                tracing::debug!(?code, detail, "a document of the web cannot be read");
                Err(describe(code).to_owned())
            }
            Err(_) => Err(describe(FailureCode::TimedOut).to_owned()),
        }
    }
}

/// Returns the text of a document, with the place of its parts above them, as page numbers.
fn page(document: &Document) -> Page {
    let mut page = Page { title: title(document), ..Page::default() };
    let (mut characters, mut last) = (0, None);
    let mut push = |page: &mut Page, text: &str| {
        characters += text.chars().count();
        page.text.push_str(text);
        characters
    };
    for part in &document.parts {
        let begin = push(&mut page, if last.is_some() { "\n\n" } else { "" });
        if begin >= MAX_TEXT {
            page.is_cut = true;
            break;
        }
        if last != Some(&part.place) && !matches!(part.place, Place::Section { .. }) {
            let place = plain::visible(&part.place.to_string());
            push(&mut page, &format!("[{place}]\n"));
            page.places.push((begin, place));
        }
        last = Some(&part.place);
        push(&mut page, &plain::visible(&part.display()));
    }
    page.is_cut |= document.warnings.iter().any(|warning| warning.code == WarningCode::Truncated);
    let warnings = document.warnings.iter().filter(|warning| warning.code != WarningCode::Truncated);
    page.warnings = warnings.take(MAX_WARNINGS).map(|warning| plain::visible(&warning.message)).collect();
    page
}

fn title(document: &Document) -> Option<String> {
    let title: String = plain::visible(document.title.trim()).chars().take(MAX_TITLE).collect();
    Some(title).filter(|title| !title.is_empty())
}

/// Returns why a document cannot be read, for the model.
fn describe(code: FailureCode) -> &'static str {
    match code {
        FailureCode::Unsupported => "It is a file of a type that this tool cannot read.",
        FailureCode::NotBuilt => "It is a document of a type that this server was built without.",
        FailureCode::Empty => "The document has no text.",
        FailureCode::TooLarge => "The document is too large, or unpacks to too much.",
        FailureCode::Encrypted => "The document is protected with a password.",
        FailureCode::Damaged => "The document is damaged.",
        FailureCode::NoTextLayer => "The document consists of pictures of pages without text, as scanners make them.",
        FailureCode::TimedOut => "The document takes too long to be read.",
        FailureCode::OutOfMemory => "The document needs too much memory to be read.",
        FailureCode::Crashed => "The document cannot be read: the program that reads it crashed over it.",
        FailureCode::Unavailable => "Documents cannot be read now. Try again in a moment.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::piece;
    use documents::{Format, Part, Syntax, Warning};
    use serde_json::json;
    use url::Url;

    fn part(place: Place, text: &str) -> Part {
        Part { place, headings: Vec::new(), table_header: None, syntax: Syntax::Plain, text: text.to_owned() }
    }

    fn document(parts: Vec<Part>, warnings: Vec<(WarningCode, &str)>) -> Document {
        let warning = |(code, message): (WarningCode, &str)| Warning { code, message: message.to_owned() };
        let warnings = warnings.into_iter().map(warning).collect();
        Document {
            format: Format::Pdf,
            title: "Annual\u{200b} report".to_owned(),
            parts,
            warnings,
            picture_pages: Vec::new(),
        }
    }

    #[test]
    fn pieces_name_the_pages_that_they_are_from() {
        let text = "ä".repeat(3_000);
        let pages = (1..=3).map(|page| part(Place::Page { page }, &text)).collect();
        let page = page(&document(pages, vec![(WarningCode::Skipped, "Damaged pages were left out: 4.")]));
        let url = Url::parse("https://example.com/a.pdf").unwrap();
        let check = |offset: usize, place: &str, next: Option<u64>, begin: &str| {
            let piece = piece(&url, &page, offset).unwrap();
            assert_eq!((piece["place"].as_str(), piece["nextOffset"].as_u64()), (Some(place), next), "{offset}");
            assert!(piece["text"].as_str().unwrap().starts_with(begin), "{piece}");
            assert_eq!(piece["title"], "Annual report");
            assert_eq!(piece["warnings"], json!(["Damaged pages were left out: 4."]));
        };
        check(0, "page 1 to page 2", Some(4_096), "[page 1]\nä");
        check(4_096, "page 2 to page 3", Some(8_192), "ä");
        check(8_192, "page 3", None, "ä");
        let sections =
            document(vec![part(Place::Section { section: 1 }, "A"), part(Place::Section { section: 2 }, "B")], vec![]);
        let piece = piece(&url, &super::page(&sections), 0).unwrap();
        assert_eq!((&piece["text"], piece.get("place")), (&json!("A\n\nB"), None));
    }

    #[test]
    fn long_documents_are_cut() {
        let parts = |count: u32| (1..=count).map(|page| part(Place::Page { page }, &"x".repeat(60_000))).collect();
        let check = |parts: Vec<Part>, warnings: Vec<(WarningCode, &str)>, cut: bool| {
            let page = page(&document(parts, warnings)).cut();
            assert!(page.text.chars().count() <= MAX_TEXT && page.warnings.is_empty());
            assert_eq!(page.is_cut, cut);
        };
        check(parts(6), vec![], false);
        check(parts(7), vec![], true);
        check(parts(20), vec![], true);
        check(parts(1), vec![(WarningCode::Truncated, "The end is missing.")], true);
    }

    #[tokio::test]
    async fn failures_say_what_is_wrong() {
        let check = async |script: &str, body: &[u8], expected: &str| {
            let converter = Converter::with_program("/bin/sh".into(), ["-c".into(), script.into()], LIMITS);
            let url = Url::parse("https://example.com/secret%20plan.pdf?token=x").unwrap();
            let received =
                Received { url, content_type: Some("application/pdf".to_owned()), body: body.to_owned(), place: None };
            let error = DocumentReader::new(converter).read(received).await.unwrap_err();
            assert_eq!(error, expected);
        };
        let pdf = b"%PDF-1.7";
        check("kill -SEGV $$", pdf, "The document cannot be read: the program that reads it crashed over it.").await;
        check("kill -KILL $$", pdf, "The document needs too much memory to be read.").await;
        check("kill -XCPU $$", pdf, "The document takes too long to be read.").await;
        check("cat /dev/zero", pdf, "The document is too large, or unpacks to too much.").await;
        check("exit 1", pdf, "Documents cannot be read now. Try again in a moment.").await;
        check("exit 1", b"", "The document has no text.").await;
    }

    #[tokio::test]
    async fn documents_are_named_by_their_url() {
        let url = Url::parse("https://example.com/a/My%20notes.md?x=y").unwrap();
        let content_type = Some("application/octet-stream".to_owned());
        let received = Received { url, content_type, body: b"Notes\n\nTomorrow.".to_vec(), place: None };
        let page = DocumentReader::default().read(received).await.unwrap();
        assert_eq!(
            (page.title.as_deref(), page.text.as_str()),
            (Some("My notes"), "[lines 1\u{2013}3]\nNotes\n\nTomorrow.")
        );
    }
}
