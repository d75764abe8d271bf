//! The formats, and how they are recognised.

use crate::encoding;
use serde::{Deserialize, Serialize};

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    /// Plain text, and data formats that are kept as they are, such as YAML and XML.
    Text,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// Comma-, semicolon- or tab-separated values.
    Csv,
    /// JSON, and JSON with one value per line.
    Json,
    /// Source code.
    Code,
    /// An e-mail message (EML).
    Email,
    /// A Word document (DOCX).
    Word,
    /// A PowerPoint presentation (PPTX).
    Slides,
    /// A workbook (XLSX, XLSB, XLS, ODS).
    Spreadsheet,
    /// An electronic book (EPUB).
    Epub,
    /// PDF.
    Pdf,
}

/// The result of [`detect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detected {
    /// A format by the name, the media type or the first bytes.
    Format(Format),
    /// A ZIP archive; its entries say what it is.
    Archive,
    /// A compound file of Microsoft Office (OLE): an XLS workbook, a document of an older version,
    /// or an encrypted one.
    Compound,
    /// None that can be read.
    Unknown,
}

/// File name extensions of text formats.
const EXTENSIONS: &[(Format, &[&str])] = &[
    (Format::Markdown, &["md", "markdown", "mdown", "mkd", "mdx"]),
    (Format::Html, &["html", "htm", "xhtml"]),
    (Format::Csv, &["csv", "tsv"]),
    (Format::Json, &["json", "jsonl", "ndjson", "geojson", "ipynb"]),
    (Format::Email, &["eml"]),
    (
        Format::Code,
        &[
            "bash", "bat", "c", "cc", "clj", "cpp", "cs", "css", "cxx", "dart", "ex", "exs", "fs", "go", "groovy", "h",
            "hpp", "hs", "java", "jl", "js", "jsx", "kt", "kts", "less", "lisp", "lua", "m", "mjs", "ml", "nix", "php",
            "pl", "proto", "ps1", "py", "r", "rb", "rs", "sass", "scala", "scss", "sh", "sol", "sql", "svelte",
            "swift", "tf", "ts", "tsx", "vb", "vue", "zig", "zsh",
        ],
    ),
    (
        Format::Text,
        &[
            "adoc",
            "asciidoc",
            "bib",
            "cfg",
            "conf",
            "diff",
            "env",
            "ics",
            "ini",
            "log",
            "org",
            "patch",
            "po",
            "properties",
            "rst",
            "srt",
            "tex",
            "text",
            "toml",
            "txt",
            "vcf",
            "vtt",
            "xml",
            "yaml",
            "yml",
        ],
    ),
];

/// Media types of text formats.
const MEDIA_TYPES: &[(Format, &[&str])] = &[
    (Format::Markdown, &["text/markdown", "text/x-markdown"]),
    (Format::Html, &["text/html", "application/xhtml+xml"]),
    (Format::Csv, &["text/csv", "text/tab-separated-values"]),
    (Format::Json, &["application/json", "application/x-ndjson", "application/jsonl", "application/geo+json"]),
    (Format::Email, &["message/rfc822"]),
    (Format::Code, &["text/javascript", "application/javascript", "text/css", "application/sql"]),
];

/// The number of first bytes in which the mark of a PDF file is searched, as readers of PDF do.
const PDF_HEAD: usize = 1_024;

/// The first bytes of a ZIP archive, as which office files and electronic books are stored; an empty
/// archive has others.
const ARCHIVE: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// The first bytes of a compound file of Microsoft Office.
const COMPOUND: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
/// The mark of a PDF file.
const PDF: &[u8] = b"%PDF-";

/// Returns whether a file begins like a binary document: a PDF file, or an archive or compound file, as
/// which office files and electronic books are stored. Whether it is one that can be read shows only when
/// it is read.
pub fn looks_like_document(bytes: &[u8]) -> bool {
    let is_archive = ARCHIVE.iter().any(|mark| bytes.starts_with(mark));
    is_archive || bytes.starts_with(COMPOUND) || bytes.trim_ascii_start().starts_with(PDF)
}

/// Recognises the format. Binary formats are recognised by their first bytes, since names lie; text
/// formats by the extension, then the media type, then the content.
pub(crate) fn detect(name: &str, media_type: Option<&str>, bytes: &[u8]) -> Detected {
    let head = &bytes[..bytes.len().min(PDF_HEAD)];
    if ARCHIVE.iter().any(|mark| head.starts_with(mark)) {
        return Detected::Archive;
    }
    if head.starts_with(COMPOUND) {
        return Detected::Compound;
    }
    if head.windows(PDF.len()).any(|window| window == PDF) {
        return Detected::Format(Format::Pdf);
    }
    if !encoding::is_text(bytes) || head.starts_with(b"{\\rtf") {
        return Detected::Unknown;
    }
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let media_type = media_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let listed = |formats: &[(Format, &[&str])], value: &str| {
        formats.iter().find(|(_, values)| values.contains(&value)).map(|(format, _)| *format)
    };
    let format = extension.and_then(|extension| listed(EXTENSIONS, &extension));
    let format = format.or_else(|| listed(MEDIA_TYPES, &media_type));
    Detected::Format(format.unwrap_or_else(|| by_content(head)))
}

/// Recognises a text format by the first bytes.
fn by_content(head: &[u8]) -> Format {
    let head =
        String::from_utf8_lossy(head).trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).to_ascii_lowercase();
    if head.starts_with("<!doctype html") || head.starts_with("<html") { Format::Html } else { Format::Text }
}

/// Returns whether the format is one of the text formats, whose parsers run in linear time without
/// recursion; all others belong into a process of their own.
pub(crate) fn is_simple(format: Format) -> bool {
    matches!(format, Format::Text | Format::Markdown | Format::Csv | Format::Json | Format::Code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised() {
        let check = |name: &str, media_type: &str, bytes: &[u8], expected: Detected| {
            assert_eq!(detect(name, Some(media_type), bytes), expected, "{name} {media_type}");
        };
        check("a.md", "", b"# A", Detected::Format(Format::Markdown));
        check("a.TXT", "text/html", b"A", Detected::Format(Format::Text));
        check("a", "text/html; charset=utf-8", b"<p>", Detected::Format(Format::Html));
        check("a", "", b"\n<!DOCTYPE html><p>", Detected::Format(Format::Html));
        check("Makefile", "", b"all:\n", Detected::Format(Format::Text));
        check("a.txt", "text/plain", b"PK\x03\x04", Detected::Archive);
        check("a.docx", "", &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], Detected::Compound);
        check("a.txt", "", b"\n%PDF-1.7", Detected::Format(Format::Pdf));
        check("a.txt", "", b"GIF89a\0\0\0\0", Detected::Unknown);
        check("a.doc", "", b"{\\rtf1 Hi}", Detected::Unknown);
        check("a.eml", "", b"Subject: A\n\nHi", Detected::Format(Format::Email));
    }

    #[test]
    fn binary_documents_are_recognised_by_their_first_bytes() {
        let check = |bytes: &[u8], expected: bool| assert_eq!(looks_like_document(bytes), expected, "{bytes:?}");
        check(b"%PDF-1.7", true);
        check(b"\r\n%PDF-1.7", true);
        check(b"PK\x03\x04", true);
        check(b"PK\x05\x06", true);
        check(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0], true);
        check(b"<p>A file begins with %PDF-", false);
        check(b"PK", false);
        check(b"", false);
    }
}
