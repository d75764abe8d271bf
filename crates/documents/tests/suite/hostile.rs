//! Files that are made to exhaust or crash a parser are refused or bounded, in a process of their
//! own.

use crate::support::{cell, docx, docx_with_prologue, ods, paragraph, pdf, pdf_of_objects, xlsx};
use bytes::Bytes;
use documents::{Converter, Document, Failure, FailureCode, Limits, Place};
use std::fmt::Write as _;
use std::time::Duration;

/// Returns a converter of the program that consists of the child only.
fn converter(limits: Limits) -> Converter {
    Converter::with_program(env!("CARGO_BIN_EXE_read-document").into(), [], limits)
}

async fn convert_with(limits: Limits, name: &str, bytes: Vec<u8>) -> Result<Document, Failure> {
    converter(limits).convert_bytes(name, None, Bytes::from(bytes)).await
}

async fn convert(name: &str, bytes: Vec<u8>) -> Result<Document, Failure> {
    convert_with(Limits::default(), name, bytes).await
}

async fn code(name: &str, bytes: Vec<u8>) -> FailureCode {
    convert(name, bytes).await.unwrap_err().code
}

#[tokio::test]
async fn zip_bomb_is_refused() {
    let zeros = vec![0; 40 << 20];
    let bomb = docx(&paragraph("", "Text"), &[("word/media/image1.bin", &zeros)]);
    let limits = Limits { unpacked_bytes: 32 << 20, ..Limits::default() };
    assert_eq!(convert_with(limits, "a.docx", bomb).await.unwrap_err().code, FailureCode::TooLarge);
}

#[tokio::test]
async fn entities_are_not_expanded() {
    let mut declarations = String::from(r#"<!DOCTYPE x [<!ENTITY e0 "laugh">"#);
    for level in 1..20 {
        let _ = write!(declarations, r#"<!ENTITY e{level} "{}">"#, format!("&e{};", level - 1).repeat(10));
    }
    let bomb = docx_with_prologue(&(declarations + "]>"), &paragraph("", "Before &e19; after"), &[]);
    match convert("a.docx", bomb).await {
        Ok(document) => assert!(document.parts.iter().map(|part| part.text.len()).sum::<usize>() < 1_000),
        Err(failure) => assert_eq!(failure.code, FailureCode::Damaged),
    }
}

#[tokio::test]
async fn files_outside_of_the_archive_are_not_touched() {
    let external = r#"<!DOCTYPE x [<!ENTITY passwords SYSTEM "file:///etc/passwd">]>"#;
    let file = docx_with_prologue(
        external,
        &(paragraph("", "Before") + &paragraph("", "&passwords;")),
        &[("../../../etc/passwd", b"mine"), ("/etc/shadow", b"mine")],
    );
    if let Ok(document) = convert("../../a.docx", file).await {
        assert!(document.parts.iter().all(|part| !part.text.contains("root:")), "{document:?}");
    }
}

#[tokio::test]
async fn huge_used_range_is_read_by_its_cells() {
    let rows =
        format!(r#"<row r="1">{}</row><row r="1048576">{}</row>"#, cell("A1", "first"), cell("XFD1048576", "last"));
    let document = convert("a.xlsx", xlsx(&[("S", "", &rows)])).await.unwrap();
    let places: Vec<_> = document.parts.iter().map(|part| part.place.to_string()).collect();
    assert_eq!(places, ["sheet S, row 1"]);
    assert_eq!(document.warnings[0].message, "Only the first 500 of 16384 columns were read.");
}

#[tokio::test]
async fn repeated_rows_are_bounded() {
    let row = "<table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell table:number-columns-repeated=\"16384\" \
        office:value-type=\"string\"><text:p>x</text:p></table:table-cell></table:table-row>";
    let limits = Limits { memory_bytes: 256 << 20, ..Limits::default() };
    let result = convert_with(limits, "a.ods", ods(row)).await;
    // Only this file may fail.
    assert!(
        matches!(&result, Err(failure) if [FailureCode::OutOfMemory, FailureCode::Damaged, FailureCode::Empty].contains(&failure.code))
            || result.is_ok(),
        "{result:?}"
    );
}

#[tokio::test]
async fn pdf_with_many_objects_is_read() {
    let objects: Vec<_> = (0..100_000).map(|at| format!("<< /Next {} 0 R >>", 8 + at)).collect();
    let document = convert("a.pdf", pdf(&[&["Still read."]], &objects)).await.unwrap();
    assert_eq!(document.parts[0].text.trim(), "Still read.");
    assert_eq!(document.parts[0].place, Place::Page { page: 1 });
}

#[tokio::test]
async fn cyclic_references_end() {
    let cyclic_pages = pdf_of_objects(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 >>".to_owned(),
        "<< /Type /Pages /Kids [2 0 R] /Parent 3 0 R /Count 1 >>".to_owned(),
    ]);
    let code = code("a.pdf", cyclic_pages).await;
    assert!([FailureCode::Damaged, FailureCode::Empty].contains(&code), "{code:?}");
    let cyclic_form = crate::support::pdf_of_contents(
        &["/Fm Do BT /F1 12 Tf 72 720 Td (Text) Tj ET"],
        &["<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /Fm 7 0 R >> >> /Length 6 >>\nstream\n/Fm Do\nendstream".to_owned()],
    );
    assert_eq!(convert("a.pdf", cyclic_form).await.unwrap().parts[0].text.trim(), "Text");
}

#[tokio::test]
async fn deep_nesting_does_not_crash() {
    assert_eq!(code("a.html", "<div>".repeat(100_000).into_bytes()).await, FailureCode::Damaged);
    assert_eq!(code("a.html", ("<div>".repeat(1_000) + "Text").into_bytes()).await, FailureCode::Damaged);
    let arrays = "[".repeat(200_000) + &"]".repeat(200_000);
    let nested = pdf(&[&["Text"]], &[arrays]);
    let result = convert("a.pdf", nested).await;
    assert!(result.as_ref().map_or_else(|failure| failure.code != FailureCode::Unavailable, |_| true), "{result:?}");
    let tables = "<w:tbl><w:tr><w:tc>".repeat(20_000) + &"</w:tc></w:tr></w:tbl>".repeat(20_000);
    let result = convert("a.docx", docx(&(paragraph("", "Text") + &tables), &[])).await;
    assert!(result.as_ref().map_or_else(|failure| failure.code != FailureCode::Unavailable, |_| true), "{result:?}");
}

#[tokio::test]
async fn limits_of_the_process_are_enforced() {
    let rows: String = (1..400_000).map(|row| format!("<row r=\"{row}\"><c><v>{row}</v></c></row>")).collect();
    let workbook = xlsx(&[("S", "", &rows)]);
    let little_memory = Limits { memory_bytes: 72 << 20, ..Limits::default() };
    let huge = vec![b'x'; 60 << 20];
    let failure = convert_with(little_memory, "a.txt", huge).await.unwrap_err();
    assert_eq!(failure.code, FailureCode::OutOfMemory, "{failure:?}");
    let no_time = Limits { time: Duration::ZERO, ..Limits::default() };
    assert_eq!(convert_with(no_time, "a.xlsx", workbook.clone()).await.unwrap_err().code, FailureCode::TimedOut);
    let little_input = Limits { input_bytes: 1_000, ..Limits::default() };
    assert_eq!(convert_with(little_input, "a.xlsx", workbook.clone()).await.unwrap_err().code, FailureCode::TooLarge);
    let little_output = Limits { output_bytes: 10_000, ..Limits::default() };
    let document = convert_with(little_output, "a.xlsx", workbook).await.unwrap();
    assert!(document.parts.iter().map(|part| part.text.len()).sum::<usize>() <= 10_000);
}
