//! The capability: speech over the services that the config names.

use crate::routes;
use crate::section::VoiceSettings;
use ::capability::{Capability, Context, Definition};
use chat::RoutineMeters;
use config::{Config, SectionType};
use serde_json::{Map, Value};
use std::sync::Arc;
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<VoiceSettings>()],
    start: Some(|_| Ok(Arc::new(Voice::default()))),
    ..Definition::new("voice")
};

/// The capability of a running server.
#[derive(Default)]
struct Voice {
    meters: RoutineMeters,
}

impl Capability for Voice {
    fn composer(&self, config: &Config, _: &config::Agent) -> Map<String, Value> {
        let Some(settings) = config.section::<VoiceSettings>() else { return Map::new() };
        let mut offered = Map::new();
        if let Some(transcription) = &settings.transcription {
            offered.insert("maxSeconds".to_owned(), transcription.max_seconds.into());
        }
        if settings.speech.is_some() {
            offered.insert("reads".to_owned(), true.into());
        }
        Map::from_iter([("voice".to_owned(), offered.into())])
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        self.meters.set_chat(&context.chat);
        Some(routes::routes(context.clone(), self.meters.clone()))
    }

    fn upload_routes(&self, context: &Context) -> Option<ApiRouter> {
        self.meters.set_chat(&context.chat);
        Some(routes::upload_routes(context.clone(), self.meters.clone()))
    }
}
