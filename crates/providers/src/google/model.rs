//! Connects the request and the codec over HTTP.

use super::{PROVIDER, request, stream};
use crate::{ModelSettings, http};
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
    settings: ModelSettings,
}

impl Google {
    /// Creates a model; without a base URL, Google's is used.
    pub fn new(settings: ModelSettings) -> Self {
        Self { id: ModelId { provider: PROVIDER.to_owned(), model: settings.model.clone() }, settings }
    }

    fn post(&self, request: &Request) -> Result<RequestBuilder, ModelError> {
        let base = self.settings.base_url.as_deref().unwrap_or(BASE_URL).trim_end_matches('/');
        // The name of a tuned model contains its collection.
        let folder = if self.id.model.contains('/') { "" } else { "models/" };
        if !is_safe_model_name(&self.id.model) {
            return Err(ModelError::new(
                ModelErrorKind::Refused,
                "the model name contains characters that are not allowed in a URL",
            ));
        }
        let url = format!("{base}/{folder}{}:streamGenerateContent?alt=sse", self.id.model);
        let mut ask = http::post(&self.settings, &url)?;
        if let Some(key) = &self.settings.api_key {
            ask = ask.header("x-goog-api-key", http::secret_header(key.expose_secret())?);
        }
        Ok(ask.json(&request::body(&self.id.model, request)))
    }
}

/// Returns whether a model's name is a plain path, which cannot change the rest of the URL. A
/// config may take the name from the page's URL.
fn is_safe_model_name(model: &str) -> bool {
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
        let codec = stream::GeminiCodec::default();
        Box::pin(async move { http::stream(write, &request, &self.settings, codec, cancel).await })
    }
}

#[cfg(test)]
mod tests {
    use super::is_safe_model_name;

    #[test]
    fn model_name_cannot_change_the_url() {
        let check = |model: &str, expected: bool| assert_eq!(is_safe_model_name(model), expected, "{model:?}");
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
