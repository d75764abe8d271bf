//! The section `chatMessage` of the config.

use config::{Config, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Id;

/// Answers `POST /chat/message` and `POST /chat/message/stream`, for clients that were written for the
/// Busibox agent service.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChatMessage {
    /// The agent that answers.
    pub(crate) agent_id: Id,
    /// The page whose users may ask it, and in whose list of conversations they are. Default: the first
    /// page.
    pub(crate) page_id: Option<Id>,
    /// The most characters of a message.
    #[serde(default = "default_max_characters")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) max_characters: u32,
}

fn default_max_characters() -> u32 {
    50_000
}

impl ChatMessage {
    /// Returns the id of the page.
    pub(crate) fn page<'c>(&'c self, config: &'c Config) -> Option<&'c str> {
        let first = || config.pages.first().map(|page| page.definition.id.as_str());
        self.page_id.as_ref().map(|id| id.0.as_str()).or_else(first)
    }
}

impl Section for ChatMessage {
    const KEY: &'static str = "chatMessage";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        problems.check_agent(&[PathStep::Key("agentId")], &self.agent_id.0);
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let known = || config.pages.iter().map(|page| page.definition.id.as_str());
        match &self.page_id {
            Some(id) if !known().any(|page| page == id.0) => {
                let help = SectionProblems::name_help(&id.0, known());
                problems.error(&[PathStep::Key("pageId")], format!("there is no page `{}`", id.0), help);
            }
            None if config.pages.is_empty() => {
                let help = Some("add `pages: [{ id: home }]`".to_owned());
                problems.error(&[PathStep::Key("agentId")], "conversations need a page, and there is none", help);
            }
            _ => {}
        }
    }
}
