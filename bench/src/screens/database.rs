//! The config and the database of a company with 50 agents, 200 users and 20,000 conversations.

use crate::admin::insert;
use anyhow::Result;
use std::fmt::Write;
use std::path::Path;

const CONFIG: &str = include_str!("config.yaml");
const FILL: &str = include_str!("fill.sql");
/// The agents of the config.
const AGENTS: usize = 50;
/// The number of agents that `config.yaml` has.
const WRITTEN: usize = 2;
/// The stored SHA-256 of the tokens of the sessions: `bench`, `bench-busy` and `bench-member`.
const TOKEN_HASHES: [(&str, &str); 3] = [
    (":admin", "1b32c28cb38c05480eccc1bd60ff97029b57a05c96718b96dad7e9d84894f549"),
    (":busy", "1cb89ef7dfd512482da3f0bdc6b3ff1907a74259f8be6f2a7613d30b118d69d0"),
    (":member", "226e49c8f08b487c7358b4b32eaaa4ee33c0dc43dbe1e382974e712993085bd8"),
];

/// Returns the config.
pub(crate) fn config() -> String {
    let mut text = CONFIG.to_owned();
    for n in WRITTEN..AGENTS {
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "  - {{ id: a{n}, type: Agent, title: Agent {n}, description: Answers questions about subject {n}., connectionId: demo, \
             properties: {{ model: demo }}, tools: [find], knowledge: {{ libraries: [l0] }}, workflows: [w0] }}"
        );
    }
    text
}

/// Fills a database that a server has created and that no server has open.
///
/// # Errors
/// As [`insert`].
pub(crate) fn fill(database: &Path) -> Result<()> {
    let with_hash = |rows: String, (name, hash): &(&str, &str)| rows.replace(name, &format!("x'{hash}'"));
    insert(database, &TOKEN_HASHES.iter().fold(FILL.to_owned(), with_hash))
}
