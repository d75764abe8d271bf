//! How a model reads pages that are pictures.

use super::graph::check_model;
use config::{Config, ConnectionKind, ModelRef, PathStep, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// A model that reads pages that are pictures, as scanners make them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageReader {
    /// The model. It must read PDF, and images for files that are images.
    pub(crate) model: ModelRef,
    /// The most pages of a document that are read. A warning of the document names the others.
    #[serde(default = "default_pages")]
    #[schemars(range(min = 1, max = 500))]
    pub(crate) max_pages: u32,
    /// How many pages a request is about. Each request has the whole file.
    #[serde(default = "default_pages_per_request")]
    #[schemars(range(min = 1, max = 20))]
    pub(crate) pages_per_request: u32,
}

fn default_pages() -> u32 {
    50
}

fn default_pages_per_request() -> u32 {
    5
}

impl PageReader {
    /// Checks that the config has the connection of the model, and warns if the model is known to read no files.
    pub(super) fn check_model(&self, at: &[PathStep<'_>], config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        check_model(&self.model, at, config, problems);
        let connection = config.connections.get(&self.model.connection_id);
        if connection.is_some_and(|connection| matches!(connection.kind, ConnectionKind::Demo(_))) {
            let at = [at, &[PathStep::Key("model"), PathStep::Key("connectionId")]].concat();
            let help = Some("name a connection to a provider".to_owned());
            problems.warning(&at, "the demo's model sees no files", help);
        }
        let is_meant = |known: &&config::Model| {
            (&known.connection_id, &known.model) == (&self.model.connection_id, &self.model.model)
        };
        for known in config.models.values().filter(is_meant) {
            let unread = known.unread_files();
            let files = match (unread.others, unread.images) {
                (true, true) => "neither PDF nor images",
                (true, false) => "no PDF",
                (false, true) => "no images",
                (false, false) => continue,
            };
            let at = [at, &[PathStep::Key("model"), PathStep::Key("model")]].concat();
            let message = format!("the model `{}` reads {files}, as `{}` in `models` says", known.model, known.id);
            let help = Some("name a model that reads them".to_owned());
            problems.warning(&at, message, help);
        }
    }
}
