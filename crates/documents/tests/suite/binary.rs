//! Reads office formats, books and PDF.

use crate::support::{cell, docx, epub, ods, paragraph, pdf, pdf_of_contents, pptx, xlsx};
use crate::{outline, parse};
use documents::{FailureCode, Limits, Source, read};

#[test]
fn word_documents_are_divided_at_their_headings() {
    let table = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Country</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Days</w:t></w:r></w:p></w:tc></w:tr>\
        <w:tr><w:tc><w:p><w:r><w:t>France</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>14</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";
    let body = [
        paragraph("Heading1", "Refunds"),
        paragraph("", "Within thirty days."),
        paragraph("Heading2", "Exceptions"),
        table.to_owned(),
    ];
    insta::assert_snapshot!(outline(&parse("a.docx", &docx(&body.concat(), &[]))), @r#"
    Word: Refunds
    [section 1] Refunds
    # Refunds

    Within thirty days.
    [section 2] Refunds > Exceptions
    ## Exceptions

    | Country | Days |
    | --- | --- |
    | France | 14 |
    "#);
}

#[test]
fn slides_are_numbered() {
    insta::assert_snapshot!(outline(&parse("a.pptx", &pptx(&[("Plan", "First"), ("Goals", "Grow")], "The budget &amp; more &#8212; Q1"))), @r#"
    Slides: Plan
    [slide 1] Plan
    # Plan

    First
    [slide 2] Goals
    # Goals

    Grow

    > Notes: The budget & more — Q1
    "#);
}

#[test]
fn rows_of_visible_sheets_are_read() {
    let rows = format!(
        r#"<row r="1">{}{}</row><row r="2">{}<c r="B2"><v>1.5</v></c></row><row r="9">{}<c r="B9" t="b"><v>1</v></c></row>"#,
        cell("A1", "Name"),
        cell("B1", "Amount"),
        cell("A2", "Apples | pears"),
        cell("A9", "Bread")
    );
    let hidden = cell("A1", "Secret");
    let sheets = [("Q1", "", rows.as_str()), ("Old", r#"state="hidden""#, &format!("<row r=\"1\">{hidden}</row>"))];
    insta::assert_snapshot!(outline(&parse("a.xlsx", &xlsx(&sheets))), @r#"
    Spreadsheet: a
    [sheet Q1, row 2] Q1
    | Name | Amount |
    | --- | --- |
    | Apples \| pears | 1.5 |
    [sheet Q1, row 9] Q1
    | Name | Amount |
    | --- | --- |
    | Bread | true |
    Skipped: 1 hidden sheet(s) were not read.
    "#);
    let rows = "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>City</text:p></table:table-cell></table:table-row>\
        <table:table-row><table:table-cell office:value-type=\"string\"><text:p>Bonn</text:p></table:table-cell></table:table-row>";
    insta::assert_snapshot!(outline(&parse("a.ods", &ods(rows))), @r#"
    Spreadsheet: a
    [sheet Sheet, row 2] Sheet
    | City |
    | --- |
    | Bonn |
    "#);
}

#[test]
fn books_are_read_by_chapter() {
    let chapters = ["<h1>One</h1><p>It <em>begins</em>.</p><h2>Later</h2><p>More.</p>", "<p>Two</p>"];
    insta::assert_snapshot!(outline(&parse("a.epub", &epub("A book", &chapters))), @r#"
    Epub: A book
    [chapter 1] One
    # One

    It *begins*.
    [chapter 1] One > Later
    ## Later

    More.
    [chapter 2] 
    Two
    "#);
}

#[test]
fn pdf_is_read_by_page() {
    insta::assert_snapshot!(outline(&parse("a.pdf", &pdf(&[&["Refunds take thirty days."], &["Exceptions", "are rare."]], &[]))), @r#"
    Pdf: a
    [page 1] 
    Refunds take thirty days.
    [page 2] 
    Exceptions are rare.
    "#);
}

#[test]
fn filled_in_forms_are_read() {
    let form = crate::support::pdf_of_objects(
        &[
            "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [4 0 R 5 0 R] >> >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>",
            "<< /FT /Tx /T (Name) /V (Ada) >>",
            "<< /FT /Tx /T (Street) >>",
        ]
        .map(str::to_owned),
    );
    insta::assert_snapshot!(outline(&parse("a.pdf", &form)), @r#"
    Pdf: a
    [page 1] 
    Name: Ada
    "#);
}

#[test]
fn pages_without_text_are_named() {
    let image = "q 595 0 0 842 0 0 cm /Im1 Do Q";
    let mixed = pdf_of_contents(&[image, "BT /F1 12 Tf 72 720 Td (Text) Tj ET"], &[]);
    insta::assert_snapshot!(outline(&parse("a.pdf", &mixed)), @r#"
    Pdf: a
    [page 2] 
    Text
    PagesWithoutText: Pages without text, which are pictures or cannot be decoded: 1.
    "#);
    assert_eq!(parse("a.pdf", &mixed).picture_pages, [1]);
    let scanned = pdf_of_contents(&[image, image], &[]);
    let failure = read(&Source { name: "a.pdf", media_type: None, bytes: &scanned }, &Limits::default()).unwrap_err();
    assert_eq!((failure.code, &failure.picture_pages[..]), (FailureCode::NoTextLayer, &[1, 2][..]));
    insta::assert_snapshot!(failure.message, @"“a.pdf” consists of pictures of pages without text, as scanners make them. Run text recognition (OCR) over it and add the result.");
    let blank = pdf_of_contents(&[""], &[]);
    let failure = read(&Source { name: "a.pdf", media_type: None, bytes: &blank }, &Limits::default()).unwrap_err();
    assert_eq!(failure.code, FailureCode::Empty);
}

#[test]
fn other_archives_are_refused() {
    let check = |bytes: &[u8], code: FailureCode| {
        let failure = read(&Source { name: "a.docx", media_type: None, bytes }, &Limits::default()).unwrap_err();
        assert_eq!(failure.code, code, "{failure:?}");
    };
    check(&crate::support::archive(&[("a.txt", b"Hi")]), FailureCode::Unsupported);
    check(b"PK\x03\x04 and then nothing", FailureCode::Damaged);
    check(&docx("<w:p>", &[])[..300], FailureCode::Damaged);
    check(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0], FailureCode::Unsupported);
    check(b"%PDF-1.7 and then nothing", FailureCode::Damaged);
    let objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"].map(str::to_owned);
    check(&crate::support::pdf_of_objects(&objects), FailureCode::Damaged);
}
