//! A test that all texts of the UI come from the text table, so that they can be translated.

use std::fs;
use std::path::{Path, PathBuf};

/// Literals in the source code that users do not see.
const NOT_SHOWN: &[&str] = &[
    // Names of keys.
    "ArrowDown",
    "ArrowUp",
    "ArrowLeft",
    "ArrowRight",
    "Delete",
    "End",
    "Enter",
    "Escape",
    "Home",
    "Tab",
    "Control",
    "Meta",
    "Control+K Meta+K",
    // The names of keys.
    "Ctrl K",
    "Alt ↑",
    "Alt ↓",
    "Esc",
    "Shift Enter",
    "Space",
    // Names in HTML, in browser APIs and in data.
    "Files",
    "noopener noreferrer nofollow",
    "light dark",
    "in the archive",
    "SpeechRecognition",
    "Mac",
    // The product name.
    "Chatwright",
    // For the model that called a client tool.
    "The page could not load the code of this tool.",
    "This page cannot execute the tool.",
    "The user left the page before this was done.",
    "Some inputs of the page are invalid.",
    "The page was closed or reloaded during this call. It may or may not have had an effect: check before you call it again.",
    "The page that contains the chat was closed during this call. It may or may not have had an effect.",
    "The user stopped this call before it started.",
    "The user stopped this call while it was running.",
    "This call took longer than {limit}. It may or may not have had an effect.",
    // For authors of pages and programs, and for developers of Chatwright.
    "`deleteMessage` needs a `messageId`.",
    "The page's state selects the conversation: give it another id with `SetState`.",
    "This conversation has no such message, or an answer is being written.",
    "The chat has no method `{other}`.",
    "Actions run in the browser.",
    "This file is not an exported conversation: {error}.",
    "The server is not configured correctly. Contact its operator.",
    "Part of this page's code could not be loaded.",
    "a signal is read after what it belongs to is gone",
    "an id must be a string",
    // A file that Windows adds to folders.
    "Thumbs.db",
    // A problem of a config.
    "these properties cannot be read: {error}",
];

#[test]
fn all_ui_texts_are_in_the_text_table() {
    let mut files = Vec::new();
    collect_sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut files);
    assert!(files.len() > 100, "the sources are not where they were");
    let mut found = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let tests = source
            .find("#[cfg(test)]\nmod tests")
            .or_else(|| source.find("#[cfg(all(test, feature = \"ssr\"))]\nmod tests"));
        for (number, line) in source[..tests.unwrap_or(source.len())].lines().enumerate() {
            for words in literals(line).filter(|words| is_prose(words) && !NOT_SHOWN.contains(words)) {
                found.push(format!("{}:{}: {words}", file.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "put these into wire::locale and say them with t():\n{}", found.join("\n"));
}

#[test]
fn prose_is_distinguished_from_code() {
    for words in ["Send", "Type a message…", "the answer", "{count} files", "Done, "] {
        assert!(is_prose(words), "{words}");
    }
    for words in [
        "cw-button cw-primary",
        "cw-share a{} b{}",
        "onSelect",
        "text",
        "/api/files?name={name}",
        "{top}px",
        "M7 8.5h10M7 12h6",
    ] {
        assert!(!is_prose(words), "{words}");
    }
}

fn collect_sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        if path.is_dir() {
            collect_sources(&path, files);
        } else if is_source && !path.ends_with("tests.rs") && !path.ends_with("texts/lint.rs") {
            files.push(path);
        }
    }
}

/// Returns the string literals of a line of code.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    let is_code = !["//", "#[", "#!["].iter().any(|start| line.trim_start().starts_with(start));
    line.split('"').skip(1).step_by(2).filter(move |_| is_code)
}

/// Returns whether a text looks like prose: it begins like a sentence or has two words.
fn is_prose(words: &str) -> bool {
    if words.contains("cw-") || words.contains('=') || words.contains("::") || words.contains("data-") {
        return false;
    }
    let signs: Vec<char> = words.chars().collect();
    let is_name = matches!(signs.as_slice(), [first, second, ..] if first.is_uppercase() && second.is_lowercase());
    let two = |pair: &[char]| (pair[0].is_lowercase() || pair[0] == '}') && pair[1] == ' ' && pair[2].is_lowercase();
    is_name && !words.contains("://") && !is_type(words) || signs.windows(3).any(two)
}

/// Returns whether a text is a name such as `TextInput`.
fn is_type(words: &str) -> bool {
    !words.contains(' ') && words.chars().skip(1).any(char::is_uppercase)
}
