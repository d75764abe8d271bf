//! Broken configs and exactly what their authors are told.

mod agents;
mod api;
mod auth;
mod client_tools;
mod connections;
mod embed;
mod file_system;
mod includes;
mod locale;
mod marks;
mod mcp;
mod pages;
mod rights;
mod sender;
mod serve_as_remote_agent;
mod settings;
mod shape;
mod yaml;

use std::collections::HashMap;

/// What is said about a config in one file.
fn check(text: &str) -> String {
    check_files(&[("chatwright.yaml", text)])
}

/// What is said about a config in several files. One variable is set: `KEY`.
fn check_files(files: &[(&str, &str)]) -> String {
    let env = HashMap::from([("KEY".to_owned(), "sk-canary".to_owned())]);
    let (result, diagnostics) = match config::load_embedded(files, &env) {
        Ok((_, warnings)) => ("accepted", warnings),
        Err(diagnostics) => ("refused", diagnostics),
    };
    let rendered = config::render(&diagnostics);
    assert!(!rendered.contains("sk-canary"), "a secret is shown: {rendered}");
    format!("{result}\n{rendered}")
}

/// A config with a model connection `demo`, an endpoint `search` that can be a tool, and what the case adds.
fn with_basics(rest: &str) -> String {
    let basics =
        "connections: [{ id: demo, type: Demo }, { id: kb, type: Sql, properties: { url: 'sqlite::memory:' } }]\n";
    format!("{basics}{rest}")
}

/// An endpoint that can be a tool.
const SEARCH: &str = "api:
  - id: search
    description: Search
    payloadSchema: { type: object, properties: { q: { type: string } } }
    routine: [{ ':return': { _payload: q } }]
";
