//! The capabilities: crates that bring a part of the product, each in one line.

use capability::Definition;
use config::Language;
use std::sync::{LazyLock, OnceLock};
use store::{CapabilityTables, Schema};

/// The capabilities of the product.
const BUILT_IN: &[Definition] = &[
    mcp::DEFINITION,
    remote_agents::DEFINITION,
    custom_agents::DEFINITION,
    workflows::DEFINITION,
    triggers::DEFINITION,
];

/// The capabilities that another program adds to the product.
static ADDED: OnceLock<&'static [Definition]> = OnceLock::new();

/// Adds capabilities to those of the product, before anything reads a config or opens a database.
pub(crate) fn add(definitions: &'static [Definition]) {
    let _ = ADDED.set(definitions);
}

/// Returns the capabilities of this program.
pub(crate) fn definitions() -> &'static [Definition] {
    static ALL: LazyLock<Vec<Definition>> =
        LazyLock::new(|| [BUILT_IN, ADDED.get().copied().unwrap_or_default()].concat());
    &ALL
}

/// Returns the config language with the sections of all capabilities.
pub fn config_language() -> &'static Language {
    static LANGUAGE: LazyLock<Language> = LazyLock::new(|| capability::language(definitions()));
    &LANGUAGE
}

/// Returns the schema of the database with the tables of all capabilities.
pub(crate) fn database_schema() -> Schema {
    static TABLES: LazyLock<Vec<CapabilityTables>> = LazyLock::new(|| capability::tables(definitions()));
    Schema::new(&TABLES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use store::sql::query_scalar;

    /// A table that is missing in a capability's list would be missing in backups.
    #[tokio::test]
    async fn every_table_is_transferred() {
        let folder = tempfile::tempdir().unwrap();
        let url = |name: &str| format!("sqlite://{}", folder.path().join(name).display());
        let store = database_schema().open(&url("from.db"), "", Duration::ZERO).await.unwrap();
        let list = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search%' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            AND name NOT LIKE '\\_%\\_migrations' ESCAPE '\\' AND name <> 'replicas' ORDER BY name";
        let tables: Vec<String> =
            store.read(move |db| Box::pin(async move { Ok(query_scalar(list).fetch_all(db).await?) })).await.unwrap();
        store.close().await;
        let moved = database_schema().transfer(&url("from.db"), &url("to.db"), false).await.unwrap();
        let mut moved: Vec<_> = moved.iter().map(|table| table.table).collect();
        moved.sort_unstable();
        assert_eq!(moved, tables);
    }
}
