//! Converts the tree in place, section by section.

mod access;
mod agents;
mod blocks;
mod chat;
mod connections;
mod contents;
mod endpoints;
mod event_fields;
mod events;
mod http;
mod input;
mod layout;
mod operators;
mod pages;
mod request;
mod secrets;
mod sql;
mod steps;
mod templates;

pub(crate) use contents::describe as describe_contents;
pub(crate) use secrets::Secrets;
pub(crate) use steps::put_failure;

use crate::tree::{Tree, Value};
use config::{Diagnostic, Location, SourceReader, Span};

/// The sections that both languages have, in the order of a config.
const SECTIONS: [&str; 4] = ["connections", "agents", "api", "pages"];
/// Keys that only describe the app, which are left out without a note.
const SILENT: [&str; 4] = ["lowdefy", "name", "version", "license"];

/// Collects the notes about what is left out or changed.
pub(crate) struct Notes<'r> {
    reader: SourceReader<'r>,
    left_out: usize,
    changed: usize,
}

impl<'r> Notes<'r> {
    /// Continues with the warnings of the reader, each of which is about something left out.
    pub(crate) fn new(reader: SourceReader<'r>) -> Self {
        Self { left_out: reader.warning_count(), reader, changed: 0 }
    }

    /// Notes that something was not taken over. `help` says what to do instead.
    pub(crate) fn left_out(&mut self, at: Span, what: impl AsRef<str>, help: &str) {
        self.left_out += 1;
        self.add(at, format!("left out: {}", what.as_ref()), help);
    }

    /// Notes that something was taken over with another meaning or form.
    pub(crate) fn changed(&mut self, at: Span, what: impl AsRef<str>, help: &str) {
        self.changed += 1;
        self.add(at, format!("changed: {}", what.as_ref()), help);
    }

    fn add(&mut self, at: Span, message: String, help: &str) {
        self.reader.warning(at, message, (!help.is_empty()).then(|| help.to_owned()));
    }

    /// Returns how many things were left out, and how many were changed.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.left_out, self.changed)
    }

    pub(crate) fn location(&self, at: Span) -> Location {
        self.reader.location(at)
    }

    /// Returns the notes in the order of the app's files.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        self.reader.into_diagnostics()
    }
}

/// Converts a whole app. Returns the variables that hold its secrets.
pub(crate) fn app(root: &mut Tree, notes: &mut Notes<'_>) -> Secrets {
    let mut secrets = Secrets::default();
    access::apply(root, notes);
    let start_page = take_start_page(root, notes);
    leave_out_sections(root, notes);
    remove_leftover_references(root, notes);
    connections::convert(root, &mut secrets, notes);
    if let Some(agents) = root.get_mut("agents") {
        agents::convert(agents, &mut secrets, notes);
    }
    pages::convert(root, start_page.as_deref(), notes);
    endpoints::convert(root, notes);
    root.prune();
    secrets.collect(root);
    describe_origins(root, notes);
    secrets
}

/// Removes the section `config` and returns the id of the start page that it names.
fn take_start_page(root: &mut Tree, notes: &mut Notes<'_>) -> Option<String> {
    let mut config = root.remove("config")?.value;
    let start_page = config.remove("homePageId").and_then(|entry| entry.value.text().map(str::to_owned));
    for entry in config.entries() {
        let help = "addresses, sessions and headers are options of the server, see docs/operations.md";
        notes.left_out(entry.key_at, format!("`config.{}`", entry.key), help);
    }
    start_page
}

/// Leaves out the sections that a config does not have.
fn leave_out_sections(root: &mut Tree, notes: &mut Notes<'_>) {
    let Value::Map(entries) = &mut root.value else { return };
    entries.retain(|entry| {
        let key = entry.key.as_str();
        if !SECTIONS.contains(&key) && !SILENT.contains(&key) && key != "auth" {
            notes.left_out(entry.key_at, format!("the section `{key}`"), section_help(key));
        }
        SECTIONS.contains(&key)
    });
}

fn section_help(key: &str) -> &'static str {
    match key {
        "menus" => "the first page is the start page; link to others with the action `Link`",
        "global" => "write the values where they are used, or return them from an endpoint",
        "plugins" | "types" => "write them in Rust: a page, or a capability with tools",
        "theme" | "app" => "the look is that of the server; see docs/embedding.md for CSS variables",
        "logger" => "the log and its format are options of the server, see docs/operations.md",
        "modules" => "copy the module's connections, endpoints and pages into the app",
        "notifications" | "mobile" | "i18n" => "there is nothing like it",
        _ => "",
    }
}

/// Removes each `_ref` with other keys beside it, which stands for nothing.
fn remove_leftover_references(root: &mut Tree, notes: &mut Notes<'_>) {
    root.for_each_mut(&mut |tree| {
        if let Some(entry) = tree.remove("_ref") {
            let help = "`_ref` stands for a whole value; remove the other keys";
            notes.left_out(entry.key_at, "a `_ref` with keys beside it", help);
        }
    });
}

/// Writes above each entry where it came from.
fn describe_origins(root: &mut Tree, notes: &Notes<'_>) {
    for section in SECTIONS {
        let Some(section) = root.get_mut(section) else { continue };
        for item in section.items_mut() {
            let Location { file, line, .. } = notes.location(item.at);
            let file = std::path::Path::new(&*file).file_name().map(|name| name.to_string_lossy().into_owned());
            item.comment.insert(0, format!("{}, line {line}", file.unwrap_or_default()));
        }
    }
}

/// Makes a list of a value that is one item.
fn make_list(tree: &mut Tree) {
    if tree.is_map() {
        let item = tree.take();
        *tree = Tree::list_at(item.at, vec![item]);
    }
}

/// Leaves out keys that have no meaning here.
fn leave_out_keys(tree: &mut Tree, keys: &[(&str, &str)], notes: &mut Notes<'_>) {
    for (key, help) in keys {
        if let Some(entry) = tree.remove(key) {
            notes.left_out(entry.key_at, format!("`{key}`"), help);
        }
    }
}
