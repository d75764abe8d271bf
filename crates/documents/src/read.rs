//! Reads files of all formats.

use crate::collector::Collector;
use crate::document::Document;
use crate::format::{self, Detected};
use crate::{Failure, FailureCode, Format, Limits, formats};

/// A file to read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name of the file; it is never used as a path.
    pub name: &'a str,
    /// The media type that whoever sent the file stated.
    pub media_type: Option<&'a str>,
    /// The content.
    pub bytes: &'a [u8],
}

/// Reads the text of a file in this thread. The parsers of formats other than text, Markdown, CSV,
/// JSON and source code can crash or run for long over a malicious file: call them through
/// [`Converter`](crate::Converter), which runs this function in a process of its own.
///
/// # Errors
/// [`Failure`] if the file cannot be read; limits that only shorten the text are warnings of the
/// document.
pub fn read(source: &Source<'_>, limits: &Limits) -> Result<Document, Failure> {
    let fail = |code: FailureCode| Failure::new(code, source.name);
    if source.bytes.len() as u64 > limits.input_bytes {
        return Err(fail(FailureCode::TooLarge));
    }
    if source.bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(fail(FailureCode::Empty));
    }
    let format = match format::detect(source.name, source.media_type, source.bytes) {
        Detected::Format(format) => format,
        Detected::Archive => formats::archive_format(source, limits)?,
        Detected::Compound => formats::compound_format(source)?,
        Detected::Unknown => return Err(fail(FailureCode::Unsupported)),
    };
    let mut collector = Collector::new(format, limits);
    read_as(format, source, &mut collector)?;
    if collector.is_empty() {
        return Err(fail(FailureCode::Empty));
    }
    Ok(collector.finish(source.name))
}

fn read_as(format: Format, source: &Source<'_>, collector: &mut Collector<'_>) -> Result<(), Failure> {
    match format {
        Format::Text | Format::Code => formats::text::read(source, collector),
        Format::Markdown => formats::markdown::read(source, collector),
        Format::Json => formats::json::read(source, collector),
        Format::Csv => return formats::csv::read(source, collector),
        Format::Html => return formats::html::read(source, collector),
        Format::Email => return formats::email::read(source, collector),
        #[cfg(feature = "office")]
        Format::Word | Format::Slides => return formats::office::read(source, collector),
        #[cfg(feature = "office")]
        Format::Spreadsheet => return formats::spreadsheet::read(source, collector),
        #[cfg(feature = "office")]
        Format::Epub => return formats::epub::read(source, collector),
        #[cfg(feature = "pdf")]
        Format::Pdf => return formats::pdf::read(source, collector),
        #[cfg(not(all(feature = "office", feature = "pdf")))]
        _ => return Err(Failure::new(FailureCode::NotBuilt, source.name)),
    }
    Ok(())
}
