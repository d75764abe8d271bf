//! Word documents and presentations, those of the older binary formats included.

use crate::collector::Collector;
use crate::document::Place;
use crate::encoding::{normalize, one_line};
use crate::formats::notes::read_notes;
use crate::sections::{Numbering, push_sections};
use crate::{Failure, FailureCode, Format, Source};
use std::collections::HashMap;
use undoc::render::{self, RenderOptions};
use undoc::{Document, ErrorKind, FormatType};

/// Returns the format of a compound file by its streams.
pub(crate) fn compound_format(source: &Source<'_>) -> Result<Format, Failure> {
    match undoc::detect_format_from_bytes(source.bytes) {
        Ok(FormatType::Doc | FormatType::Docx) => Ok(Format::Word),
        Ok(FormatType::Ppt | FormatType::Pptx) => Ok(Format::Slides),
        Ok(FormatType::Xls | FormatType::Xlsx) => Ok(Format::Spreadsheet),
        Err(error) => {
            let code = match error.kind() {
                ErrorKind::Encrypted => FailureCode::Encrypted,
                ErrorKind::UnknownFormat | ErrorKind::UnsupportedFormat => FailureCode::Unsupported,
                _ => FailureCode::Damaged,
            };
            Err(Failure::new(code, source.name).with_detail(error))
        }
    }
}

/// Adds the sections of a document, or the slides of a presentation.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let document = undoc::parse_bytes(source.bytes).map_err(|error| {
        let is_encrypted = error.kind() == ErrorKind::Encrypted;
        let code = if is_encrypted { FailureCode::Encrypted } else { FailureCode::Damaged };
        Failure::new(code, source.name).with_detail(error)
    })?;
    if let Some(title) = &document.metadata.title {
        collector.set_title(title);
    }
    let options = RenderOptions::new().with_images(false).with_preserve_breaks(true);
    match document.format {
        FormatType::Pptx | FormatType::Ppt => push_slides(collector, document, source, &options),
        _ => {
            let markdown = render::to_markdown(&document, &options)
                .map_err(|error| Failure::new(FailureCode::Damaged, source.name).with_detail(error))?;
            push_sections(collector, &normalize(markdown), &Numbering::Sections);
        }
    }
    Ok(())
}

fn push_slides(collector: &mut Collector<'_>, document: Document, source: &Source<'_>, options: &RenderOptions) {
    let no_images = HashMap::new();
    let is_archive = document.format == FormatType::Pptx;
    let mut notes = if is_archive { read_notes(source.bytes) } else { Vec::new() };
    for (at, mut slide) in document.sections.into_iter().enumerate() {
        if collector.is_full() {
            return;
        }
        // The name is the number of the slide, and the notes may be those of another one.
        slide.name = None;
        if is_archive {
            slide.notes = None;
        }
        let mut text = render::render_section_to_string(&slide, at, document.format, options, &no_images);
        if let Some(notes) = notes.get_mut(at).and_then(Option::take) {
            text = format!("{}\n\n> Notes: {}", text.trim_end(), one_line(&notes));
        }
        let place = Place::Slide { slide: u32::try_from(at).unwrap_or(u32::MAX).saturating_add(1) };
        push_sections(collector, &normalize(text.trim()), &Numbering::Within(&place));
    }
}
