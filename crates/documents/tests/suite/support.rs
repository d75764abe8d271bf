//! Makes files.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Makes an archive of entries with names and contents.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn content_types(overrides: &[(&str, &str)]) -> String {
    let mut xml = String::from(
        r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>"#,
    );
    for (part, media_type) in overrides {
        let _ = write!(
            xml,
            r#"<Override PartName="{part}" ContentType="application/vnd.openxmlformats-officedocument.{media_type}+xml"/>"#
        );
    }
    xml + "</Types>"
}

/// Writes a file of relationships: kinds and targets.
fn relationships(targets: &[(&str, &str)]) -> String {
    let mut xml =
        String::from(r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">"#);
    for (at, (kind, target)) in targets.iter().enumerate() {
        let _ = write!(xml, r#"<Relationship Id="rId{}" Type="{RELATIONSHIPS}/{kind}" Target="{target}"/>"#, at + 1);
    }
    xml + "</Relationships>"
}

/// Makes a Word document with this XML in its body, and more entries.
pub(crate) fn docx(body: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    docx_with_prologue("", body, more)
}

/// Makes a Word document with this text in front of the XML of its content.
pub(crate) fn docx_with_prologue(prologue: &str, body: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    let document = format!(
        r#"<?xml version="1.0"?>{prologue}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>"#
    );
    let types = content_types(&[
        ("/word/document.xml", "wordprocessingml.document.main"),
        ("/word/styles.xml", "wordprocessingml.styles"),
    ]);
    let styles = r#"<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style><w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>"#;
    let root = relationships(&[("officeDocument", "word/document.xml")]);
    let parts = relationships(&[("styles", "styles.xml")]);
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", parts.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ];
    entries.extend_from_slice(more);
    archive(&entries)
}

/// Writes a paragraph of a Word document.
pub(crate) fn paragraph(style: &str, text: &str) -> String {
    format!(r#"<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>"#)
}

/// Makes a presentation of slides with titles and texts; the last one has notes, in a file with the
/// number of the first.
pub(crate) fn pptx(slides: &[(&str, &str)], notes: &str) -> Vec<u8> {
    const NAMESPACES: &str = r#"xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships""#;
    let mut entries = vec![("_rels/.rels".to_owned(), relationships(&[("officeDocument", "ppt/presentation.xml")]))];
    let (mut types, mut targets, mut ids) =
        (vec![("/ppt/presentation.xml".to_owned(), "presentationml.presentation.main")], Vec::new(), String::new());
    for (at, (title, text)) in slides.iter().enumerate() {
        let number = at + 1;
        let shape = |kind: &str, text: &str| {
            format!(
                r#"<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"#
            )
        };
        let slide = format!(
            r#"<p:sld {NAMESPACES}><p:cSld><p:spTree>{}{}</p:spTree></p:cSld></p:sld>"#,
            shape("title", title),
            shape("body", text)
        );
        entries.push((format!("ppt/slides/slide{number}.xml"), slide));
        types.push((format!("/ppt/slides/slide{number}.xml"), "presentationml.slide"));
        targets.push(("slide", format!("slides/slide{number}.xml")));
        let _ = write!(ids, r#"<p:sldId id="{}" r:id="rId{number}"/>"#, 255 + number);
    }
    entries.push((
        format!("ppt/slides/_rels/slide{}.xml.rels", slides.len()),
        relationships(&[("notesSlide", "../notesSlides/notesSlide1.xml")]),
    ));
    entries.push((
        "ppt/notesSlides/notesSlide1.xml".to_owned(),
        format!(
            r#"<p:notes {NAMESPACES}><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="sldNum"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:fld><a:t>7</a:t></a:fld></a:p></p:txBody></p:sp><p:sp><p:nvSpPr><p:nvPr><p:ph type="body" idx="1"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{notes}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:notes>"#
        ),
    ));
    let types: Vec<_> = types.iter().map(|(part, kind)| (part.as_str(), *kind)).collect();
    let targets: Vec<_> = targets.iter().map(|(kind, target)| (*kind, target.as_str())).collect();
    entries.push(("[Content_Types].xml".to_owned(), content_types(&types)));
    entries.push(("ppt/_rels/presentation.xml.rels".to_owned(), relationships(&targets)));
    entries.push((
        "ppt/presentation.xml".to_owned(),
        format!(r#"<p:presentation {NAMESPACES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"#),
    ));
    let entries: Vec<_> = entries.iter().map(|(name, content)| (name.as_str(), content.as_bytes())).collect();
    archive(&entries)
}

/// Makes a workbook of sheets with names, attributes and the XML of their rows.
pub(crate) fn xlsx(sheets: &[(&str, &str, &str)]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let (mut entries, mut types) = (Vec::new(), vec![("/xl/workbook.xml".to_owned(), "spreadsheetml.sheet.main")]);
    let (mut targets, mut list) = (Vec::new(), String::new());
    for (at, (name, attributes, rows)) in sheets.iter().enumerate() {
        let number = at + 1;
        let sheet = format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>"#);
        entries.push((format!("xl/worksheets/sheet{number}.xml"), sheet));
        types.push((format!("/xl/worksheets/sheet{number}.xml"), "spreadsheetml.worksheet"));
        targets.push(("worksheet", format!("worksheets/sheet{number}.xml")));
        let _ = write!(list, r#"<sheet name="{name}" sheetId="{number}" r:id="rId{number}" {attributes}/>"#);
    }
    let types: Vec<_> = types.iter().map(|(part, kind)| (part.as_str(), *kind)).collect();
    let targets: Vec<_> = targets.iter().map(|(kind, target)| (*kind, target.as_str())).collect();
    entries.push(("[Content_Types].xml".to_owned(), content_types(&types)));
    entries.push(("_rels/.rels".to_owned(), relationships(&[("officeDocument", "xl/workbook.xml")])));
    entries.push(("xl/_rels/workbook.xml.rels".to_owned(), relationships(&targets)));
    entries.push((
        "xl/workbook.xml".to_owned(),
        format!(r#"<workbook xmlns="{MAIN}" xmlns:r="{RELATIONSHIPS}"><sheets>{list}</sheets></workbook>"#),
    ));
    let entries: Vec<_> = entries.iter().map(|(name, content)| (name.as_str(), content.as_bytes())).collect();
    archive(&entries)
}

/// Writes a cell with a text.
pub(crate) fn cell(reference: &str, text: &str) -> String {
    format!(r#"<c r="{reference}" t="inlineStr"><is><t>{text}</t></is></c>"#)
}

/// Makes an ODS workbook with the XML of its rows.
pub(crate) fn ods(rows: &str) -> Vec<u8> {
    let content = format!(
        r#"<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet><table:table table:name="Sheet">{rows}</table:table></office:spreadsheet></office:body></office:document-content>"#
    );
    let manifest = r#"<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>"#;
    archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", manifest.as_bytes()),
        ("content.xml", content.as_bytes()),
    ])
}

/// Makes an electronic book of chapters in XHTML.
pub(crate) fn epub(title: &str, chapters: &[&str]) -> Vec<u8> {
    let (mut manifest, mut spine, mut entries) = (String::new(), String::new(), Vec::new());
    for (at, chapter) in chapters.iter().enumerate() {
        let _ = write!(manifest, r#"<item id="c{at}" href="c{at}.xhtml" media-type="application/xhtml+xml"/>"#);
        let _ = write!(spine, r#"<itemref idref="c{at}"/>"#);
        let page = format!(
            r#"<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{chapter}</body></html>"#
        );
        entries.push((format!("OEBPS/c{at}.xhtml"), page));
    }
    let package = format!(
        r#"<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">x</dc:identifier><dc:title>{title}</dc:title><dc:language>en</dc:language></metadata><manifest>{manifest}</manifest><spine>{spine}</spine></package>"#
    );
    let container = r#"<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"#;
    let mut all: Vec<(&str, &[u8])> = vec![
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container.as_bytes()),
        ("OEBPS/content.opf", package.as_bytes()),
    ];
    all.extend(entries.iter().map(|(name, content)| (name.as_str(), content.as_bytes())));
    archive(&all)
}

/// Makes a PDF file of objects, the first of which is the catalog.
pub(crate) fn pdf_of_objects(objects: &[String]) -> Vec<u8> {
    let mut file = String::from("%PDF-1.7\n");
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let _ = write!(file, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1);
    file.into_bytes()
}

/// Makes a PDF file of pages with lines of text, and further objects.
pub(crate) fn pdf(pages: &[&[&str]], more: &[String]) -> Vec<u8> {
    let contents: Vec<_> = pages
        .iter()
        .map(|lines| {
            let mut content = String::from("BT /F1 12 Tf 72 720 Td 14 TL\n");
            for line in *lines {
                let _ = writeln!(content, "({line}) Tj T*");
            }
            content + "ET"
        })
        .collect();
    let contents: Vec<_> = contents.iter().map(String::as_str).collect();
    pdf_of_contents(&contents, more)
}

/// Makes a PDF file of pages with these content streams.
pub(crate) fn pdf_of_contents(contents: &[&str], more: &[String]) -> Vec<u8> {
    let kids: Vec<_> = (0..contents.len()).map(|at| format!("{} 0 R", 5 + 2 * at)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), contents.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\nstream\nx\nendstream".to_owned(),
    ];
    for (at, content) in contents.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /Im1 4 0 R >> >> >>",
            6 + 2 * at
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    objects.extend_from_slice(more);
    pdf_of_objects(&objects)
}
