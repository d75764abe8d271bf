//! Quotes of documents, which one capability finds and others use.

use contract::{RunScope, ToolError};
use futures::future::BoxFuture;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Finds quotes in documents.
pub trait FindQuotes: Send + Sync + 'static {
    /// Looks for quotes in a document that an agent of the config may read for the user of a run, in the
    /// order of the document. A copy of the agent may read what the agent may. White space, case and the
    /// form of quotation marks do not matter.
    ///
    /// # Errors
    /// There is no such document for them, or it cannot be read now. The message is for the model.
    fn find<'a>(
        &'a self,
        agent_id: &'a str,
        scope: &'a RunScope,
        document_id: &'a str,
        quotes: &'a [String],
    ) -> BoxFuture<'a, Result<QuotedDocument, ToolError>>;
}

/// A document with the places of quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedDocument {
    /// The name of the file.
    pub file_name: String,
    /// For each quote where it stands first, such as `page 3`; `None` if the document does not have it.
    pub places: Vec<Option<String>>,
}

/// The search for quotes: the capability with documents sets it when it starts; cheap to clone.
#[derive(Clone, Default)]
pub struct Quotes(Arc<OnceLock<Arc<dyn FindQuotes>>>);

impl Quotes {
    /// Sets what finds quotes. Only the first one counts.
    pub fn provide(&self, finder: Arc<dyn FindQuotes>) {
        if self.0.set(finder).is_err() {
            tracing::warn!("two capabilities find quotes; the first one is used");
        }
    }

    /// Looks for quotes in a document. See [`FindQuotes::find`].
    ///
    /// # Errors
    /// As [`FindQuotes::find`].
    pub async fn find(
        &self,
        agent_id: &str,
        scope: &RunScope,
        document_id: &str,
        quotes: &[String],
    ) -> Result<QuotedDocument, ToolError> {
        let finder = self.0.get().ok_or_else(|| ToolError::new("This server has no documents."))?;
        finder.find(agent_id, scope, document_id, quotes).await
    }
}

/// Formats whether there is a finder.
impl fmt::Debug for Quotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quotes").field("is_provided", &self.0.get().is_some()).finish()
    }
}
