//! Reads the app: its main file with all that `_ref` includes.

mod vars;

use crate::MAIN_FILE;
use crate::tree::{Tree, Value};
use config::{SourceReader, Span};

/// The number of values in the app, with everything included as often as it is referred to.
const MAX_VALUES: usize = 200_000;
/// The deepest nesting, with files included.
const MAX_DEPTH: usize = 60;

/// Reads the main file. `None` after an error that leaves nothing to convert.
pub(crate) fn read(reader: &mut SourceReader<'_>) -> Option<Tree> {
    let root: Tree = reader.read(MAIN_FILE, None)?.into();
    let mut includes = Includes { reader, open: vec![MAIN_FILE.to_owned()], values: 0, is_full: false };
    let mut root = includes.resolve(root, None, 0);
    root.prune();
    if !root.is_map() {
        reader.error(root.at, "this is not a Lowdefy app: a mapping is expected", None);
        return None;
    }
    Some(root)
}

/// Replaces `_ref` and `_var`.
struct Includes<'i, 'r> {
    reader: &'i mut SourceReader<'r>,
    /// The files that are being read, each included by the one before it.
    open: Vec<String>,
    /// The values so far, counted against [`MAX_VALUES`].
    values: usize,
    /// Whether a bound was exceeded, so that nothing more is read.
    is_full: bool,
}

/// The parts of a `_ref`.
struct Reference {
    path: String,
    path_at: Span,
    vars: Option<Tree>,
    /// A path into the content, of which only that part is used.
    part: Option<String>,
    /// Whether the content is used as it is.
    is_plain: bool,
}

impl Includes<'_, '_> {
    /// Counts values, and reports once if there are too many or they nest too deeply.
    fn count(&mut self, values: usize, depth: usize, at: Span) -> bool {
        self.values = self.values.saturating_add(values);
        let problem = match (self.values > MAX_VALUES, depth > MAX_DEPTH) {
            (true, _) => "the app holds more than 200000 values, with all that it includes",
            (_, true) => "lists, mappings and included files nest more than 60 deep",
            _ => return !self.is_full,
        };
        if !std::mem::replace(&mut self.is_full, true) {
            self.reader.error(at, problem, None);
        }
        false
    }

    /// Returns a value with what its references stand for. `vars` are those of the file.
    fn resolve(&mut self, tree: Tree, vars: Option<&Tree>, depth: usize) -> Tree {
        if !self.count(1, depth, tree.at) {
            return Tree::new(tree.at, Value::Null);
        }
        match tree.operator() {
            Some(("_ref", argument)) => {
                let argument = self.resolve(argument.clone(), vars, depth + 1);
                return self.include(&argument, depth).unwrap_or_else(|| Tree::new(tree.at, Value::Removed));
            }
            Some(("_var", argument)) => {
                let argument = self.resolve(argument.clone(), vars, depth + 1);
                let found = vars::lookup(&argument, vars, self.reader);
                let value = found.unwrap_or_else(|| Tree::new(tree.at, Value::Removed));
                let (size, height) = (value.size(), value.height());
                return if self.count(size, depth + height, tree.at) { value } else { Tree::new(tree.at, Value::Null) };
            }
            _ => {}
        }
        let Tree { at, file, comment, value } = tree;
        let value = match value {
            Value::List(items) => {
                Value::List(items.into_iter().map(|item| self.resolve(item, vars, depth + 1)).collect())
            }
            Value::Map(mut entries) => {
                for entry in &mut entries {
                    let value = entry.value.take();
                    entry.value = self.resolve(value, vars, depth + 1);
                }
                Value::Map(entries)
            }
            value => value,
        };
        Tree { at, file, comment, value }
    }

    /// Returns the content of a file. `None` after an error, which has been reported.
    fn include(&mut self, argument: &Tree, depth: usize) -> Option<Tree> {
        let reference = self.reference(argument)?;
        let at = reference.path_at;
        let Some(name) = SourceReader::normalize(&reference.path) else {
            let help = "copy the file into the folder; nothing outside it is read".to_owned();
            self.reader.error(at, format!("`{}` leaves the app's folder", reference.path), Some(help));
            return None;
        };
        if name.ends_with(".njk") {
            let help = "write the rendered YAML into a file and refer to that".to_owned();
            self.reader.warning(at, "left out: a Nunjucks template", Some(help));
            return None;
        }
        if self.open.contains(&name) {
            let way = self.open.iter().map(|name| format!("`{name}` → ")).collect::<String>();
            self.reader.error(at, format!("`{name}` includes itself"), Some(format!("{way}`{name}`")));
            return None;
        }
        let content: Tree = self.reader.read(&name, Some(at))?.into();
        self.open.push(name.clone());
        let mut content = self.resolve(content, reference.vars.as_ref(), depth + 1);
        self.open.pop();
        if let Some(part) = &reference.part {
            content = vars::part(&content, part).cloned().unwrap_or_else(|| {
                self.reader.warning(at, format!("left out: `{name}` has no value at `{part}`"), None);
                Tree::new(at, Value::Removed)
            });
        }
        // The text of a file is one value with the position of the reference, where problems are shown.
        if !SourceReader::is_parsed(&name) {
            content.at = at;
        }
        content.file = reference.is_plain.then(|| name.into());
        Some(content)
    }

    fn reference(&mut self, argument: &Tree) -> Option<Reference> {
        let path = match argument.text() {
            Some(_) => argument,
            None => argument.get("path").unwrap_or(argument),
        };
        let Some(text) = path.text() else {
            self.reader.error(path.at, "`_ref` takes the path of a file", None);
            return None;
        };
        for key in ["transformer", "resolver", "module"] {
            if let Some(entry) = argument.entry(key) {
                let help = match key {
                    "module" => "copy the module's files into the app and refer to them",
                    _ => "it is a program; write what it returns into the file",
                };
                self.reader.warning(entry.key_at, format!("left out: `{key}` of a reference"), Some(help.to_owned()));
            }
        }
        Some(Reference {
            path: text.to_owned(),
            path_at: path.at,
            vars: argument.get("vars").cloned(),
            part: argument.text_of("key").map(str::to_owned),
            is_plain: argument.entries().iter().all(|entry| entry.key == "path"),
        })
    }
}
