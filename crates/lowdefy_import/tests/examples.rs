//! The examples of the documentation of Lowdefy's agents, each in the smallest app around it: they
//! run unchanged, or after the import, and what the import does not take over is named.

use config::{Language, NodeKind, SourceReader, render};
use lowdefy_import::{Import, import_folder};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// How an example runs.
#[derive(Debug, PartialEq)]
enum Runs {
    /// As it is.
    Unchanged,
    /// As it is. The import changes what these notes are about.
    Changed(&'static [&'static str]),
    /// After the import, without what these notes are about.
    Imported(&'static [&'static str]),
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples")
}

/// Returns the environment with all variables that the examples read.
fn env() -> HashMap<String, String> {
    let names = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "AI_GATEWAY_API_KEY"];
    names.into_iter().map(|name| (name.to_owned(), "sk-example".to_owned())).collect()
}

/// Imports an example from a folder that holds it as an app.
fn import(text: &str) -> Import {
    let app = tempfile::TempDir::new().unwrap();
    fs::create_dir(app.path().join("handbook")).unwrap();
    fs::write(app.path().join("lowdefy.yaml"), text).unwrap();
    let import = import_folder(app.path(), &Language::default());
    import.unwrap_or_else(|problems| panic!("{}", render(&problems)))
}

/// Loads a config from a folder. Returns its errors.
fn load(text: &str) -> Result<(), String> {
    let config = tempfile::TempDir::new().unwrap();
    fs::create_dir(config.path().join("handbook")).unwrap();
    fs::write(config.path().join("chatwright.yaml"), text).unwrap();
    config::load_path(config.path(), &env()).map(drop).map_err(|problems| render(&problems))
}

fn check(name: &str, expected: &Runs) {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let import = import(&text);
    let notes: Vec<String> = import.notes.iter().map(|note| format!("{}: {}", note.line, note.message)).collect();
    let runs = load(&text);
    match expected {
        Runs::Unchanged => {
            assert_eq!((runs, notes.as_slice()), (Ok(()), &[][..]), "{name}");
        }
        Runs::Changed(named) => {
            assert_eq!(runs, Ok(()), "{name}");
            assert_eq!(notes, *named, "{name}");
        }
        Runs::Imported(named) => {
            assert!(runs.is_err(), "{name} runs unchanged");
            assert_eq!(notes, *named, "{name}");
        }
    }
    assert_eq!(load(&import.files[0].text), Ok(()), "{name}\n{}", import.files[0].text);
    assert_eq!(unnamed(&text, &import), [], "{name}\n{}", import.files[0].text);
}

/// A scalar of a text, with the key that it belongs to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Scalar {
    key: String,
    value: String,
}

/// Keys that the import renames, and the type of a page, which becomes a page whatever it is.
const RENAMED: [(&str, &str); 2] = [("title", "label"), ("type", "")];
/// Values that the import renames, with the keys around them.
const RENAMED_VALUES: [(&str, &str, &str, &str); 3] = [
    ("_event", "key", "_event", "action"),
    ("_event", "suggestion", "_event", "text"),
    ("user", "{{ user.id }}", "_template", "{{ user.id }}"),
];

/// Returns the lines of an example with a scalar that is neither in the result nor named by a note.
fn unnamed(text: &str, import: &Import) -> Vec<(u32, Scalar)> {
    let kept: BTreeSet<Scalar> = scalars(&import.files[0].text).into_iter().map(|(_, scalar)| scalar).collect();
    let named: BTreeSet<u32> = import.notes.iter().map(|note| note.line).collect();
    let is_kept = |(line, scalar): &(u32, Scalar)| {
        let renamed = RENAMED.iter().find(|(key, _)| *key == scalar.key).is_some_and(|(_, now)| match *now {
            "" => scalar.value.starts_with("Page") || scalar.value == "Box",
            now => kept.contains(&Scalar { key: now.to_owned(), value: scalar.value.clone() }),
        });
        let renamed_value = RENAMED_VALUES.iter().any(|(key, value, now_key, now)| {
            (scalar.key.as_str(), scalar.value.as_str()) == (*key, *value)
                && kept.contains(&Scalar { key: (*now_key).to_owned(), value: (*now).to_owned() })
        });
        renamed || renamed_value || named.contains(line) || kept.contains(scalar)
    };
    scalars(text).into_iter().filter(|one| !is_kept(one)).collect()
}

fn scalars(text: &str) -> Vec<(u32, Scalar)> {
    let files = [("one.yaml", text)];
    let root = SourceReader::embedded(&files).read("one.yaml", None).unwrap();
    let (mut found, mut open) = (Vec::new(), vec![(String::new(), root)]);
    while let Some((key, node)) = open.pop() {
        let value = match node.kind {
            NodeKind::Map(entries) => {
                open.extend(entries.into_iter().map(|entry| (entry.key, entry.value)));
                continue;
            }
            NodeKind::List(items) => {
                open.extend(items.into_iter().map(|item| (key.clone(), item)));
                continue;
            }
            NodeKind::Text(text) => text,
            NodeKind::Bool(value) => value.to_string(),
            NodeKind::Number(number) => number.to_string(),
            NodeKind::Null | NodeKind::Broken => String::new(),
        };
        found.push((node.at.line, Scalar { key, value }));
    }
    found
}

#[test]
fn examples_of_agents_run_unchanged() {
    for name in [
        "minimal.yaml",
        "hooks.yaml",
        "claude.yaml",
        "openai.yaml",
        "gemini.yaml",
        "prepare-step.yaml",
        "prune.yaml",
        "generic.yaml",
        "tool-sources.yaml",
    ] {
        check(name, &Runs::Unchanged);
    }
}

#[test]
fn templates_in_what_the_provider_reads_are_evaluated() {
    check("gateway.yaml", &Runs::Changed(&["13: changed: `{{ user.id }}` is evaluated, as a template"]));
}

#[test]
fn other_examples_run_after_the_import() {
    check("shared-state.yaml", &Runs::Imported(&[]));
    check("shared-state-whole.yaml", &Runs::Imported(&[]));
    check("conversations.yaml", &Runs::Imported(&[]));
}

/// Each example is one of these.
#[test]
fn every_example_is_checked() {
    let source = include_str!("examples.rs");
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(source.contains(&format!("\"{name}\"")), "{name}");
    }
}
