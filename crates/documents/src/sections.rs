//! Finds the sections of Markdown text.

use crate::collector::{Collector, clean_title};
use crate::document::{Part, Place, Syntax, count_line_breaks};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Markdown as it is common in files; the same that the text is split by.
const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_YAML_STYLE_METADATA_BLOCKS);

/// A section of Markdown text: a heading with what follows up to the next one.
struct Section {
    range: Range<usize>,
    headings: Vec<String>,
}

/// The sections of a text.
struct Sections {
    list: Vec<Section>,
    /// The title that the YAML in front of the text states, or the first heading of the first level.
    title: Option<String>,
}

/// The headings above a place in a text, with their levels.
#[derive(Default)]
pub(crate) struct HeadingPath(Vec<(HeadingLevel, String)>);

impl HeadingPath {
    fn texts(&self) -> Vec<String> {
        self.0.iter().map(|(_, text)| text.clone()).filter(|text| !text.is_empty()).collect()
    }

    fn enter(&mut self, level: HeadingLevel, text: String) {
        self.0.retain(|(above, _)| *above < level);
        self.0.push((level, text));
    }
}

/// A heading that is being read.
struct OpenHeading {
    level: HeadingLevel,
    start: usize,
    text: String,
}

/// Where the sections of a text are.
pub(crate) enum Numbering<'p> {
    /// In their lines.
    Lines,
    /// By their number.
    Sections,
    /// All in one place.
    Within(&'p Place),
}

/// Adds the sections of Markdown text to the document.
pub(crate) fn push_sections(collector: &mut Collector<'_>, markdown: &str, numbering: &Numbering<'_>) {
    push_sections_below(collector, markdown, numbering, &mut HeadingPath::default());
}

/// Like [`push_sections`], for text that goes on below the headings of the text before it.
pub(crate) fn push_sections_below(
    collector: &mut Collector<'_>,
    markdown: &str,
    numbering: &Numbering<'_>,
    path: &mut HeadingPath,
) {
    let sections = find_sections(markdown, path);
    if let Some(title) = &sections.title {
        collector.set_title(title);
    }
    let (mut line, mut number) = (1_u32, 0_u32);
    for section in sections.list {
        if collector.is_full() {
            return;
        }
        let text = &markdown[section.range];
        let shown = text.trim_end();
        number += u32::from(!shown.is_empty());
        let place = match numbering {
            Numbering::Lines => Place::Lines { first: line, last: line.saturating_add(count_line_breaks(shown)) },
            Numbering::Sections => Place::Section { section: number },
            Numbering::Within(place) => (*place).clone(),
        };
        line = line.saturating_add(count_line_breaks(text));
        let text = shown.to_owned();
        collector.push(Part { place, headings: section.headings, table_header: None, syntax: Syntax::Markdown, text });
    }
}

fn find_sections(markdown: &str, path: &mut HeadingPath) -> Sections {
    let mut sections = Sections { list: Vec::new(), title: None };
    let mut open: Option<OpenHeading> = None;
    let mut in_metadata = false;
    let mut start = 0;
    for (event, range) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                open = Some(OpenHeading { level, start: range.start, text: String::new() });
            }
            Event::Start(Tag::MetadataBlock(_)) => in_metadata = true,
            Event::End(TagEnd::MetadataBlock(_)) => in_metadata = false,
            Event::Text(text) if in_metadata => {
                sections.title = sections.title.take().or_else(|| stated_title(&text));
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut open {
                    heading.text.push_str(&text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut open {
                    heading.text.push(' ');
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some(heading) = open.take() else { continue };
                // A heading in a list or a quotation begins in the middle of a line.
                let at = markdown[..heading.start].rfind('\n').map_or(0, |at| at + 1);
                if at > start {
                    sections.list.push(Section { range: start..at, headings: path.texts() });
                    start = at;
                }
                let text = clean_title(&heading.text);
                if heading.level == HeadingLevel::H1 && sections.title.is_none() && !text.is_empty() {
                    sections.title = Some(text.clone());
                }
                path.enter(heading.level, text);
            }
            _ => {}
        }
    }
    sections.list.push(Section { range: start..markdown.len(), headings: path.texts() });
    sections
}

/// Returns the value of `title:` in the YAML in front of a text.
fn stated_title(yaml: &str) -> Option<String> {
    let title = yaml.lines().find_map(|line| line.strip_prefix("title:"))?;
    let title = clean_title(title.trim().trim_matches(['"', '\'']));
    (!title.is_empty()).then_some(title)
}
