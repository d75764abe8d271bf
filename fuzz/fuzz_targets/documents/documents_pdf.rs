//! PDF: any bytes, and any content of a page in a sound file.
#![no_main]

use documents::{Limits, Source, read};
use libfuzzer_sys::fuzz_target;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

fn file(objects: &[String]) -> Vec<u8> {
    let mut file = String::from("%PDF-1.7\n");
    for (at, object) in objects.iter().enumerate() {
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    // Without a table of offsets, which readers rebuild.
    file.push_str("trailer\n<< /Root 1 0 R >>\n");
    file.into_bytes()
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

fuzz_target!(|given: (&str, &str, &[u8])| {
    let (content, font, raw) = given;
    check("a.pdf", &[b"%PDF-1.7\n", raw].concat());
    let bytes = file(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_owned(),
        format!("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica {font} >>"),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\nBT /F1 12 Tf 72 720 Td {content} ET\nendstream", content.len() + 28),
    ]);
    check("a.pdf", &bytes);
});
