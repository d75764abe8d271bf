//! The content of messages of the user: text and files, which are kept as those that users attach, within the same
//! limits.

use crate::input::{Content, ContentPart, Source};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use capability::Context;
use chat::{Caller, FileLimits, NewUpload};
use std::convert::Infallible;
use wire::file::FILES;
use wire::message::{FilePart, TextPart};
use wire::{UiPart, UserError};

/// The most files that are kept for one request.
const MAX_FILES: usize = 100;

/// Reads the contents of a request.
pub(crate) struct ContentReader<'r> {
    context: &'r Context,
    caller: &'r Caller,
    files: usize,
}

impl<'r> ContentReader<'r> {
    pub(crate) fn new(context: &'r Context, caller: &'r Caller) -> Self {
        Self { context, caller, files: 0 }
    }

    /// Returns the parts of a content. `path` is its place in the request.
    ///
    /// # Errors
    /// 422 for a file that cannot be read, 413 if the files of the user would be too large.
    pub(crate) async fn parts(&mut self, content: &Content, path: &str) -> Result<Vec<UiPart>, UserError> {
        let Content::Parts(parts) = content else { return Ok(vec![text(content.text())]) };
        let mut read = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            read.push(match part {
                ContentPart::Text { text: content } => text(content.clone()),
                ContentPart::Image { source }
                | ContentPart::Audio { source }
                | ContentPart::Video { source }
                | ContentPart::Document { source } => {
                    UiPart::File(self.file(source, &format!("{path}/{at}/source")).await?)
                }
            });
        }
        Ok(read)
    }

    async fn file(&mut self, source: &Source, path: &str) -> Result<FilePart, UserError> {
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(UserError::invalid(path, format!("A request brings at most {MAX_FILES} new files.")));
        }
        let Self { context, caller, .. } = self;
        file(context, caller, source, path).await
    }
}

fn text(text: String) -> UiPart {
    UiPart::Text(TextPart { text, ..TextPart::default() })
}

async fn file(context: &Context, caller: &Caller, source: &Source, path: &str) -> Result<FilePart, UserError> {
    match source {
        Source::Url { .. } => {
            let message = "Nothing is loaded from URLs. Send the file itself, or upload it and send its id.";
            Err(UserError::invalid(path, message))
        }
        Source::File { value } if wire::is_id(value) => {
            let media_type = "application/octet-stream".to_owned();
            Ok(FilePart { media_type, url: format!("{FILES}{value}"), filename: None, provider_metadata: None })
        }
        Source::File { .. } => Err(UserError::invalid(path, "This is not the id of an uploaded file.")),
        Source::Data { value, mime_type } => {
            let encoded = value.clone();
            let content = web::offloaded(value.len(), move || STANDARD.decode(encoded.as_bytes())).await?;
            let content = content.map_err(|_| UserError::invalid(path, "The file is not valid Base64."))?;
            let limits = context.current.config().limits.clone();
            let bounds = FileLimits { file: limits.file_bytes, user: limits.user_file_bytes };
            let upload = NewUpload {
                name: format!("file.{}", mime_type.rsplit('/').next().unwrap_or("bin")),
                length: Some(content.len() as u64),
                bytes: futures::stream::iter([Ok::<_, Infallible>(Bytes::from(content))]),
            };
            let stored = context.chat.store_file(caller, bounds, upload).await;
            let stored =
                stored.map_err(|error| UserError { path: error.path.is_some().then(|| path.to_owned()), ..error })?;
            Ok(FilePart {
                media_type: stored.media_type,
                url: stored.url,
                filename: Some(stored.filename),
                provider_metadata: None,
            })
        }
    }
}
