//! Reads attached documents for models that cannot read them.

use bytes::Bytes;
use chat::{AttachmentError, AttachmentReader};
use documents::{Converter, Document, FailureCode, Limits, Place};
use futures::future::BoxFuture;
use std::time::Duration;

/// The maximum length of the text in bytes. A model reads no more of a file.
const MAX_TEXT: usize = 128 * 1024;
/// The maximum time for a file. The sender of the message waits for it.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Reads documents in child processes.
pub(crate) struct DocumentReader {
    converter: Converter,
}

impl Default for DocumentReader {
    fn default() -> Self {
        let limits = Limits { output_bytes: MAX_TEXT, time: MAX_TIME, ..Limits::default() };
        Self { converter: Converter::new(limits) }
    }
}

impl AttachmentReader for DocumentReader {
    fn read<'a>(
        &'a self,
        name: &'a str,
        media_type: &'a str,
        content: Bytes,
    ) -> BoxFuture<'a, Result<String, AttachmentError>> {
        Box::pin(async move {
            match self.converter.convert_bytes(name, Some(media_type), content).await {
                Ok(document) => Ok(with_places(&document)),
                Err(failure) => {
                    tracing::debug!(code = ?failure.code, detail = failure.detail, "an attached file was not read");
                    Err(match failure.code {
                        FailureCode::Unsupported | FailureCode::NotBuilt => AttachmentError::Unsupported,
                        _ => AttachmentError::Unreadable(failure.message),
                    })
                }
            }
        })
    }
}

/// Returns the text, with the place of a part above it where it is another than that of the part
/// before. Sections have headings and need no place.
fn with_places(document: &Document) -> String {
    let mut text = String::new();
    let mut last = None;
    for part in &document.parts {
        if last != Some(&part.place) && !matches!(part.place, Place::Section { .. }) {
            text.push_str(&format!("[{}]\n", part.place));
        }
        last = Some(&part.place);
        text.push_str(&part.display());
        text.push_str("\n\n");
    }
    for warning in &document.warnings {
        text.push_str(&format!("({})\n", warning.message));
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use documents::{Source, read};

    #[test]
    fn places_are_named_above_the_text() {
        let check = |name: &str, text: &str, expected: &str| {
            let source = Source { name, media_type: None, bytes: text.as_bytes() };
            assert_eq!(with_places(&read(&source, &Limits::default()).unwrap()), expected);
        };
        check("a.csv", "Name,Amount\nA,1", "[row 2]\n| Name | Amount |\n| --- | --- |\n| A | 1 |");
        check("a.html", "<h1>A</h1>B<h2>C</h2>", "# A\n\nB\n\n## C");
    }
}
