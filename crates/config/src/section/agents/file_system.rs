//! An agent's `fileSystem`: the folder that it may read.

use crate::agent::FileSystem;
use crate::section::Context;
use crate::section::value::Text;
use config_source::{Node, PathStep, Span};
use contract::DeclaredAnnotations;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Gives an agent the tools `read-file`, `list-files`, `search-files` and `stat-file`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileSystemEntry {
    /// The folder, relative to that of the config's main file. Everything in it can be read;
    /// nothing outside it can.
    pub(crate) base_path: Text,
    /// The files may hold private data. Default: `true`.
    reads_private: Option<bool>,
    /// The files may hold text by anybody, with instructions in it. Default: `false`.
    returns_untrusted: Option<bool>,
}

/// Checks that the folder exists. `properties` are the agent's.
pub(crate) fn read(entry: FileSystemEntry, properties: &Node, context: &mut Context<'_, '_>) -> Option<FileSystem> {
    let at = properties.span_at(&[PathStep::Key("fileSystem"), PathStep::Key("basePath")]);
    let Text(written) = entry.base_path;
    let base_path =
        folder(&written, context).map_err(|(message, help)| context.report.error(at, message, help)).ok()?;
    warn_about_config(&base_path, &written, at, context);
    // The tools only read.
    let annotations = DeclaredAnnotations {
        reads_private: Some(entry.reads_private.unwrap_or(true)),
        returns_untrusted: entry.returns_untrusted,
        egress: Some(false),
        idempotent: Some(true),
        reads_only: Some(true),
    };
    Some(FileSystem { base_path, annotations })
}

/// Returns the folder's path, or the message and the help of an error.
fn folder(written: &str, context: &Context<'_, '_>) -> Result<PathBuf, (String, Option<String>)> {
    let written_path = Path::new(written);
    let path = match context.folder {
        Some(folder) => folder.join(written_path),
        None if written_path.is_absolute() => written_path.to_owned(),
        None => return Err(("this config is in no folder, so `basePath` must be absolute".to_owned(), None)),
    };
    let missing = |_| {
        let help =
            "a relative `basePath` starts at the folder of the config's main file; in a container, mount it there";
        let help = written_path.is_relative().then(|| help.to_owned());
        (format!("there is no folder `{written}`"), help)
    };
    let path = path.canonicalize().map_err(missing)?;
    if !path.is_dir() {
        return Err((format!("`{written}` is not a folder"), None));
    }
    if path.parent().is_none() {
        let help = "name a folder that holds only what the agent may read".to_owned();
        return Err((format!("`{written}` is everything on this machine"), Some(help)));
    }
    Ok(path)
}

/// Warns if the agent can read the config, which may hold keys and addresses that users of the
/// agent must not see.
fn warn_about_config(base_path: &Path, written: &str, at: Span, context: &mut Context<'_, '_>) {
    let config = context.folder.and_then(|folder| folder.canonicalize().ok());
    if config.is_some_and(|config| config.starts_with(base_path)) {
        let help = "name a folder that holds only what the agent may read".to_owned();
        let message = format!("the agent can read this config, which is in `{written}`, too");
        context.report.warning(at, message, Some(help));
    }
}
