//! Every key of the language with all capabilities stands in a config that a test loads: one of the repository, or of the
//! documentation.

use crate::docs::{Everything, documented_configs, root};
use crate::keys::{Keys, Schema};
use config::{Node, NodeKind, SourceReader};
use serde_json::Value;
use server::config_language;
use std::fs;
use std::path::{Path, PathBuf};

/// Converts a value, with the files that it includes.
fn value(node: Node, reader: &mut SourceReader<'_>) -> Value {
    match node.kind {
        NodeKind::Null | NodeKind::Broken => Value::Null,
        NodeKind::Bool(flag) => flag.into(),
        NodeKind::Number(number) => number.into(),
        NodeKind::Text(text) => text.into(),
        NodeKind::List(items) => items.into_iter().map(|item| value(item, reader)).collect(),
        NodeKind::Map(mut entries) => match entries.as_slice() {
            [entry] if entry.key == "_ref" => {
                let NodeKind::Text(name) = entries.remove(0).value.kind else { return Value::Null };
                let name = SourceReader::normalize(&name).unwrap();
                let included = reader.read(&name, None).unwrap();
                value(included, reader)
            }
            _ => Value::Object(entries.into_iter().map(|entry| (entry.key, value(entry.value, reader))).collect()),
        },
    }
}

/// Returns the configs of the repository: each a folder, or a file.
fn configs() -> Vec<PathBuf> {
    let mut configs = vec![root().join("deploy/chatwright.yaml")];
    for folder in ["crates/config/tests/good", "examples", "end2end/configs", "server/tests/configs/good"] {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        // Examples with a program of their own have keys that only this program knows.
        let entries = entries.filter(|path| !path.join("Cargo.toml").is_file());
        configs.extend(entries.filter(|path| {
            path.extension().is_some_and(|extension| extension == "yaml") || path.join("chatwright.yaml").is_file()
        }));
    }
    configs
}

fn read(path: &Path) -> Value {
    let (folder, main) = if path.is_dir() {
        (path.to_owned(), "chatwright.yaml")
    } else {
        (path.parent().unwrap().to_owned(), path.file_name().unwrap().to_str().unwrap())
    };
    let mut reader = SourceReader::folder(folder);
    let node = reader.read(main, None).unwrap();
    value(node, &mut reader)
}

#[test]
fn configs_of_these_tests_are_valid() {
    let read = config_language().read_path(&root().join("server/tests/configs/good/capabilities.yaml"), &Everything);
    if let Err(problems) = read.outcome {
        panic!("{}", config::render(&problems));
    }
}

#[test]
fn every_key_is_in_a_config_that_a_test_loads() {
    let published = config_language().schema();
    let schema = Schema(&published);
    let (mut all, mut used) = (Keys::new(), Keys::new());
    schema.collect(&published, "", &mut Keys::new(), &mut all);
    for path in configs() {
        schema.mark(&published, "", &read(&path), &mut used);
    }
    for config in documented_configs() {
        let files = [("chatwright.yaml", config.as_str())];
        let mut reader = SourceReader::embedded(&files);
        if let Some(node) = reader.read("chatwright.yaml", None) {
            schema.mark(&published, "", &value(node, &mut reader), &mut used);
        }
    }
    // The locale has a key for each text of the UI, which tests of their own compare. Operators stand
    // within values of any shape; a page with all of them is `end2end/configs/operators.yaml`.
    let is_elsewhere = |key: &&String| key.starts_with("Texts.") || key.contains("Operator.");
    let missing: Vec<_> = all.difference(&used).filter(|key| !is_elsewhere(key)).collect();
    assert!(all.len() > 800, "{}", all.len());
    assert_eq!(missing, Vec::<&String>::new());
}
