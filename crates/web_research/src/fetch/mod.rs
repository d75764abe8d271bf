//! The tool `web_fetch`: reads a web page or a document.

mod cache;
mod client;
mod content;
mod document;
mod hosts;
mod html;
mod page;
mod plain;
mod sanitize;

#[cfg(test)]
mod tests;

pub(super) use cache::PageCache;
use document::DocumentReader;
pub(crate) use hosts::Hosts;

use self::client::Received;
use self::content::Kind;
use self::page::{MAX_TEXT, Page};
use crate::NOTE;
use crate::known::KnownUrls;
use crate::section::FETCH;
use crate::urls;
use contract::{Annotations, RunScope, Source, Tool, ToolContext, ToolError, ToolSpec, read_arguments};
use egress::Egress;
use futures::future::BoxFuture;
use offload::Pool;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use url::Url;

/// How many characters of a page one call returns.
const PIECE: usize = 4_096;
/// How long a page may take to be received, with all redirects, and to be read.
const RECEIVE: Duration = Duration::from_secs(20);
const READ: Duration = Duration::from_secs(10);
/// The stack of the threads that read pages: trees are at most 1,024 levels deep.
const STACK: usize = 32 << 20;
/// How many pages are being read or wait.
const MAX_WAITING: usize = 32;

/// The threads that read pages. A page can take seconds, which would delay other tasks.
static READERS: LazyLock<Pool> = LazyLock::new(|| Pool::new("web-pages", STACK, MAX_WAITING));

/// The tool.
pub(crate) struct WebFetch {
    spec: ToolSpec,
    egress: Egress,
    hosts: Hosts,
    follow_links: bool,
    known: Arc<KnownUrls>,
    shared: SharedReading,
}

/// The state that all agents share to read pages.
#[derive(Clone, Default)]
pub(crate) struct SharedReading {
    pub(crate) cache: Arc<PageCache>,
    documents: Arc<DocumentReader>,
}

/// The arguments.
#[derive(Deserialize)]
struct Input {
    url: String,
    #[serde(default)]
    offset: usize,
}

impl WebFetch {
    /// Creates the tool of an agent.
    ///
    /// # Errors
    /// A message for the operator.
    pub(crate) fn new(
        hosts: Hosts,
        follow_links: bool,
        allow_private: bool,
        known: Arc<KnownUrls>,
        shared: SharedReading,
    ) -> Result<Self, String> {
        let schema = json!({
            "type": "object",
            "properties": {
                "url": { "type": "string", "minLength": 1, "maxLength": urls::MAX_URL, "description": "The whole URL of the page, as it was found." },
                "offset": { "type": "integer", "minimum": 0, "maximum": MAX_TEXT, "description": "Where to continue: `nextOffset` of the last call." },
            },
            "required": ["url"],
            "additionalProperties": false,
        });
        let description = format!(
            "Reads a web page as Markdown, or the text of a document such as PDF or DOCX, {PIECE} characters at a time."
        );
        let annotations = Annotations {
            returns_untrusted: true,
            egress: true,
            idempotent: true,
            reads_only: true,
            ..Annotations::default()
        };
        let timeout = RECEIVE + READ.max(document::TIME) + Duration::from_secs(5);
        let spec = ToolSpec { annotations, timeout, ..ToolSpec::new(FETCH, description, schema) };
        Ok(Self { spec, egress: Egress::without_redirects(allow_private)?, hosts, follow_links, known, shared })
    }

    async fn fetch(&self, input: Input, context: &ToolContext) -> Result<Value, ToolError> {
        let url = self.parse(&input.url).map_err(ToolError::new)?;
        let scope = &context.scope;
        let page = match self.shared.cache.get(&scope.run_id, &url) {
            Some(page) => page,
            None => self.load(&url, context).await.map_err(ToolError::new)?,
        };
        piece(&url, &page, input.offset)
    }

    /// Loads a page, remembers it for the run, and its URLs for the conversation.
    async fn load(&self, url: &Url, context: &ToolContext) -> Result<Arc<Page>, String> {
        let received = client::receive(&self.egress, &self.hosts, &self.shared.documents, url.clone(), RECEIVE).await?;
        let found_at = received.url.clone();
        let page = self.read(received).await?.cut();
        // The user has approved the URL, if it was not known.
        let mut known = vec![url.to_string(), found_at.to_string()];
        known.extend(page.links.iter().cloned());
        self.known.add(&context.scope, known).await;
        let page = Arc::new(page);
        self.shared.cache.put(&context.scope.run_id, url, page.clone());
        let source = Source::Url {
            id: context.call_id.clone(),
            url: url.to_string(),
            title: page.title.clone(),
            metadata: None,
        };
        context.reports.add_source(source).await;
        Ok(page)
    }

    async fn read(&self, received: Received) -> Result<Page, String> {
        let kind = content::kind(received.content_type.as_deref(), &received.body)?;
        if kind == Kind::Document {
            return self.shared.documents.read(received).await;
        }
        let with_links = self.follow_links;
        let reading = READERS.run(move |_| content::read(received, kind, with_links));
        match tokio::time::timeout(READ, reading).await {
            Ok(read) => read.map_err(|_| "Too many pages are being read. Try again in a moment.".to_owned()),
            Err(_) => Err("The page takes too long to be read.".to_owned()),
        }
    }

    /// Returns a URL that the agent may fetch.
    fn parse(&self, text: &str) -> Result<Url, String> {
        let url = urls::parse(text)?;
        self.hosts.check(&url)?;
        Ok(url)
    }
}

/// Returns a part of a page, as the model reads it.
fn piece(url: &Url, page: &Page, offset: usize) -> Result<Value, ToolError> {
    let total = page.text.chars().count();
    if offset > 0 && offset >= total {
        return Err(ToolError::new(format!("The page has {total} characters, so nothing is at {offset}.")));
    }
    let text: String = page.text.chars().skip(offset).take(PIECE).collect();
    let end = offset + text.chars().count();
    let mut result = json!({ "url": url.as_str(), "text": text, "totalCharacters": total, "note": NOTE });
    if end < total {
        result["nextOffset"] = end.into();
    } else if page.is_cut {
        result["cut"] = "The page is longer; what follows was left out.".into();
    }
    if !page.warnings.is_empty() {
        result["warnings"] = page.warnings.clone().into();
    }
    let place = page.places_of(offset, end);
    for (key, value) in [("title", &page.title), ("published", &page.published), ("place", &place)] {
        if let Some(value) = value {
            result[key] = value.as_str().into();
        }
    }
    Ok(result)
}

impl Tool for WebFetch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// A URL that cannot be fetched in any case needs no approval.
    fn needs_approval_for<'a>(&'a self, input: &'a Value, scope: &'a RunScope) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            match self.parse(input["url"].as_str().unwrap_or_default()) {
                Ok(url) => !self.known.is_known(scope, &url).await,
                Err(_) => false,
            }
        })
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let input = read_arguments(input)?;
            let stopped = Err(ToolError::new("Stopped before it finished."));
            context.cancel.run_until_cancelled(self.fetch(input, &context)).await.unwrap_or(stopped)
        })
    }
}

/// Reads a body as a page of this content type; for fuzzing.
#[cfg(any(test, feature = "fuzz"))]
#[cfg_attr(not(feature = "fuzz"), expect(unreachable_pub, reason = "only fuzz targets reach it"))]
pub fn fuzz_page(content_type: &str, body: &[u8]) {
    let Ok(url) = Url::parse("https://example.com/a/b") else { return };
    let received = Received { url, content_type: Some(content_type.to_owned()), body: body.to_owned(), place: None };
    let kind = content::kind(received.content_type.as_deref(), &received.body);
    // Documents have a fuzz target of their own.
    if let Ok(kind @ (Kind::Html | Kind::Text)) = kind {
        let page = content::read(received, kind, true).cut();
        assert!(page.text.chars().count() <= MAX_TEXT);
        assert!(page.links.iter().all(|link| link.starts_with("http")));
    }
}
