//! The section `a2a` of the config.

use crate::card;
use config::{Config, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::{Id, Text, Variable};
use std::collections::HashSet;
use url::Url;
use wire::{ErrorCode, UserError};

/// Lets other agents and their clients use the agents of this server by Agent2Agent (A2A) 1.0, at `/a2a/AGENT`.
/// `{}` switches it on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct A2a {
    /// The agents that can be used, by callers who may use them. The cards of those that are listed are public.
    /// Default: all that the caller may use; then only the cards of agents that everybody may use are public.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) agents: Option<Vec<OfferedAgent>>,
    /// The agent whose card is at `/.well-known/agent-card.json`. Its card must be public. Default: the agent of
    /// `agents`, if there is one only.
    pub(crate) default_agent: Option<Id>,
    /// The version of the agents in their cards.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) version: String,
    /// Who offers the agents.
    pub(crate) provider: Option<Provider>,
    /// Tells clients what becomes of their tasks, at addresses that they name. Default: clients have to ask.
    pub(crate) push_notifications: Option<PushNotifications>,
    /// The largest body of a request in bytes, with files. Callers who are not signed in may send no more than
    /// `limits.bodyBytes`.
    #[schemars(range(min = 1024, max = 67_108_864))]
    pub(crate) body_bytes: usize,
}

impl Default for A2a {
    fn default() -> Self {
        Self {
            agents: None,
            default_agent: None,
            version: "1.0.0".to_owned(),
            provider: None,
            push_notifications: None,
            body_bytes: 24 << 20,
        }
    }
}

/// How clients are told what becomes of their tasks.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "A2aPushNotifications")]
pub(crate) struct PushNotifications {
    /// Environment variables with keys of at least 32 characters. The credentials that clients give for notifications are
    /// encrypted with the first one and can be read with all of them.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) keys: Vec<Variable>,
    /// Whether addresses of this machine and its networks, and `http://`, are allowed.
    #[serde(default)]
    pub(crate) allow_private: bool,
}

/// Who offers the agents.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "A2aProvider")]
pub(crate) struct Provider {
    /// The name of the organization.
    pub(crate) organization: Text,
    /// The address of its website.
    pub(crate) url: Text,
}

/// An agent that can be used: its id, or its id with what its card says about its skills.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(from = "AgentForm")]
#[schemars(rename = "A2aOfferedAgent")]
pub(crate) struct OfferedAgent {
    pub(crate) agent_id: String,
    pub(crate) skills: Vec<Skill>,
}

/// How an [`OfferedAgent`] is written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "A2aAgentForm")]
enum AgentForm {
    /// The id.
    Id(Id),
    /// The id, with skills.
    Skilled(SkilledAgent),
}

/// An agent with skills.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "A2aAgent")]
struct SkilledAgent {
    /// The agent.
    agent_id: Id,
    /// The skills in its card. Default: one skill, with the agent's title and description.
    #[serde(default)]
    #[schemars(length(max = 100))]
    skills: Vec<Skill>,
}

/// Something that an agent can do.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "A2aSkill")]
pub(crate) struct Skill {
    /// The id, unique within the agent.
    pub(crate) id: Id,
    /// The name. Default: the id.
    pub(crate) name: Option<Text>,
    /// The description, by which other agents choose.
    pub(crate) description: Text,
    /// Keywords. Default: the id.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub(crate) tags: Vec<Text>,
    /// Examples of requests.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub(crate) examples: Vec<Text>,
}

impl From<AgentForm> for OfferedAgent {
    fn from(form: AgentForm) -> Self {
        match form {
            AgentForm::Id(Id(agent_id)) => Self { agent_id, skills: Vec::new() },
            AgentForm::Skilled(SkilledAgent { agent_id: Id(agent_id), skills }) => Self { agent_id, skills },
        }
    }
}

impl A2a {
    /// Returns the section.
    ///
    /// # Errors
    /// 404 if A2A is switched off.
    pub(crate) fn of(config: &Config) -> Result<&Self, UserError> {
        config.section::<Self>().ok_or_else(|| {
            let message = "A2A is switched off here. The administrator switches it on with `a2a: {}` in the config.";
            UserError::new(ErrorCode::NotFound, message)
        })
    }

    /// Returns the entry of an agent in the list; `None` if there is no list, or the agent is not in it.
    pub(crate) fn entry(&self, agent_id: &str) -> Option<&OfferedAgent> {
        self.agents.iter().flatten().find(|agent| agent.agent_id == agent_id)
    }

    /// Returns whether an agent can be used, if the caller may use it.
    pub(crate) fn offers(&self, agent_id: &str) -> bool {
        self.agents.is_none() || self.entry(agent_id).is_some()
    }

    /// Returns the agent whose card is the server's.
    pub(crate) fn default_agent(&self) -> Option<&str> {
        match (&self.default_agent, self.agents.as_deref()) {
            (Some(Id(id)), _) => Some(id),
            (None, Some([only])) => Some(&only.agent_id),
            (None, _) => None,
        }
    }
}

impl Section for A2a {
    const KEY: &'static str = "a2a";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut agents = HashSet::new();
        for (index, agent) in self.agents.iter().flatten().enumerate() {
            let at = [PathStep::Key("agents"), PathStep::Index(index)];
            problems.check_agent(&at, &agent.agent_id);
            if !agents.insert(&agent.agent_id) {
                problems.error(&at, format!("the agent `{}` is listed twice", agent.agent_id), None);
            }
            let mut skills = HashSet::new();
            for (no, skill) in agent.skills.iter().enumerate().filter(|(_, skill)| !skills.insert(&skill.id.0)) {
                let at =
                    [PathStep::Key("agents"), PathStep::Index(index), PathStep::Key("skills"), PathStep::Index(no)];
                problems.error(&at, format!("there are two skills with the id `{}`", skill.id.0), None);
            }
        }
        if let Some(Id(id)) = &self.default_agent {
            let at = [PathStep::Key("defaultAgent")];
            problems.check_agent(&at, id);
            if !self.offers(id) {
                let help = Some(format!("add `{id}` to `agents`"));
                problems.error(&at, format!("the agent `{id}` is not offered"), help);
            }
        }
        if let Some(provider) = &self.provider
            && !Url::parse(&provider.url.0).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        {
            let help = Some("write it like `https://example.com`".to_owned());
            let message = format!("`{}` is not the address of a website", provider.url.0);
            problems.error(&[PathStep::Key("provider"), PathStep::Key("url")], message, help);
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let agent = self.default_agent.as_ref().and_then(|Id(id)| config.agents.get(id));
        if let Some(agent) = agent.filter(|agent| self.offers(&agent.id) && !card::is_public(self, agent)) {
            let help = Some("list it in `agents`, or give it `auth: public`".to_owned());
            let message = format!("the card of `{}` is not public, so nobody would find it there", agent.id);
            problems.error(&[PathStep::Key("defaultAgent")], message, help);
        }
    }
}
