//! Looks quotes up in the documents of an agent, for capabilities that store what documents say.

use super::{Access, Knowledge};
use crate::quote::PlainText;
use crate::section::{AgentKnowledge, KnowledgeOptions};
use crate::store::{self, DocumentRow};
use ::store::StoreError;
use capability::{FindQuotes, QuotedDocument};
use chat::Viewer;
use contract::{RunScope, ToolError};
use futures::future::BoxFuture;
use std::sync::Arc;
use wire::{ErrorCode, UserError};

/// How many passages are compared at a time.
const BATCH: u32 = 200;
/// The message for the model about a document that does not exist or may not be read.
const NO_DOCUMENT: &str = "There is no such document.";

impl Knowledge {
    /// Returns a document that an agent searches for the user of a run.
    ///
    /// # Errors
    /// 404 for every other one.
    pub(crate) async fn searched_document(
        &self,
        scope: &RunScope,
        options: &KnowledgeOptions,
        id: &str,
    ) -> Result<DocumentRow, UserError> {
        let document = self.document(&Viewer::from(scope), id, Access::Read).await?;
        let searched = self.searched(scope, options).await?;
        let is_searched = searched.iter().any(|library| library.id == document.library_id);
        is_searched.then_some(document).ok_or_else(UserError::not_found)
    }

    /// Returns the places of quotes in the passages of a version: the same text that citations are checked
    /// against.
    async fn places(&self, version_id: &str, quotes: &[String]) -> Result<Vec<Option<String>>, ToolError> {
        let quotes: Arc<[PlainText]> = quotes.iter().map(|quote| PlainText::new(quote)).collect();
        let mut places = vec![None; quotes.len()];
        let mut from = 0;
        while places.iter().any(Option::is_none) {
            let batch = store::chunks(self.store(), version_id, from, BATCH).await.map_err(unavailable)?;
            if batch.is_empty() {
                break;
            }
            from += BATCH;
            // Many quotes in a long document take processor time.
            let Ok(_permit) = self.0.searches.acquire().await else { return Err(busy()) };
            let (known, wanted) = (places, quotes.clone());
            let compare = move || compare(batch, &wanted, known);
            places = tokio::task::spawn_blocking(compare).await.map_err(|_| busy())?;
        }
        Ok(places)
    }
}

/// Fills in the places of quotes that stand in these passages.
fn compare(
    passages: Vec<store::PartRow>,
    quotes: &[PlainText],
    mut places: Vec<Option<String>>,
) -> Vec<Option<String>> {
    for passage in passages {
        let text = PlainText::new(&passage.text);
        for (place, quote) in places.iter_mut().zip(quotes).filter(|(place, _)| place.is_none()) {
            *place = text.contains(quote).then(|| passage.place.to_string());
        }
    }
    places
}

fn unavailable(error: StoreError) -> ToolError {
    tracing::error!(%error, "documents could not be read");
    busy()
}

fn busy() -> ToolError {
    ToolError::new("The documents cannot be reached right now.")
}

impl FindQuotes for Knowledge {
    fn find<'a>(
        &'a self,
        agent_id: &'a str,
        scope: &'a RunScope,
        document_id: &'a str,
        quotes: &'a [String],
    ) -> BoxFuture<'a, Result<QuotedDocument, ToolError>> {
        Box::pin(async move {
            let config = self.0.config.load_full();
            let agent = config.as_ref().and_then(|config| config.agents.get(agent_id));
            let options = agent.and_then(config::Agent::section).map(AgentKnowledge::options);
            let options = options.ok_or_else(|| ToolError::new("This agent has no documents."))?;
            let document = self.searched_document(scope, &options, document_id).await;
            let document = document.map_err(|error| match error.code {
                ErrorCode::NotFound => ToolError::new(NO_DOCUMENT),
                _ => busy(),
            })?;
            let version = document.version_id.ok_or_else(|| ToolError::new("The document is being read."))?;
            let places = self.places(&version, quotes).await?;
            Ok(QuotedDocument { file_name: document.file_name, places })
        })
    }
}
