//! What the UI says comes out of the table of texts, so that another language can be put in its place.

use std::fs;
use std::path::{Path, PathBuf};

/// Words in the sources that are not for the person at the page.
const NOT_SHOWN: &[&str] = &[
    // Keys of the keyboard.
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
    // Names in HTML, in the browser and in data.
    "Files",
    "noopener noreferrer nofollow",
    "light dark",
    "in the archive",
    "SpeechRecognition",
    // The name of the product.
    "Chatwright",
    // For the model that called a tool of the page.
    "The page could not load what this tool does.",
    "This page cannot execute the tool.",
    "The user has left the page before this was done.",
    "The page's inputs are not right.",
    "The page was closed or reloaded while it did this. It may or may not have had an effect: look before you do it again.",
    "The page around the chat has gone while it did this. It may or may not have had an effect.",
    "The user stopped this before it began.",
    "The user stopped this while it ran.",
    "This took longer than {limit}. It may or may not have had an effect.",
    // For whoever writes a page, a program or this one.
    "Which message? Give its `messageId`.",
    "There is no such message here, or an answer is being written.",
    "The chat cannot do `{other}`.",
    "Actions run in the browser.",
    "This file is not an exported conversation: {error}.",
    "The server is not set up. Tell its operator.",
    "A part of this page's code cannot be loaded.",
    "a signal is read after what it belongs to is gone",
    "an id is a text",
];

#[test]
fn every_text_is_in_the_table() {
    let mut files = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut files);
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
fn what_is_prose() {
    for words in ["Send", "Type a message…", "the answer", "{count} files", "Done, "] {
        assert!(is_prose(words), "{words}");
    }
    for words in [
        "cw-button cw-primary",
        "cw-share-{share}",
        "onSelect",
        "text",
        "/api/files?name={name}",
        "{top}px",
        "M7 8.5h10M7 12h6",
    ] {
        assert!(!is_prose(words), "{words}");
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        if path.is_dir() {
            collect(&path, files);
        } else if is_source && !path.ends_with("tests.rs") && !path.ends_with("texts/lint.rs") {
            files.push(path);
        }
    }
}

/// The texts in quotes on a line of code.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    let is_code = !["//", "#[", "#!["].iter().any(|start| line.trim_start().starts_with(start));
    line.split('"').skip(1).step_by(2).filter(move |_| is_code)
}

/// Whether a text looks as if it were written for people: it begins as a sentence does, or has two words.
fn is_prose(words: &str) -> bool {
    if words.contains("cw-") || words.contains('=') || words.contains("::") || words.contains("data-") {
        return false;
    }
    let signs: Vec<char> = words.chars().collect();
    let is_name = matches!(signs.as_slice(), [first, second, ..] if first.is_uppercase() && second.is_lowercase());
    let two = |pair: &[char]| (pair[0].is_lowercase() || pair[0] == '}') && pair[1] == ' ' && pair[2].is_lowercase();
    is_name && !words.contains("://") && !is_type(words) || signs.windows(3).any(two)
}

/// Names of blocks, of events and the like: `TextInput`.
fn is_type(words: &str) -> bool {
    !words.contains(' ') && words.chars().skip(1).any(char::is_uppercase)
}
