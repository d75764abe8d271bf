//! The text of a document as paragraphs, headings and tables, with quoted words marked.

use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::node::{Node, element};
use std::ops::Range;

/// Returns the nodes of a text. In one with markup, headings and tables of Markdown are shown as such.
pub(in crate::libraries) fn text_nodes(text: &str, quoted: &[Range<usize>], has_markup: bool) -> Vec<Node> {
    let mut writer = Writer { text, quoted, nodes: Vec::new(), begin: 0 };
    let lines: Vec<Range<usize>> = lines(text).collect();
    let mut at = 0;
    while at < lines.len() {
        let line = &text[lines[at].clone()];
        let is_table = has_markup && is_row(line) && lines.get(at + 1).is_some_and(|next| is_rule(&text[next.clone()]));
        if is_table {
            let rows = lines[at + 2..].iter().take_while(|row| is_row(&text[(*row).clone()])).count();
            writer.table(&lines[at], &lines[at + 2..at + 2 + rows]);
            at += 2 + rows;
            writer.begin = lines.get(at).map_or(text.len(), |next| next.start);
            continue;
        }
        if let Some(level) = heading_level(line).filter(|_| has_markup) {
            writer.paragraph(lines[at].start);
            let range = lines[at].start + level + 1..lines[at].end;
            let heading = element("p").attr("class", "cw-cited-heading").attr("dir", "auto");
            writer.nodes.push(heading.children(writer.marked(range)));
            writer.begin = lines.get(at + 1).map_or(text.len(), |next| next.start);
        }
        at += 1;
    }
    writer.paragraph(text.len());
    writer.nodes
}

/// Replaces the line breaks within paragraphs of Markdown by spaces. All positions in the text stay the same.
pub(in crate::libraries) fn joined_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut before = "";
    for line in text.split_inclusive('\n') {
        let is_number = line.trim_start_matches(|char: char| char.is_ascii_digit()).starts_with(['.', ')']);
        let goes_on =
            line.starts_with(char::is_alphanumeric) && !(line.starts_with(|c: char| c.is_ascii_digit()) && is_number);
        let may_go_on = !before.trim().is_empty()
            && !is_row(before)
            && heading_level(before).is_none()
            && !before.ends_with("  \n");
        if goes_on && may_go_on && joined.pop().is_some() {
            joined.push(' ');
        }
        joined.push_str(line);
        before = line;
    }
    joined
}

/// Returns whether a file of this name is written in Markdown.
pub(in crate::libraries) fn is_markdown(file: &str) -> bool {
    extension(file).is_some_and(|extension| matches!(extension.as_str(), "md" | "markdown"))
}

/// Returns whether a file of this name is a PDF.
pub(in crate::libraries) fn is_pdf(file: &str) -> bool {
    extension(file).is_some_and(|extension| extension == "pdf")
}

fn extension(file: &str) -> Option<String> {
    file.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
}

/// Returns whether a file of this name is read as text with markup.
pub(in crate::libraries) fn has_markup(file: &str) -> bool {
    let known = [
        "md", "markdown", "pdf", "docx", "doc", "pptx", "ppt", "xlsx", "xlsb", "xls", "ods", "epub", "html", "htm",
        "csv", "tsv", "eml",
    ];
    extension(file).is_some_and(|extension| known.contains(&extension.as_str()))
}

struct Writer<'t> {
    text: &'t str,
    quoted: &'t [Range<usize>],
    nodes: Vec<Node>,
    /// Where the text begins that is not written yet.
    begin: usize,
}

impl Writer<'_> {
    /// Writes the text up to a position as a paragraph with its line breaks.
    fn paragraph(&mut self, end: usize) {
        let text = &self.text[self.begin..end];
        let trimmed = text.trim_start_matches('\n');
        let from = end - trimmed.len();
        let trimmed = trimmed.trim_end();
        if !trimmed.is_empty() {
            let nodes = self.marked(from..from + trimmed.len());
            self.nodes.push(element("p").attr("class", "cw-document-text").attr("dir", "auto").children(nodes));
        }
        self.begin = end;
    }

    fn table(&mut self, head: &Range<usize>, rows: &[Range<usize>]) {
        self.paragraph(head.start);
        let cells = |row: &Range<usize>, tag: &'static str| {
            let is_quoted = self.quoted.iter().any(|quote| quote.start < row.end && row.start < quote.end);
            let cell = |text: String| {
                let nodes = visible_nodes(&text, TextKind::Prose);
                let nodes = if is_quoted && !text.is_empty() { vec![element("mark").children(nodes)] } else { nodes };
                element(tag).attr("dir", "auto").children(nodes)
            };
            element("tr").children(cells(&self.text[row.clone()]).map(cell).collect())
        };
        let body = rows.iter().map(|row| cells(row, "td")).collect();
        let table = element("table")
            .children(vec![element("thead").children(vec![cells(head, "th")]), element("tbody").children(body)]);
        self.nodes.push(element("div").attr("class", "cw-cited-table").attr("tabindex", "0").children(vec![table]));
    }

    /// Returns a range of the text with the quoted words marked.
    fn marked(&self, range: Range<usize>) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut at = range.start;
        for quote in self.quoted {
            let (start, end) = (quote.start.max(at), quote.end.min(range.end));
            if start >= end {
                continue;
            }
            nodes.extend(visible_nodes(&self.text[at..start], TextKind::Prose));
            nodes.push(element("mark").children(visible_nodes(&self.text[start..end], TextKind::Prose)));
            at = end;
        }
        nodes.extend(visible_nodes(&self.text[at..range.end], TextKind::Prose));
        nodes
    }
}

/// Returns the ranges of the lines, without their line breaks.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let range = at..at + line.len();
        at = range.end + 1;
        range
    })
}

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

/// Returns whether a line separates the head of a table from its rows.
fn is_rule(line: &str) -> bool {
    is_row(line) && line.contains('-') && line.chars().all(|char| matches!(char, '|' | '-' | ':' | ' '))
}

fn heading_level(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    ((1..=6).contains(&level) && line[level..].starts_with(' ')).then_some(level)
}

/// Returns the texts of the cells of a row. In a cell, `\|` is a line.
fn cells(row: &str) -> impl Iterator<Item = String> {
    let row = row.trim().trim_start_matches('|');
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut cells = vec![String::new()];
    for piece in row.split('|') {
        let Some(cell) = cells.last_mut() else { break };
        match piece.strip_suffix('\\') {
            Some(before) => cell.extend([before, "|"]),
            None => {
                cell.push_str(piece);
                cells.push(String::new());
            }
        }
    }
    if cells.len() > 1 && cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    cells.into_iter().map(|cell| cell.trim().to_owned())
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use leptos::prelude::RenderHtml;
    use proptest::prelude::*;

    fn html(text: &str, quoted: &[Range<usize>], has_markup: bool) -> String {
        let nodes = text_nodes(text, quoted, has_markup);
        let html: String = nodes.into_iter().map(RenderHtml::to_html).collect();
        html.replace(r#" dir="auto""#, "").replace("cw-document-text", "text").replace("cw-cited-", "")
    }

    #[test]
    fn headings_tables_and_quotes_are_shown() {
        let check = |text: &str, quote: &str, expected: &str| {
            let quoted: Vec<_> = text.find(quote).map(|at| at..at + quote.len()).into_iter().collect();
            assert_eq!(html(text, &quoted, true), expected, "{text}");
        };
        check(
            "# Pumps\n\nThey run\nat night.\n",
            "run\nat",
            r#"<p class="heading">Pumps</p><p class="text">They <mark>run
at</mark> night.</p>"#,
        );
        check(
            "| a | b\\|c |\n|---|:-:|\n| 1 | |\n| 2 | 3 |\nend",
            "| 2 | 3 |\nen",
            r#"<div class="table" tabindex="0"><table><thead><tr><th>a</th><th>b|c</th></tr></thead><tbody><tr><td>1</td><td></td></tr><tr><td><mark>2</mark></td><td><mark>3</mark></td></tr></tbody></table></div><p class="text"><mark>en</mark>d</p>"#,
        );
        check("#no heading\n| no table", "-", "<p class=\"text\">#no heading\n| no table</p>");
        assert_eq!(html("# comment", &[], false), "<p class=\"text\"># comment</p>");
        assert_eq!(html("\n \n", &[], true), "");
    }

    #[test]
    fn paragraphs_of_markdown_are_joined() {
        let check = |text: &str, expected: &str| assert_eq!(joined_lines(text), expected, "{text}");
        check("One\ntwo\n\nthree\n", "One two\n\nthree\n");
        check("- a\n- b\nc", "- a\n- b c");
        check("1. a\n2. b\n18:00 c", "1. a\n2. b 18:00 c");
        check("# A\nb\n| c |\nd", "# A\nb\n| c |\nd");
        check("a  \nb", "a  \nb");
        check("", "");
    }

    #[test]
    fn source_code_has_no_markup() {
        let check = |file: &str, expected: bool| assert_eq!(has_markup(file), expected, "{file}");
        check("a.md", true);
        check("A.PDF", true);
        check("a.py", false);
        check("LICENSE", false);
    }

    proptest! {
        #[test]
        fn any_text_and_any_quote_can_be_shown(text in "([|#a é\n\\\\-]|\\|--\\|\n){0,40}", from in 0_usize..40, length in 0_usize..20) {
            let start = text.ceil_char_boundary(from.min(text.len()));
            let end = text.ceil_char_boundary((start + length).min(text.len()));
            html(&text, std::slice::from_ref(&(start..end)), true);
            assert_eq!(joined_lines(&text).len(), text.len());
        }
    }
}
