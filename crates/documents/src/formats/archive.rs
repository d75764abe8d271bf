//! Archives: what they are, and whether they may be unpacked.

use crate::{Failure, FailureCode, Format, Limits, Source};
use std::io::{Cursor, Read};
use zip::ZipArchive;
use zip::result::ZipError;

/// The maximum number of files in an archive.
const MAX_FILES: usize = 20_000;

/// Entries by which an archive is recognised.
const MARKS: &[(&str, Format)] = &[
    ("word/document.xml", Format::Word),
    ("ppt/presentation.xml", Format::Slides),
    ("xl/workbook.xml", Format::Spreadsheet),
    ("xl/workbook.bin", Format::Spreadsheet),
];

/// The contents of the entry `mimetype` of archives.
const MEDIA_TYPES: &[(&str, Format)] = &[
    ("application/epub+zip", Format::Epub),
    ("application/vnd.oasis.opendocument.spreadsheet", Format::Spreadsheet),
    ("application/vnd.oasis.opendocument.spreadsheet-template", Format::Spreadsheet),
];

/// Returns the format of an archive of which it is known that all of it can be unpacked within the
/// limits: sizes that an archive states may be false, so everything is unpacked once and counted.
/// Names of entries are compared and never used as paths.
pub(crate) fn archive_format(source: &Source<'_>, limits: &Limits) -> Result<Format, Failure> {
    let fail = |error: ZipError| Failure::new(code(&error), source.name).with_detail(error);
    let mut archive = ZipArchive::new(Cursor::new(source.bytes)).map_err(fail)?;
    if archive.len() > MAX_FILES {
        let detail = format!("the archive has {} files", archive.len());
        return Err(Failure::new(FailureCode::TooLarge, source.name).with_detail(detail));
    }
    let format = format_of(&mut archive);
    let Some(format) = format else { return Err(Failure::new(FailureCode::Unsupported, source.name)) };
    let mut remaining = limits.unpacked_bytes;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(fail)?;
        // One byte more shows that there is more.
        let unpacked = std::io::copy(&mut entry.take(remaining + 1), &mut std::io::sink());
        // A damaged picture does not matter; a damaged text is the parser's to report.
        let unpacked = unpacked.unwrap_or(0);
        match remaining.checked_sub(unpacked) {
            Some(rest) => remaining = rest,
            None => {
                let detail = format!("the archive unpacks to more than {} bytes", limits.unpacked_bytes);
                return Err(Failure::new(FailureCode::TooLarge, source.name).with_detail(detail));
            }
        }
    }
    Ok(format)
}

fn format_of(archive: &mut ZipArchive<Cursor<&[u8]>>) -> Option<Format> {
    if let Ok(entry) = archive.by_name("mimetype") {
        let mut media_type = String::new();
        // The longest media type is shorter.
        let _ = entry.take(100).read_to_string(&mut media_type);
        if let Some((_, format)) = MEDIA_TYPES.iter().find(|(known, _)| *known == media_type.trim()) {
            return Some(*format);
        }
    }
    let names: Vec<_> =
        archive.file_names().flatten().map(|name| name.replace('\\', "/").to_ascii_lowercase()).collect();
    MARKS
        .iter()
        .find(|(mark, _)| names.iter().any(|name| name.trim_start_matches('/') == *mark))
        .map(|(_, format)| *format)
}

/// Returns the reason of a ZIP error.
fn code(error: &ZipError) -> FailureCode {
    match error {
        ZipError::UnsupportedArchive(text) if *text == ZipError::PASSWORD_REQUIRED => FailureCode::Encrypted,
        _ => FailureCode::Damaged,
    }
}
