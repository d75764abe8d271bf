//! Reads the parameters of a call of a stand-in: JSON, or a form with a file.

use axum::extract::{FromRequest, Multipart, Request};
use serde_json::{Map, Value, json};

/// A file that the bot has sent: where, its name and its content.
pub(crate) type SentFile = (String, String, String);

/// Returns the parameters of a request. A file is `{filename, content}`.
pub(crate) async fn parameters(request: Request) -> Value {
    let is_form = request.headers().get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/"));
    if !is_form {
        let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
        return serde_json::from_slice(&body).unwrap_or_default();
    }
    let mut form = Multipart::from_request(request, &()).await.unwrap();
    let mut parameters = Map::new();
    while let Some(field) = form.next_field().await.unwrap() {
        let (name, filename) = (field.name().unwrap().to_owned(), field.file_name().map(str::to_owned));
        let content = field.text().await.unwrap();
        let value = match filename {
            Some(filename) => json!({ "filename": filename, "content": content }),
            None => content.into(),
        };
        parameters.insert(name, value);
    }
    parameters.into()
}
