#![doc = include_str!("../README.md")]

mod agent;
mod auth;
mod config;
mod connection;
mod connection_type;
mod embed;
mod env;
mod home;
mod language;
mod limits;
mod model;
mod outline;
mod prices;
mod reference;
mod roles;
mod rule;
mod section;
mod section_type;
mod section_value;
mod served;
mod shape;
mod vocabulary;

pub use agent::{
    Agent, AgentType, AnnotatedTools, Delegation, FileSystem, Hooks, McpRef, ModelRef, OpenAiApi, RemoteAgentRef,
    SourceAnnotations, SubAgentRef, Titles, ToolRef,
};
pub use auth::{
    AccountAuth, AuditAddresses, Auth, AuthMode, ClaimNames, GroupRoles, JwtAuth, JwtKeys, OpenIdProvider, ProxyAuth,
    SecondFactorMode,
};
pub use config::{ClientTool, Config, Endpoint, Home, Page};
pub use config_source::{
    ConfigSource, Diagnostic, Excerpt, FileOf, Location, MapEntry, Node, NodeKind, Overlay, PathStep, Severity,
    ShownText, SourceReader, SourceText, Span, YamlTree, YamlValue, render, render_short, to_yaml, write_yaml,
};
pub use connection::{
    AddedConnection, Connection, ConnectionKind, DemoConnection, HttpConnection, McpConnection, ModelConnection,
    RemoteAgentConnection, SqlConnection,
};
pub use connection_type::{ConnectionProperties, ConnectionType, SecretText};
pub use embed::Embed;
pub use env::{Env, ProcessEnv};
pub use language::{Language, LoadAttempt, LoadResult};
pub use limits::Limits;
pub use limits::rate_limit::{RateLimit, RateLimitKey, RateLimitTarget};
pub use model::{AllowedModels, Model, UnreadFiles};
pub use outline::{ChangeKind, ConfigChange, Outline};
pub use rule::{AccessRule, OWNER_ROLES};
pub use section::value::Id;
pub use section::{RESERVED_PARAMETERS, USER_KEYS};
pub use section_type::{Paid, PaidUse, Section, SectionPlace, SectionProblems, SectionType, Sections, SwitchOption};
pub use section_value::{ValueProblem, problems_in_yaml, read_yaml};
pub use served::{ServedAgent, ServedTool};
pub use settings::compile_patterns;

use std::path::Path;
use std::sync::LazyLock;

/// The name of the main file in a config folder.
pub const MAIN_FILE: &str = "chatwright.yaml";

/// The language without capabilities.
static LANGUAGE: LazyLock<Language> = LazyLock::new(Language::default);

/// Loads a config file, or [`MAIN_FILE`] in a folder, without the sections of capabilities.
/// Environment variables are read from `env`.
///
/// # Errors
/// All diagnostics, warnings included, in the order of the text.
pub fn load_path(path: &Path, env: &dyn Env) -> LoadResult {
    LANGUAGE.read_path(path, env).outcome
}

/// Loads a config from pairs of a file name and a text, without the sections of capabilities. The
/// first pair is the main file.
///
/// # Errors
/// As for [`load_path`].
pub fn load_embedded(files: &[(&str, &str)], env: &dyn Env) -> LoadResult {
    LANGUAGE.read_embedded(files, env).outcome
}
