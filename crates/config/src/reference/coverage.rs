//! Checks that every key of the reference stands in a config that a test loads: a good config of
//! this crate, an example, a config of the browser tests, or the one of the image.

use super::keys::{Keys, Schema};
use crate::env::Env;
use crate::language::Language;
use crate::section_type::{Section, SectionType};
use crate::source::{self, ConfigFiles, Report};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// An environment in which every variable is set.
struct Everything;

impl Env for Everything {
    fn get(&self, name: &str) -> Option<String> {
        match name {
            "DATABASE" => Some("sqlite://chat.db".to_owned()),
            _ => Some(format!("{name}-of-more-than-thirty-two-characters")),
        }
    }
}

/// Stands for the section of the crate `connected_accounts`, without which no connection may use accounts of users.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the type is the schema of the section")]
struct ConnectedAccounts {
    keys: Vec<String>,
}

impl Section for ConnectedAccounts {
    const KEY: &'static str = "connectedAccounts";
}

/// Returns the configs that tests load: each a folder, or a file.
fn configs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut configs = vec![root.join("deploy/chatwright.yaml")];
    for folder in ["crates/config/tests/good", "examples", "end2end/configs"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        // Examples with a program of their own have keys that only this program knows.
        let entries = entries.filter(|path| !path.join("Cargo.toml").is_file());
        configs.extend(entries.filter(|path| {
            path.extension().is_some_and(|extension| extension == "yaml") || path.join("chatwright.yaml").is_file()
        }));
    }
    configs.sort();
    configs
}

/// The configs of this crate's tests cause neither errors nor warnings.
#[test]
fn good_configs_are_valid() {
    let is_own = |path: &PathBuf| path.parent().is_some_and(|folder| folder.ends_with("tests/good"));
    let language = Language::new(&[SectionType::of::<ConnectedAccounts>()], &[]);
    let mut faults = String::new();
    for path in configs().into_iter().filter(is_own) {
        let problems = match language.read_path(&path, &Everything).outcome {
            Ok((_, warnings)) => warnings,
            Err(problems) => problems,
        };
        faults.push_str(&crate::render(&problems));
    }
    assert_eq!(faults, "");
}

#[test]
fn every_key_is_in_a_config_that_a_test_loads() {
    let published = Language::default().schema();
    let schema = Schema(&published);
    let (mut all, mut used) = (Keys::new(), Keys::new());
    schema.collect(&published, "", &mut Keys::new(), &mut all);
    let found = configs();
    assert!(found.len() > 10, "{found:?}");
    for path in found {
        let (folder, main) = match path.is_dir() {
            true => (path.clone(), "chatwright.yaml"),
            false => (path.parent().unwrap().to_owned(), path.file_name().unwrap().to_str().unwrap()),
        };
        let config = source::load(&ConfigFiles::Folder(folder), main, &mut Report::default()).unwrap();
        schema.mark(&published, "", &config.to_value(), &mut used);
    }
    // The locale has a key for each text of the UI, which tests of their own compare. Operators stand
    // within values of any shape; a page with all of them is `end2end/configs/operators.yaml`.
    let is_elsewhere = |key: &&String| key.starts_with("Texts.") || key.contains("Operator.");
    let missing: Vec<_> = all.difference(&used).filter(|key| !is_elsewhere(key)).collect();
    assert!(all.len() > 400, "{}", all.len());
    assert_eq!(missing, Vec::<&String>::new());
}
