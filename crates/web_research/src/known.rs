//! The URLs that may be fetched without asking the user: those that the user has written, those of
//! search results, and those that the user has approved. A model that has read instructions on a page
//! could otherwise put private data into a URL of its own.
//!
//! The known URLs are stored with the conversation before the model reads them, so they hold for all later turns, on
//! every server, and for sub-agents, which have the conversation of their caller. Outside of conversations they are
//! kept in memory, by run.

use crate::urls::{self, MAX_URL};
use ::store::sql;
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use contract::RunScope;
use parking_lot::Mutex;
use std::collections::{HashSet, VecDeque};
use url::Url;
use wire::{EXPOSURE, Role, UiMessage, UiPart};

/// The table. Its rows are deleted with their conversation.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "web_research",
    migrations: &[Migration {
        name: "web_urls",
        sqlite: include_str!("../migrations/sqlite/0001_web_urls.sql"),
        postgres: include_str!("../migrations/postgres/0001_web_urls.sql"),
    }],
    tables: &[Table { name: "web_urls", key: "conversation_id, url", owner: None }],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The most URLs of a conversation. Further ones are not remembered, so that they ask.
const MAX_URLS: i64 = 5_000;
/// The most URLs of a run outside of conversations, and the most such runs.
const MAX_RUN_URLS: usize = 500;
const MAX_RUNS: usize = 256;

const INSERT: &str = "
    INSERT INTO web_urls (conversation_id, url, added_at)
    SELECT id, $2, $3 FROM conversations
    WHERE id = $1 AND owner = $4 AND (SELECT count(*) FROM web_urls WHERE conversation_id = $1) < $5
    ON CONFLICT DO NOTHING";

const FIND: &str = "SELECT 1 FROM web_urls WHERE conversation_id = $1 AND url = $2";

/// The known URLs.
pub(crate) struct KnownUrls {
    store: Store,
    /// Of runs outside of conversations, the newest run last.
    runs: Mutex<VecDeque<(String, HashSet<String>)>>,
}

impl KnownUrls {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, runs: Mutex::default() }
    }

    /// Adds URLs. If that fails they are not known, so fetching them asks.
    pub(crate) async fn add(&self, scope: &RunScope, urls: Vec<String>) {
        let urls: Vec<_> = urls.into_iter().filter(|url| url.len() <= MAX_URL).collect();
        if scope.conversation_id.is_empty() {
            self.add_to_run(&scope.run_id, urls);
        } else if let Err(error) = self.store_urls(scope, urls).await {
            tracing::error!(%error, "URLs of a conversation cannot be stored");
        }
    }

    async fn store_urls(&self, scope: &RunScope, urls: Vec<String>) -> Result<(), StoreError> {
        let (id, owner) = (scope.conversation_id.clone(), scope.user_id.clone());
        let now = jiff::Timestamp::now().as_millisecond();
        let write = self.store.write(move |db| {
            Box::pin(async move {
                for url in urls {
                    let insert = sql::query(INSERT).bind(id.clone()).bind(url).bind(now).bind(owner.clone());
                    insert.bind(MAX_URLS).execute(&mut *db).await?;
                }
                Ok(())
            })
        });
        write.await
    }

    fn add_to_run(&self, run_id: &str, urls: Vec<String>) {
        if run_id.is_empty() {
            return;
        }
        let mut runs = self.runs.lock();
        if !runs.iter().any(|(id, _)| id == run_id) {
            if runs.len() >= MAX_RUNS {
                runs.pop_front();
            }
            runs.push_back((run_id.to_owned(), HashSet::new()));
        }
        if let Some((_, known)) = runs.iter_mut().find(|(id, _)| id == run_id) {
            let free = MAX_RUN_URLS.saturating_sub(known.len());
            known.extend(urls.into_iter().take(free));
        }
    }

    /// Returns whether a URL may be fetched without asking. A database that fails knows none.
    pub(crate) async fn is_known(&self, scope: &RunScope, url: &Url) -> bool {
        if scope.prompt.as_deref().is_some_and(|prompt| urls::is_named(prompt, url)) {
            return true;
        }
        if scope.conversation_id.is_empty() {
            let runs = self.runs.lock();
            return runs.iter().any(|(id, known)| *id == scope.run_id && known.contains(url.as_str()));
        }
        let known =
            async { Ok::<_, StoreError>(self.is_stored(scope, url).await? || self.is_written(scope, url).await?) };
        known.await.unwrap_or_else(|error| {
            tracing::error!(%error, "URLs of a conversation cannot be read");
            false
        })
    }

    async fn is_stored(&self, scope: &RunScope, url: &Url) -> Result<bool, StoreError> {
        let find = sql::query(FIND).bind(scope.conversation_id.clone()).bind(url.to_string());
        self.store.read(move |db| Box::pin(async move { Ok(!find.fetch_all(db).await?.is_empty()) })).await
    }

    /// Returns whether the user has written the URL in this conversation.
    async fn is_written(&self, scope: &RunScope, url: &Url) -> Result<bool, StoreError> {
        let messages = self.store.messages(&scope.user_id, &scope.conversation_id).await?;
        let messages = messages.iter().map(|stored| &stored.message);
        let from_user = messages.filter(|message| message.role == Role::User && !is_foreign(message));
        Ok(from_user.flat_map(|message| &message.parts).any(|part| match part {
            UiPart::Text(text) => urls::is_named(&text.text, url),
            _ => false,
        }))
    }
}

/// Returns whether a message was not written here: anybody may have written an imported file.
fn is_foreign(message: &UiMessage) -> bool {
    message.parts.iter().any(|part| matches!(part, UiPart::Data(data) if data.kind == EXPOSURE))
}
