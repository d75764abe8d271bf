//! The handling of input files that all providers share.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use contract::{FileData, Message, OutputPart, Request, ToolOutput, UserPart};
use std::borrow::Cow;
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
    let base64 = match data {
        FileData::Base64(base64) => Some(base64.as_str()),
        _ => None,
    };
    media_type_by_content(media_type, base64)
}

/// Returns the media type of a file of a user or a tool, given its content as Base64 if it is known.
fn media_type_by_content<'a>(media_type: &'a str, base64: Option<&str>) -> &'a str {
    let kind = media_type.split(';').next().unwrap_or_default().trim();
    if let Some(base64) = base64
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
    replace_unsupported_files(request, &|_| true)
}

/// Returns the request with notes in place of those files of users and tools whose media type is not
/// supported; `None` if there are no such files.
pub(crate) fn replace_unsupported_files(request: &Request, is_unsupported: &dyn Fn(&str) -> bool) -> Option<Request> {
    let messages: Vec<_> =
        request.messages.iter().map(|message| with_notes(message, is_unsupported).map(Arc::new)).collect();
    if messages.iter().all(Option::is_none) {
        return None;
    }
    let messages = messages.into_iter().zip(&request.messages);
    let messages = messages.map(|(replaced, known)| replaced.unwrap_or_else(|| known.clone()));
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

/// Returns a message with notes in place of files that are not supported; `None` if it has none.
fn with_notes(message: &Message, is_unsupported: &dyn Fn(&str) -> bool) -> Option<Message> {
    match message {
        Message::User(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| part_or_note(part, is_unsupported)).collect();
            let has_note = parts.iter().any(|part| matches!(part, Cow::Owned(_)));
            has_note.then(|| Message::User(parts.into_iter().map(Cow::into_owned).collect()))
        }
        Message::Tool(results) if results.iter().any(|result| has_unsupported(&result.output, is_unsupported)) => {
            let mut results = results.clone();
            for result in &mut results {
                if let ToolOutput::Content(parts) = &result.output {
                    let shown = |part: &OutputPart| {
                        if is_unsupported_output(part, is_unsupported) {
                            OutputPart::Text { text: part.to_text() }
                        } else {
                            part.clone()
                        }
                    };
                    result.output = texts_and_files(parts.iter().map(shown).collect());
                }
            }
            Some(Message::Tool(results))
        }
        _ => None,
    }
}

/// Returns a part of a user's message, or the note that replaces it.
fn part_or_note<'a>(part: &'a UserPart, is_unsupported: &dyn Fn(&str) -> bool) -> Cow<'a, UserPart> {
    let UserPart::File { media_type, data, filename } = part else { return Cow::Borrowed(part) };
    let kind = detect_media_type(media_type, data);
    if is_unsupported(kind) {
        Cow::Owned(UserPart::Text { text: unreadable_note(kind, filename.as_deref()) })
    } else {
        Cow::Borrowed(part)
    }
}

fn has_unsupported(output: &ToolOutput, is_unsupported: &dyn Fn(&str) -> bool) -> bool {
    let ToolOutput::Content(parts) = output else { return false };
    parts.iter().any(|part| is_unsupported_output(part, is_unsupported))
}

fn is_unsupported_output(part: &OutputPart, is_unsupported: &dyn Fn(&str) -> bool) -> bool {
    matches!(part, OutputPart::File { media_type, data } if is_unsupported(media_type_by_content(media_type, Some(data))))
}

/// Content has at least one file; texts alone are one text.
fn texts_and_files(parts: Vec<OutputPart>) -> ToolOutput {
    if parts.iter().any(|part| matches!(part, OutputPart::File { .. })) {
        ToolOutput::Content(parts)
    } else {
        ToolOutput::Text(parts.iter().map(OutputPart::to_text).collect::<Vec<_>>().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::ToolResult;

    /// A tool of another server may name a type as a browser does: with parameters, or as `image/*`.
    #[test]
    fn files_of_users_and_tools_are_judged_by_the_same_media_type() {
        let check = |media_type: &str, base64: &str, expected: bool| {
            let (media_type, data) = (media_type.to_owned(), base64.to_owned());
            let of_user =
                UserPart::File { media_type: media_type.clone(), data: FileData::Base64(data.clone()), filename: None };
            let output = ToolOutput::Content(vec![OutputPart::File { media_type: media_type.clone(), data }]);
            let of_tool = ToolResult { call_id: "c".to_owned(), name: "t".to_owned(), output, metadata: None };
            for message in [Message::User(vec![of_user]), Message::Tool(vec![of_tool])] {
                let request = Request { messages: vec![Arc::new(message)], ..Request::default() };
                let replaced = replace_unsupported_files(&request, &|kind| kind != "image/png");
                assert_eq!(replaced.is_some(), expected, "{media_type} {base64}");
            }
        };
        check("image/png; charset=binary", "SGk=", false);
        check("image/*", "iVBORw0KGgoAAAA", false);
        check("image/jpeg", "iVBORw0KGgoAAAA", false);
        check("image/*", "SGk=", true);
        check("application/pdf", "SGk=", true);
    }

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
