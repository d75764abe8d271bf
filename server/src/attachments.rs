//! Reads attached documents for models that cannot read them.

use bytes::Bytes;
use chat::{AttachmentError, AttachmentReader};
use documents::{Converter, FailureCode, Limits};
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
                Ok(document) => Ok(document.to_text()),
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
