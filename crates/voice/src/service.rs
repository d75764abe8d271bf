//! Requests to services with the API of OpenAI.

use crate::recording::{RecordingKind, form};
use crate::section::{Speech, Transcription};
use bytes::Bytes;
use config::ModelConnection;
use contract::Usage;
use egress::{Clients, EgressError, EgressRequest, EgressResponse, ServiceFailure};
use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use url::Url;

/// The base URL of connections of the type `OpenAI`.
const OPENAI: &str = "https://api.openai.com/v1";
/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The largest answer with a text.
const MAX_TEXT_ANSWER: usize = 1 << 20;
/// The longest length of a recording that is believed, in seconds. A longer one is an error of the service, and its price would
/// use up every quota.
const MAX_LENGTH: f64 = 3600.0;
/// The largest audio of a part.
const MAX_AUDIO: usize = 8 << 20;

/// Returns whether the service may have done the work, and charge for it, although its answer is missing.
pub(crate) fn may_cost(failure: &ServiceFailure) -> bool {
    let ServiceFailure::Egress(error) = failure else { return *failure == ServiceFailure::Malformed };
    matches!(error, EgressError::TimedOut(_) | EgressError::TooLarge(_))
}

/// The transcript of a recording.
#[derive(Debug)]
pub(crate) struct Transcript {
    pub(crate) text: String,
    /// The length of the recording in seconds, as far as the service says it.
    pub(crate) seconds: Option<f64>,
    pub(crate) usage: Usage,
}

/// Sends the requests; cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct SpeechService {
    clients: Clients,
}

impl SpeechService {
    /// Writes down a recording.
    ///
    /// # Errors
    /// See [`ServiceFailure`].
    pub(crate) async fn transcribe(
        &self,
        connection: &ModelConnection,
        settings: &Transcription,
        language: Option<&str>,
        (kind, recording): (RecordingKind, Bytes),
    ) -> Result<Transcript, ServiceFailure> {
        let boundary = uuid::Uuid::new_v4().simple().to_string();
        let mut fields = vec![("model", settings.model.as_str()), ("response_format", "json")];
        fields.extend(language.or(settings.language.as_deref()).map(|language| ("language", language)));
        let body = form(&boundary, &fields, kind, &recording);
        let content_type = format!("multipart/form-data; boundary={boundary}");
        let answer = self.post(connection, "transcriptions", (&content_type, body), MAX_TEXT_ANSWER).await?;
        read_transcript(&answer.body).ok_or(ServiceFailure::Malformed)
    }

    /// Reads a text aloud.
    ///
    /// # Errors
    /// See [`ServiceFailure`].
    pub(crate) async fn speak(
        &self,
        connection: &ModelConnection,
        settings: &Speech,
        text: &str,
    ) -> Result<Bytes, ServiceFailure> {
        let Speech { model, voice, format, .. } = settings;
        let body = json!({ "model": model, "voice": voice, "input": text, "response_format": format.name() });
        let body = body.to_string().into_bytes();
        let answer = self.post(connection, "speech", ("application/json", body), MAX_AUDIO).await?;
        if answer.body.is_empty() || answer.content_type.as_deref().is_some_and(is_page) {
            return Err(ServiceFailure::Malformed);
        }
        Ok(answer.body.into())
    }

    async fn post(
        &self,
        connection: &ModelConnection,
        step: &'static str,
        (content_type, body): (&str, Vec<u8>),
        max_bytes: usize,
    ) -> Result<EgressResponse, ServiceFailure> {
        let base = connection.base_url.as_deref().unwrap_or(OPENAI);
        let mut url: Url = base.parse().map_err(|_| ServiceFailure::Settings("`baseURL` is not a URL".to_owned()))?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["audio", step]);
        }
        let headers = headers(connection, content_type)?;
        let client = self.clients.get(!connection.public_only).map_err(ServiceFailure::Settings)?;
        let request =
            EgressRequest { method: Method::POST, url, headers, body: Some(body), timeout: TIMEOUT, max_bytes };
        let answer = client.send(request).await?;
        answer.check_status()?;
        Ok(answer)
    }
}

/// Returns whether a media type is that of a page or an error, which a proxy may send instead of audio. Other types are not
/// checked: services name all kinds for audio.
fn is_page(media_type: &str) -> bool {
    let media_type = media_type.split(';').next().unwrap_or(media_type).trim();
    ["text/html", "application/json"].iter().any(|page| media_type.eq_ignore_ascii_case(page))
}

fn headers(connection: &ModelConnection, content_type: &str) -> Result<HeaderMap, ServiceFailure> {
    let unusable = || ServiceFailure::Settings("a header has characters that it cannot have".to_owned());
    let secret = |text: &str| {
        let mut value = HeaderValue::try_from(text).map_err(|_| unusable())?;
        value.set_sensitive(true);
        Ok::<_, ServiceFailure>(value)
    };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::try_from(content_type).map_err(|_| unusable())?);
    if let Some(key) = &connection.api_key {
        headers.insert(AUTHORIZATION, secret(&format!("Bearer {}", key.expose_secret()))?);
    }
    for (name, value) in &connection.headers {
        let name = HeaderName::try_from(name.as_str()).map_err(|_| unusable())?;
        headers.insert(name, secret(value.expose_secret())?);
    }
    Ok(headers)
}

/// The answer with a text. Services tell how long the recording is, or how many tokens it took, or neither.
#[derive(Deserialize)]
struct TranscriptAnswer {
    text: String,
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    usage: Option<TranscriptUsage>,
}

#[derive(Default, Deserialize)]
struct TranscriptUsage {
    #[serde(default)]
    seconds: Option<f64>,
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

fn read_transcript(body: &[u8]) -> Option<Transcript> {
    let TranscriptAnswer { text, duration, usage } = serde_json::from_slice(body).ok()?;
    let TranscriptUsage { seconds, input_tokens, output_tokens } = usage.unwrap_or_default();
    let seconds = seconds.or(duration).filter(|seconds| (0.0..=MAX_LENGTH).contains(seconds));
    let (input_tokens, output_tokens) = (input_tokens.unwrap_or(0), output_tokens.unwrap_or(0));
    let usage = Usage { input_tokens, output_tokens, ..Usage::default() };
    Some(Transcript { text: text.trim().to_owned(), seconds, usage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_are_read_with_their_lengths() {
        let check = |body: &str, expected: Option<(&str, Option<f64>, u64)>| {
            let read = read_transcript(body.as_bytes());
            let read = read.as_ref().map(|read| (read.text.as_str(), read.seconds, read.usage.input_tokens));
            assert_eq!(read, expected, "{body}");
        };
        check(r#"{"text":" Hello. "}"#, Some(("Hello.", None, 0)));
        check(r#"{"text":"","duration":2.5}"#, Some(("", Some(2.5), 0)));
        check(r#"{"text":"a","usage":{"type":"duration","seconds":9}}"#, Some(("a", Some(9.0), 0)));
        check(r#"{"text":"a","usage":{"type":"tokens","input_tokens":14,"output_tokens":2}}"#, Some(("a", None, 14)));
        check(r#"{"text":"a","usage":{"input_tokens":14,"output_tokens":null}}"#, Some(("a", None, 14)));
        check(r#"{"text":"a","duration":-1}"#, Some(("a", None, 0)));
        check(r#"{"text":"a","usage":{"seconds":1e300}}"#, Some(("a", None, 0)));
        check(r#"{"error":"no"}"#, None);
        check("Hello", None);
    }

    #[test]
    fn only_work_that_may_be_done_may_cost() {
        let check = |failure: ServiceFailure, expected: bool| assert_eq!(may_cost(&failure), expected, "{failure}");
        check(ServiceFailure::Malformed, true);
        check(EgressError::TimedOut(TIMEOUT).into(), true);
        check(EgressError::TooLarge(MAX_AUDIO).into(), true);
        check(EgressError::Unreachable.into(), false);
        check(ServiceFailure::Status(503), false);
        check(ServiceFailure::Status(400), false);
    }

    #[test]
    fn pages_are_no_audio() {
        let check = |media_type: &str, expected: bool| assert_eq!(is_page(media_type), expected, "{media_type}");
        check("text/html; charset=utf-8", true);
        check("Application/JSON", true);
        check("audio/mpeg", false);
        check("application/octet-stream", false);
    }
}
