//! Office formats and books: archives with any content, in the places where parsers look.
#![no_main]

use documents::{Limits, Source, read};
use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Archives: what is always in them, and the entries whose content is arbitrary.
const KINDS: [(&[(&str, &str)], &[&str]); 5] = [
    (
        &[("word/_rels/document.xml.rels", "styles styles.xml numbering numbering.xml")],
        &["word/document.xml", "word/styles.xml", "word/numbering.xml"],
    ),
    (
        &[
            ("ppt/_rels/presentation.xml.rels", "slide slides/slide1.xml"),
            ("ppt/slides/_rels/slide1.xml.rels", "notesSlide ../notesSlides/notesSlide1.xml"),
        ],
        &["ppt/slides/slide1.xml", "ppt/presentation.xml", "ppt/notesSlides/notesSlide1.xml"],
    ),
    (
        &[("xl/_rels/workbook.xml.rels", "worksheet worksheets/sheet1.xml sharedStrings sharedStrings.xml")],
        &["xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/sharedStrings.xml"],
    ),
    (
        &[("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("META-INF/manifest.xml", "<manifest/>")],
        &["content.xml", "meta.xml", "styles.xml"],
    ),
    (&[("mimetype", "application/epub+zip")], &["OEBPS/content.opf", "OEBPS/c.xhtml", "META-INF/container.xml"]),
];

/// Writes pairs of kinds and targets as relationships; other content is kept.
fn fixed(name: &str, content: &str) -> String {
    if !name.ends_with(".rels") {
        return content.to_owned();
    }
    let words: Vec<_> = content.split(' ').collect();
    let entries: String = words
        .chunks(2)
        .enumerate()
        .map(|(at, pair)| {
            format!(r#"<Relationship Id="rId{}" Type="{RELATIONSHIPS}/{}" Target="{}"/>"#, at + 1, pair[0], pair[1])
        })
        .collect();
    format!(
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{entries}</Relationships>"#
    )
}

/// Reads a file and checks the limits. Panics of a parser are no findings: the process that reads files contains them.
/// The target searches for endless loops, excessive memory and stack overflows.
fn check(name: &str, bytes: &[u8]) {
    // That of the fuzzer ends the process.
    set_hook(Box::new(|_| {}));
    let limits = Limits { input_bytes: 1 << 20, unpacked_bytes: 1 << 22, output_bytes: 1 << 16, ..Limits::default() };
    let source = Source { name, media_type: None, bytes };
    let text = catch_unwind(AssertUnwindSafe(|| read(&source, &limits)))
        .ok()
        .and_then(Result::ok)
        .map(|document| document.parts.iter().map(|part| part.text.len()).sum::<usize>());
    if text.is_some_and(|bytes| bytes > limits.output_bytes) {
        eprintln!("the text is longer than the limit");
        std::process::abort();
    }
}

fuzz_target!(|given: (u8, Vec<&str>, &[u8])| {
    let (kind, contents, raw) = given;
    // The bytes of an archive as they are, and those of a compound file.
    check("a.docx", raw);
    let (fixed_entries, free) = KINDS[usize::from(kind) % KINDS.len()];
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, content: &str| {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    };
    for (name, content) in fixed_entries {
        add(name, &fixed(name, content));
    }
    for (name, content) in free.iter().zip(contents) {
        add(name, content);
    }
    let bytes = writer.finish().unwrap().into_inner();
    check("a", &bytes);
});
