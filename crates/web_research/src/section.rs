//! The keys `webSearch`, `webFetch` and `web` of an agent.

use crate::connection::TYPES;
use config::{PathStep, Section, SectionPlace, SectionProblems, Sections, SwitchOption};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::{UserSwitch, compile_patterns};
use std::collections::HashSet;

/// The name of the tool that searches.
pub(crate) const SEARCH: &str = "web_search";
/// The name of the tool that reads pages.
pub(crate) const FETCH: &str = "web_fetch";
/// The most results of a search.
pub(crate) const MAX_RESULTS: u32 = 20;

/// Lets the agent search the web, with the tool `web_search`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentWebSearch {
    /// The providers, of the types `SearXNG`, `Brave`, `Tavily` and `Exa`. The next one is asked when
    /// one fails, has too many requests or takes too long.
    #[schemars(length(min = 1, max = 8))]
    pub(crate) connections: Vec<String>,
    /// How many results a search returns if the model does not say it, and at most.
    #[serde(default = "default_results")]
    #[schemars(range(min = 1, max = 20))]
    pub(crate) max_results: u32,
}

/// Lets the agent read web pages, with the tool `web_fetch`. A URL that neither the user has written
/// nor a search has found needs the user's approval. Only public addresses are reached.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AgentWebFetch {
    /// The only hosts that are fetched, such as `docs.example.com` and `*.example.org`; `*` stands for
    /// any characters. Default: all.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) allow: Option<Vec<String>>,
    /// Hosts that are not fetched, even if `allow` has them.
    #[schemars(length(max = 1_000))]
    pub(crate) deny: Vec<String>,
    /// Whether the links of fetched pages can be fetched without asking. The author of a page then
    /// learns which of its links the agent has followed.
    pub(crate) follow_links: bool,
    /// Allows addresses of this machine and its networks. Every page can then name such an address.
    pub(crate) allow_private: bool,
}

/// A switch in the composer with which the user lets the agent use the web: `optIn` is off until they switch
/// it on, `optOut` is on until they switch it off. While it is off, the agent has neither `web_search` nor
/// `web_fetch`. Default: no switch; the agent always has them.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(crate) struct AgentWeb(pub(crate) UserSwitch);

fn default_results() -> u32 {
    5
}

impl Section for AgentWebSearch {
    const KEY: &'static str = "webSearch";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut seen = HashSet::new();
        for (index, id) in self.connections.iter().enumerate() {
            let at = [PathStep::Key("connections"), PathStep::Index(index)];
            problems.check_connection_type(&at, id, &TYPES);
            if !seen.insert(id) {
                problems.error(&at, format!("`{id}` is listed twice"), None);
            }
        }
    }

    fn tool_names(&self) -> Vec<String> {
        vec![SEARCH.to_owned()]
    }
}

impl Section for AgentWebFetch {
    const KEY: &'static str = "webFetch";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        for (key, hosts) in [("allow", self.allow.as_deref().unwrap_or_default()), ("deny", &self.deny)] {
            for (index, host) in hosts.iter().enumerate() {
                let at = [PathStep::Key(key), PathStep::Index(index)];
                if host.contains(['/', ':', ' ']) || host.is_empty() {
                    let help = "a host has no scheme, port or path: docs.example.com, *.example.com".to_owned();
                    problems.error(&at, format!("`{host}` is not a host"), Some(help));
                } else if let Err(error) = compile_patterns(std::slice::from_ref(host)) {
                    problems.error(&at, error, None);
                }
            }
        }
    }

    fn tool_names(&self) -> Vec<String> {
        vec![FETCH.to_owned()]
    }
}

impl Section for AgentWeb {
    const KEY: &'static str = "web";
    const PLACE: SectionPlace = SectionPlace::Agent;
    // The maker of a custom agent cannot take the user's switch away, and it is of no use without the tools.
    const RESTRICTS: &'static [&'static str] = &[AgentWebSearch::KEY, AgentWebFetch::KEY];

    fn user_switch(&self) -> Option<SwitchOption> {
        Some(SwitchOption::Web)
    }

    fn check_with_agent(&self, agent: &Sections, problems: &mut SectionProblems<'_, '_, '_>) {
        if agent.get::<AgentWebSearch>().is_none() && agent.get::<AgentWebFetch>().is_none() {
            let help = "add `webSearch`, `webFetch` or both, or leave out `web`".to_owned();
            problems.error(&[], "this agent does not use the web", Some(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::SearXng;
    use config::{ConnectionType, Language, SectionType};

    const CONFIG: &str = "
connections: [{ id: demo, type: Demo }, { id: search, type: SearXNG, properties: { url: 'https://search.example.com' } }]
agents:
  - id: helper
    type: Agent
    connectionId: demo
    properties: { model: demo }
    webSearch: { connections: [search] }
    webFetch: {}
    web: optIn
pages: [{ id: p }]
";

    #[test]
    fn a_custom_agent_has_the_switch_exactly_if_it_uses_the_web() {
        let sections =
            [SectionType::of::<AgentWebSearch>(), SectionType::of::<AgentWebFetch>(), SectionType::of::<AgentWeb>()];
        let language = Language::new(&sections, &[ConnectionType::of::<SearXng>()]);
        let (config, _) = language.read_text(CONFIG).unwrap();
        assert_eq!(config.agents["helper"].sections.choices(&config, None), ["webSearch", "webFetch"]);
        let check = |chosen: &[&str], has_switch: bool| {
            let mut sections = config.agents["helper"].sections.clone();
            sections.retain_chosen(&chosen.iter().map(|choice| (*choice).to_owned()).collect::<Vec<_>>());
            assert_eq!(sections.get::<AgentWeb>().is_some(), has_switch, "{chosen:?}");
            assert_eq!(sections.get::<AgentWebFetch>().is_some(), chosen.contains(&"webFetch"));
        };
        check(&["webSearch", "webFetch"], true);
        check(&["webFetch"], true);
        check(&["webSearch"], true);
        check(&["web"], false);
        check(&[], false);
    }
}
