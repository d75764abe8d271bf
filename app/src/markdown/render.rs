//! The parser's events as nodes of the document.

use super::Extras;
use super::citation::{self, Marks, without_marks};
use super::code::code_block;
use super::document::{Lookup, References};
use super::footnote;
use super::link;
use super::mask::{self, Formula, Masked, mask, unmask};
use super::math;
use super::split::OPTIONS;
use super::tail::presentable;
use crate::node::{Node, element};
use crate::texts::{Text, t};
use crate::visible::{Kind, nodes, plain};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Parser, Tag};
use std::borrow::Cow;

/// Elements deeper than this are shown without their element, so that a text of a thousand `>` cannot exhaust the stack.
const MAX_DEPTH: usize = 32;

/// The nodes of one or more blocks; `open` says that more may come.
pub(super) fn render(source: &str, references: &References, extras: &Extras, open: bool) -> Vec<Node> {
    let Masked { text, formulas, open: begun, .. } = if extras.math { mask(source) } else { Masked::plain(source) };
    let shown = match open {
        true => presentable(&text[..begun.unwrap_or(text.len())]),
        false => Cow::Borrowed(&*text),
    };
    // The parser takes for a footnote only what it has the note for, which stands in another block.
    let notes = notes_before(&shown, references);
    let text = format!("{notes}{shown}");
    let mut renderer = Renderer::new(&formulas, extras, open);
    let events = Parser::new_with_broken_link_callback(&text, OPTIONS, Some(Lookup(Some(references))));
    for (event, range) in events.into_offset_iter() {
        if range.start >= notes.len() {
            renderer.event(event);
        }
    }
    renderer.top.finish(true, &formulas, &extras.sources)
}

/// Notes for the numbers in a text. A block that is indented would become a part of them.
fn notes_before(text: &str, references: &References) -> String {
    if !text.contains("[^") || text.starts_with([' ', '\t']) {
        return String::new();
    }
    let here = footnote::defined(text);
    let is_elsewhere = |label: &&str| references.has_note(label) && !here.contains(label);
    footnote::labels(text).into_iter().filter(is_elsewhere).map(|label| format!("[^{label}]: -\n\n")).collect()
}

struct Renderer<'a> {
    /// The elements that are open, outermost first, each with what stands around it.
    open: Vec<(Tag<'a>, Content)>,
    top: Content,
    /// How many elements are open that get no element: too deep, or inside an image's description.
    skipped: usize,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
    formulas: &'a [Formula<'a>],
    extras: &'a Extras,
    may_grow: bool,
}

/// What stands in an element.
#[derive(Default)]
struct Content {
    children: Vec<Node>,
    /// Text that has no view yet; neighbouring texts become one.
    text: String,
}

impl Content {
    fn flush(&mut self, link_bare_urls: bool, formulas: &[Formula<'_>], marks: &Marks) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        for piece in mask::pieces(&text, formulas) {
            match piece {
                mask::Piece::Text(text) => self.text(text, link_bare_urls, marks),
                mask::Piece::Formula(formula) => {
                    self.children.push(math::node(formula.source, formula.tex, formula.display));
                }
            }
        }
    }

    fn text(&mut self, text: &str, link_bare_urls: bool, marks: &Marks) {
        for piece in citation::pieces(text) {
            match piece {
                citation::Piece::Text(text) if link_bare_urls && text.contains("http") => self.link(text),
                citation::Piece::Text(text) => self.children.extend(nodes(text, Kind::Prose)),
                citation::Piece::Source(number) => self.children.extend(citation::number(number, marks)),
            }
        }
    }

    fn link(&mut self, text: &str) {
        for piece in link::bare_urls(text) {
            match piece {
                link::Piece::Text(text) => self.children.extend(nodes(text, Kind::Prose)),
                link::Piece::Url(url) => self.children.push(anchor(url, nodes(url, Kind::Value))),
            }
        }
    }

    fn finish(mut self, link_bare_urls: bool, formulas: &[Formula<'_>], marks: &Marks) -> Vec<Node> {
        self.flush(link_bare_urls, formulas, marks);
        self.children
    }
}

impl<'a> Renderer<'a> {
    fn new(formulas: &'a [Formula<'a>], extras: &'a Extras, may_grow: bool) -> Self {
        Self {
            open: Vec::new(),
            top: Content::default(),
            skipped: 0,
            columns: Vec::new(),
            column: 0,
            in_head: false,
            formulas,
            extras,
            may_grow,
        }
    }

    fn event(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.top.text.push_str(&text),
            Event::Code(code) if self.skipped == 0 => {
                let code = without_marks(&unmask(&code, self.formulas)).into_owned();
                self.push(element("code").with("dir", "ltr").around(nodes(&code, Kind::Code)));
            }
            Event::FootnoteReference(label) if self.skipped == 0 => self.push(footnote::reference(&label)),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.top.text.push_str(&text);
            }
            Event::SoftBreak => self.top.text.push('\n'),
            Event::HardBreak if self.skipped == 0 => self.push(element("br")),
            Event::HardBreak => self.top.text.push(' '),
            Event::Rule => self.push(element("hr")),
            Event::TaskListMarker(checked) => {
                let label = if checked { t(Text::TaskDone) } else { t(Text::TaskToDo) };
                let marker = element("input").with("type", "checkbox").with("disabled", "").with("aria-label", label);
                self.push(if checked { marker.with("checked", "") } else { marker });
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
        // An answer that was stopped may end with the signs of a heading: one without words is nothing to be led to.
        if matches!(tag, Tag::Heading { .. }) && content.children.is_empty() {
            return;
        }
        let view = self.element(tag, content);
        self.top.children.push(view);
    }

    fn push(&mut self, view: Node) {
        self.flush();
        self.top.children.push(view);
    }

    /// Gives the text so far its view, unless it is kept for an element that takes text alone.
    fn flush(&mut self) {
        let takes_text = |tag: &Tag<'_>| matches!(tag, Tag::CodeBlock(_) | Tag::Image { .. });
        if !self.open.last().is_some_and(|(tag, _)| takes_text(tag)) {
            let in_link = self.open.iter().any(|(tag, _)| matches!(tag, Tag::Link { .. }));
            self.top.flush(!in_link, self.formulas, &self.extras.sources);
        }
    }

    fn element(&mut self, tag: Tag<'a>, content: Content) -> Node {
        let Content { children, text } = content;
        let written = |text: &str| without_marks(&unmask(text, self.formulas)).into_owned();
        let name = match &tag {
            Tag::CodeBlock(kind) => return code_block(language(kind), written(&text), self.may_grow, self.extras),
            Tag::Image { dest_url, .. } => return image(&written(dest_url), &written(&text)),
            Tag::Link { dest_url, .. } => return anchor(&written(dest_url), children),
            Tag::FootnoteDefinition(label) => return footnote::note(label, children),
            Tag::Table(_) => return table(children),
            Tag::TableHead => return element("thead").around(vec![element("tr").around(children)]),
            Tag::TableCell => return self.cell(children),
            Tag::HtmlBlock => return element("p").with("class", "cw-md-html").around(children),
            Tag::List(Some(first)) if *first != 1 => {
                return element("ol").with("start", first.to_string()).around(children);
            }
            Tag::List(Some(_)) => "ol",
            Tag::List(None) => "ul",
            Tag::Heading { level, .. } => heading(*level),
            Tag::Item => "li",
            Tag::BlockQuote(_) => "blockquote",
            Tag::Emphasis => "em",
            Tag::Strong => "strong",
            Tag::Strikethrough => "del",
            Tag::TableRow => "tr",
            // The rest belongs to dialects that are not switched on.
            _ => "p",
        };
        element(name).around(children)
    }

    fn cell(&mut self, children: Vec<Node>) -> Node {
        let class = match self.columns.get(self.column) {
            Some(Alignment::Right) => "cw-md-end",
            Some(Alignment::Center) => "cw-md-center",
            _ => "cw-md-start",
        };
        self.column += 1;
        let cell = if self.in_head { element("th").with("scope", "col") } else { element("td") };
        cell.with("class", class).around(children)
    }
}

/// A table scrolls by itself; it can be focused so that the keyboard can scroll it.
fn table(mut children: Vec<Node>) -> Node {
    let rows = children.split_off(children.len().min(1));
    children.push(element("tbody").around(rows));
    let scroller = element("div").with("class", "cw-md-table").with("tabindex", "0");
    let scroller = scroller.with("role", "region").with("aria-label", t(Text::Table));
    scroller.around(vec![element("table").around(children)])
}

/// The page has its own headings of level 1 and 2.
fn heading(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h3",
        HeadingLevel::H2 => "h4",
        HeadingLevel::H3 => "h5",
        _ => "h6",
    }
}

fn anchor(url: &str, children: Vec<Node>) -> Node {
    match link::allowed(url) {
        Some(url) => link_to(url).around(children),
        None => element("span").around(children),
    }
}

fn link_to(url: &str) -> Node {
    element("a").with("href", url).with("target", "_blank").with("rel", "noopener noreferrer nofollow")
}

/// An image of another host is a link to it: showing it would tell that host who reads what.
fn image(url: &str, description: &str) -> Node {
    if link::is_embedded_image(url) {
        return element("img").with("src", url).with("alt", plain(description, Kind::Prose));
    }
    let description = if description.is_empty() { t(Text::Image).into() } else { plain(description, Kind::Prose) };
    let Some(url) = link::allowed(url) else {
        return element("span").text(description.into_owned());
    };
    let label = format!("{description} ({})", link::host(url));
    link_to(url).with("class", "cw-md-image").text(label)
}

fn language<'k>(kind: &'k CodeBlockKind<'_>) -> &'k str {
    match kind {
        CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().unwrap_or_default(),
        CodeBlockKind::Indented => "",
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use leptos::prelude::{Owner, RenderHtml};

    fn check(source: &str, expected: &str) {
        let html = Owner::new().with(|| {
            let nodes = render(source, &References::none(), &Extras { colours: false, ..Extras::default() }, false);
            nodes.into_iter().map(RenderHtml::to_html).collect::<String>()
        });
        assert_eq!(html, expected, "{source:?}");
    }

    #[test]
    fn heading_without_words_is_left_out() {
        check("One\n\n## ", "<p>One</p>");
        check("#\n", "");
        check("## Two", "<h4>Two</h4>");
    }

    #[test]
    fn addresses_with_user_names_are_no_links() {
        check("http://127.0.0.1:4287@evil.test", "<p><span>http://127.0.0.1:4287@evil.test</span></p>");
        check("[bank](https://bank.example@evil.test)", "<p><span>bank</span></p>");
    }

    #[test]
    fn overrides_are_shown_and_marks_of_direction_are_not() {
        let sign = |point: &str| {
            format!(
                r#"<span class="cw-hidden-sign" role="img" aria-label="Hidden characters: {point}" title="Hidden characters: {point}" dir="ltr">{point}</span>"#
            )
        };
        check("שלום\u{200f}!", "<p>שלום\u{200f}!</p>");
        check("a\u{202e}b", &format!("<p>a{}b</p>", sign("U+202E")));
        check(
            "`a\u{2066}b\u{2069}`",
            &format!(r#"<p><code dir="ltr">a{}b{}</code></p>"#, sign("U+2066"), sign("U+2069")),
        );
    }
}
