//! PDF, page by page.

use crate::collector::Collector;
use crate::document::{Part, Place, Syntax, WarningCode};
use crate::encoding::{normalize, one_line};
use crate::pictures::{listed, warn_of_pages_without_text};
use crate::sections::{HeadingPath, Numbering, push_sections_below};
use crate::{Failure, FailureCode, Source};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use unpdf::render::BlockRenderer;
use unpdf::{
    Error, ErrorKind, FormField, Page, PageSelection, PageStreamOptions, ParseEvent, ParseOptions, PdfParser,
    RenderOptions,
};

/// The maximum number of pages without text whose numbers are kept.
const MAX_PICTURES: usize = 10_000;

/// The properties of the pages.
#[derive(Default)]
struct Pages {
    headings: HeadingPath,
    /// The last page that was read.
    last: u32,
    /// Pages that show something else than text.
    without_text: Vec<u32>,
    failed: Vec<u32>,
    /// The fields of the form, whose values are not among the text of the pages.
    form: Vec<FormField>,
}

/// Adds the sections of all pages.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let fail = |error: Error| Failure::new(code(&error), source.name).with_detail(error);
    let parser =
        PdfParser::from_bytes_with_options(source.bytes, ParseOptions::new().lenient().sequential()).map_err(fail)?;
    let count = parser.page_count();
    if count == 0 {
        return Err(Failure::new(FailureCode::Damaged, source.name));
    }
    let mut pages = Pages::default();
    // A page that makes the parser panic is left out, and reading goes on after it.
    while pages.last < count && !collector.is_full() {
        let selection = PageSelection::Range(pages.last + 1..=count);
        let read = catch_unwind(AssertUnwindSafe(|| read_pages(&parser, selection, &mut pages, collector)));
        match read {
            Ok(Ok(())) => break,
            Ok(Err(error)) => return Err(fail(error)),
            Err(_) => {
                pages.last += 1;
                pages.failed.push(pages.last);
            }
        }
    }
    pages.push_form(collector);
    if collector.is_empty() && !pages.without_text.is_empty() {
        let picture_pages = pages.pictures();
        return Err(Failure { picture_pages, ..Failure::new(FailureCode::NoTextLayer, source.name) });
    }
    pages.warn(collector);
    collector.set_picture_pages(pages.pictures());
    Ok(())
}

fn read_pages(
    parser: &PdfParser,
    selection: PageSelection,
    pages: &mut Pages,
    collector: &mut Collector<'_>,
) -> Result<(), Error> {
    let options = PageStreamOptions { parallel: false, pages: selection, ..PageStreamOptions::default() };
    let renderer = BlockRenderer::new(RenderOptions::new());
    parser.for_each_page(options, |event| {
        match event {
            ParseEvent::DocumentStart { metadata, form_fields, .. } => {
                if let Some(title) = &metadata.title {
                    collector.set_title(title);
                }
                pages.form = form_fields;
            }
            ParseEvent::PageParsed(page) => pages.push(&page, &renderer, collector),
            ParseEvent::PageFailed { page, .. } => {
                pages.last = page;
                pages.failed.push(page);
            }
            ParseEvent::Progress { .. } | ParseEvent::DocumentEnd { .. } => {}
        }
        if collector.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(())
}

impl Pages {
    fn push(&mut self, page: &Page, renderer: &BlockRenderer, collector: &mut Collector<'_>) {
        self.last = page.number;
        let mut markdown = String::new();
        let mut previous = None;
        for block in &page.elements {
            markdown.push_str(&renderer.render_block_after(previous, block));
            previous = Some(block);
        }
        let markdown = normalize(markdown);
        if markdown.trim().is_empty() {
            if page.image_op_count > 0 || page.suppressed_text_runs > 0 || page.ocr_text_suppressed {
                self.without_text.push(page.number);
            }
            return;
        }
        let place = Place::Page { page: page.number };
        push_sections_below(collector, &markdown, &Numbering::Within(&place), &mut self.headings);
    }

    /// Adds the filled-in fields of the form on the last page.
    fn push_form(&self, collector: &mut Collector<'_>) {
        let fields = self.form.iter().map(|field| (one_line(&field.name), field.display_value()));
        let filled = fields.filter(|(_, value)| !value.trim().is_empty());
        let lines: Vec<_> = filled.map(|(name, value)| format!("{name}: {}", one_line(&value))).collect();
        collector.push(Part {
            place: Place::Page { page: self.last.max(1) },
            headings: Vec::new(),
            table_header: None,
            syntax: Syntax::Plain,
            text: normalize(lines.join("\n")),
        });
    }

    /// Returns the first pages that show something else than text.
    fn pictures(&self) -> Vec<u32> {
        self.without_text.iter().take(MAX_PICTURES).copied().collect()
    }

    fn warn(&self, collector: &mut Collector<'_>) {
        warn_of_pages_without_text(collector, &self.without_text);
        if !self.failed.is_empty() {
            collector.warn(WarningCode::Skipped, format!("Damaged pages were left out: {}.", listed(&self.failed)));
        }
    }
}

fn code(error: &Error) -> FailureCode {
    match error.kind() {
        ErrorKind::Encrypted | ErrorKind::InvalidPassword => FailureCode::Encrypted,
        _ => FailureCode::Damaged,
    }
}
