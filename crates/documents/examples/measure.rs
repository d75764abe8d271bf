//! Prints how many text documents and PDF pages are read in a second.

use documents::{Converter, Limits, Source, SplitOptions, read, split};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

const SENTENCE: &str = "Customers may return goods within thirty days, and afterwards a manager decides. ";
const DOCUMENTS: u32 = 500;
const PAGES: usize = 200;
const PARALLEL: usize = 4;

#[tokio::main]
async fn main() {
    let mut markdown = String::new();
    for section in 1..=20 {
        let _ = write!(markdown, "## Section {section}\n\n{}\n\n", SENTENCE.repeat(10));
    }
    let html =
        format!("<html><body>{}</body></html>", format!("<h2>Section</h2><p>{}</p>", SENTENCE.repeat(10)).repeat(20));
    let (limits, pdf) = (Limits::default(), pdf());
    let parse = |name: &str, bytes: &[u8]| {
        read(&Source { name, media_type: None, bytes }, &limits).map(|document| document.parts.len())
    };
    for (name, bytes) in [("a.md", markdown.as_bytes()), ("a.html", html.as_bytes())] {
        let start = Instant::now();
        for _ in 0..DOCUMENTS {
            std::hint::black_box(parse(name, bytes).unwrap_or_default());
        }
        println!(
            "{name}, {} KB: {:.0} documents/s",
            bytes.len() / 1024,
            f64::from(DOCUMENTS) / start.elapsed().as_secs_f64()
        );
    }
    let start = Instant::now();
    let parts = parse("a.pdf", &pdf);
    println!("a.pdf: {:.0} pages/s ({parts:?} parts)", PAGES as f64 / start.elapsed().as_secs_f64());
    if let Ok(document) = read(&Source { name: "a.md", media_type: None, bytes: markdown.as_bytes() }, &limits) {
        let start = Instant::now();
        let chunks: usize = (0..DOCUMENTS).map(|_| split(&document, &SplitOptions::default()).len()).sum();
        println!("split: {:.0} documents/s, {chunks} chunks", f64::from(DOCUMENTS) / start.elapsed().as_secs_f64());
    }
    measure_children(limits, html, pdf).await;
}

/// Measures with a child per file; the program is the argument of this one.
async fn measure_children(limits: Limits, html: String, pdf: Vec<u8>) {
    let Some(program) = std::env::args().nth(1) else {
        println!("with children: name the program `read-document` as an argument");
        return;
    };
    let converter = Converter::with_program(PathBuf::from(program), [], limits);
    let start = Instant::now();
    let workers = (0..PARALLEL).map(|_| async {
        for _ in 0..DOCUMENTS as usize / PARALLEL {
            let read = converter.convert_bytes("a.html", None, html.clone().into()).await;
            std::hint::black_box(read.is_ok());
        }
    });
    futures::future::join_all(workers).await;
    println!("a.html with children: {:.0} documents/s", f64::from(DOCUMENTS) / start.elapsed().as_secs_f64());
    let start = Instant::now();
    let read = converter.convert_bytes("a.pdf", None, pdf.into()).await;
    println!("a.pdf with a child: {:.0} pages/s ({})", PAGES as f64 / start.elapsed().as_secs_f64(), read.is_ok());
}

/// Makes a PDF file with 40 lines of text on each page.
fn pdf() -> Vec<u8> {
    let mut content = String::from("BT /F1 11 Tf 72 770 Td 16 TL\n");
    for _ in 0..40 {
        let _ = writeln!(content, "({SENTENCE}) Tj T*");
    }
    content.push_str("ET");
    let kids: Vec<_> = (0..PAGES).map(|page| format!("{} 0 R", 5 + page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {PAGES} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>";
    objects.extend(std::iter::repeat_n(page.to_owned(), PAGES));
    let mut file = String::from("%PDF-1.7\n");
    let mut offsets = String::new();
    for (at, object) in objects.iter().enumerate() {
        let _ = writeln!(offsets, "{:010} 00000 n ", file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let (start, size) = (file.len(), objects.len() + 1);
    let _ = write!(
        file,
        "xref\n0 {size}\n0000000000 65535 f \n{offsets}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    );
    file.into_bytes()
}
