//! Files that a user sends, as far as all providers treat them alike.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use contract::{FileData, Message, OutputPart, Request, ToolOutput, UserPart};
use std::sync::Arc;

/// The text of a text file; none when it is no text, or empty.
pub(crate) fn text_of(base64: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(base64).ok()?).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// How the bytes of an image begin, in Base64. Providers refuse an image that is not what its name says.
const IMAGES: [(&str, &str); 4] =
    [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];

/// The kind of a file, without parameters; of an image, what its bytes say. A browser that does not know the kind says only
/// that it is an image.
pub(crate) fn kind<'a>(media_type: &'a str, data: &FileData) -> &'a str {
    let kind = media_type.split(';').next().unwrap_or_default().trim();
    if let FileData::Base64(base64) = data
        && kind.starts_with("image/")
        && let Some((_, found)) = IMAGES.iter().find(|(begin, _)| base64.starts_with(begin))
    {
        return found;
    }
    if kind == "image/*" { "image/jpeg" } else { kind }
}

/// Whether it is an image of a kind that Claude and OpenAI's models see.
pub(crate) fn is_image(kind: &str) -> bool {
    matches!(kind, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// Whether it is a text, so that a model can read it as such whatever files its provider takes.
pub(crate) fn is_text(kind: &str) -> bool {
    const KINDS: [&str; 7] = ["json", "xml", "yaml", "x-yaml", "toml", "sql", "javascript"];
    kind.starts_with("text/")
        || ["+json", "+xml", "+yaml"].iter().any(|form| kind.ends_with(form))
        || kind.strip_prefix("application/").is_some_and(|kind| KINDS.contains(&kind))
}

/// What a model reads of a file that its provider cannot take, so that it can say so.
pub(crate) fn unreadable(kind: &str, filename: Option<&str>) -> String {
    let name = filename.unwrap_or("without a name");
    format!("(The user sent a file {name} of type {kind}, which cannot be read here.)")
}

/// The request with notes in the place of the files that others made than the model; none when there are no such files.
pub(crate) fn without_files(request: &Request) -> Option<Request> {
    let messages: Vec<_> = request.messages.iter().map(|message| without(message).map(Arc::new)).collect();
    if messages.iter().all(Option::is_none) {
        return None;
    }
    let messages =
        messages.into_iter().zip(&request.messages).map(|(news, known)| news.unwrap_or_else(|| known.clone()));
    Some(Request { messages: messages.collect(), ..request.clone() })
}

fn without(message: &Message) -> Option<Message> {
    match message {
        Message::User(parts) if parts.iter().any(|part| matches!(part, UserPart::File { .. })) => {
            Some(Message::User(parts.iter().map(said).collect()))
        }
        Message::Tool(results) if results.iter().any(|result| matches!(result.output, ToolOutput::Content(_))) => {
            let mut results = results.clone();
            for result in &mut results {
                if let ToolOutput::Content(parts) = &result.output {
                    let texts: Vec<_> = parts.iter().map(OutputPart::to_text).collect();
                    result.output = ToolOutput::Text(texts.join("\n"));
                }
            }
            Some(Message::Tool(results))
        }
        _ => None,
    }
}

fn said(part: &UserPart) -> UserPart {
    match part {
        UserPart::Text { text } => UserPart::Text { text: text.clone() },
        UserPart::File { media_type, data, filename } => {
            UserPart::Text { text: unreadable(kind(media_type, data), filename.as_deref()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let check = |media_type: &str, base64: &str, expected: &str| {
            assert_eq!(kind(media_type, &FileData::Base64(base64.to_owned())), expected, "{media_type} {base64}");
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
