//! The content of messages: that of the client, whose files are kept as those that users attach, within the same limits;
//! and what the agent and the user have written, as parts of A2A.

use crate::error::RpcError;
use a2a_types::{Part, PartContent};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use capability::Context;
use chat::{Caller, FileLimits, NewUpload};
use std::convert::Infallible;
use wire::file::{FILES, stored_file_id};
use wire::message::{FilePart, TextPart};
use wire::{UiPart, UserError};

/// The most files of a message.
const MAX_FILES: usize = 100;

/// Returns the parts of a client's message as those of a conversation. `origin` is that of this server.
///
/// # Errors
/// A file that cannot be kept, or is at another address.
pub(crate) async fn read(
    context: &Context,
    caller: &Caller,
    origin: &str,
    parts: Vec<Part>,
) -> Result<Vec<UiPart>, RpcError> {
    let is_file = |part: &&Part| matches!(part.content, PartContent::Raw(_) | PartContent::Url(_));
    if parts.iter().filter(is_file).count() > MAX_FILES {
        return Err(RpcError::invalid("message.parts", format!("A message has at most {MAX_FILES} files.")));
    }
    let mut read = Vec::new();
    for (at, part) in parts.into_iter().enumerate() {
        let field = format!("message.parts[{at}]");
        let Part { content, filename, media_type, .. } = part;
        read.push(match content {
            PartContent::Text(text) => text_part(text),
            // The agent reads it like text. Indented, deep values would take many times their size.
            PartContent::Data(value) => text_part(value.to_string()),
            PartContent::Url(url) => UiPart::File(stored(&url, origin, filename, media_type).ok_or_else(|| {
                let message = "Nothing is loaded from other addresses. Send the file itself as `raw`.";
                RpcError::unsupported_content(&format!("{field}.url"), message)
            })?),
            PartContent::Raw(content) => {
                let name = filename.unwrap_or_else(|| default_name(media_type.as_deref()));
                let kept = keep(context, caller, name, content).await;
                UiPart::File(kept.map_err(|error| RpcError::from(error).at(&format!("{field}.raw")))?)
            }
        });
    }
    Ok(read)
}

fn text_part(text: String) -> UiPart {
    UiPart::Text(TextPart { text, ..TextPart::default() })
}

fn default_name(media_type: Option<&str>) -> String {
    let end = media_type.and_then(|kind| kind.split(';').next()?.rsplit('/').next());
    format!("file.{}", end.filter(|end| wire::is_id(end)).unwrap_or("bin"))
}

/// Returns the file of this server at a URL. Its owner is checked when the message is sent.
fn stored(url: &str, origin: &str, filename: Option<String>, media_type: Option<String>) -> Option<FilePart> {
    let path = url.strip_prefix(origin).filter(|_| !origin.is_empty()).unwrap_or(url);
    let id = stored_file_id(path).filter(|id| wire::is_id(id))?;
    let media_type = media_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    Some(FilePart { media_type, url: format!("{FILES}{id}"), filename, provider_metadata: None })
}

async fn keep(context: &Context, caller: &Caller, name: String, content: Vec<u8>) -> Result<FilePart, UserError> {
    let limits = context.current.config().limits.clone();
    let bounds = FileLimits { file: limits.file_bytes, user: limits.user_file_bytes };
    let length = Some(content.len() as u64);
    let bytes = futures::stream::iter([Ok::<_, Infallible>(Bytes::from(content))]);
    let stored = context.chat.store_file(caller, bounds, NewUpload { name, length, bytes }).await?;
    Ok(FilePart {
        media_type: stored.media_type,
        url: stored.url,
        filename: Some(stored.filename),
        provider_metadata: None,
    })
}

/// Returns a file of a conversation as a part: its content if the message has it, otherwise where it is.
pub(crate) fn file(url: &str, media_type: &str, filename: Option<&str>, origin: &str) -> Part {
    let inline = url.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    let part = match inline.and_then(|(_, data)| STANDARD.decode(data).ok()) {
        Some(content) => Part::raw(content),
        None if url.starts_with('/') => Part::url(format!("{origin}{url}")),
        None => Part::url(url),
    };
    Part { filename: filename.map(str::to_owned), ..part.with_media_type(media_type) }
}

/// Returns the text and the files of a user's message.
pub(crate) fn user_parts(parts: &[UiPart], origin: &str) -> Vec<Part> {
    let part = |part: &UiPart| match part {
        UiPart::Text(text) => Some(Part::text(&text.text)),
        UiPart::File(part) => Some(file(&part.url, &part.media_type, part.filename.as_deref(), origin)),
        _ => None,
    };
    parts.iter().filter_map(part).collect()
}
