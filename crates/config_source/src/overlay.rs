//! Changes of a config that are stored elsewhere: entries that are added to those of its files, or replace them.

use crate::parse::Loader;
use crate::{ConfigFiles, MapEntry, Node, NodeKind, Report, Span, suggest};

/// Changes to a config, as a document of its own.
#[derive(Clone, Copy)]
pub struct Overlay<'a> {
    /// The name for diagnostics.
    pub name: &'a str,
    /// The document: sections as in a config. Nothing if it is empty.
    pub text: &'a str,
    /// The sections that it may have.
    pub sections: &'a [String],
}

/// Reads a config as [`load`](crate::load) does, with changes. In a section that is a list of entries with ids, each
/// entry of the changes replaces the one with its id, or is added at the end; other sections are replaced as a whole.
/// `_remove: true` in place of the rest takes an entry or a section out. The changes can only include files that the
/// config includes.
pub fn load_with_overlay(
    files: &ConfigFiles<'_>,
    main: &str,
    overlay: &Overlay<'_>,
    report: &mut Report,
) -> Option<Node> {
    let mut loader = Loader::new(files, report);
    let root = loader.main(main)?;
    let changes = loader.changes(overlay)?;
    merged(root, changes, overlay.sections, report)
}

/// Returns the config with the changes. `None` if they are no mapping, which has been reported.
fn merged(root: Node, changes: Node, allowed: &[String], report: &mut Report) -> Option<Node> {
    let mut sections = match root.kind {
        NodeKind::Map(sections) => sections,
        // The checker reports everything else.
        NodeKind::Null => Vec::new(),
        _ => return Some(root),
    };
    let entries = match changes.kind {
        NodeKind::Map(entries) => entries,
        NodeKind::Null => Vec::new(),
        NodeKind::Broken => return None,
        _ => {
            let help = "write the sections that change, as in a config: `agents:` and its entries".to_owned();
            report.error(changes.at, format!("expected sections, found {}", changes.describe()), Some(help));
            return None;
        }
    };
    for entry in entries {
        if !allowed.contains(&entry.key) {
            let help = suggest::help(&entry.key, allowed.iter().map(String::as_str));
            report.error(entry.key_at, format!("the section `{}` cannot be changed here", entry.key), help);
            continue;
        }
        let found = sections.iter().position(|section| section.key == entry.key);
        match (found, removal(&entry.value, report)) {
            (Some(at), Some(_)) => drop(sections.remove(at)),
            (None, Some(remove_at)) => {
                report.error(remove_at, format!("the files have no section `{}`", entry.key), None);
            }
            (Some(at), None) => merge_section(&mut sections[at], entry, report),
            (None, None) => {
                let mut added = entry;
                // Reports what cannot be removed.
                if let NodeKind::List(items) = &mut added.value.kind {
                    let changed = std::mem::take(items);
                    merge_entries(items, changed, report);
                }
                sections.push(added);
            }
        }
    }
    Some(Node { at: root.at, kind: NodeKind::Map(sections) })
}

/// The key of entries that are removed from the files.
const REMOVE: &str = "_remove";

/// Returns where it is written that a value is removed, and reports what else is written there.
fn removal(value: &Node, report: &mut Report) -> Option<Span> {
    let NodeKind::Map(entries) = &value.kind else { return None };
    let remove = entries.iter().find(|entry| entry.key == REMOVE)?;
    if !matches!(remove.value.kind, NodeKind::Bool(true)) {
        let help = "leave the key out to keep what the files have".to_owned();
        report.error(remove.value.at, format!("`{REMOVE}` can only be `true`"), Some(help));
    }
    for other in entries.iter().filter(|entry| !["id", REMOVE].contains(&entry.key.as_str())) {
        report.error(other.key_at, format!("`{}` has no effect beside `{REMOVE}`", other.key), None);
    }
    Some(remove.key_at)
}

fn merge_section(section: &mut MapEntry, changes: MapEntry, report: &mut Report) {
    match (&mut section.value.kind, changes.value) {
        (NodeKind::List(items), Node { kind: NodeKind::List(changed), .. }) if all_have_ids(items) => {
            merge_entries(items, changed, report);
        }
        (kind, value) => {
            *kind = value.kind;
            section.value.at = value.at;
            section.key_at = changes.key_at;
        }
    }
}

fn all_have_ids(items: &[Node]) -> bool {
    items.iter().all(|item| id(item).is_some())
}

/// Merges changed entries into a list by their ids. If two changes have the same id, the first one replaces and the
/// second one is added, so that the checker reports it.
fn merge_entries(items: &mut Vec<Node>, changed: Vec<Node>, report: &mut Report) {
    let (removed, changed): (Vec<_>, Vec<_>) = changed.into_iter().partition(|change| change.get(REMOVE).is_some());
    for change in removed {
        let Some(remove_at) = removal(&change, report) else { continue };
        match items.iter().position(|item| id(item).is_some() && id(item) == id(&change)) {
            Some(at) => drop(items.remove(at)),
            None => {
                let known = items.iter().filter_map(id);
                let (name, help) =
                    (id(&change).unwrap_or_default(), suggest::help(id(&change).unwrap_or_default(), known));
                report.error(remove_at, format!("the files have no entry `{name}` here"), help);
            }
        }
    }
    let mut replaced = Vec::new();
    for change in changed {
        let at = items.iter().position(|item| id(item).is_some() && id(item) == id(&change));
        match at.filter(|at| !replaced.contains(at)) {
            Some(at) => {
                replaced.push(at);
                items[at] = change;
            }
            None => {
                replaced.push(items.len());
                items.push(change);
            }
        }
    }
}

fn id(entry: &Node) -> Option<&str> {
    entry.get("id")?.value.text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConfigSource, SourceText, render_short};

    const MAIN: &str = "
agents:
  - { id: a, instructions: one }
  - { id: b, instructions: { _ref: b.md } }
limits: { runs: 2, toolMs: 5 }
names: [x, y]
auth: { mode: password }
";

    fn merge(overlay: &str) -> Result<String, String> {
        let text = |name: &str, text: &str| SourceText { name: name.into(), text: text.into() };
        let source = ConfigSource { folder: None, files: vec![text("main.yaml", MAIN), text("b.md", "two")] };
        let sections = ["agents", "limits", "names", "pages"].map(str::to_owned);
        let overlay = Overlay { name: "changes", text: overlay, sections: &sections };
        let mut report = Report::default();
        let root = load_with_overlay(&ConfigFiles::Captured(&source), "main.yaml", &overlay, &mut report);
        match root.filter(|_| !report.has_errors()) {
            Some(root) => Ok(root.to_value().to_string()),
            None => Err(render_short(&report.into_diagnostics())),
        }
    }

    #[test]
    fn entries_are_added_and_replaced() {
        let (a, b) = (r#"{"id":"a","instructions":"one"}"#, r#"{"id":"b","instructions":"two"}"#);
        let rest = r#""names":["x","y"],"auth":{"mode":"password"}"#;
        let limits = r#""limits":{"runs":2,"toolMs":5}"#;
        let check = |overlay: &str, expected: String| assert_eq!(merge(overlay).unwrap(), expected, "{overlay}");
        check("", format!(r#"{{"agents":[{a},{b}],{limits},{rest}}}"#));
        check("# Nothing yet\n", format!(r#"{{"agents":[{a},{b}],{limits},{rest}}}"#));
        check(
            "agents:\n  - { id: c }\n  - { id: a, title: A }\n",
            format!(r#"{{"agents":[{{"id":"a","title":"A"}},{b},{{"id":"c"}}],{limits},{rest}}}"#),
        );
        // A file that the config includes can be included again.
        check(
            "agents: [{ id: a, instructions: { _ref: b.md } }]",
            format!(r#"{{"agents":[{{"id":"a","instructions":"two"}},{b}],{limits},{rest}}}"#),
        );
        // The checker reports the second one.
        check(
            "agents: [{ id: b }, { id: b, title: B }]",
            format!(r#"{{"agents":[{a},{{"id":"b"}},{{"id":"b","title":"B"}}],{limits},{rest}}}"#),
        );
        check(
            "limits: { runs: 9 }\nnames: [z]\npages: []",
            format!(
                r#"{{"agents":[{a},{b}],"limits":{{"runs":9}},"names":["z"],"auth":{{"mode":"password"}},"pages":[]}}"#
            ),
        );
    }

    #[test]
    fn entries_and_sections_are_removed() {
        let (a, b) = (r#"{"id":"a","instructions":"one"}"#, r#"{"id":"b","instructions":"two"}"#);
        let rest = r#""names":["x","y"],"auth":{"mode":"password"}"#;
        let limits = r#""limits":{"runs":2,"toolMs":5}"#;
        let check = |overlay: &str, expected: String| assert_eq!(merge(overlay).unwrap(), expected, "{overlay}");
        check("agents: [{ id: a, _remove: true }]", format!(r#"{{"agents":[{b}],{limits},{rest}}}"#));
        check(
            "agents: [{ id: c }, { id: a, _remove: true }]",
            format!(r#"{{"agents":[{b},{{"id":"c"}}],{limits},{rest}}}"#),
        );
        check(
            "agents: [{ id: a, _remove: true }, { id: b, _remove: true }]",
            format!(r#"{{"agents":[],{limits},{rest}}}"#),
        );
        check("limits: { _remove: true }", format!(r#"{{"agents":[{a},{b}],{rest}}}"#));
        let fails = |overlay: &str, expected: &str| assert_eq!(merge(overlay).unwrap_err(), expected, "{overlay}");
        fails(
            "agents: [{ id: bb, _remove: true }]",
            "changes:1:20: error: the files have no entry `bb` here\n   = help: one of `a` and `b`",
        );
        fails(
            "agents: [{ id: c, _remove: true }, { id: c }]",
            "changes:1:19: error: the files have no entry `c` here\n   = help: one of `a` and `b`",
        );
        fails("pages: { _remove: true }", "changes:1:10: error: the files have no section `pages`");
        fails("pages: [{ id: p, _remove: true }]", "changes:1:18: error: the files have no entry `p` here");
        fails(
            "agents: [{ id: a, _remove: false }]",
            "changes:1:28: error: `_remove` can only be `true`\n   = help: leave the key out to keep what the files have",
        );
        fails(
            "agents: [{ id: a, title: A, _remove: true }]",
            "changes:1:19: error: `title` has no effect beside `_remove`",
        );
    }

    #[test]
    fn problems_are_reported_in_the_changes() {
        let check = |overlay: &str, expected: &str| assert_eq!(merge(overlay).unwrap_err(), expected, "{overlay}");
        check(
            "auth: { mode: local }",
            "changes:1:1: error: the section `auth` cannot be changed here\n   = help: one of `agents`, `limits`, `names` and `pages`",
        );
        check(
            "\nagent: []",
            "changes:2:1: error: the section `agent` cannot be changed here\n   = help: did you mean `agents`?",
        );
        check(
            "text",
            "changes:1:1: error: expected sections, found the text `text`\n   = help: write the sections that change, as in a config: `agents:` and its entries",
        );
        check(
            "agents: [{ id: a, instructions: { _ref: secret.env } }]",
            "changes:1:41: error: cannot read `secret.env`: the config does not include it",
        );
        check(
            "agents: { _ref: main.yaml }",
            "changes:1:17: error: `main.yaml` includes itself\n   = help: `main.yaml` → `main.yaml`",
        );
        check(
            "a: [",
            "changes:1:5: error: this is not valid YAML: while parsing a node, did not find expected node content\n   = help: a value is missing here, or a bracket is not closed",
        );
    }
}
