//! Tests of invalid configs with the exact diagnostics for their authors.

mod actions;
mod agents;
mod api;
mod auth;
mod chats;
mod connections;
mod embed;
mod locale;
mod openid;
mod operators;
mod pages;
mod requests;
mod rights;
mod sender;
mod serve_as_remote_agent;
mod settings;
mod text;
mod unread;

use std::collections::HashMap;

/// Returns the diagnostics for a config in one file.
fn check(text: &str) -> String {
    check_files(&[("chatwright.yaml", text)])
}

/// Returns the diagnostics for a config in several files. The environment variable `KEY` is set.
fn check_files(files: &[(&str, &str)]) -> String {
    let long = "a-canary-of-more-than-thirty-two-characters".to_owned();
    let env = HashMap::from([("KEY".to_owned(), "sk-canary".to_owned()), ("LONG_KEY".to_owned(), long)]);
    let (result, diagnostics) = match config::load_embedded(files, &env) {
        Ok((_, warnings)) => ("accepted", warnings),
        Err(diagnostics) => ("refused", diagnostics),
    };
    let rendered = config::render(&diagnostics);
    assert!(!rendered.contains("sk-canary"), "a secret is shown: {rendered}");
    format!("{result}\n{rendered}")
}

/// Returns a config with a model connection `demo`, a database connection `kb` and the given
/// sections.
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
