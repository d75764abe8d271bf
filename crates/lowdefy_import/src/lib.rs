#![doc = include_str!("../README.md")]

mod convert;
mod output;
mod read;
mod settle;
mod summary;
mod tree;
mod yaml;

pub use output::{FolderCopy, OutputFile, WriteError, write};
pub use summary::ImportSummary;

use config::{Diagnostic, Language, SourceReader};
use std::path::{Path, PathBuf};

/// The name of the main file of a Lowdefy app.
pub const MAIN_FILE: &str = "lowdefy.yaml";

/// A converted app.
#[derive(Debug)]
pub struct Import {
    /// The files of the config. The first one is the main file.
    pub files: Vec<OutputFile>,
    /// Folders of the app that the config refers to.
    pub folders: Vec<FolderCopy>,
    /// Notes on values that were left out or changed, in the order of the app's files.
    pub notes: Vec<Diagnostic>,
    /// The numbers of imported entries.
    pub summary: ImportSummary,
    /// The environment variables that the config reads, with values that pass its checks.
    pub secrets: Vec<(String, String)>,
}

/// Converts the app in a folder.
///
/// # Errors
/// The app cannot be read: all diagnostics.
pub fn import_folder(folder: &Path, language: &Language) -> Result<Import, Vec<Diagnostic>> {
    import(SourceReader::folder(folder.to_owned()), folder, language)
}

/// Converts an app from pairs of a file name and a text, one of which is `lowdefy.yaml`.
///
/// # Errors
/// As for [`import_folder`].
pub fn import_embedded(files: &[(&str, &str)], language: &Language) -> Result<Import, Vec<Diagnostic>> {
    import(SourceReader::embedded(files), &PathBuf::new(), language)
}

fn import(mut reader: SourceReader<'_>, folder: &Path, language: &Language) -> Result<Import, Vec<Diagnostic>> {
    let Some(mut root) = read::read(&mut reader).filter(|_| !reader.has_errors()) else {
        return Err(reader.into_diagnostics());
    };
    let mut notes = convert::Notes::new(reader);
    let mut secrets = convert::app(&mut root, &mut notes);
    settle::settle(&mut root, folder, language, &secrets, &mut notes);
    secrets.retain_used(&root);
    let output = output::output(&root, &secrets, &notes);
    let summary = ImportSummary::new(&root, &notes);
    Ok(Import {
        files: output.files,
        folders: output.folders,
        notes: notes.finish(),
        summary,
        secrets: secrets.values(),
    })
}
