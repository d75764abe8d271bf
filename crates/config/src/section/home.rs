//! The section `home`.

use super::Context;
use super::value::{Id, Text};
use crate::config::Home;
use config_source::{Node, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;

/// The page at `/` that lists the pages and agents that the user may use, and the newest
/// conversations: `true`, or settings. Default: `/` is the first page that the user may open, and a
/// config without pages has this one.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum HomeEntry {
    /// Whether there is such a page.
    Switch(bool),
    /// The page in this way.
    Settings(HomeSettings),
}

/// The settings of the home page.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HomeSettings {
    /// The heading.
    title: Option<Text>,
    /// The text below the heading.
    description: Option<Text>,
    /// The ids of the agents that get a chat page of their own, unless a page has a chat with them.
    /// Default: all agents but those that are sub-agents.
    agents: Option<Vec<Id>>,
}

/// Reads the section. Without it, a config without pages has a home page.
pub(super) fn read(section: Option<&Node>, context: &mut Context<'_, '_>) -> Option<Home> {
    let Some(section) = section else { return context.pages.is_empty().then(Home::default) };
    match context.decode::<HomeEntry>(section)? {
        HomeEntry::Switch(is_on) => is_on.then(Home::default),
        HomeEntry::Settings(HomeSettings { title, description, agents }) => {
            let agents = agents.map(|ids| ids.into_iter().map(|Id(id)| id).collect::<Vec<_>>());
            for (index, id) in agents.iter().flatten().enumerate() {
                let at = section.span_at(&[PathStep::Key("agents"), PathStep::Index(index)]);
                context.agent(id, at);
            }
            let text = |text: Option<Text>| text.map(|Text(text)| text);
            Some(Home { title: text(title), description: text(description), agents })
        }
    }
}
