#![doc = include_str!("../README.md")]

mod agent;
mod auth;
mod config;
mod diagnostic;
mod embed;
mod env;
mod mask;
mod operation;
mod outline;
mod prices;
mod reference;
mod roles;
mod rule;
mod section;
mod served;
mod shape;
mod source;

pub use agent::{
    Agent, AgentLimits, AgentTimeouts, AgentType, AnnotatedTools, Confirm, FileSystem, Hooks, McpRef, ModelRef,
    OpenAiApi, Policy, PolicyAction, PolicyRule, Prune, PruneReasoning, PruneToolCalls, RemoteAgentRef, Sampling,
    SourceAnnotations, StepRule, StepSelector, SubAgentRef, ToolAnnotations, ToolChoice, ToolRef,
};
pub use auth::{AuditAddresses, Auth, AuthMode, ClaimNames, JwtAuth, JwtKeys, PasswordAuth, ProxyAuth};
pub use config::{
    ClientTool, Config, Connection, ConnectionKind, DemoConnection, Endpoint, HttpConnection, Limits, McpConnection,
    McpHttp, McpOauth, McpStdio, McpTransport, ModelConnection, Page, Price, Quota, QuotaPeriod, RemoteAgentConnection,
    SqlConnection,
};
pub use diagnostic::{Diagnostic, Excerpt, Severity, render};
pub use embed::Embed;
pub use env::{Env, ProcessEnv};
pub use operation::{CustomAgents, RateLimit, RateLimitKey, RateLimitTarget, Retention};
pub use outline::{ChangeKind, ConfigChange, Outline};
pub use rule::{AccessRule, OWNER_ROLES};
pub use served::{ServedAgent, ServedTool};
pub use source::Location;

use source::{ConfigFiles, Report};
use std::path::{Path, PathBuf};

/// The name of the main file in a config folder.
pub const MAIN_FILE: &str = "chatwright.yaml";

/// The result of loading a config: the config with warnings, or all diagnostics.
pub type LoadResult = Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>>;

/// An attempt to load a config: the result, and which files were read, so that the caller can watch
/// them.
#[derive(Debug)]
pub struct LoadAttempt {
    /// The config, or what is wrong with it.
    pub outcome: LoadResult,
    /// Every file that was requested, also files that do not exist.
    pub files: Vec<PathBuf>,
    /// A hash of all files. It is equal for equal texts on every machine that runs this version. It
    /// is not cryptographic.
    pub fingerprint: u64,
    /// The config's entries and sections, also if the config has errors. Empty if it cannot be
    /// parsed.
    pub outline: Outline,
}

/// Loads a config file, or [`MAIN_FILE`] in a folder. Environment variables are read from `env`.
///
/// # Errors
/// All diagnostics, warnings included, in the order of the text.
pub fn load_path(path: &Path, env: &dyn Env) -> LoadResult {
    read_path(path, env).outcome
}

/// Loads a config like [`load_path`] and returns also which files were read.
pub fn read_path(path: &Path, env: &dyn Env) -> LoadAttempt {
    let (folder, main) = match (path.is_dir(), path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (false, Some(folder), Some(name)) => (folder, name),
        _ => (path, MAIN_FILE),
    };
    read(&ConfigFiles::Folder(folder.to_owned()), main, env)
}

/// Loads a config from pairs of a file name and a text. The first pair is the main file.
///
/// # Errors
/// As for [`load_path`].
pub fn load_embedded(files: &[(&str, &str)], env: &dyn Env) -> LoadResult {
    read_embedded(files, env).outcome
}

/// Loads a config like [`load_embedded`] and returns also which files were read.
pub fn read_embedded(files: &[(&str, &str)], env: &dyn Env) -> LoadAttempt {
    let main = files.first().map_or(MAIN_FILE, |(name, _)| *name);
    read(&ConfigFiles::Embedded(files), main, env)
}

fn read(files: &ConfigFiles<'_>, main: &str, env: &dyn Env) -> LoadAttempt {
    let mut report = Report::default();
    let root = source::load(files, main, &mut report);
    let outline = root.as_ref().map(Outline::from_tree).unwrap_or_default();
    let config = root.map(|root| section::read(&root, files.folder(), &mut report, env));
    let (asked, fingerprint) = (report.requested_files().to_vec(), report.fingerprint());
    let outcome = match config {
        Some(config) if !report.has_errors() => Ok((config, report.into_diagnostics())),
        _ => Err(report.into_diagnostics()),
    };
    LoadAttempt { outcome, files: asked, fingerprint, outline }
}

/// Returns the JSON Schema of a config with descriptions and defaults, for editors.
pub fn schema() -> serde_json::Value {
    shape::published()
}

/// Returns the reference of the config in Markdown: every key with its type, default and meaning.
pub fn reference() -> String {
    reference::markdown(&schema())
}
