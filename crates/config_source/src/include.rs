//! `_ref`: includes the content of another file.

use crate::files::normalize;
use crate::parse::Loader;
use crate::suggest;
use crate::{MAX_FILE_BYTES, MAX_TOTAL_BYTES, MapEntry, Node, NodeKind, Span};
use std::sync::Arc;

impl Loader<'_> {
    /// Returns the text of a file, which is read once and cached. A failure is reported at
    /// `asked_at`.
    pub(crate) fn open_file(&mut self, name: &str, asked_at: Option<Span>) -> Option<(u32, Arc<str>)> {
        if !self.cache.contains_key(name) {
            let read = self.files.read(name).and_then(|text| match text.len() {
                0..=MAX_FILE_BYTES => Ok(text),
                _ => Err("it is larger than 1 MiB".to_owned()),
            });
            let shown = self.files.display_name(name);
            self.report.add_requested(self.files.path(name));
            let known = match read {
                Ok(text) => {
                    let text: Arc<str> = text.strip_prefix('\u{feff}').unwrap_or(&text).into();
                    Some((self.report.add_file(&shown, Some(name), Some(Arc::clone(&text))), text))
                }
                Err(problem) => {
                    let at = asked_at
                        .unwrap_or_else(|| Span { file: self.report.add_file(&shown, None, None), ..Span::default() });
                    let beside = self.files.beside(name);
                    let near = suggest::nearest(name, beside.iter().map(String::as_str));
                    let message = match asked_at {
                        Some(_) => format!("cannot read `{name}`: {problem}"),
                        None => format!("cannot read this file: {problem}"),
                    };
                    self.report.error(at, message, near.map(suggest::did_you_mean));
                    None
                }
            };
            self.cache.insert(name.to_owned(), known);
        }
        let (file, text) = self.cache.get(name)?.clone()?;
        self.bytes += text.len();
        if self.bytes > MAX_TOTAL_BYTES {
            self.report_limit(
                asked_at.unwrap_or_default(),
                "the config with all that it includes is larger than 10 MiB",
            );
            return None;
        }
        Some((file, text))
    }

    /// Returns the value that replaces `{_ref: path}`.
    pub(crate) fn include(&mut self, entries: &[MapEntry], at: Span, depth: usize) -> Node {
        self.try_include(entries, at, depth).unwrap_or(Node { at, kind: NodeKind::Broken })
    }

    fn try_include(&mut self, entries: &[MapEntry], at: Span, depth: usize) -> Option<Node> {
        let [MapEntry { value, .. }] = entries else {
            self.report.error(at, "`_ref` stands for the whole value; it cannot have keys beside it", None);
            return None;
        };
        let at = value.at;
        let Some(path) = value.text() else {
            self.report.error(at, format!("`_ref` takes the path of a file, found {}", value.describe()), None);
            return None;
        };
        let Some(name) = normalize(path) else {
            let help = "paths start at the folder of the config".to_owned();
            self.report.error(at, format!("`{path}` leaves the config's folder"), Some(help));
            return None;
        };
        if let Some(first) = self.include_stack.iter().position(|open| *open == name) {
            let way = self.include_stack[first..].iter().map(|name| format!("`{name}` → ")).collect::<String>();
            self.report.error(at, format!("`{name}` includes itself"), Some(format!("{way}`{name}`")));
            return None;
        }
        let (file, text) = self.open_file(&name, Some(at))?;
        if !is_parsed(&name) {
            return Some(Node { at, kind: NodeKind::Text(text.to_string()) });
        }
        // Each include is one level deeper, so that a chain of files that only include each other
        // ends.
        self.count_values(1, depth + 1, at).ok()?;
        self.include_stack.push(name);
        let node = self.document(file, &text, depth + 1);
        self.include_stack.pop();
        Some(node)
    }
}

/// Whether a file is parsed. Any other file is included as text.
pub(crate) fn is_parsed(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("yaml" | "yml" | "json"))
}
