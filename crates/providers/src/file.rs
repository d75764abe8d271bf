//! The handling of input files that all providers share.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use contract::{FileData, Message, OutputPart, Request, ToolOutput, UserPart};
use std::sync::Arc;

/// Decodes a text file; `None` if it is not UTF-8, or blank.
pub(crate) fn decode_text(base64: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(base64).ok()?).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// The first bytes of image formats, in Base64. Providers reject an image whose content does not
/// match its media type.
const IMAGE_SIGNATURES: [(&str, &str); 4] =
    [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];

/// Returns a file's media type without parameters. The type of an image is detected from its
/// content, because a browser that does not know it sends `image/*`.
pub(crate) fn detect_media_type<'a>(media_type: &'a str, data: &FileData) -> &'a str {
    let kind = media_type.split(';').next().unwrap_or_default().trim();
    if let FileData::Base64(base64) = data
        && kind.starts_with("image/")
        && let Some((_, found)) = IMAGE_SIGNATURES.iter().find(|(begin, _)| base64.starts_with(begin))
    {
        return found;
    }
    if kind == "image/*" { "image/jpeg" } else { kind }
}

/// Returns whether Claude and OpenAI's models accept images of this media type.
pub(crate) fn is_image(kind: &str) -> bool {
    matches!(kind, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// Returns whether a file is text, so that its content can be sent as text to any provider.
pub(crate) fn is_text(kind: &str) -> bool {
    const TEXT_SUBTYPES: [&str; 7] = ["json", "xml", "yaml", "x-yaml", "toml", "sql", "javascript"];
    kind.starts_with("text/")
        || ["+json", "+xml", "+yaml"].iter().any(|form| kind.ends_with(form))
        || kind.strip_prefix("application/").is_some_and(|kind| TEXT_SUBTYPES.contains(&kind))
}

/// Returns the note for the model that replaces a file which the provider does not accept.
pub(crate) fn unreadable_note(kind: &str, filename: Option<&str>) -> String {
    let name = filename.unwrap_or("without a name");
    format!("(The user sent a file {name} of type {kind}, which cannot be read here.)")
}

/// Returns the request with notes in place of the files of users and tools; `None` if there are no
/// such files.
pub(crate) fn without_files(request: &Request) -> Option<Request> {
    without(request, &|_| true)
}

/// Returns the request with notes in place of those files of users and tools whose media type is not
/// read; `None` if there are no such files.
pub(crate) fn without(request: &Request, is_unread: &dyn Fn(&str) -> bool) -> Option<Request> {
    let messages: Vec<_> =
        request.messages.iter().map(|message| message_without(message, is_unread).map(Arc::new)).collect();
    if messages.iter().all(Option::is_none) {
        return None;
    }
    let messages =
        messages.into_iter().zip(&request.messages).map(|(news, known)| news.unwrap_or_else(|| known.clone()));
    Some(Request { messages: messages.collect(), ..request.clone() })
}

/// Returns whether a message of the user has a file that is neither an image nor text. A document can
/// have any number of tokens, an image has a few thousand at most.
pub(crate) fn has_documents(request: &Request) -> bool {
    let is_document = |part: &UserPart| match part {
        UserPart::File { media_type, data, .. } => {
            let kind = detect_media_type(media_type, data);
            !kind.starts_with("image/") && !is_text(kind)
        }
        UserPart::Text { .. } => false,
    };
    request.messages.iter().any(|message| matches!(&**message, Message::User(parts) if parts.iter().any(is_document)))
}

fn message_without(message: &Message, is_unread: &dyn Fn(&str) -> bool) -> Option<Message> {
    match message {
        Message::User(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| note(part, is_unread).ok_or(part)).collect();
            parts
                .iter()
                .any(Result::is_ok)
                .then(|| Message::User(parts.into_iter().map(|part| part.unwrap_or_else(UserPart::clone)).collect()))
        }
        Message::Tool(results) if results.iter().any(|result| has_unread(&result.output, is_unread)) => {
            let mut results = results.clone();
            for result in &mut results {
                if let ToolOutput::Content(parts) = &result.output {
                    let shown = |part: &OutputPart| match part {
                        OutputPart::File { media_type, .. } if !is_unread(media_type) => part.clone(),
                        part => OutputPart::Text { text: part.to_text() },
                    };
                    result.output = texts_and_files(parts.iter().map(shown).collect());
                }
            }
            Some(Message::Tool(results))
        }
        _ => None,
    }
}

/// Returns the note for a file that is not read.
fn note(part: &UserPart, is_unread: &dyn Fn(&str) -> bool) -> Option<UserPart> {
    let UserPart::File { media_type, data, filename } = part else { return None };
    let kind = detect_media_type(media_type, data);
    is_unread(kind).then(|| UserPart::Text { text: unreadable_note(kind, filename.as_deref()) })
}

fn has_unread(output: &ToolOutput, is_unread: &dyn Fn(&str) -> bool) -> bool {
    let ToolOutput::Content(parts) = output else { return false };
    parts.iter().any(|part| matches!(part, OutputPart::File { media_type, .. } if is_unread(media_type)))
}

/// Content has at least one file; texts alone are one text.
fn texts_and_files(parts: Vec<OutputPart>) -> ToolOutput {
    match parts.iter().any(|part| matches!(part, OutputPart::File { .. })) {
        true => ToolOutput::Content(parts),
        false => ToolOutput::Text(parts.iter().map(OutputPart::to_text).collect::<Vec<_>>().join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_detected() {
        let check = |media_type: &str, base64: &str, expected: &str| {
            assert_eq!(
                detect_media_type(media_type, &FileData::Base64(base64.to_owned())),
                expected,
                "{media_type} {base64}"
            );
        };
        check("text/csv; charset=utf-8", "SGk=", "text/csv");
        check("image/jpeg", "iVBORw0KGgoAAAA", "image/png");
        check("image/*", "UklGRiQA", "image/webp");
        check("image/*", "SGk=", "image/jpeg");
        check("application/pdf", "/9j/", "application/pdf");
        let texts = ["text/x-rust", "application/json", "image/svg+xml", "application/ld+json"];
        assert!(texts.iter().all(|kind| is_text(kind)));
        assert!(!["application/zip", "image/png", "audio/wav"].iter().any(|kind| is_text(kind)));
    }
}
