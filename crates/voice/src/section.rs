//! The section `voice` of the config.

use config::{Config, Connection, ConnectionKind, ModelConnection, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// The bytes of a second of a recording, at most: 128 kbit/s, which is more than browsers record speech with.
const MAX_BYTES_PER_SECOND: usize = 16 << 10;

/// Speech in all chats, over services with the API of OpenAI.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VoiceSettings {
    /// The model that writes down what users say. Chats with `allowSpeech` use it. Default: the speech
    /// recognition of the browser.
    pub(crate) transcription: Option<Transcription>,
    /// The model that reads answers aloud. Default: the speech synthesis of the browser.
    pub(crate) speech: Option<Speech>,
}

/// A model that writes down what users say: `POST /audio/transcriptions` of its connection.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Transcription {
    /// The connection, of the type `OpenAI` or `OpenAICompatible`.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) connection_id: String,
    /// The model, such as `gpt-4o-mini-transcribe` or `whisper-1`.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) model: String,
    /// The language that users speak, such as `en`. Default: the model detects it.
    #[serde(default)]
    pub(crate) language: Option<String>,
    /// The longest recording in seconds.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 5, max = 600))]
    pub(crate) max_seconds: u32,
    /// The price of a minute, in US dollars. Without it, costs are not counted.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub(crate) cost_usd_per_minute: Option<f64>,
}

/// A model that reads answers aloud: `POST /audio/speech` of its connection.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Speech {
    /// The connection, of the type `OpenAI` or `OpenAICompatible`.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) connection_id: String,
    /// The model, such as `gpt-4o-mini-tts` or `tts-1`.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) model: String,
    /// The voice, such as `alloy`.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) voice: String,
    /// The format of the audio.
    #[serde(default)]
    pub(crate) format: AudioFormat,
    /// The number of characters of an answer that are read at most.
    #[serde(default = "default_characters")]
    #[schemars(range(min = 100, max = 100_000))]
    pub(crate) max_characters: u32,
    /// The price of a million characters, in US dollars. Without it, costs are not counted.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    pub(crate) cost_usd_per_million_characters: Option<f64>,
}

/// A format of audio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AudioFormat {
    /// MP3.
    #[default]
    Mp3,
    /// Opus in Ogg.
    Opus,
    /// AAC.
    Aac,
    /// Uncompressed audio.
    Wav,
}

impl AudioFormat {
    /// Returns the name for the service.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mp3 => "mp3",
            Self::Opus => "opus",
            Self::Aac => "aac",
            Self::Wav => "wav",
        }
    }

    /// Returns the media type.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Mp3 => "audio/mpeg",
            Self::Opus => "audio/ogg",
            Self::Aac => "audio/aac",
            Self::Wav => "audio/wav",
        }
    }
}

impl Transcription {
    /// Returns the size of the longest recording.
    pub(crate) fn max_bytes(&self) -> usize {
        usize::try_from(self.max_seconds).unwrap_or(1).saturating_mul(MAX_BYTES_PER_SECOND)
    }
}

fn default_seconds() -> u32 {
    120
}

fn default_characters() -> u32 {
    20_000
}

/// Returns whether a text is a code of a language, such as `en`.
pub(crate) fn is_language(text: &str) -> bool {
    (2..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns the settings of a connection whose service may have the endpoints.
pub(crate) fn service_of(connection: &Connection) -> Option<&ModelConnection> {
    match &connection.kind {
        ConnectionKind::OpenAi(service) | ConnectionKind::OpenAiCompatible(service) => Some(service),
        _ => None,
    }
}

impl Section for VoiceSettings {
    const KEY: &'static str = "voice";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        if self.transcription.is_none() && self.speech.is_none() {
            let help = Some("set `transcription`, `speech`, or both".to_owned());
            problems.error(&[], "nothing is configured here", help);
        }
        let language = self.transcription.as_ref().and_then(|settings| settings.language.as_deref());
        if let Some(language) = language.filter(|language| !is_language(language)) {
            let at = [PathStep::Key("transcription"), PathStep::Key("language")];
            let help = Some("write two or three letters, such as `en`".to_owned());
            problems.error(&at, format!("`{language}` is not the code of a language"), help);
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let uses = [
            ("transcription", self.transcription.as_ref().map(|settings| &settings.connection_id)),
            ("speech", self.speech.as_ref().map(|settings| &settings.connection_id)),
        ];
        for (key, id) in uses {
            let Some(id) = id else { continue };
            let at = [PathStep::Key(key), PathStep::Key("connectionId")];
            match config.connections.get(id) {
                None => {
                    let help = SectionProblems::name_help(id, config.connections.keys().map(String::as_str));
                    problems.error(&at, format!("there is no connection `{id}`"), help);
                }
                Some(connection) if service_of(connection).is_none() => {
                    let name = connection.kind.name();
                    let message = format!("`{id}` is a connection of the type {name}, which cannot be used here");
                    problems.error(&at, message, Some("name one of the type OpenAI or OpenAICompatible".to_owned()));
                }
                Some(_) => {}
            }
        }
    }
}
