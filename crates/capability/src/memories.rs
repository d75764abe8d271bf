//! The memories of agents about users, which capabilities show to them: one capability remembers.

use futures::future::BoxFuture;
use std::fmt;
use std::sync::{Arc, OnceLock};
use wire::UserError;

/// A fact about a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedFact {
    /// The id.
    pub id: String,
    /// One sentence.
    pub content: String,
}

/// The memory of an agent about a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedFacts {
    /// Whether facts are stored and read. The user or an administrator may have switched that off.
    pub is_on: bool,
    /// The facts, the most certain ones first.
    pub facts: Vec<RememberedFact>,
    /// The path of the page with all facts.
    pub page: &'static str,
}

/// Remembers facts about users.
pub trait RememberFacts: Send + Sync + 'static {
    /// Returns what an agent remembers about a user; `None` if the agent remembers nothing.
    ///
    /// # Errors
    /// The database failed.
    fn known<'a>(
        &'a self,
        user_id: &'a str,
        agent_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<RememberedFacts>, UserError>>;

    /// Deletes a fact.
    ///
    /// # Errors
    /// 404 if the user has no such fact.
    fn forget<'a>(&'a self, user_id: &'a str, id: &'a str) -> BoxFuture<'a, Result<(), UserError>>;

    /// Switches memory on or off for a user.
    ///
    /// # Errors
    /// The database failed.
    fn set_enabled<'a>(&'a self, user_id: &'a str, is_enabled: bool) -> BoxFuture<'a, Result<(), UserError>>;
}

/// The store of facts, if a capability has one. It is set when that one starts; cheap to clone.
#[derive(Clone, Default)]
pub struct Memories(Arc<OnceLock<Arc<dyn RememberFacts>>>);

impl Memories {
    /// Sets what remembers. Only the first one counts.
    pub fn provide(&self, memory: Arc<dyn RememberFacts>) {
        if self.0.set(memory).is_err() {
            tracing::warn!("two capabilities remember facts about users; the first one is used");
        }
    }

    /// Returns what remembers; `None` on a server without it.
    pub fn get(&self) -> Option<&dyn RememberFacts> {
        self.0.get().map(|memory| &**memory)
    }
}

/// Formats whether something remembers.
impl fmt::Debug for Memories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memories").field("is_provided", &self.0.get().is_some()).finish()
    }
}
