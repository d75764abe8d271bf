//! The parser's events as views.

use super::code::code_block;
use super::document::{Lookup, References};
use super::link::{self, Piece};
use super::split::OPTIONS;
use crate::erase::{Erase, Erased};
use leptos::html;
use leptos::prelude::*;
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Parser, Tag};

/// Elements deeper than this are shown without their element, so that a text of a thousand `>` cannot exhaust the stack.
const MAX_DEPTH: usize = 32;

/// The views of one or more blocks.
pub(super) fn render(source: &str, references: &References) -> Vec<Erased> {
    let mut renderer = Renderer::default();
    for event in Parser::new_with_broken_link_callback(source, OPTIONS, Some(Lookup(Some(references)))) {
        renderer.event(event);
    }
    renderer.top.finish(true)
}

#[derive(Default)]
struct Renderer<'a> {
    /// The elements that are open, outermost first, each with what stands around it.
    open: Vec<(Tag<'a>, Content)>,
    top: Content,
    /// How many elements are open that get no element: too deep, or inside an image's description.
    skipped: usize,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

/// What stands in an element.
#[derive(Default)]
struct Content {
    children: Vec<Erased>,
    /// Text that has no view yet; neighbouring texts become one.
    text: String,
}

impl Content {
    fn flush(&mut self, link_bare_urls: bool) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        if !link_bare_urls || !text.contains("http") {
            self.children.push(text.erase());
            return;
        }
        let pieces = link::bare_urls(&text);
        self.children.extend(pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => text.to_owned().erase(),
            Piece::Url(url) => anchor(url, vec![url.to_owned().erase()]),
        }));
    }

    fn finish(mut self, link_bare_urls: bool) -> Vec<Erased> {
        self.flush(link_bare_urls);
        self.children
    }
}

impl<'a> Renderer<'a> {
    fn event(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.top.text.push_str(&text),
            Event::Code(code) if self.skipped == 0 => {
                self.push(html::code().dir("ltr").child(code.into_string()).erase())
            }
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.top.text.push_str(&text);
            }
            Event::SoftBreak => self.top.text.push('\n'),
            Event::HardBreak if self.skipped == 0 => self.push(html::br().erase()),
            Event::HardBreak => self.top.text.push(' '),
            Event::Rule => self.push(html::hr().erase()),
            Event::TaskListMarker(checked) => {
                let label = if checked { "Done" } else { "To do" };
                let marker = html::input().r#type("checkbox").disabled(true).checked(checked);
                self.push(marker.attr("aria-label", label).erase());
            }
        }
    }

    fn start(&mut self, tag: Tag<'a>) {
        let in_image = matches!(self.open.last(), Some((Tag::Image { .. }, _)));
        if self.skipped > 0 || in_image || self.open.len() >= MAX_DEPTH {
            self.skipped += 1;
            return;
        }
        match &tag {
            Tag::Table(columns) => self.columns.clone_from(columns),
            Tag::TableHead | Tag::TableRow => {
                self.column = 0;
                self.in_head = matches!(tag, Tag::TableHead);
            }
            _ => {}
        }
        self.flush();
        self.open.push((tag, std::mem::take(&mut self.top)));
    }

    fn end(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        self.flush();
        let Some((tag, around)) = self.open.pop() else {
            return;
        };
        let content = std::mem::replace(&mut self.top, around);
        let view = self.element(tag, content);
        self.top.children.push(view);
    }

    fn push(&mut self, view: Erased) {
        self.flush();
        self.top.children.push(view);
    }

    /// Gives the text so far its view, unless it is kept for an element that takes text alone.
    fn flush(&mut self) {
        let takes_text = |tag: &Tag<'_>| matches!(tag, Tag::CodeBlock(_) | Tag::Image { .. });
        if !self.open.last().is_some_and(|(tag, _)| takes_text(tag)) {
            let in_link = self.open.iter().any(|(tag, _)| matches!(tag, Tag::Link { .. }));
            self.top.flush(!in_link);
        }
    }

    fn element(&mut self, tag: Tag<'a>, content: Content) -> Erased {
        let Content { children, text } = content;
        match tag {
            Tag::CodeBlock(kind) => code_block(language(&kind), text),
            Tag::Image { dest_url, .. } => image(&dest_url, text),
            Tag::Link { dest_url, .. } => anchor(&dest_url, children),
            Tag::Heading { level, .. } => heading(level, children),
            Tag::List(Some(1)) => html::ol().child(children).erase(),
            Tag::List(Some(first)) => html::ol().start(first.to_string()).child(children).erase(),
            Tag::List(None) => html::ul().child(children).erase(),
            Tag::Item => html::li().child(children).erase(),
            Tag::BlockQuote(_) => html::blockquote().child(children).erase(),
            Tag::HtmlBlock => html::p().class("cw-md-html").child(children).erase(),
            Tag::Emphasis => html::em().child(children).erase(),
            Tag::Strong => html::strong().child(children).erase(),
            Tag::Strikethrough => html::del().child(children).erase(),
            Tag::Table(_) => table(children),
            Tag::TableHead => html::thead().child(html::tr().child(children)).erase(),
            Tag::TableRow => html::tr().child(children).erase(),
            Tag::TableCell => self.cell(children),
            // The rest belongs to dialects that are not switched on.
            _ => html::p().child(children).erase(),
        }
    }

    fn cell(&mut self, children: Vec<Erased>) -> Erased {
        let class = match self.columns.get(self.column) {
            Some(Alignment::Right) => "cw-md-end",
            Some(Alignment::Center) => "cw-md-center",
            _ => "cw-md-start",
        };
        self.column += 1;
        if self.in_head {
            html::th().scope("col").class(class).child(children).erase()
        } else {
            html::td().class(class).child(children).erase()
        }
    }
}

/// A table scrolls by itself; it can be focused so that the keyboard can scroll it.
fn table(mut children: Vec<Erased>) -> Erased {
    let rows = children.split_off(children.len().min(1));
    let table = html::table().child((children, html::tbody().child(rows)));
    let scroller = html::div().class("cw-md-table").tabindex("0").role("region").attr("aria-label", "Table");
    scroller.child(table).erase()
}

/// The page has its own headings of level 1 and 2.
fn heading(level: HeadingLevel, children: Vec<Erased>) -> Erased {
    match level {
        HeadingLevel::H1 => html::h3().child(children).erase(),
        HeadingLevel::H2 => html::h4().child(children).erase(),
        HeadingLevel::H3 => html::h5().child(children).erase(),
        _ => html::h6().child(children).erase(),
    }
}

fn anchor(url: &str, children: Vec<Erased>) -> Erased {
    match link::allowed(url) {
        Some(url) => {
            html::a().href(url.to_owned()).target("_blank").rel("noopener noreferrer nofollow").child(children).erase()
        }
        None => html::span().child(children).erase(),
    }
}

/// An image of another host is a link to it: showing it would tell that host who reads what.
fn image(url: &str, description: String) -> Erased {
    if link::is_embedded_image(url) {
        return html::img().src(url.to_owned()).alt(description).erase();
    }
    let description = if description.is_empty() { "Image".to_owned() } else { description };
    let Some(url) = link::allowed(url) else {
        return html::span().child(description).erase();
    };
    let label = format!("{description} ({})", link::host(url));
    let anchor = html::a().href(url.to_owned()).target("_blank").rel("noopener noreferrer nofollow");
    anchor.class("cw-md-image").child(label).erase()
}

fn language<'k>(kind: &'k CodeBlockKind<'_>) -> &'k str {
    match kind {
        CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().unwrap_or_default(),
        CodeBlockKind::Indented => "",
    }
}
