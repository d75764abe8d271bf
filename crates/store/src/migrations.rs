//! The migrations of this crate's tables, compiled into the program.
//!
//! sqlx's macro for this would need sqlx and SQLite a second time, for the compiler: a minute of every build.

use crate::schema::SqliteBaseline;
use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// Lists files of a folder with their contents: the given ones, then those that both folders have.
macro_rules! files {
    ($folder:literal: $($first:literal,)*) => {
        files! { all $folder: $($first,)*
            "0012_replicas",
            "0015_operation",
            "0016_custom_agents",
            "0017_calls_keys_lists",
            "0018_texts_of_messages",
            "0019_cut_off_calls_and_failures",
            "0023_reasons_of_ends",
            "0024_event_claims",
            "0025_jobs",
            "0026_calls_of_invocations",
            "0027_agent_runs",
            "0028_events",
            "0031_turns_of_owners",
            "0034_approvers_of_agent_runs",
            "0035_attached_files",
            "0036_identities",
            "0037_invitations",
            "0038_second_factors",
            "0047_wrong_codes",
            "0050_savings_of_caches",
            "0059_lists_of_invocations",
            "0060_projects",
            "0065_groups",
            "0075_usage_by_model",
            "0076_order_of_folders",
            "0079_tree_of_folders",
            "0080_rewrites_of_messages",
        }
    };
    (all $folder:literal: $($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../migrations/", $folder, "/", $name, ".sql"))),)*]
    };
}

const SQLITE: &[(&str, &str)] = files!["sqlite":
    "0001_conversations_and_runs",
    "0002_invocations",
    "0003_audit",
    "0004_named_by_user",
    "0005_grants",
    "0006_accounts",
    "0007_feedback_and_deletion",
    "0008_order_and_search",
    "0009_files",
    "0010_steps",
    "0011_admin",
];

const POSTGRES: &[(&str, &str)] = files!["postgres": "0011_schema",];

/// What a new SQLite database begins with.
pub(crate) const SQLITE_BASELINE: SqliteBaseline =
    SqliteBaseline { version: 80, statements: include_str!("../migrations/sqlite_baseline.sql") };

/// Returns the migrations for SQLite.
pub(crate) fn sqlite() -> Migrator {
    migrator(SQLITE)
}

/// Returns the migrations for PostgreSQL.
pub(crate) fn postgres() -> Migrator {
    migrator(POSTGRES)
}

/// The name of a file is the number of the version, `_`, and words with `_` between them.
fn migrator(files: &[(&'static str, &'static str)]) -> Migrator {
    let migrations = files.iter().filter_map(|(name, sql)| {
        let (version, words) = name.split_once('_')?;
        let (version, about) = (version.parse().ok()?, words.replace('_', " ").into());
        Some(Migration::new(version, about, MigrationType::Simple, sql.into_sql_str(), false))
    });
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod tests;
