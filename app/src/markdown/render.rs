//! Renders the parser's events as nodes.

use super::citation::{self, CitationStyle, strip_citations};
use super::code::code_block;
use super::document::References;
use super::footnote;
use super::math;
use super::options::MarkdownOptions;
use crate::texts::{Text, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points, visible_nodes};
use crate::ui::node::{Node, element};
use crate::ui::web_link::web_link;
use markdown_stream::mask::{self, Formula, Masked, mask_formulas, unmask_formulas};
use markdown_stream::split::OPTIONS;
use markdown_stream::tail::presentable;
use markdown_stream::{ReferenceLookup, link, link_text};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Parser, Tag};
use std::borrow::Cow;

/// The maximum nesting depth of elements; deeper ones are shown without their element, so that a
/// text of a thousand `>` cannot exhaust the stack.
const MAX_DEPTH: usize = 32;

/// Renders one or more blocks; `open` means that more text may follow.
pub(super) fn render(source: &str, references: &References, extras: &MarkdownOptions, open: bool) -> Vec<Node> {
    let Masked { text, formulas, open: begun, .. } =
        if extras.math { mask_formulas(source) } else { Masked::plain(source) };
    let shown = if open { presentable(&text[..begun.unwrap_or(text.len())]) } else { Cow::Borrowed(&*text) };
    // The parser recognizes a reference to a footnote only if it has the footnote, which is in
    // another block.
    let notes = footnote_stubs(&shown, references);
    let text = format!("{notes}{shown}");
    let mut renderer = Renderer::new(&formulas, extras, open);
    let events = Parser::new_with_broken_link_callback(&text, OPTIONS, Some(ReferenceLookup(Some(references))));
    for (event, range) in events.into_offset_iter() {
        if range.start >= notes.len() {
            renderer.event(event);
        }
    }
    renderer.top.finish(true, &formulas, &extras.citations)
}

/// Returns empty footnotes for the references in a text to footnotes of other blocks. None for an
/// indented block, which would become a part of them.
fn footnote_stubs(text: &str, references: &References) -> String {
    if !text.contains("[^") || text.starts_with([' ', '\t']) {
        return String::new();
    }
    let here = footnote::defined_labels(text);
    let is_elsewhere = |label: &&str| references.has_footnote(label) && !here.contains(label);
    footnote::reference_labels(text)
        .into_iter()
        .filter(is_elsewhere)
        .map(|label| format!("[^{label}]: -\n\n"))
        .collect()
}

struct Renderer<'a> {
    /// The open elements, outermost first, each with the content of its parent so far.
    open: Vec<(Tag<'a>, ElementContent)>,
    top: ElementContent,
    /// The number of open elements that are not rendered: nested too deeply, or inside an image's
    /// description.
    skipped: usize,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
    formulas: &'a [Formula<'a>],
    extras: &'a MarkdownOptions,
    may_grow: bool,
}

/// The content of an element.
#[derive(Default)]
struct ElementContent {
    children: Vec<Node>,
    /// Text that has no node yet; adjacent texts are joined.
    text: String,
}

impl ElementContent {
    fn flush(&mut self, link_bare_urls: bool, formulas: &[Formula<'_>], marks: &CitationStyle) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        for piece in mask::split_masked(&text, formulas) {
            match piece {
                mask::MaskedSegment::Text(text) => self.text(text, link_bare_urls, marks),
                mask::MaskedSegment::Formula(formula) => {
                    self.children.push(math::formula_node(formula.source, formula.tex, formula.display));
                }
            }
        }
    }

    fn text(&mut self, text: &str, link_bare_urls: bool, marks: &CitationStyle) {
        for piece in citation::split_citations(text) {
            match piece {
                citation::CitationSegment::Text(text) if link_bare_urls && text.contains("http") => self.link(text),
                citation::CitationSegment::Text(text) => self.children.extend(visible_nodes(text, TextKind::Prose)),
                citation::CitationSegment::Source(number) => {
                    self.children.extend(citation::citation_node(number, marks))
                }
            }
        }
    }

    fn link(&mut self, text: &str) {
        for piece in link::split_bare_urls(text) {
            match piece {
                link::LinkSegment::Text(text) => self.children.extend(visible_nodes(text, TextKind::Prose)),
                link::LinkSegment::Url(url) => self.children.push(anchor(url, visible_nodes(url, TextKind::Value))),
            }
        }
    }

    fn finish(mut self, link_bare_urls: bool, formulas: &[Formula<'_>], marks: &CitationStyle) -> Vec<Node> {
        self.flush(link_bare_urls, formulas, marks);
        self.children
    }
}

impl<'a> Renderer<'a> {
    fn new(formulas: &'a [Formula<'a>], extras: &'a MarkdownOptions, may_grow: bool) -> Self {
        Self {
            open: Vec::new(),
            top: ElementContent::default(),
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
                let code = strip_citations(&unmask_formulas(&code, self.formulas)).into_owned();
                self.push(element("code").attr("dir", "ltr").children(visible_nodes(&code, TextKind::Code)));
            }
            Event::FootnoteReference(label) if self.skipped == 0 => self.push(footnote::reference_node(&label)),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.top.text.push_str(&text);
            }
            Event::SoftBreak => self.top.text.push('\n'),
            Event::HardBreak if self.skipped == 0 => self.push(element("br")),
            Event::HardBreak => self.top.text.push(' '),
            Event::Rule => self.push(element("hr")),
            Event::TaskListMarker(checked) => {
                let label = if checked { t(Text::TaskDone) } else { t(Text::TaskToDo) };
                let marker = element("input").attr("type", "checkbox").attr("disabled", "").attr("aria-label", label);
                self.push(if checked { marker.attr("checked", "") } else { marker });
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
        // A stopped answer may end with the `#` of a heading; an empty heading gives screen readers
        // nothing to navigate to.
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

    /// Converts the text so far to nodes, unless the element takes only text.
    fn flush(&mut self) {
        let takes_text = |tag: &Tag<'_>| matches!(tag, Tag::CodeBlock(_) | Tag::Image { .. });
        if !self.open.last().is_some_and(|(tag, _)| takes_text(tag)) {
            let in_link = self.open.iter().any(|(tag, _)| matches!(tag, Tag::Link { .. }));
            self.top.flush(!in_link, self.formulas, &self.extras.citations);
        }
    }

    fn element(&mut self, tag: Tag<'a>, content: ElementContent) -> Node {
        let ElementContent { children, text } = content;
        let written = |text: &str| strip_citations(&unmask_formulas(text, self.formulas)).into_owned();
        let name = match &tag {
            Tag::CodeBlock(kind) => return code_block(language(kind), written(&text), self.may_grow, self.extras),
            Tag::Image { dest_url, .. } => return image(&written(dest_url), &written(&text)),
            Tag::Link { dest_url, .. } => return anchor(&written(dest_url), children),
            Tag::FootnoteDefinition(label) => return footnote::note_node(label, children),
            Tag::Table(_) => return table(children),
            Tag::TableHead => return element("thead").children(vec![element("tr").children(children)]),
            Tag::TableCell => return self.cell(children),
            Tag::HtmlBlock => return element("p").attr("class", "cw-md-html").children(children),
            Tag::List(Some(first)) if *first != 1 => {
                return element("ol").attr("start", first.to_string()).children(children);
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
            // The other tags belong to extensions that are not enabled.
            _ => "p",
        };
        element(name).children(children)
    }

    fn cell(&mut self, children: Vec<Node>) -> Node {
        let class = match self.columns.get(self.column) {
            Some(Alignment::Right) => "cw-md-end",
            Some(Alignment::Center) => "cw-md-center",
            _ => "cw-md-start",
        };
        self.column += 1;
        let cell = if self.in_head { element("th").attr("scope", "col") } else { element("td") };
        cell.attr("class", class).children(children)
    }
}

/// Renders a table in a scroll container, which can be focused to scroll with the keyboard.
fn table(mut children: Vec<Node>) -> Node {
    let rows = children.split_off(children.len().min(1));
    children.push(element("tbody").children(rows));
    let scroller = element("div").attr("class", "cw-md-table").attr("tabindex", "0");
    let scroller = scroller.attr("role", "region").attr("aria-label", t(Text::Table));
    scroller.children(vec![element("table").children(children)])
}

/// Returns the tag of a heading. The page has its own headings of level 1 and 2.
fn heading(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h3",
        HeadingLevel::H2 => "h4",
        HeadingLevel::H3 => "h5",
        _ => "h6",
    }
}

fn anchor(url: &str, mut children: Vec<Node>) -> Node {
    let Some(url) = link::allowed_url(url) else {
        return element("span").children(children);
    };
    let mut text = String::new();
    children.iter().for_each(|child| child.append_text(&mut text));
    // Otherwise a link to one host could look like one to another.
    if let Some(host) = link_text::undisclosed_host(&text, url) {
        let host = format!(" ({})", text_with_code_points(host, TextKind::Value));
        // An element, because the browser would join two texts to one node.
        children.push(element("span").attr("dir", "ltr").text(host));
    }
    web_link(url).children(children)
}

/// Renders an image. An image of another host becomes a link to it: loading it would tell that host
/// who reads what.
fn image(url: &str, description: &str) -> Node {
    if link::is_embedded_image(url) {
        return element("img").attr("src", url).attr("alt", text_with_code_points(description, TextKind::Prose));
    }
    let description = if description.is_empty() {
        t(Text::Image).into()
    } else {
        text_with_code_points(description, TextKind::Prose)
    };
    let Some(url) = link::allowed_url(url) else {
        return element("span").text(description.into_owned());
    };
    let label = format!("{description} ({})", text_with_code_points(link::host(url), TextKind::Value));
    web_link(url).attr("class", "cw-md-image").text(label)
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
            let nodes = render(
                source,
                &References::none(),
                &MarkdownOptions { highlighting: false, ..MarkdownOptions::default() },
                false,
            );
            nodes.into_iter().map(RenderHtml::to_html).collect::<String>()
        });
        assert_eq!(html, expected, "{source:?}");
    }

    #[test]
    fn empty_headings_are_omitted() {
        check("One\n\n## ", "<p>One</p>");
        check("#\n", "");
        check("## Two", "<h4>Two</h4>");
    }

    #[test]
    fn urls_with_user_information_are_not_linked() {
        check("http://127.0.0.1:4287@evil.test", "<p><span>http://127.0.0.1:4287@evil.test</span></p>");
        check("[bank](https://bank.example@evil.test)", "<p><span>bank</span></p>");
        check("[bank](https:///bank.example@evil.test)", "<p><span>bank</span></p>");
        check("[bank](<https://\\\\bank.example@evil.test>)", "<p><span>bank</span></p>");
        check("[bank](<https://&Tab;/bank.example@evil.test>)", "<p><span>bank</span></p>");
        check("<https:///bank.example@evil.test>", "<p><span>https:///bank.example@evil.test</span></p>");
    }

    #[test]
    fn links_and_images_show_the_host_that_they_open() {
        let attributes = r#"target="_blank" rel="noopener noreferrer nofollow""#;
        let shown = |text: &str, html: &str, host: &str| {
            let expected = format!(r#"<p><a href="https://evil.test/y" {attributes}>{html}{host}</a></p>"#);
            check(&format!("[{text}](https://evil.test/y)"), &expected);
        };
        let host = r#"<span dir="ltr"> (evil.test)</span>"#;
        shown("the bank", "the bank", "");
        shown("evil.test", "evil.test", "");
        shown("https://bank.example/login", "https://bank.example/login", host);
        shown("**bank**.example", "<strong>bank</strong>.example", host);
        shown("`bank.example`", r#"<code dir="ltr">bank.example</code>"#, host);
        let picture = format!(r#"<a href="https:///evil.test/p" {attributes} class="cw-md-image">a.b (evil.test)</a>"#);
        check("![a.b](https:///evil.test/p)", &format!("<p>{picture}</p>"));
    }

    #[test]
    fn bidi_overrides_are_shown_and_directional_marks_are_not() {
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
