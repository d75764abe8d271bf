//! The service that routes, tools and jobs use.

use crate::fact::Fact;
use crate::section::{AgentMemory, MemoryOptions, MemorySettings};
use crate::store::{self, FactChange};
use ::store::sql::Db;
use ::store::{AuditEntry, Store, StoreError};
use arc_swap::ArcSwapOption;
use auth::audit_row;
use config::Config;
use jobs::Jobs;
use serde_json::{Value, json};
use std::sync::Arc;
use web::times::now_millis;
use wire::UserError;

/// Memory; cheap to clone.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Inner>);

struct Inner {
    store: Store,
    jobs: Jobs,
    config: ArcSwapOption<Config>,
}

/// The switches that decide whether memory is on for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    /// Whether the config has it on.
    pub(crate) config: bool,
    /// Whether administrators have left it on.
    pub(crate) all: bool,
    /// The switch of the user.
    pub(crate) user: store::UserState,
}

impl Switches {
    /// Returns whether facts are stored and read.
    pub(crate) fn is_on(self) -> bool {
        self.config && self.all && self.user.is_enabled
    }
}

impl Memory {
    pub(crate) fn new(store: Store, jobs: Jobs) -> Self {
        Self(Arc::new(Inner { store, jobs, config: ArcSwapOption::empty() }))
    }

    pub(crate) fn use_config(&self, config: &Arc<Config>) {
        self.0.config.store(Some(config.clone()));
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.0.jobs
    }

    /// Returns the settings of the config in use.
    pub(crate) fn settings(&self) -> MemorySettings {
        let config = self.0.config.load();
        config.as_ref().and_then(|config| config.section::<MemorySettings>().cloned()).unwrap_or_default()
    }

    /// Returns the memory options of an agent of the config in use; `None` if it does not remember.
    pub(crate) fn agent(&self, agent_id: &str) -> Option<MemoryOptions> {
        let config = self.0.config.load();
        config.as_ref()?.agents.get(agent_id)?.section::<AgentMemory>()?.options()
    }

    /// Returns whether any agent of the config in use remembers.
    pub(crate) fn is_used(&self) -> bool {
        let config = self.0.config.load();
        let remembers = |agent: &config::Agent| agent.section().and_then(AgentMemory::options).is_some();
        config.as_ref().is_some_and(|config| config.agents.values().any(remembers))
    }

    /// Returns whether memory is on for a user.
    pub(crate) async fn switches(&self, db: &mut Db, user_id: &str) -> Result<Switches, StoreError> {
        let all = store::is_on_for_all(&mut *db).await?;
        Ok(Switches { config: self.settings().enabled, all, user: store::user(db, user_id).await? })
    }

    /// Returns the facts of a user, and whether memory is on for them.
    pub(crate) async fn load_facts(&self, user_id: &str) -> Result<(Switches, Vec<Fact>), UserError> {
        let (memory, user_id) = (self.clone(), user_id.to_owned());
        let read = self.store().read(move |db| {
            Box::pin(async move {
                let switches = memory.switches(&mut *db, &user_id).await?;
                Ok((switches, store::facts(db, &user_id).await?))
            })
        });
        read.await.map_err(failed)
    }

    /// Changes a fact.
    ///
    /// # Errors
    /// 404 if the user has no such fact, 422 if the text cannot be kept.
    pub(crate) async fn change(&self, user_id: &str, id: &str, change: FactChange) -> Result<(), UserError> {
        let audit = audit(user_id, "change", "", json!({ "factId": id }));
        found_or_404(store::change_fact(self.store(), (user_id, id), change, audit, now_millis()).await)
    }

    /// Deletes a fact.
    ///
    /// # Errors
    /// 404 if the user has no such fact.
    pub(crate) async fn delete(&self, user_id: &str, id: &str) -> Result<(), UserError> {
        let audit = audit(user_id, "delete", "", json!({ "factId": id }));
        found_or_404(store::delete_fact(self.store(), user_id, id, audit).await)
    }

    /// Deletes all facts about a user.
    pub(crate) async fn delete_all(&self, user_id: &str) -> Result<(), UserError> {
        store::delete_all(self.store(), user_id, audit(user_id, "delete_all", "", Value::Null)).await.map_err(failed)
    }

    /// Switches memory on or off for a user.
    pub(crate) async fn set_enabled(&self, user_id: &str, is_enabled: bool) -> Result<(), UserError> {
        let audit = audit(user_id, "switch", "", json!({ "enabled": is_enabled }));
        store::set_enabled(self.store(), user_id, is_enabled, audit).await.map_err(failed)
    }

    /// Undoes an update of a conversation.
    ///
    /// # Errors
    /// 404 if there is no such update, or it was undone before.
    pub(crate) async fn undo(&self, user_id: &str, id: &str) -> Result<(), UserError> {
        let audit = audit(user_id, "undo", "", json!({ "updateId": id }));
        found_or_404(store::undo(self.store(), user_id, id, audit, now_millis()).await)
    }

    /// Gives the current facts to each conversation with its next message.
    pub(crate) async fn reload(&self, user_id: &str) -> Result<(), UserError> {
        store::forget_blocks(self.store(), user_id).await.map_err(failed)
    }
}

/// Returns a row of the audit log. It names the action, and contains no facts.
pub(crate) fn audit(user_id: &str, action: &str, conversation_id: &str, about: Value) -> AuditEntry {
    audit_row(user_id, &format!("memory:{action}"), conversation_id, about)
}

/// Converts an error of the database.
pub(crate) fn failed(error: StoreError) -> UserError {
    web::admin::from_store_error(error)
}

fn found_or_404(outcome: Result<bool, StoreError>) -> Result<(), UserError> {
    if outcome.map_err(failed)? { Ok(()) } else { Err(UserError::not_found()) }
}

/// The error of a text that cannot be a fact.
pub(crate) fn not_a_fact(path: &str) -> UserError {
    let message = "Write one sentence that states a fact, without instructions, addresses of web pages, code, secrets or invisible characters.";
    UserError::invalid(path, message)
}
