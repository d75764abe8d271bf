//! The definition of a custom agent, and what it becomes in the config.

use crate::section::CustomAgents;
use crate::store::CustomAgentRow;
use config::{AccessRule, Agent, Config, Page};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The prefix of the ids of custom agents and their pages.
pub const PREFIX: &str = "custom-";

/// A custom agent as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CustomAgent {
    /// The display name.
    pub name: String,
    /// The purpose of the agent.
    pub description: String,
    /// The picture: one or two characters. Empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub picture: String,
    /// The id of the base agent.
    pub from: String,
    /// The instructions of the agent.
    pub instructions: String,
    /// The tools of the base agent that this one has, as named by [`selectable_tools`](crate::selectable_tools).
    pub tools: Vec<String>,
    /// A model of the section `models`. Without one, it has the models of its base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How often it goes on by itself, as `executionMode` of an agent in the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_mode: Option<Value>,
    /// In which way it uses its tools, as `toolStrategy` of an agent in the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_strategy: Option<Value>,
    /// With `false`, it has none of the `fallbackModels` of its base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallbacks: Option<bool>,
}

impl CustomAgent {
    /// Parses a stored definition; returns placeholders for an invalid one.
    pub(crate) fn from_stored(definition: Value) -> Self {
        serde_json::from_value(definition).unwrap_or(Self { name: "?".to_owned(), ..Self::default() })
    }

    /// Returns the agent of the config that this one is, with its base in that config.
    ///
    /// # Errors
    /// The problem of the definition with this base, with the path of the field.
    pub(crate) fn build(&self, config: &Config, id: &str, auth: AccessRule) -> Result<Agent, (&'static str, String)> {
        let base = config.agents.get(&self.from).ok_or(("/from", format!("there is no agent `{}`", self.from)))?;
        let has = |choice: &str| self.tools.iter().any(|tool| tool == choice);
        let mut agent = base.clone();
        agent.tools.retain(|tool| has(&tool.name));
        agent.mcp.retain(|server| has(&format!("mcp:{}", server.name)));
        agent.unavailable_mcp.retain(|name| has(&format!("mcp:{name}")));
        agent.remote_agents.retain(|remote| has(&format!("remote:{}", remote.connection_id)));
        agent.agents.retain(|below| has(&format!("agent:{}", below.name)));
        agent.file_system = agent.file_system.filter(|_| has("files"));
        agent.ask_user &= has("questions");
        agent.sections.retain_chosen(&self.tools);
        self.check_pipeline(&agent)?;
        let mut agent = self.with_properties(agent, config)?;
        if let Some(id) = &self.model {
            let model = config.models.get(id).ok_or_else(|| ("/model", format!("there is no model `{id}`")))?;
            agent = agent.with_model(model).map_err(|problem| ("/model", problem))?;
        }
        agent.id = id.to_owned();
        agent.title = Some(self.name.clone());
        agent.description = Some(self.description.clone()).filter(|description| !description.is_empty());
        agent.picture = Some(self.picture.clone()).filter(|picture| !picture.is_empty());
        agent.instructions = Some(Value::String(self.instructions.clone()));
        agent.auth = auth;
        Ok(agent)
    }

    fn with_properties(&self, mut agent: Agent, config: &Config) -> Result<Agent, (&'static str, String)> {
        let own = [
            ("/executionMode", "executionMode", self.execution_mode.clone()),
            ("/toolStrategy", "toolStrategy", self.tool_strategy.clone()),
            ("/fallbacks", "fallbackModels", (self.fallbacks == Some(false)).then(|| json!([]))),
        ];
        for (path, name, value) in own {
            let Some(value) = value else { continue };
            let properties = Map::from_iter([(name.to_owned(), value)]);
            agent = agent.with_properties(&properties, &config.models).map_err(|problem| (path, problem))?;
        }
        Ok(agent)
    }

    /// Checks that a pipeline has only tools of the agent, as far as they are known without asking servers.
    fn check_pipeline(&self, agent: &Agent) -> Result<(), (&'static str, String)> {
        let pipeline = self.tool_strategy.as_ref().and_then(|strategy| strategy["pipeline"].as_array());
        let endpoints = agent.tools.iter().map(|tool| tool.name.as_str());
        let own: Vec<_> = endpoints.chain(agent.agents.iter().map(|below| below.name.as_str())).collect();
        let missing =
            pipeline.into_iter().flatten().find(|name| !name.as_str().is_some_and(|name| own.contains(&name)));
        match missing {
            Some(name) => {
                Err(("/toolStrategy", format!("the pipeline names {name}, which is not a tool of this agent")))
            }
            None => Ok(()),
        }
    }
}

/// Adds those custom agents to the config that its section `customAgents` allows, each with a page.
pub fn with_custom_agents(mut config: Config, rows: &[CustomAgentRow]) -> Config {
    let Some(allowed) = config.section::<CustomAgents>().cloned() else { return config };
    for row in rows {
        let custom = serde_json::from_value::<CustomAgent>(row.definition.clone()).ok();
        let custom = custom.filter(|custom| allowed.from.contains(&custom.from));
        add(&mut config, &row.id, custom, &allowed.auth);
    }
    config
}

/// Adds an agent with its page. One that the config does not allow is left out.
pub(crate) fn add(config: &mut Config, id: &str, custom: Option<CustomAgent>, auth: &AccessRule) {
    let built = custom.ok_or_else(|| "the config does not allow its base".to_owned()).and_then(|custom| {
        custom.build(config, id, auth.clone()).map_err(|(path, problem)| format!("{path}: {problem}"))
    });
    match built {
        Ok(agent) => {
            config.pages.push(Page::for_agent(id, &agent));
            config.agents.insert(id.to_owned(), agent);
        }
        Err(problem) => tracing::warn!(agent = id, problem, "left out a custom agent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Language, SectionType};
    use serde_json::json;

    const CONFIG: &str = "
connections: [{ id: demo, type: Demo }, { id: files, type: Mcp, properties: { command: files } }]
api:
  - { id: read, description: Reads., payloadSchema: { type: object }, routine: [{ ':return': 1 }] }
  - { id: write, description: Writes., payloadSchema: { type: object }, routine: [{ ':return': 1 }] }
agents:
  - id: helper
    type: Agent
    connectionId: demo
    properties: { model: demo, askUser: true, limits: { requests: 3 } }
    tools: [read, { endpointId: write, confirm: true }]
    mcp: [files]
  - { id: secret, type: Agent, connectionId: demo, properties: { model: demo } }
customAgents: { from: [helper], auth: { roles: [editor] } }
pages: [{ id: p }]
";

    fn load(text: &str) -> Config {
        let language = Language::new(&[SectionType::of::<CustomAgents>()], &[]);
        language.read_text(text).unwrap().0
    }

    fn config() -> Config {
        load(CONFIG)
    }

    fn row(id: &str, definition: Value) -> CustomAgentRow {
        CustomAgentRow {
            id: id.to_owned(),
            name: None,
            version: 1,
            definition,
            owner: String::new(),
            created_at: 0,
            updated_at: 0,
        }
    }

    #[test]
    fn custom_agent_cannot_exceed_its_base_agent() {
        assert_eq!(
            crate::selectable_tools(&config(), &config().agents["helper"], None),
            ["read", "write", "mcp:files", "questions"]
        );
        let definition = |from: &str, tools: &[&str]| json!({ "name": "Mine", "from": from, "instructions": "Be brief.", "tools": tools });
        let rows = [
            row("custom-a", definition("helper", &["write", "questions", "nothing"])),
            row("custom-b", definition("secret", &[])),
            row("custom-c", json!({ "name": "?" })),
        ];
        let made = with_custom_agents(config(), &rows);
        assert_eq!(made.agents.keys().collect::<Vec<_>>(), ["helper", "secret", "custom-a"]);
        let agent = &made.agents["custom-a"];
        assert_eq!(
            agent.tools.iter().map(|tool| (&*tool.name, tool.confirm.is_some())).collect::<Vec<_>>(),
            [("write", true)]
        );
        assert!(agent.ask_user && agent.mcp.is_empty());
        assert_eq!(
            (agent.settings.limits.requests, &agent.auth),
            (Some(3), &AccessRule::Roles(vec!["editor".to_owned()]))
        );
        let page = made.pages.last().unwrap();
        assert_eq!((page.definition.id.as_str(), &page.auth), ("custom-a", &agent.auth));
        // A config without `customAgents` ignores them.
        let none = load(
            CONFIG.lines().filter(|line| !line.starts_with("customAgents")).collect::<Vec<_>>().join("\n").as_str(),
        );
        assert_eq!(with_custom_agents(none, &rows).agents.len(), 2);
    }

    const WITH_MODELS: &str = "
connections: [{ id: demo, type: Demo }]
models: [{ id: quick, connectionId: demo, model: demo-quick }, { id: slow, connectionId: demo, model: demo-slow }]
api:
  - { id: read, description: Reads., payloadSchema: { type: object }, routine: [{ ':return': 1 }] }
agents:
  - { id: plain, type: Agent, connectionId: demo, properties: { model: demo, fallbackModels: [demo-2] }, tools: [read] }
  - { id: choice, type: Agent, models: [quick, slow], properties: { executionMode: once, maxSteps: 7 } }
  - { id: dynamic, type: Agent, connectionId: demo, properties: { model: demo, executionMode: { _payload: urlQuery.mode } } }
customAgents: { from: [plain, choice, dynamic] }
pages: [{ id: p }]
";

    #[test]
    fn agents_have_models_and_ways_to_work_of_their_own() {
        let config = load(WITH_MODELS);
        let check = |own: Value, expected: &str| {
            let mut definition = json!({ "name": "Mine", "instructions": "x", "tools": ["read"] });
            definition.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
            let custom: CustomAgent = serde_json::from_value(definition).unwrap();
            let made = custom.build(&config, "custom-a", AccessRule::Protected).map(|agent| {
                let models = agent.models.as_ref().map(|models| models.ids.join(" "));
                // As the agent is in a turn with its default model.
                let default = agent.models.as_ref().and_then(|models| config.models.get(&models.default));
                let turn = agent.for_turn(Vec::new(), default.map(|model| (model, false)));
                let turn = if agent.dynamic_properties.is_some() { agent.clone() } else { turn.unwrap() };
                let settings = &turn.settings;
                format!(
                    "{} {:?} {:?} {:?} {} {} {}",
                    turn.model,
                    models,
                    settings.execution_mode,
                    settings.tool_strategy,
                    settings.max_steps,
                    turn.fallback_models.len(),
                    turn.instructions.unwrap(),
                )
            });
            assert_eq!(made.unwrap_or_else(|(path, problem)| format!("{path}: {problem}")), expected, "{own}");
        };
        check(json!({ "from": "plain" }), r#"demo None UntilDone Model 10 1 "x""#);
        check(json!({ "from": "plain", "model": "slow" }), r#"demo-slow Some("slow") UntilDone Model 10 1 "x""#);
        check(json!({ "from": "plain", "fallbacks": false }), r#"demo None UntilDone Model 10 0 "x""#);
        check(json!({ "from": "plain", "executionMode": "once" }), r#"demo None AtMost(1) Model 10 1 "x""#);
        let pipeline = json!({ "from": "plain", "toolStrategy": { "pipeline": ["read"] } });
        check(pipeline, r#"demo None UntilDone Pipeline(["read"]) 10 1 "x""#);
        check(json!({ "from": "choice" }), r#"demo-quick Some("quick slow") AtMost(1) Model 7 0 "x""#);
        let both = json!({ "from": "choice", "model": "slow", "executionMode": { "atMost": 3 } });
        check(both, r#"demo-slow Some("slow") AtMost(3) Model 7 0 "x""#);
        check(json!({ "from": "dynamic", "executionMode": "once" }), r#"demo None AtMost(1) Model 10 0 "x""#);
        check(json!({ "from": "dynamic", "model": "slow" }), r#"demo-slow Some("slow") UntilDone Model 10 0 "x""#);
        let unknown = "/toolStrategy: the pipeline names \"write\", which is not a tool of this agent";
        check(json!({ "from": "plain", "toolStrategy": { "pipeline": ["write"] } }), unknown);
        check(json!({ "from": "plain", "model": "none" }), "/model: there is no model `none`");
        check(json!({ "from": "nobody" }), "/from: there is no agent `nobody`");
    }
}
