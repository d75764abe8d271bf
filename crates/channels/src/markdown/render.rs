//! Markdown to text with styles.

use markdown_stream::link_text;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};
use std::fmt::Write;
use std::sync::Arc;

/// The deepest nesting of lists that is indented.
const MAX_INDENT: usize = 6;

/// The style of a run of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) strikethrough: bool,
    pub(crate) quote: bool,
    pub(crate) code: bool,
    /// A block of code, with its language.
    pub(crate) block: Option<Arc<str>>,
    /// The target of a link.
    pub(crate) link: Option<Arc<str>>,
}

/// A part of a text with one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) style: Style,
}

/// Renders Markdown. Blocks that messengers do not have are shown as text: tables as a block of code.
pub(crate) fn render(markdown: &str) -> Vec<Run> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer::default();
    for event in Parser::new_ext(markdown, options) {
        renderer.event(event);
    }
    renderer.runs
}

/// A link whose text is being read.
struct OpenLink {
    target: Option<Arc<str>>,
    text: String,
}

#[derive(Default)]
struct Renderer {
    runs: Vec<Run>,
    /// The nesting depth of each style.
    bold: usize,
    italic: usize,
    strikethrough: usize,
    quote: usize,
    block: Option<Arc<str>>,
    links: Vec<OpenLink>,
    /// The open lists: the next number of an ordered one.
    lists: Vec<Option<u64>>,
    /// The line breaks that come before the next text.
    breaks: usize,
    /// The marker before the next text of an item.
    marker: Option<String>,
    cells: usize,
}

impl Renderer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.push(&text, false),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.push(&text, true),
            Event::SoftBreak | Event::HardBreak => self.push("\n", false),
            Event::Rule => {
                self.separate(2);
                self.push("———", false);
                self.separate(2);
            }
            Event::TaskListMarker(is_done) => self.push(if is_done { "☑ " } else { "☐ " }, false),
            Event::FootnoteReference(name) => self.push(&format!("[{name}]"), false),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.separate(if self.lists.is_empty() { 2 } else { 1 }),
            Tag::Heading { .. } => {
                self.separate(2);
                self.bold += 1;
            }
            Tag::BlockQuote(_) => {
                self.separate(2);
                self.quote += 1;
            }
            Tag::CodeBlock(kind) => {
                self.separate(if self.lists.is_empty() { 2 } else { 1 });
                self.block = Some(language(&kind));
            }
            Tag::Table(_) => {
                self.separate(2);
                self.block = Some(Arc::from(""));
            }
            Tag::TableHead => self.cells = 0,
            Tag::TableRow => {
                // Within the block, so that the rows are one.
                self.push("\n", false);
                self.cells = 0;
            }
            Tag::TableCell => {
                if self.cells > 0 {
                    self.push(" | ", false);
                }
                self.cells += 1;
            }
            Tag::List(first) => {
                self.separate(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(first);
            }
            Tag::Item => {
                self.separate(1);
                self.marker = Some(self.item_marker());
            }
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Strikethrough => self.strikethrough += 1,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push(OpenLink { target: link(&dest_url), text: String::new() });
            }
            Tag::HtmlBlock => self.separate(2),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.bold = self.bold.saturating_sub(1);
                self.separate(2);
            }
            TagEnd::BlockQuote(_) => {
                self.quote = self.quote.saturating_sub(1);
                self.separate(2);
            }
            TagEnd::CodeBlock | TagEnd::Table => {
                self.block = None;
                self.separate(2);
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.marker = None;
                self.separate(if self.lists.is_empty() { 2 } else { 1 });
            }
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Strikethrough => self.strikethrough = self.strikethrough.saturating_sub(1),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    /// Ends a link, after the host that it opens if its text names another one.
    fn end_link(&mut self) {
        let host = self.links.last().and_then(|open| {
            let target = open.target.as_deref()?;
            Some(format!(" ({})", link_text::undisclosed_host(&open.text, target)?))
        });
        if let Some(host) = host {
            self.push(&host, false);
        }
        self.links.pop();
    }

    /// Demands at least this number of line breaks before the next text.
    fn separate(&mut self, breaks: usize) {
        self.breaks = self.breaks.max(breaks);
    }

    fn item_marker(&mut self) -> String {
        let mut marker = "  ".repeat(self.lists.len().saturating_sub(1).min(MAX_INDENT));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                // Writing to a string cannot fail.
                let _ = write!(marker, "{number}. ");
                *number = number.saturating_add(1);
            }
            _ => marker.push_str("• "),
        }
        marker
    }

    fn push(&mut self, text: &str, is_code: bool) {
        if text.is_empty() {
            return;
        }
        if let Some(open) = self.links.last_mut() {
            open.text.push_str(text);
        }
        let breaks = std::mem::take(&mut self.breaks);
        if !self.runs.is_empty() && breaks > 0 {
            let is_open = |run: &&Run| run.text.ends_with('\n');
            let before = self
                .runs
                .last()
                .filter(is_open)
                .map_or(0, |run| run.text.len() - run.text.trim_end_matches('\n').len());
            self.append(&"\n".repeat(breaks.saturating_sub(before)), Style::default());
        }
        if let Some(marker) = self.marker.take() {
            self.append(&marker, Style::default());
        }
        let style = self.style(is_code);
        self.append(text, style);
    }

    fn style(&self, is_code: bool) -> Style {
        if let Some(language) = &self.block {
            return Style { block: Some(language.clone()), ..Style::default() };
        }
        let link = self.links.iter().rev().find_map(|open| open.target.clone());
        // Code is not nested in anything.
        if is_code && link.is_none() {
            return Style { code: true, ..Style::default() };
        }
        Style {
            bold: self.bold > 0,
            italic: self.italic > 0,
            strikethrough: self.strikethrough > 0,
            quote: self.quote > 0,
            link,
            ..Style::default()
        }
    }

    fn append(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        match self.runs.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            _ => self.runs.push(Run { text: text.to_owned(), style }),
        }
    }
}

/// Returns the language of a block of code: its first word, if it is a plain one.
fn language(kind: &CodeBlockKind<'_>) -> Arc<str> {
    let CodeBlockKind::Fenced(info) = kind else { return Arc::from("") };
    let word = info.split([' ', ',', '{']).next().unwrap_or_default();
    let is_plain = word.len() <= 32 && word.chars().all(|sign| sign.is_ascii_alphanumeric() || "+-#._".contains(sign));
    Arc::from(if is_plain { word } else { "" })
}

/// Returns a link that messengers open; `None` for relative ones and other protocols, and for those with a user name,
/// which makes one host look like another.
fn link(target: &CowStr<'_>) -> Option<Arc<str>> {
    let url = url::Url::parse(target).ok()?;
    let is_open = matches!(url.scheme(), "http" | "https" | "mailto" | "tel") && target.len() <= 2_000;
    let has_user = !url.username().is_empty() || url.password().is_some();
    (is_open && !has_user).then(|| Arc::from(url.as_str()))
}
