//! The content of a message of a person: JSON whose form depends on the type of the message.

use super::types::Mention;
use crate::messenger::IncomingFile;
use serde_json::Value;
use std::fmt::Write;

/// The most files of a message that are attached.
const MAX_FILES: usize = 10;
/// The longest key of a file, in bytes.
const MAX_KEY: usize = 200;

/// The parsed content.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) files: Vec<IncomingFile>,
}

/// Reads the content of a message of a type. `None` if people do not write such messages, or if it is empty.
pub(super) fn read_content(message_id: &str, kind: &str, content: &str) -> Option<Content> {
    let value: Value = serde_json::from_str(content).ok()?;
    let text = |key: &str| value[key].as_str().unwrap_or_default();
    let attached = |kind: FileKind, key: &str, name: &str| file(message_id, kind, text(key), name);
    let (text, files) = match kind {
        "text" => (text("text").to_owned(), Vec::new()),
        "post" => read_post(message_id, &value),
        "image" => (String::new(), Vec::from_iter(attached(FileKind::Image, "image_key", "photo.jpg"))),
        "file" => (String::new(), Vec::from_iter(attached(FileKind::File, "file_key", text("file_name")))),
        "audio" => (String::new(), Vec::from_iter(attached(FileKind::File, "file_key", "voice.opus"))),
        "media" => {
            let name = Some(text("file_name")).filter(|name| !name.is_empty()).unwrap_or("video.mp4");
            (String::new(), Vec::from_iter(attached(FileKind::File, "file_key", name)))
        }
        _ => return None,
    };
    let files: Vec<_> = files.into_iter().take(MAX_FILES).collect();
    (!text.is_empty() || !files.is_empty()).then_some(Content { text, files })
}

/// Returns a text without the mentions of the bot, and with the names of others who are mentioned, and whether the bot is.
pub(super) fn resolve_mentions(text: &str, mentions: &[Mention], bot_id: &str) -> (String, bool) {
    let (mut read, mut rest, mut is_mentioned) = (String::with_capacity(text.len()), text, false);
    while let Some(at) = rest.find('@') {
        read.push_str(&rest[..at]);
        rest = &rest[at..];
        // `@_user_1` is the beginning of `@_user_10`.
        let named = mentions.iter().filter(|mention| mention.key.len() > 1 && rest.starts_with(&mention.key));
        let Some(mention) = named.max_by_key(|mention| mention.key.len()) else {
            read.push('@');
            rest = &rest[1..];
            continue;
        };
        rest = &rest[mention.key.len()..];
        if mention.id.open_id.as_deref() == Some(bot_id) {
            is_mentioned = true;
        } else {
            // Writing to a string cannot fail.
            let _ = write!(read, "@{}", mention.name);
        }
    }
    read.push_str(rest);
    (read.trim().to_owned(), is_mentioned)
}

/// The kind of a file, which decides how it is downloaded.
#[derive(Clone, Copy, Debug)]
enum FileKind {
    Image,
    File,
}

/// Returns a file of a message. Its id has what is needed to download it.
fn file(message_id: &str, kind: FileKind, key: &str, name: &str) -> Option<IncomingFile> {
    let kind = match kind {
        FileKind::Image => "image",
        FileKind::File => "file",
    };
    let name = if name.is_empty() { "file" } else { name };
    let is_stored = is_key(key) && !name.contains('\0');
    is_stored.then(|| IncomingFile { id: format!("{message_id}/{kind}/{key}"), name: name.chars().take(200).collect() })
}

/// Returns whether a text is an id or a key, which is part of addresses.
pub(super) fn is_key(key: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b'-');
    (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(is_sign)
}

/// Reads a text with formatting: paragraphs of elements.
fn read_post(message_id: &str, post: &Value) -> (String, Vec<IncomingFile>) {
    let (mut text, mut files) = (String::new(), Vec::new());
    if let Some(title) = post["title"].as_str().filter(|title| !title.is_empty()) {
        text.push_str(title);
        text.push('\n');
    }
    for paragraph in post["content"].as_array().into_iter().flatten() {
        for element in paragraph.as_array().into_iter().flatten() {
            let value = |key: &str| element[key].as_str().unwrap_or_default();
            match value("tag") {
                "text" | "md" => text.push_str(value("text")),
                "a" => text.push_str(&link(value("text"), value("href"))),
                // The key of a mention.
                "at" => text.push_str(value("user_id")),
                "code_block" => {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "```{}\n{}\n```", value("language").to_lowercase(), value("text").trim_end());
                }
                "emotion" => text.push_str(&format!(":{}:", value("emoji_type"))),
                "img" => files.extend(file(message_id, FileKind::Image, value("image_key"), "photo.jpg")),
                "media" => files.extend(file(message_id, FileKind::File, value("file_key"), "video.mp4")),
                _ => {}
            }
        }
        text.push('\n');
    }
    (text.trim().to_owned(), files)
}

/// Returns the visible text of a link, with its address.
fn link(text: &str, href: &str) -> String {
    match (text, href) {
        (text, "") => text.to_owned(),
        ("", href) => href.to_owned(),
        (text, href) if text == href || href.strip_suffix('/') == Some(text) => href.to_owned(),
        (text, href) => format!("{text} ({href})"),
    }
}
