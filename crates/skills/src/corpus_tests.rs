//! Reads skills that others have written, from a folder with clones of public repositories.

use crate::catalog::Catalog;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The environment variable with the folder.
const FOLDER: &str = "SKILLS_CORPUS";

/// How many skills can be used, and why others cannot.
#[derive(Debug, Default)]
struct Count {
    valid: usize,
    /// The skills that are not used, by the reason.
    invalid: BTreeMap<String, usize>,
    /// The skills that are used although something is not as the specification says.
    warnings: usize,
}

impl Count {
    fn add(&mut self, catalog: &Catalog) {
        self.valid += catalog.names().count();
        for problem in &catalog.problems {
            match problem.message.split_once(" cannot be used: ") {
                Some((_, reason)) => *self.invalid.entry(reason.to_owned()).or_default() += 1,
                None => self.warnings += 1,
            }
        }
    }
}

/// Reads each folder of the corpus as the folder of a config, so that the most skills of a folder and equal
/// names in two repositories do not matter.
fn read(corpus: &Path) -> Count {
    let mut count = Count::default();
    let folders = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.sort();
    for folder in folders {
        count.add(&Catalog::read(&[folder]));
    }
    count
}

#[test]
fn skills_of_a_corpus_are_counted() {
    let corpus = tempfile::TempDir::new().unwrap();
    for (path, text) in [
        ("one/a/SKILL.md", "---\nname: a\ndescription: d\n---\n"),
        ("two/a/SKILL.md", "---\nname: a\ndescription: d\n---\n"),
        ("two/b/SKILL.md", "---\nname: b\n---\n"),
        ("two/README.md", "nothing"),
    ] {
        let file = corpus.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let count = read(corpus.path());
    assert_eq!((count.valid, count.invalid.values().sum::<usize>()), (2, 1), "{count:?}");
}

/// Run by `cargo xtask skills FOLDER`.
#[test]
#[ignore = "needs a folder with repositories of skills"]
fn most_public_skills_can_be_used() {
    let corpus = std::env::var_os(FOLDER).expect("the variable names the folder");
    let count = read(Path::new(&corpus));
    let invalid: usize = count.invalid.values().sum();
    println!("{} skills can be used, {invalid} cannot; {} remarks", count.valid, count.warnings);
    for (reason, number) in &count.invalid {
        println!("  {number}: {reason}");
    }
    assert!(count.valid > 0, "there are no skills in {}", corpus.display());
    assert!(invalid * 10 <= count.valid, "more than one in ten cannot be used");
}
