//! Reads text formats and splits them.

use crate::{outline, parse};
use documents::{Document, FailureCode, Limits, Part, Place, Source, SplitOptions, Syntax, read, split};

#[test]
fn text_and_code_keep_their_lines() {
    insta::assert_snapshot!(outline(&parse("a/notes.txt", b"One\r\n\r\nTwo\r\n")), @r#"
    Text: notes
    [lines 1–3] 
    One

    Two
    "#);
    insta::assert_snapshot!(outline(&parse(
        "latin.txt",
        "Grüße aus Köln, schöne Straße".chars().map(|char| char as u8).collect::<Vec<_>>().as_slice()
    )), @r#"
    Text: latin
    [line 1] 
    Grüße aus Köln, schöne Straße
    "#);
    insta::assert_snapshot!(outline(&parse("main.rs", b"fn main() {\n}\n")), @r#"
    Code: main
    [lines 1–2] 
    fn main() {
    }
    "#);
}

#[test]
fn markdown_is_divided_at_its_headings() {
    let text = "---\ntitle: \"Notes\"\n---\nIntro\n\n# Top\ntext\n\n```\n# no heading\n```\n\nSub *one*\n---\nmore\n# Next\nend";
    insta::assert_snapshot!(outline(&parse("a.md", text.as_bytes())), @r#"
    Markdown: Notes
    [lines 1–4] 
    ---
    title: "Notes"
    ---
    Intro
    [lines 6–11] Top
    # Top
    text

    ```
    # no heading
    ```
    [lines 13–15] Top > Sub one
    Sub *one*
    ---
    more
    [lines 16–17] Next
    # Next
    end
    "#);
}

#[test]
fn html_becomes_markdown() {
    let html = "<!doctype html><head><title>R&amp;D &lt;1></title><style>p{}</style><body><nav>Menu</nav><h1>Refunds</h1>\
        <p>Some <b>bold</b> text.<ul><li>one<li>two</ul><h2>Table</h2>\
        <table><tr><th>A<th>B<tr><td>1<td>2|3</table><script>alert(1)</script>";
    insta::assert_snapshot!(outline(&parse("a.html", html.as_bytes())), @r#"
    Html: R&D <1>
    [section 1] Refunds
    # Refunds

    Some **bold** text.

    - one
    - two
    [section 2] Refunds > Table
    ## Table

    | A | B   |
    | - | --- |
    | 1 | 2&#124;3 |
    "#);
    let hebrew = b"<meta charset=iso-8859-8><p>\xe1\xe2";
    insta::assert_snapshot!(outline(&parse("a.html", hebrew)), @r#"
    Html: a
    [section 1] 
    בג
    "#);
}

#[test]
fn rows_are_kept_with_the_names_of_their_columns() {
    insta::assert_snapshot!(outline(&parse("a.csv", b"Name;Amount\n\"A;b\n|\";1\n\n\nC;2\n")), @r#"
    Csv: a
    [rows 2–3] 
    | Name | Amount |
    | --- | --- |
    | A;b \| | 1 |
    | C | 2 |
    "#);
    insta::assert_snapshot!(outline(&parse("a.tsv", b"1\t2\n3\t4\t5\n")), @r#"
    Csv: a
    [rows 1–2] 
    | A | B | C |
    | --- | --- | --- |
    | 1 | 2 |  |
    | 3 | 4 | 5 |
    "#);
    insta::assert_snapshot!(outline(&parse("a.csv", b"Name,Amount\n")), @r#"
    Csv: a
    [row 1] 
    | Name | Amount |
    | --- | --- |
    "#);
}

#[test]
fn json_on_one_line_is_formatted() {
    let long = format!("{{\"a\":[1,{{\"b\":\"{}\"}}]}}", "x".repeat(2_000));
    assert!(parse("a.json", long.as_bytes()).parts[0].text.starts_with("{\n  \"a\": [\n    1,"));
    assert_eq!(parse("a.json", b"{\"a\":1}\n{\"a\":2}").parts[0].text, "{\"a\":1}\n{\"a\":2}");
    assert_eq!(parse("a.json", b"{\"a\":").parts[0].text, "{\"a\":");
}

#[test]
fn messages_begin_with_their_headers() {
    let message = "From: Ada <ada@example.com>\r\nTo: bob@example.com\r\nSubject: =?utf-8?q?Gr=C3=B6=C3=9Fe?=\r\n\
        Date: Mon, 1 Jun 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n\
        --x\r\nContent-Type: text/html\r\n\r\n<h1>Hello</h1><p>Text</p>\r\n\
        --x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=../a.pdf\r\n\r\nabc\r\n--x--\r\n";
    insta::assert_snapshot!(outline(&parse("a.eml", message.as_bytes())), @r#"
    Email: Größe
    [section 1] 
    From: Ada <ada@example.com>
    To: bob@example.com
    Date: 2026-06-01T10:00:00Z
    Subject: Größe
    Attachments: ../a.pdf
    [section 2] Hello
    # Hello

    Text
    Skipped: Attachments were not read: ../a.pdf.
    "#);
}

#[test]
fn forwarded_messages_are_read_to_a_depth() {
    let mut message = "Subject: 5\r\nContent-Transfer-Encoding: base64\r\n\r\nYm9keSA1\r\n".to_owned();
    for depth in (0..5).rev() {
        let head = format!(
            "Subject: {depth}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b{depth}\r\n\r\n"
        );
        let text = format!("--b{depth}\r\nContent-Type: text/plain\r\n\r\nbody {depth}\r\n");
        let inner = format!("--b{depth}\r\nContent-Type: message/rfc822\r\n\r\n{message}\r\n--b{depth}--\r\n");
        message = head + &text + &inner;
    }
    insta::assert_snapshot!(outline(&parse("a.eml", message.as_bytes())), @r#"
    Email: 0
    [section 1] 
    Subject: 0
    Attachments: 1
    [section 2] 
    body 0
    [section 3] 
    Subject: 1
    Attachments: 2
    [section 4] 
    body 1
    [section 5] 
    Subject: 2
    Attachments: 3
    [section 6] 
    body 2
    [section 7] 
    Subject: 3
    Attachments: 4
    [section 8] 
    body 3
    Skipped: Attachments were not read: 4.
    "#);
}

#[test]
fn chunks_have_their_context_and_their_places() {
    let paragraph = "A sentence about refunds. ".repeat(8);
    let text = format!("# Handbook\nShort.\n\n## Refunds\n{paragraph}\n\n{paragraph}\n\n## Other\nEnd.");
    let document = parse("a.md", text.as_bytes());
    let options = SplitOptions { max_chars: 260, min_chars: 60, overlap_chars: 0 };
    let chunks = split(&document, &options);
    let shown: Vec<_> = chunks
        .iter()
        .map(|chunk| format!("{} [{}] {} chars", chunk.context, chunk.place().unwrap(), chunk.text.chars().count()))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    Handbook [lines 1–5] 237 chars
    Handbook > Refunds [line 7] 207 chars
    Handbook > Other [lines 9–10] 13 chars
    "#);
    for chunk in &chunks {
        let texts: Vec<_> =
            chunk.spans.iter().map(|span| &document.parts[span.part].text[span.range.clone()]).collect();
        assert_eq!(texts.join("\n\n"), chunk.text);
        assert!(chunk.text.chars().count() <= 260);
    }
}

/// A citation names the page of its chunk.
#[test]
fn small_pages_have_chunks_of_their_own() {
    let check = |places: [Place; 3], expected: &[&str]| {
        let part = |place: Place| Part {
            place,
            headings: Vec::new(),
            table_header: None,
            syntax: Syntax::Plain,
            text: "Short.".to_owned(),
        };
        let document = Document { parts: places.map(part).to_vec(), ..parse("a.txt", b"x") };
        let chunks = split(&document, &SplitOptions::default());
        let found: Vec<_> = chunks.iter().map(|chunk| chunk.place().unwrap().to_string()).collect();
        assert_eq!(found, expected);
    };
    check([1, 2, 2].map(|page| Place::Page { page }), &["page 1", "page 2"]);
    check([1, 2, 3].map(|slide| Place::Slide { slide }), &["slide 1", "slide 2", "slide 3"]);
    check([1, 2, 3].map(|line| Place::Lines { first: line, last: line }), &["lines 1–3"]);
}

#[test]
fn chunks_of_tables_keep_whole_rows() {
    let rows: String = (0..50).map(|row| format!("Name {row},{row}\n")).collect();
    let document = parse("a.csv", format!("Name,Amount\n{rows}").as_bytes());
    let chunks = split(&document, &SplitOptions { max_chars: 200, min_chars: 20, overlap_chars: 50 });
    assert!(chunks.len() > 4);
    for chunk in &chunks {
        assert!(chunk.context.ends_with("| Name | Amount |\n| --- | --- |"), "{}", chunk.context);
        assert!(chunk.text.lines().all(|line| line.starts_with("| Name ") && line.ends_with(" |")), "{}", chunk.text);
    }
    assert_eq!(chunks[0].place().unwrap().to_string(), "rows 2–14");
}

#[test]
fn files_without_text_are_refused_with_a_reason() {
    let check = |name: &str, bytes: &[u8], code: FailureCode, message: &str| {
        let limits = Limits { input_bytes: 100, ..Limits::default() };
        let failure = read(&Source { name, media_type: None, bytes }, &limits).unwrap_err();
        assert_eq!(failure.code, code, "{name}");
        assert!(failure.message.starts_with(message), "{}", failure.message);
    };
    check("a.txt", b" \n", FailureCode::Empty, "“a.txt” has no text.");
    check("a.gif", b"GIF89a\0\0\0", FailureCode::Unsupported, "“a.gif” is not of a format that can be read.");
    check("\n", &[b'x'; 101], FailureCode::TooLarge, "The file is larger than allowed");
    check("a.html", b"<style>p{}</style>", FailureCode::Empty, "“a.html” has no text.");
}
