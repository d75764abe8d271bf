//! The two halves joined over HTTP.

use super::{PROVIDER, request, stream};
use crate::{Settings, http};
use contract::{Model, ModelError, ModelErrorKind, ModelId, PartStream, Request};
use futures::future::BoxFuture;
use reqwest::RequestBuilder;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

const BASE_URL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// A Gemini model.
#[derive(Debug)]
pub struct Google {
    id: ModelId,
    settings: Settings,
}

impl Google {
    /// A model behind these settings; without a base URL, Google's own.
    pub fn new(settings: Settings) -> Self {
        Self { id: ModelId { provider: PROVIDER.to_owned(), model: settings.model.clone() }, settings }
    }

    fn post(&self, request: &Request) -> Result<RequestBuilder, ModelError> {
        let base = self.settings.base_url.as_deref().unwrap_or(BASE_URL).trim_end_matches('/');
        // A tuned model is named with its folder.
        let folder = if self.id.model.contains('/') { "" } else { "models/" };
        if !is_path(&self.id.model) {
            return Err(ModelError::new(ModelErrorKind::Refused, "the name of the model cannot stand in an address"));
        }
        let url = format!("{base}/{folder}{}:streamGenerateContent?alt=sse", self.id.model);
        let mut ask = http::client()?.post(url);
        if let Some(key) = &self.settings.api_key {
            ask = ask.header("x-goog-api-key", http::secret_header(key.expose_secret())?);
        }
        Ok(ask.json(&request::body(&self.id.model, request)))
    }
}

/// Whether a model's name is a path that leads nowhere else; a config may take it from the page's address.
fn is_path(model: &str) -> bool {
    let is_plain = |step: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._@".contains(&byte);
        !matches!(step, "" | "." | "..") && step.bytes().all(is_plain)
    };
    model.split('/').all(is_plain)
}

impl Model for Google {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let write = |request: &Request| self.post(request);
        let codec = stream::Reader::default();
        Box::pin(async move { http::stream(write, &request, &self.settings, codec, cancel).await })
    }
}

#[cfg(test)]
mod tests {
    use super::is_path;

    #[test]
    fn name_of_a_model_leads_nowhere_else() {
        let check = |model: &str, expected: bool| assert_eq!(is_path(model), expected, "{model:?}");
        for model in ["gemini-2.5-pro", "models/gemini_2", "tunedModels/mine-1", "publishers/google/models/gemini@001"]
        {
            check(model, true);
        }
        for model in [
            "",
            "..",
            "../v2/x",
            "models/../x",
            "a//b",
            "a/",
            "/a",
            "a?key=b",
            "a#b",
            "a%2e%2e",
            "a\\b",
            "a:b",
            "a b",
            "ä",
        ] {
            check(model, false);
        }
    }
}
