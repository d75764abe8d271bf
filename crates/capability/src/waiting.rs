//! Things that wait for people beside their conversations: capabilities find them, and one of them tells the people.

use crate::Context;
use chat::Caller;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use store::StoreError;
use store::sql::Db;

/// The kind of something that waits. The names are stored in jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WaitingKind {
    /// A question of a workflow, for those who may answer it.
    Task,
    /// A run of an agent without a conversation, for those who decide on its calls.
    AgentRun,
    /// A trigger that was paused because its runs have failed, for the author of its workflow.
    PausedTrigger,
}

/// Something that waits for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingItem {
    /// The kind.
    pub kind: WaitingKind,
    /// The title of the workflow or of the agent.
    pub subject: String,
    /// The title: the question, the tool, or the trigger. Not everybody who sees a screen may read it.
    pub title: String,
    /// Since when; Unix time in milliseconds.
    pub since: i64,
    /// The path of its page in the console.
    pub console_path: String,
    /// The ids of the users for whom it waits.
    pub users: Vec<String>,
    /// The roles for whose users it waits, too.
    pub roles: Vec<String>,
}

impl WaitingItem {
    /// Returns whether it waits for a user.
    pub fn is_for(&self, caller: &Caller) -> bool {
        self.users.contains(&caller.user_id) || self.roles.iter().any(|role| caller.has_role(role))
    }
}

/// Finds what waits: a capability on whose pages people end the wait.
pub trait FindWaiting: Send + Sync + 'static {
    /// Returns something that still waits; `None` for a kind of another capability.
    ///
    /// # Errors
    /// The database failed.
    fn find<'a>(
        &'a self,
        context: &'a Context,
        kind: WaitingKind,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<WaitingItem>, StoreError>>;

    /// Returns what has begun to wait for a user after a time and still waits, oldest first, at most `most`. `since` is a
    /// Unix time in milliseconds.
    ///
    /// # Errors
    /// The database failed.
    fn for_user<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        since: i64,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<WaitingItem>, StoreError>>;
}

/// Tells people of what waits for them.
pub trait TellOfWaiting: Send + Sync + 'static {
    /// Something begins to wait. It is called in the transaction that stores it, so that nobody is told of what was not
    /// stored, and nothing is forgotten.
    ///
    /// # Errors
    /// The database failed; the transaction must not be committed.
    fn begins<'a>(&'a self, db: &'a mut Db, kind: WaitingKind, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// The sources of things that wait, and the notifier of people; cheap to clone. Capabilities set it when they start.
#[derive(Clone, Default)]
pub struct Waiting(Arc<Inner>);

#[derive(Default)]
struct Inner {
    sources: RwLock<Vec<Arc<dyn FindWaiting>>>,
    teller: OnceLock<Arc<dyn TellOfWaiting>>,
}

impl Waiting {
    /// Adds a source of things that wait.
    pub fn provide(&self, source: Arc<dyn FindWaiting>) {
        self.0.sources.write().unwrap_or_else(PoisonError::into_inner).push(source);
    }

    /// Sets what tells people. Only the first one counts.
    pub fn tell_with(&self, teller: Arc<dyn TellOfWaiting>) {
        if self.0.teller.set(teller).is_err() {
            tracing::warn!("two capabilities tell people of what waits for them; the first one is used");
        }
    }

    /// Lets people be told of something that begins to wait, in the transaction that stores it.
    ///
    /// # Errors
    /// As [`TellOfWaiting::begins`].
    pub async fn begins(&self, db: &mut Db, kind: WaitingKind, id: &str) -> Result<(), StoreError> {
        match self.0.teller.get() {
            Some(teller) => teller.begins(db, kind, id).await,
            None => Ok(()),
        }
    }

    /// Returns something, if it still waits.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find(
        &self,
        context: &Context,
        kind: WaitingKind,
        id: &str,
    ) -> Result<Option<WaitingItem>, StoreError> {
        for source in self.sources() {
            if let Some(found) = source.find(context, kind, id).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns what has begun to wait for a user after a time and still waits, at most `most` of each source.
    ///
    /// # Errors
    /// The database failed.
    pub async fn for_user(
        &self,
        context: &Context,
        caller: &Caller,
        since: i64,
        most: u32,
    ) -> Result<Vec<WaitingItem>, StoreError> {
        let mut found = Vec::new();
        for source in self.sources() {
            found.extend(source.for_user(context, caller, since, most).await?);
        }
        Ok(found)
    }

    fn sources(&self) -> Vec<Arc<dyn FindWaiting>> {
        self.0.sources.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Formats how many sources there are, and whether people are told.
impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sources, tells) = (self.sources().len(), self.0.teller.get().is_some());
        f.debug_struct("Waiting").field("sources", &sources).field("tells", &tells).finish()
    }
}
