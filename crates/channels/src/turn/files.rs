//! Files that people send: stored as uploads of the web page, with the same limits.

use super::Turn;
use crate::messenger::{ApiError, IncomingFile, OpenedMail};
use crate::person::Person;
use crate::visible::visible;
use ::jobs::JobError;
use bytes::Bytes;
use chat::{FileLimits, NewUpload};
use serde_json::{Value, json};

impl Turn<'_> {
    /// Stores a file for the user. Returns the part of the message, or why it cannot be attached.
    pub(super) async fn attach(
        &self,
        person: &Person,
        file: IncomingFile,
        opened: &mut OpenedMail,
    ) -> Result<Result<Value, String>, JobError> {
        let limits = &self.config.limits;
        let bounds = FileLimits { file: limits.file_bytes, user: limits.user_file_bytes };
        let content = match self.delivery.bot.download(&file.id, bounds.file, opened).await {
            Ok(content) => content,
            Err(ApiError::Wait(time)) => return Err(JobError::retry_after(time, "the messenger asks to wait")),
            Err(error) if error.is_temporary() => return Err(JobError::retry(error)),
            Err(_) => {
                let name = visible(&file.name);
                return Ok(Err(format!(
                    "The file “{name}” is too large, or cannot be read. Please send your message again without it."
                )));
            }
        };
        let length = u64::try_from(content.len()).ok();
        let bytes = futures::stream::iter([Ok::<_, std::convert::Infallible>(Bytes::from(content))]);
        let upload = NewUpload { name: file.name, length, bytes };
        Ok(match self.context.chat.store_file(&person.caller, bounds, upload).await {
            Ok(stored) => Ok(json!({
                "type": "file", "mediaType": stored.media_type, "url": stored.url, "filename": stored.filename,
            })),
            Err(error) => Err(error.message),
        })
    }
}
