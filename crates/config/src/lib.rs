#![doc = include_str!("../README.md")]

mod agent;
mod config;
mod diagnostic;
mod env;
mod section;
mod shape;
mod source;

pub use agent::{Agent, AgentTimeouts, AgentType, OpenAiApi, Sampling, ToolChoice, ToolRef};
pub use config::{
    Auth, Config, Connection, ConnectionKind, DemoConnection, Endpoint, Limits, ModelConnection, SqlConnection,
};
pub use diagnostic::{Diagnostic, Excerpt, Severity, render};
pub use env::{Env, ProcessEnv};
pub use source::Location;

use source::{Files, Report};
use std::path::Path;

/// The file that a folder's config starts with.
pub const MAIN_FILE: &str = "chatwright.yaml";

/// A good config with what its author should know about it.
pub type Loaded = Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>>;

/// Reads a config file, or [`MAIN_FILE`] in a folder. Variables come from `env`.
///
/// # Errors
/// All problems, and warnings among them, in the order of the text.
pub fn load_path(path: &Path, env: &dyn Env) -> Loaded {
    let (folder, main) = match (path.is_dir(), path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (false, Some(folder), Some(name)) => (folder, name),
        _ => (path, MAIN_FILE),
    };
    load(&Files::Folder(folder.to_owned()), main, env)
}

/// Reads a config out of texts by file name, the first of which is the main file.
///
/// # Errors
/// As [`load_path`].
pub fn load_embedded(files: &[(&str, &str)], env: &dyn Env) -> Loaded {
    let main = files.first().map_or(MAIN_FILE, |(name, _)| *name);
    load(&Files::Embedded(files), main, env)
}

fn load(files: &Files<'_>, main: &str, env: &dyn Env) -> Loaded {
    let mut report = Report::default();
    let config = source::load(files, main, &mut report).map(|root| section::read(&root, &mut report, env));
    match config {
        Some(config) if !report.has_errors() => Ok((config, report.into_diagnostics())),
        _ => Err(report.into_diagnostics()),
    }
}

/// The JSON Schema of a config, with descriptions and defaults, for editors.
pub fn schema() -> serde_json::Value {
    shape::published()
}
