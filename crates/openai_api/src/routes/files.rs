//! Images and files of stored responses: they are kept as those that users attach, within the same limits.

use crate::error::ApiError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use capability::Context;
use chat::{Caller, FileLimits, NewUpload};
use std::convert::Infallible;
use wire::message::FilePart;
use wire::{UiMessage, UiPart};

/// Stores the contents of `data:` URLs in the messages, which then refer to them.
///
/// # Errors
/// 413 if the files of the user would be too large.
pub(super) async fn keep(context: &Context, caller: &Caller, messages: &mut [UiMessage]) -> Result<(), ApiError> {
    let limits = context.current.config().limits.clone();
    let bounds = FileLimits { file: limits.file_bytes, user: limits.user_file_bytes };
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        let UiPart::File(file) = part else { continue };
        let Some(content) = content(file) else { continue };
        let upload = NewUpload {
            name: file.filename.clone().unwrap_or_else(|| default_name(&file.media_type)),
            length: Some(content.len() as u64),
            bytes: futures::stream::iter([Ok::<_, Infallible>(Bytes::from(content))]),
        };
        let stored = context.chat.store_file(caller, bounds, upload).await?;
        (file.url, file.media_type, file.filename) = (stored.url, stored.media_type, Some(stored.filename));
    }
    Ok(())
}

/// Returns the content of a `data:` URL, which was checked when the request was read.
fn content(file: &FilePart) -> Option<Vec<u8>> {
    let (_, data) = file.url.strip_prefix("data:")?.split_once(";base64,")?;
    STANDARD.decode(data).ok()
}

fn default_name(media_type: &str) -> String {
    format!("file.{}", media_type.rsplit('/').next().unwrap_or("bin"))
}
