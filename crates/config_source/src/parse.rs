//! Parses YAML into the tree, within limits and with includes resolved.

use crate::report::to_u32;
use crate::{
    ConfigFiles, MAX_DEPTH, MAX_TOTAL_BYTES, MAX_VALUES, MapEntry, Node, NodeKind, Overlay, Report, Span, scalar,
};
use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Reads the main file and all files that it includes. `None` if it cannot be parsed; the reason
/// has been reported.
pub fn load(files: &ConfigFiles<'_>, main: &str, report: &mut Report) -> Option<Node> {
    Loader::new(files, report).main(main)
}

/// Aborts reading a file. The reason has been reported.
pub(crate) struct Aborted;

pub(crate) struct Loader<'a> {
    pub(crate) files: &'a ConfigFiles<'a>,
    pub(crate) report: &'a mut Report,
    /// The cache of files by name. `None` if a file could not be read.
    pub(crate) cache: HashMap<String, Option<(u32, Arc<str>)>>,
    /// The bytes so far, counted against `MAX_TOTAL_BYTES`.
    pub(crate) bytes: usize,
    /// The values so far, counted against [`MAX_VALUES`].
    pub(crate) values: usize,
    /// The stack of files that are being read, each included by the one before it.
    pub(crate) include_stack: Vec<String>,
    /// Whether a limit was exceeded, so that everything stops.
    pub(crate) limit_exceeded: bool,
    /// Whether `_ref` includes files. Otherwise it is a key like any other.
    pub(crate) resolves_refs: bool,
}

/// A file that is being parsed.
struct Document<'t> {
    parser: Parser<'t, StrInput<'t>>,
    file: u32,
    /// The anchored values by the parser's number.
    anchors: HashMap<usize, AnchoredNode>,
}

struct AnchoredNode {
    node: Node,
    size: usize,
    height: usize,
}

impl<'a> Loader<'a> {
    /// A loader that resolves includes.
    pub(crate) fn new(files: &'a ConfigFiles<'a>, report: &'a mut Report) -> Self {
        Self {
            files,
            report,
            cache: HashMap::new(),
            bytes: 0,
            values: 0,
            include_stack: Vec::new(),
            limit_exceeded: false,
            resolves_refs: true,
        }
    }

    /// Reads the main file with all that it includes. `None` if it cannot be parsed.
    pub(crate) fn main(&mut self, name: &str) -> Option<Node> {
        let (file, text) = self.open_file(name, None)?;
        self.include_stack.push(name.to_owned());
        let node = self.document(file, &text, 0);
        (!matches!(node.kind, NodeKind::Broken)).then_some(node)
    }

    /// Reads changes after the main file, within the same limits. `None` if they cannot be parsed.
    pub(crate) fn changes(&mut self, overlay: &Overlay<'_>) -> Option<Node> {
        let file = self.report.add_file(overlay.name, None, Some(overlay.text.into()));
        self.bytes += overlay.text.len();
        if self.bytes > MAX_TOTAL_BYTES {
            self.report_limit(Span { file, ..Span::default() }, "the config with its changes is larger than 10 MiB");
            return None;
        }
        let node = self.document(file, overlay.text, 0);
        (!matches!(node.kind, NodeKind::Broken)).then_some(node)
    }
}

impl Loader<'_> {
    /// Reports an exceeded limit, once.
    pub(crate) fn report_limit(&mut self, at: Span, message: &str) {
        if !std::mem::replace(&mut self.limit_exceeded, true) {
            self.report.error(at, message, None);
        }
    }

    /// Parses one file into a tree.
    pub(crate) fn document(&mut self, file: u32, text: &str, depth: usize) -> Node {
        let mut document = Document { parser: Parser::new_from_str(text), file, anchors: HashMap::new() };
        let start = Span { file, line: 1, column: 1, width: 1 };
        self.single_document(&mut document, depth, start).unwrap_or(Node { at: start, kind: NodeKind::Broken })
    }

    fn single_document(&mut self, document: &mut Document<'_>, depth: usize, start: Span) -> Result<Node, Aborted> {
        let mut root = None;
        loop {
            let (event, at) = self.next(document)?;
            match event {
                Event::StreamEnd => return Ok(root.unwrap_or(Node { at: start, kind: NodeKind::Null })),
                Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
                _ if root.is_some() => {
                    self.report.error(at, "a second YAML document starts here; a config file has one", None);
                    return Err(Aborted);
                }
                event => root = Some(self.node(document, event, at, depth)?),
            }
        }
    }

    fn next<'t>(&mut self, document: &mut Document<'t>) -> Result<(Event<'t>, Span), Aborted> {
        match document.parser.next_event() {
            Some(Ok((event, span))) => {
                let block = matches!(event, Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..));
                let start = matches!(event, Event::MappingStart(..) | Event::SequenceStart(..));
                let width = if start || block {
                    1
                } else if span.end.line() == span.start.line() {
                    span.end.col().saturating_sub(span.start.col()).max(1)
                } else {
                    // To the end of the line; the excerpt cuts it off there.
                    usize::MAX
                };
                let (line, column) = (span.start.line(), span.start.col() + 1);
                Ok((
                    event,
                    Span { file: document.file, line: to_u32(line), column: to_u32(column), width: to_u32(width) },
                ))
            }
            Some(Err(error)) => {
                let (line, column) = (to_u32(error.marker().line()), to_u32(error.marker().col() + 1));
                let at = Span { file: document.file, line, column, width: 1 };
                self.report.error(at, format!("this is not valid YAML: {}", error.info()), yaml_help(error.info()));
                Err(Aborted)
            }
            None => Err(Aborted),
        }
    }

    /// Parses one value with everything in it.
    fn node(&mut self, document: &mut Document<'_>, event: Event<'_>, at: Span, depth: usize) -> Result<Node, Aborted> {
        self.count_values(1, depth, at)?;
        let (anchor, node) = match event {
            Event::Alias(id) => return self.alias(document, id, at, depth),
            Event::Scalar(text, style, anchor, tag) => (anchor, Node { at, kind: self.scalar(&text, style, tag, at) }),
            Event::SequenceStart(anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", at);
                (anchor, self.list(document, at, depth)?)
            }
            Event::MappingStart(anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", at);
                (anchor, self.map(document, at, depth)?)
            }
            _ => return Err(Aborted),
        };
        if anchor > 0 {
            let (size, height) = (node.size(), node.height());
            self.count_values(size, depth, at)?;
            document.anchors.insert(anchor, AnchoredNode { node: node.clone(), size, height });
        }
        Ok(node)
    }

    /// Counts values before they are created, so that aliases cannot grow without limit.
    pub(crate) fn count_values(&mut self, values: usize, depth: usize, at: Span) -> Result<(), Aborted> {
        self.values += values;
        if self.values > MAX_VALUES {
            self.report_limit(at, "the config holds more than 500000 values, with aliases and includes expanded");
        } else if depth > MAX_DEPTH {
            self.report_limit(at, "lists and mappings nest more than 64 deep");
        }
        if self.limit_exceeded { Err(Aborted) } else { Ok(()) }
    }

    fn alias(&mut self, document: &Document<'_>, id: usize, at: Span, depth: usize) -> Result<Node, Aborted> {
        let Some(anchored) = document.anchors.get(&id) else {
            self.report.error(at, "this alias stands inside the value that it names", None);
            return Ok(Node { at, kind: NodeKind::Broken });
        };
        self.count_values(anchored.size, depth + anchored.height - 1, at)?;
        Ok(anchored.node.clone())
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<Cow<'_, Tag>>, at: Span) -> NodeKind {
        let kind = match tag {
            Some(tag) if tag.is_yaml_core_schema() => scalar::tagged(text, &tag.suffix),
            Some(_) => Err("tags are not supported"),
            None if style == ScalarStyle::Plain => scalar::plain(text),
            None => Ok(NodeKind::Text(text.to_owned())),
        };
        kind.unwrap_or_else(|problem| {
            self.report.error(at, problem, None);
            NodeKind::Broken
        })
    }

    fn collection_tag(&mut self, tag: Option<&Tag>, own: &str, at: Span) {
        if tag.is_some_and(|tag| !(tag.is_yaml_core_schema() && tag.suffix == own)) {
            self.report.error(at, "tags are not supported", None);
        }
    }

    fn list(&mut self, document: &mut Document<'_>, at: Span, depth: usize) -> Result<Node, Aborted> {
        let mut items = Vec::new();
        loop {
            match self.next(document)? {
                (Event::SequenceEnd, _) => return Ok(Node { at, kind: NodeKind::List(items) }),
                (event, at) => items.push(self.node(document, event, at, depth + 1)?),
            }
        }
    }

    fn map(&mut self, document: &mut Document<'_>, at: Span, depth: usize) -> Result<Node, Aborted> {
        let mut entries: Vec<MapEntry> = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        loop {
            let (event, key_at) = self.next(document)?;
            if matches!(event, Event::MappingEnd) {
                break;
            }
            let key = self.key(document, event, key_at, depth)?;
            let (event, at) = self.next(document)?;
            let value = self.node(document, event, at, depth + 1)?;
            let Some(key) = key else { continue };
            if let Some(first) = seen.get(&key) {
                let help = format!("it was set first in line {}", first.line);
                self.report.error(key_at, format!("the key `{key}` is there twice"), Some(help));
                continue;
            }
            seen.insert(key.clone(), key_at);
            entries.push(MapEntry { key, key_at, value });
        }
        // A block mapping starts at its first key, which is the better position to mark.
        let at = entries
            .first()
            .map(|entry| entry.key_at)
            .filter(|key| key.line == at.line && key.column == at.column)
            .unwrap_or(at);
        if self.resolves_refs && entries.iter().any(|entry| entry.key == "_ref") {
            return Ok(self.include(&entries, at, depth));
        }
        Ok(Node { at, kind: NodeKind::Map(entries) })
    }

    /// Reads a key as text. `None` if it is invalid, which has been reported.
    fn key(
        &mut self,
        document: &mut Document<'_>,
        event: Event<'_>,
        at: Span,
        depth: usize,
    ) -> Result<Option<String>, Aborted> {
        self.count_values(1, depth, at)?;
        let (problem, help) = match event {
            Event::Scalar(text, style, anchor, _) => match &*text {
                "" | "~" if style == ScalarStyle::Plain => ("a key is missing here", None),
                "<<" if style == ScalarStyle::Plain => (
                    "merge keys (`<<`) are not part of YAML 1.2",
                    Some("write an alias for the whole value, or include a file with `_ref`"),
                ),
                "__proto__" => ("the key `__proto__` is refused: it can change every object in a browser", None),
                text => {
                    if anchor > 0 {
                        let node = Node { at, kind: NodeKind::Text(text.to_owned()) };
                        document.anchors.insert(anchor, AnchoredNode { node, size: 1, height: 1 });
                    }
                    return Ok(Some(text.to_owned()));
                }
            },
            Event::Alias(_) => ("a key must be text, not an alias", None),
            event => {
                self.node(document, event, at, depth + 1)?;
                ("a key must be text", None)
            }
        };
        self.report.error(at, problem, help.map(str::to_owned));
        Ok(None)
    }
}

/// Returns the help line for a message of the YAML parser, for the most frequent mistakes.
fn yaml_help(problem: &str) -> Option<String> {
    let help = [
        ("tab", "indent with spaces; YAML does not allow tabs there"),
        ("quoted scalar", "close the quote that is opened here"),
        ("mapping values are not allowed", "text that holds `: ` needs quotes"),
        ("block collection", "check the indentation of this line and of the one before it"),
        ("block mapping", "check the indentation of this line and of the one before it"),
        ("simple key", "is there a `:` and a space after the key?"),
        ("expected node content", "a value is missing here, or a bracket is not closed"),
        ("flow", "close the bracket or brace that is open here, and put `,` between two values"),
    ];
    help.iter().find(|(part, _)| problem.contains(part)).map(|(_, help)| (*help).to_owned())
}
