//! The files of the config.

use crate::convert::{Notes, Secrets};
use crate::tree::{Tree, Value};
use config::{SourceReader, write_yaml};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file that lists the variables for secrets.
const ENV_FILE: &str = ".env.example";
/// The most files that are copied for one folder, so that a wrong path does not copy a disk.
const MAX_COPIED: usize = 10_000;

/// A file of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path in the folder of the config.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// A folder of the app that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderCopy {
    /// Its path in the folder of the app and in that of the config.
    pub path: String,
}

pub(crate) struct Output {
    pub(crate) files: Vec<OutputFile>,
    pub(crate) folders: Vec<FolderCopy>,
}

/// Writes the tree as files, and the list of variables.
pub(crate) fn output(root: &Tree, secrets: &Secrets, notes: &Notes<'_>) -> Output {
    let mut parts = Parts { files: BTreeMap::new(), named: HashMap::new() };
    let (left_out, _) = notes.counts();
    let mut text = String::from("# Imported from a Lowdefy app by `chatwright import lowdefy`.\n");
    if left_out > 0 {
        text.push_str(&format!("# Left out: {left_out}. The import says where and what to do instead.\n"));
    }
    text.push_str(&write_yaml(root, true, &mut |tree| parts.name(tree)));
    let mut files = vec![OutputFile { path: config::MAIN_FILE.to_owned(), text }];
    files.extend(parts.files.into_iter().map(|(path, text)| OutputFile { path, text }));
    files.extend(secrets.example_file().map(|text| OutputFile { path: ENV_FILE.to_owned(), text }));
    Output { files, folders: folders(root) }
}

/// The files that the app included as they are.
struct Parts {
    files: BTreeMap<String, String>,
    /// The names of the values so far, by their address: a value is rendered once, also if it is
    /// asked for on each level of what includes it.
    named: HashMap<usize, Option<String>>,
}

impl Parts {
    /// Returns the name of the file of a value. A file that became different values in different
    /// places is written once; the others are written where they are used.
    fn name(&mut self, tree: &Tree) -> Option<String> {
        let name = tree.file.as_deref()?;
        let address = std::ptr::from_ref(tree).addr();
        if let Some(known) = self.named.get(&address) {
            return known.clone();
        }
        let found = self.add(tree, name);
        self.named.insert(address, found.clone());
        found
    }

    fn add(&mut self, tree: &Tree, name: &str) -> Option<String> {
        if [config::MAIN_FILE, ENV_FILE].contains(&name) || matches!(tree.value, Value::Null | Value::Removed) {
            return None;
        }
        let text = match (&tree.value, SourceReader::is_parsed(name)) {
            (Value::Text(text), false) => text.clone(),
            (_, false) => return None,
            _ if name.ends_with(".json") => format!("{:#}\n", tree.to_json()),
            _ => write_yaml(tree, false, &mut |part| if std::ptr::eq(part, tree) { None } else { self.name(part) }),
        };
        match self.files.get(name) {
            Some(known) if *known != text => return None,
            Some(_) => {}
            None => drop(self.files.insert(name.to_owned(), text)),
        }
        Some(name.to_owned())
    }
}

/// Returns the folders that agents may read.
fn folders(root: &Tree) -> Vec<FolderCopy> {
    let mut paths = BTreeSet::new();
    for agent in root.get("agents").map(Tree::items).unwrap_or_default() {
        let files = agent.get("properties").and_then(|properties| properties.get("fileSystem"));
        let path = files.and_then(|files| files.text_of("basePath")).and_then(SourceReader::normalize);
        paths.extend(path);
    }
    paths.into_iter().map(|path| FolderCopy { path }).collect()
}

/// Why the config was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There are such files already.
    #[error("{} exists already; `--force` overwrites it", .0.display())]
    Exists(PathBuf),
    /// A folder holds too many files to be copied.
    #[error("{} holds more than {MAX_COPIED} files; copy what the agents need and leave out the rest", .0.display())]
    TooMany(PathBuf),
    /// The disk refused it.
    #[error("cannot write {}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
}

/// Writes the config into a folder. An existing file is overwritten only with `force`.
///
/// # Errors
/// A file exists already, in which case no file was written, or the disk fails.
pub fn write(import: &crate::Import, app: &Path, target: &Path, force: bool) -> Result<(), WriteError> {
    let mut copies = Vec::new();
    for FolderCopy { path } in &import.folders {
        let from = app.join(path);
        let mut files = Vec::new();
        list_files(&from, &mut files).map_err(|error| WriteError::Io(from.clone(), error))?;
        if files.len() > MAX_COPIED {
            return Err(WriteError::TooMany(from));
        }
        copies.push((from, target.join(path), files));
    }
    let texts: Vec<(PathBuf, &str)> =
        import.files.iter().map(|file| (target.join(&file.path), file.text.as_str())).collect();
    let copied = copies.iter().flat_map(|(_, to, files)| files.iter().map(|file| to.join(file)));
    let mut all = texts.iter().map(|(path, _)| path.clone()).chain(copied);
    if let Some(existing) = all.find(|path| !force && path.symlink_metadata().is_ok()) {
        return Err(WriteError::Exists(existing));
    }
    for (path, text) in texts {
        create_parent(&path).and_then(|()| fs::write(&path, text)).map_err(|error| WriteError::Io(path, error))?;
    }
    for (from, to, files) in copies {
        fs::create_dir_all(&to).map_err(|error| WriteError::Io(to.clone(), error))?;
        for file in files {
            let path = to.join(&file);
            let copied = create_parent(&path).and_then(|()| fs::copy(from.join(&file), &path).map(drop));
            copied.map_err(|error| WriteError::Io(path, error))?;
        }
    }
    Ok(())
}

fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Lists the files below a folder, relative to it. Links are left out: they may lead anywhere.
fn list_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(folder.join(&below))? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, below.join(entry.file_name()));
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
            if files.len() + open.len() > MAX_COPIED {
                files.resize(MAX_COPIED + 1, PathBuf::new());
                return Ok(());
            }
        }
    }
    Ok(())
}
