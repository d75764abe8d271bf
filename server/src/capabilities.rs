//! The capabilities: crates that bring a part of the product, each in one line; and what a program
//! adds.

use crate::Site;
use app::blocks::RustBlockType;
use capability::Definition;
use config::Language;
use operators::Operators;
use std::sync::{Arc, LazyLock, OnceLock};
use store::{CapabilityTables, Schema};

/// The capabilities of the product.
const BUILT_IN: &[Definition] = &[
    // Before all that add to the config: it changes what its files say.
    config_editor::DEFINITION,
    connected_accounts::DEFINITION,
    mcp::DEFINITION,
    remote_agents::DEFINITION,
    // Before what is added to agents: it adds models and agents.
    model_connections::DEFINITION,
    // Before the agents that are made at run time, which choose among the servers of their base.
    mcp_servers::DEFINITION,
    custom_agents::DEFINITION,
    collections::DEFINITION,
    web_research::DEFINITION,
    workflows::DEFINITION,
    triggers::DEFINITION,
    knowledge::DEFINITION,
    ::memory::DEFINITION,
    user_profile::DEFINITION,
    prompt_library::DEFINITION,
    message_queue::DEFINITION,
    notifications::DEFINITION,
    projects::DEFINITION,
    chat_message::DEFINITION,
    follow_ups::DEFINITION,
    voice::DEFINITION,
    openai_api::DEFINITION,
    ag_ui::DEFINITION,
    a2a::DEFINITION,
    mcp_server::DEFINITION,
    manual::DEFINITION,
    mail::DEFINITION,
    alerts::DEFINITION,
    channels::DEFINITION,
    plans::DEFINITION,
    // Before the recordings of agents: the runs of an experiment are recorded for it.
    experiments::DEFINITION,
    recordings::DEFINITION,
    scim::DEFINITION,
    skills::DEFINITION,
    workspace::DEFINITION,
    crate::guide::DEFINITION,
];

/// The parts of this program.
struct Parts {
    definitions: Vec<Definition>,
    operators: Arc<Operators>,
    language: Language,
}

impl Parts {
    fn new(capabilities: &[Definition], blocks: &[RustBlockType]) -> Result<Self, String> {
        let definitions = [BUILT_IN, capabilities].concat();
        let operators = Arc::new(capability::operators(&definitions)?);
        let blocks: Vec<_> = blocks.iter().map(RustBlockType::definition).collect();
        let language = language(&definitions).with_operators(operators.clone()).with_blocks(&blocks)?;
        Ok(Self { definitions, operators, language })
    }
}

/// The parts of the product alone.
impl Default for Parts {
    fn default() -> Self {
        let operators = Arc::new(Operators::default());
        Self { definitions: BUILT_IN.to_vec(), operators, language: language(BUILT_IN) }
    }
}

/// Returns the config language with what these capabilities add.
fn language(definitions: &[Definition]) -> Language {
    capability::language(definitions).with_key_check(auth::oauth::is_signing_key)
}

static PARTS: OnceLock<Parts> = OnceLock::new();

/// Adds the capabilities of a program, before a config is read or a database is opened.
///
/// # Errors
/// A name that is in use already.
pub(crate) fn add(site: Site) -> Result<(), String> {
    let parts = Parts::new(site.capabilities, site.blocks)?;
    let _ = PARTS.set(parts);
    Ok(())
}

/// Returns the parts of this program; those of the product alone if nothing was added.
fn parts() -> &'static Parts {
    PARTS.get_or_init(Parts::default)
}

/// Returns the capabilities of this program.
pub(crate) fn definitions() -> &'static [Definition] {
    &parts().definitions
}

/// Returns the operators of this program.
pub(crate) fn all_operators() -> Arc<Operators> {
    parts().operators.clone()
}

/// Returns the config language with everything that the capabilities and the program add.
pub fn config_language() -> &'static Language {
    &parts().language
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

    /// A new SQLite database is created from the baselines of capabilities. It must equal one that was migrated step by step.
    #[tokio::test]
    async fn baselines_equal_the_migrations() {
        let tables = capability::tables(definitions()).into_iter();
        let tables: Vec<_> = tables.map(|tables| CapabilityTables { sqlite_baseline: None, ..tables }).collect();
        assert_eq!(objects(database_schema()).await, objects(Schema::new(tables.leak())).await);
    }

    /// Returns the statements of the tables, indexes and triggers of a new SQLite database.
    async fn objects(schema: Schema) -> Vec<String> {
        let store = schema.open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
        let list = "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY type, name";
        store.read(move |db| Box::pin(async move { Ok(query_scalar(list).fetch_all(db).await?) })).await.unwrap()
    }
}
