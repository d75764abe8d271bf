//! Files that a user sends, as far as all providers treat them alike.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The text of a text file; none when it is no text, or empty.
pub(crate) fn text_of(base64: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(base64).ok()?).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// The kind of a file, without parameters. A browser that does not know the kind says only that it is an image.
pub(crate) fn kind(media_type: &str) -> &str {
    match media_type.split(';').next().unwrap_or_default().trim() {
        "image/*" => "image/jpeg",
        kind => kind,
    }
}

/// What a model reads of a file that its provider cannot take, so that it can say so.
pub(crate) fn unreadable(kind: &str, filename: Option<&str>) -> String {
    let name = filename.unwrap_or("without a name");
    format!("(The user sent a file {name} of type {kind}, which cannot be read here.)")
}
