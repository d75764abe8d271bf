//! The routes with which pages and programs get the text of a recording, and the audio of an answer.

use crate::cache::AudioCache;
use crate::recording::RecordingKind;
use crate::section::{Speech, Transcription, VoiceSettings, is_language, service_of};
use crate::service::{SpeechService, may_cost};
use crate::text::{parts, spoken_text};
use auth::password::KeyScope;
use auth::rights::{AccessDecision, check_rule};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use bytes::Bytes;
use capability::Context;
use chat::{Caller, PermitError, RoutineMeters, RunPermit, RunPermits, current_trace, traced};
use config::{Config, ModelConnection};
use contract::{ModelId, ReplyUsage, Usage};
use egress::ServiceFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::Instrument;
use web::openapi::{Access, ApiRouter, Description, RouteOutput, Tag};
use web::{HttpError, SentJson, SentQuery, busy, read_body, valid_json, valid_query};
use wire::error::ErrorReason;
use wire::{ErrorCode, Role, UserError};

/// The group in the OpenAPI document.
const VOICE: Tag = Tag {
    name: "voice",
    description: "The text of what the caller says, and the audio of answers. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// The maximum number of recordings and parts of answers that are processed at the same time.
const MAX_AT_ONCE: usize = 16;
/// The maximum for one user.
const MAX_OF_USER: usize = 4;
/// The maximum size of the audio that is kept in memory, in bytes.
const MAX_CACHED_BYTES: usize = 32 << 20;
/// The time for which audio is kept in memory.
const MAX_CACHE_AGE: Duration = Duration::from_secs(3_600);
/// The provider of the models in the usage.
const PROVIDER: &str = "speech";
/// The header with the number of the parts of an answer.
const PARTS: &str = "speech-parts";

/// The state that both routes share; cheap to clone.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) meters: RoutineMeters,
    service: SpeechService,
    permits: Arc<RunPermits>,
    cache: Arc<AudioCache>,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            meters: RoutineMeters::default(),
            service: SpeechService::default(),
            permits: Arc::new(RunPermits::new(MAX_AT_ONCE)),
            cache: Arc::new(AudioCache::new(MAX_CACHED_BYTES, MAX_CACHE_AGE)),
        }
    }
}

impl Shared {
    /// Returns a permit for one request to a service.
    fn permit(&self, caller: &Caller) -> Result<RunPermit, UserError> {
        self.permits.acquire(&caller.user_id, MAX_OF_USER, false).map_err(|refusal| match refusal {
            PermitError::UserFull => {
                let message =
                    format!("{MAX_OF_USER} of your requests for speech are not done yet. Try again in a moment.");
                UserError { retry_after: Some(2), ..UserError::new(ErrorCode::RateLimited, message) }
            }
            PermitError::Full | PermitError::NoMemory => busy(),
        })
    }
}

/// The state of the routes.
#[derive(Clone)]
struct VoiceRoutes {
    context: Context,
    shared: Shared,
}

impl VoiceRoutes {
    /// Checks that the caller may use an agent.
    fn check_agent(&self, caller: &Caller, agent_id: &str) -> Result<(), UserError> {
        let config = self.context.current.config();
        let agent = config.agents.get(agent_id).ok_or_else(UserError::not_found)?;
        caller.check_agent(agent_id)?;
        match check_rule(caller, &agent.auth) {
            AccessDecision::Allowed => Ok(()),
            AccessDecision::Unauthenticated => Err(UserError::unauthenticated()),
            AccessDecision::NotFound => Err(UserError::not_found()),
        }
    }
}

/// Returns the route for recordings, which are larger than other bodies. It limits their size itself.
pub(crate) fn upload_routes(context: Context, shared: Shared) -> ApiRouter {
    let state = VoiceRoutes { context, shared };
    ApiRouter::new(&VOICE)
        .post("/api/transcriptions", transcribe, "Write down a recording")
        .map(|router| router.with_state(state))
}

/// Returns the route for answers that are read aloud.
pub(crate) fn routes(context: Context, shared: Shared) -> ApiRouter {
    let state = VoiceRoutes { context, shared };
    ApiRouter::new(&VOICE)
        .post("/api/conversations/{id}/speech", speak, "Read an answer aloud")
        .map(|router| router.with_state(state))
}

/// The query of a transcription.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TranscriptionQuery {
    /// The agent that the user talks to, in whose usage the request counts.
    agent_id: String,
    /// The language of the recording, such as `en`. Default: that of the config, or the model detects it.
    #[serde(default)]
    language: Option<String>,
}

/// The text of a recording.
#[derive(Serialize, JsonSchema)]
struct RecordingText {
    /// The text; empty if nothing was said.
    text: String,
}

/// `POST /api/transcriptions?agentId=AGENT` with the bytes of a recording as its body; their kind is detected.
async fn transcribe(
    State(voice): State<VoiceRoutes>,
    Extension(caller): Extension<Caller>,
    query: SentQuery<TranscriptionQuery>,
    body: Body,
) -> Result<Json<RecordingText>, HttpError> {
    let TranscriptionQuery { agent_id, language } = valid_query(query)?;
    voice.check_agent(&caller, &agent_id)?;
    let config = voice.context.current.config();
    let settings = config.section::<VoiceSettings>().and_then(|settings| settings.transcription.as_ref());
    let settings = settings.ok_or_else(|| not_configured("voice.transcription"))?;
    if language.as_deref().is_some_and(|language| !is_language(language)) {
        return Err(UserError::invalid("/language", "A language has two or three letters, such as `en`.").into());
    }
    let permit = voice.shared.permit(&caller)?;
    let recording = read_body(body, settings.max_bytes()).await.map_err(|error| explain_size(error, settings))?;
    let kind = RecordingKind::detect(&recording).ok_or_else(|| {
        UserError::invalid("/", "This is no recording that can be read. Send WebM, Ogg, MP4, MP3 or WAV.")
    })?;
    let meter = voice.shared.meters.meter(&caller, agent_id.as_str());
    let model = ModelId { provider: PROVIDER.to_owned(), model: settings.model.clone() };
    let price = settings.cost_usd_per_minute;
    meter.admit(&model, price.is_some()).await.map_err(refused)?;
    let connection = connection(&config, &settings.connection_id)?.clone();
    let (service, settings, size) = (voice.shared.service.clone(), settings.clone(), recording.len());
    let text = until_done(async move {
        let (_permit, begun) = (permit, Instant::now());
        let transcript = service.transcribe(&connection, &settings, language.as_deref(), (kind, recording)).await;
        let (seconds, usage) = match &transcript {
            Ok(transcript) => (transcript.seconds, transcript.usage),
            Err(failure) if may_cost(failure) => (None, Usage::default()),
            Err(failure) => return Err(unavailable(failure, &settings.connection_id, RECORDING_REFUSED)),
        };
        let seconds = seconds.unwrap_or_else(|| kind.estimated_seconds(size, settings.max_seconds));
        let cost_usd = price.map(|price| price * seconds / 60.0);
        meter.record_reply(ReplyUsage::of_request(model, usage, cost_usd, begun.elapsed())).await;
        let text = transcript.map(|transcript| transcript.text);
        text.map_err(|failure| unavailable(&failure, &settings.connection_id, RECORDING_REFUSED))
    });
    Ok(Json(RecordingText { text: text.await? }))
}

/// The answer to read.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SpeechBody {
    /// The message of the agent.
    message_id: String,
    /// The number of the part, from 0. The header `speech-parts` of each response says how many there are.
    #[serde(default)]
    part: u32,
}

/// The audio of a part.
struct SpokenPart {
    audio: Bytes,
    media_type: &'static str,
    count: usize,
}

impl IntoResponse for SpokenPart {
    fn into_response(self) -> Response {
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static(self.media_type)),
            (CACHE_CONTROL, HeaderValue::from_static("private, no-store")),
            (HeaderName::from_static(PARTS), HeaderValue::from(self.count)),
        ];
        (headers, Body::from(self.audio)).into_response()
    }
}

impl RouteOutput for SpokenPart {
    fn describe(description: &mut Description<'_>) {
        description.response(200, "audio/*", &json!({ "type": "string", "format": "binary" }));
    }
}

/// `POST /api/conversations/{id}/speech`
async fn speak(
    State(voice): State<VoiceRoutes>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<SpeechBody>,
) -> Result<SpokenPart, HttpError> {
    let store = &voice.context.store;
    let conversation = store.conversation(&caller.user_id, &id).await?.ok_or_else(UserError::not_found)?;
    let agent_id = conversation.summary.agent_id;
    let SpeechBody { message_id, part } = valid_json(body)?;
    voice.check_agent(&caller, &agent_id)?;
    let config = voice.context.current.config();
    let settings = config.section::<VoiceSettings>().and_then(|settings| settings.speech.as_ref());
    let settings = settings.ok_or_else(|| not_configured("voice.speech"))?;
    // The branch has no deleted messages.
    let branch = store.branch(&caller.user_id, &id).await?;
    let message = branch.iter().map(|stored| &stored.message).find(|message| message.id == message_id);
    let message = message.filter(|message| message.role == Role::Assistant).ok_or_else(UserError::not_found)?;
    let most = usize::try_from(settings.max_characters).unwrap_or(usize::MAX);
    let parts = parts(&spoken_text(&message.text()), most);
    let text = usize::try_from(part).ok().and_then(|part| parts.get(part)).ok_or_else(|| {
        let message = if parts.is_empty() { "There is nothing to read." } else { "This answer has no such part." };
        UserError::invalid("/part", message)
    })?;
    let audio = voice.audio(&caller, &agent_id, &config, settings, text).await?;
    Ok(SpokenPart { audio, media_type: settings.format.media_type(), count: parts.len() })
}

impl VoiceRoutes {
    /// Returns the audio of a part: from memory, or from the service.
    async fn audio(
        &self,
        caller: &Caller,
        agent_id: &str,
        config: &Config,
        settings: &Speech,
        text: &str,
    ) -> Result<Bytes, UserError> {
        let Speech { connection_id, model, voice, format, .. } = settings;
        let key = [caller.user_id.as_str(), connection_id, model, voice, format.name(), text].join("\n");
        if let Some(audio) = self.shared.cache.get(&key) {
            return Ok(audio);
        }
        let permit = self.shared.permit(caller)?;
        let meter = self.shared.meters.meter(caller, agent_id);
        let id = ModelId { provider: PROVIDER.to_owned(), model: model.clone() };
        let price = settings.cost_usd_per_million_characters;
        meter.admit(&id, price.is_some()).await.map_err(refused)?;
        let connection = connection(config, connection_id)?.clone();
        let (Shared { service, cache, .. }, settings, text) = (self.shared.clone(), settings.clone(), text.to_owned());
        let work = async move {
            let (_permit, begun) = (permit, Instant::now());
            let audio = service.speak(&connection, &settings, &text).await;
            if let Err(failure) = &audio
                && !may_cost(failure)
            {
                return Err(unavailable(failure, &settings.connection_id, ANSWER_REFUSED));
            }
            let cost_usd = price.map(|price| price * text.chars().count() as f64 / 1e6);
            meter.record_reply(ReplyUsage::of_request(id, Usage::default(), cost_usd, begun.elapsed())).await;
            let audio = audio.map_err(|failure| unavailable(&failure, &settings.connection_id, ANSWER_REFUSED))?;
            cache.insert(key, audio.clone());
            Ok(audio)
        };
        until_done(work).await
    }
}

/// Asks a service. The request goes on if its client disconnects, because the service may charge for it: its cost counts, and
/// its permit is held, until the service has answered or the time limit has passed.
async fn until_done<T: Send + 'static>(
    work: impl Future<Output = Result<T, UserError>> + Send + 'static,
) -> Result<T, UserError> {
    let trace = current_trace();
    let work = async move {
        match trace {
            Some(trace) => traced(trace, work).await,
            None => work.await,
        }
    };
    let done = tokio::spawn(work.in_current_span()).await;
    done.unwrap_or_else(|error| {
        tracing::error!(%error, "the work for a request for speech has ended early");
        Err(UserError::new(ErrorCode::Unavailable, UNAVAILABLE))
    })
}

fn connection<'c>(config: &'c Config, id: &str) -> Result<&'c ModelConnection, UserError> {
    config.connections.get(id).and_then(service_of).ok_or_else(|| {
        tracing::warn!(connection = id, "the speech service cannot be used: there is no such connection");
        UserError::new(ErrorCode::Unavailable, UNAVAILABLE)
    })
}

/// The message to users while the service gives no answer.
const UNAVAILABLE: &str = "The speech service does not answer. Try again in a moment.";
/// The message if the service refuses a recording.
const RECORDING_REFUSED: &str =
    "The speech service did not accept this recording. Record again, or shorter; if it stays so, ask an administrator.";
/// The message if the service refuses a part of an answer.
const ANSWER_REFUSED: &str = "The speech service did not accept this answer. If it stays so, ask an administrator.";

/// Converts a failure of the service to the message for the user; `refused` is that for a refused request. The cause is
/// logged.
fn unavailable(failure: &ServiceFailure, connection_id: &str, refused: &str) -> UserError {
    tracing::warn!(%failure, connection = connection_id, "the speech service gave no answer");
    let error = UserError::new(ErrorCode::Unavailable, UNAVAILABLE);
    match failure {
        ServiceFailure::Credentials => error.because(ErrorReason::ModelCredentials),
        ServiceFailure::Limited(_) => error.because(ErrorReason::ModelLimit),
        // The request was refused for what is in it.
        ServiceFailure::Status(400 | 404 | 413 | 415 | 422) => {
            UserError { message: refused.to_owned(), ..error }.because(ErrorReason::ModelRefused)
        }
        _ => error.because(ErrorReason::ModelAway),
    }
}

fn refused(message: String) -> UserError {
    UserError::new(ErrorCode::RateLimited, message)
}

fn not_configured(key: &str) -> UserError {
    UserError::new(
        ErrorCode::Invalid,
        format!("This server has no speech service for this: its config has no `{key}`."),
    )
}

/// Says which recordings are too long: the size decides, and a recording without compression reaches it earlier.
fn explain_size(error: UserError, settings: &Transcription) -> UserError {
    if error.code != ErrorCode::TooLarge {
        return error;
    }
    let (seconds, kilobytes) = (settings.max_seconds, settings.max_bytes() >> 10);
    let message = format!("The recording is too long: {seconds} seconds and {kilobytes} KB at most.");
    UserError { message, ..error }
}
