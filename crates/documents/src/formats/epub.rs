//! Electronic books, a part per section of each chapter.

use super::html;
use crate::collector::Collector;
use crate::document::{Place, WarningCode};
use crate::sections::{Numbering, push_sections};
use crate::{Failure, FailureCode, Source};
use rbook::Epub;
use rbook::epub::EpubOpenOptions;
use std::io::Cursor;

/// Adds the chapters in the order of reading.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let open = EpubOpenOptions::new().skip_toc(true).read(Cursor::new(source.bytes.to_vec()));
    let book: Epub = open.map_err(|error| Failure::new(FailureCode::Damaged, source.name).with_detail(error))?;
    if let Some(title) = book.metadata().title() {
        collector.set_title(title.value());
    }
    let (mut chapter, mut failed) = (0_u32, 0_u32);
    for content in book.reader() {
        if collector.is_full() {
            break;
        }
        chapter = chapter.saturating_add(1);
        let markdown = content.ok().and_then(|content| html::to_markdown(content.content(), source.name).ok());
        let Some(markdown) = markdown else {
            failed += 1;
            continue;
        };
        push_sections(collector, &markdown, &Numbering::Within(&Place::Chapter { chapter }));
    }
    if failed > 0 {
        collector.warn(WarningCode::Skipped, format!("{failed} chapter(s) could not be read."));
    }
    Ok(())
}
