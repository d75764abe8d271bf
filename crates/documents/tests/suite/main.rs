//! Reads files of all formats, splits them, and runs the child process.

#[cfg(all(feature = "office", feature = "pdf"))]
mod binary;
#[cfg(all(feature = "office", feature = "pdf"))]
mod files;
#[cfg(all(feature = "office", feature = "pdf"))]
mod hostile;
mod process;
#[cfg(all(feature = "office", feature = "pdf"))]
mod support;
mod text;

use documents::{Document, Limits, Source, read};

fn parse(name: &str, bytes: &[u8]) -> Document {
    read(&Source { name, media_type: None, bytes }, &Limits::default()).unwrap()
}

/// Returns the title, and per part its place, headings and text.
fn outline(document: &Document) -> String {
    let mut lines = vec![format!("{:?}: {}", document.format, document.title)];
    for part in &document.parts {
        lines.push(format!("[{}] {}", part.place, part.headings.join(" > ")));
        lines.push(part.display());
    }
    lines.extend(document.warnings.iter().map(|warning| format!("{:?}: {}", warning.code, warning.message)));
    lines.join("\n")
}
