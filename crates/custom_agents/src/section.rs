//! The section `customAgents` of the config.

use crate::choices::selectable_tools;
use config::{AccessRule, Config, Id, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// Agents that are made while the server runs: by administrators in the admin console or over the API, and
/// by users if `users` allows it. Each gets a page of its own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomAgents {
    /// The agents of this config that custom agents may be based on. A custom agent has the limits and the
    /// policy of its base, and a selection of its tools, libraries and skills.
    #[schemars(with = "Vec<Id>", length(min = 1))]
    pub from: Vec<String>,
    /// The users who may use custom agents. Default: all signed-in users.
    #[serde(default)]
    pub auth: AccessRule,
    /// Agents that users make for themselves at `/account/agents`. Default: only administrators make agents.
    #[serde(default)]
    pub users: Option<OwnAgents>,
}

/// The users who make agents of their own, and the parts that these may have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnAgents {
    /// The users who may make agents of their own. Default: all signed-in users.
    pub auth: AccessRule,
    /// The agents of this config that they may be based on. Users only see those that they may use
    /// themselves. Default: those of `customAgents.from`.
    #[schemars(with = "Vec<Id>")]
    pub from: Vec<String>,
    /// The models of the section `models` that they may have. Default: those among which users of the base
    /// agent choose.
    #[schemars(with = "Vec<Id>")]
    pub models: Vec<String>,
    /// The parts of the base agent that they may have: names of tools, `mcp:NAME`, `knowledge:LIBRARY`, `skills:SKILL`
    /// and so on, as the form lists them. Default: everything that the user may use.
    #[schemars(with = "Option<Vec<settings::Text>>")]
    pub tools: Option<Vec<String>>,
    /// Whether users may share their agents with roles, or with everybody who may use custom agents.
    pub share: bool,
    /// The most agents of a user.
    #[schemars(range(min = 1, max = 200))]
    pub per_user: u32,
    /// The most agents of all users together. Each is part of the running config.
    #[schemars(range(min = 1, max = 5_000))]
    pub total: u32,
}

impl Default for OwnAgents {
    fn default() -> Self {
        Self {
            auth: AccessRule::default(),
            from: Vec::new(),
            models: Vec::new(),
            tools: None,
            share: true,
            per_user: 20,
            total: 1_000,
        }
    }
}

impl CustomAgents {
    /// Returns the agents of the config that agents of users may be based on; none if users make no agents.
    pub(crate) fn bases_of_users(&self) -> &[String] {
        match &self.users {
            None => &[],
            Some(users) if users.from.is_empty() => &self.from,
            Some(users) => &users.from,
        }
    }
}

impl Section for CustomAgents {
    const KEY: &'static str = "customAgents";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, id) in self.from.iter().enumerate() {
            problems.check_agent(&[PathStep::Key("from"), PathStep::Index(index)], id);
        }
        for (index, id) in self.users.iter().flat_map(|users| &users.from).enumerate() {
            problems.check_agent(&[PathStep::Key("users"), PathStep::Key("from"), PathStep::Index(index)], id);
        }
        if matches!(&self.users, Some(users) if users.auth == AccessRule::Public) {
            let help = "visitors have no account to which an agent could belong".to_owned();
            problems.error(
                &[PathStep::Key("users"), PathStep::Key("auth")],
                "only signed-in users make agents",
                Some(help),
            );
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        let Some(users) = &self.users else { return };
        let bases: Vec<_> = self.bases_of_users().iter().filter_map(|id| config.agents.get(id)).collect();
        for (index, id) in users.models.iter().enumerate() {
            let at = [PathStep::Key("users"), PathStep::Key("models"), PathStep::Index(index)];
            let Some(model) = config.models.get(id) else {
                let help = SectionProblems::name_help(id, config.models.keys().map(String::as_str));
                problems.error(&at, format!("there is no model `{id}`"), help);
                continue;
            };
            // A base that cannot have the model does not offer it.
            let refused: Vec<_> = bases.iter().filter_map(|base| base.with_model(model).err()).collect();
            if refused.len() == bases.len() {
                let problem = refused.into_iter().next().unwrap_or_default();
                problems.error(&at, format!("no base agent can use the model `{id}`: {problem}"), None);
            }
        }
        let known: Vec<_> = bases.iter().flat_map(|base| selectable_tools(config, base, None)).collect();
        for (index, name) in users.tools.iter().flatten().enumerate() {
            // Installed skills, libraries of users and MCP servers that administrators add are not known here.
            let is_added = ["skills:", "knowledge:", "mcp:"].iter().any(|kind| name.starts_with(kind));
            if !known.contains(name) && !is_added {
                let at = [PathStep::Key("users"), PathStep::Key("tools"), PathStep::Index(index)];
                let help = SectionProblems::name_help(name, known.iter().map(String::as_str));
                problems.error(&at, format!("no base agent has `{name}`"), help);
            }
        }
    }

    fn access_rules(&self) -> Vec<&AccessRule> {
        let users = self.users.as_ref().map(|users| &users.auth);
        [&self.auth].into_iter().chain(users).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Language, SectionType};
    use insta::assert_snapshot;

    const AGENTS: &str = "
connections: [{ id: demo, type: Demo }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
";

    fn check(text: &str) -> String {
        let language = Language::new(&[SectionType::of::<CustomAgents>()], &[]);
        match language.read_text(text) {
            Ok((config, _)) => format!("{:?}", config.section::<CustomAgents>()),
            Err(problems) => config::render(&problems),
        }
    }

    #[test]
    fn section_is_read_with_its_defaults() {
        assert_snapshot!(check(AGENTS), @"None");
        assert_snapshot!(check(&format!("{AGENTS}customAgents: {{ from: [helper] }}")), @r#"Some(CustomAgents { from: ["helper"], auth: Protected, users: None })"#);
        let auth = "{ from: [helper], auth: { roles: [editor] } }";
        assert_snapshot!(check(&format!("{AGENTS}customAgents: {auth}")), @r#"Some(CustomAgents { from: ["helper"], auth: Roles(["editor"]), users: None })"#);
        assert_snapshot!(check(&format!("{AGENTS}customAgents: {{ from: [helper], users: {{ tools: [] }} }}")), @r#"Some(CustomAgents { from: ["helper"], auth: Protected, users: Some(OwnAgents { auth: Protected, from: [], models: [], tools: Some([]), share: true, per_user: 20, total: 1000 }) })"#);
    }

    #[test]
    fn problems_are_reported_at_their_positions() {
        assert_snapshot!(check("customAgents: { from: [helper] }\n"), @"
        chatwright.yaml:1:24: error: there is no agent `helper`
           |
         1 | customAgents: { from: [helper] }
           |                        ^^^^^^
           = help: declare it in the section `agents`
        ");
        assert_snapshot!(check("customAgents: { form: [] }\ncustomagents: {}\n"), @"
        chatwright.yaml:1:17: error: there is no key `form` here
           |
         1 | customAgents: { form: [] }
           |                 ^^^^
           = help: did you mean `from`?

        chatwright.yaml:2:1: error: there is no section `customagents`
           |
         2 | customagents: {}
           | ^^^^^^^^^^^^
           = help: did you mean `customAgents`?
        ");
        assert_snapshot!(check(&format!("{AGENTS}customAgents: {{ from: [helper], auth: {{ roles: }} }}\n")), @"
        chatwright.yaml:4:39: error: this does not say who
           |
         4 | customAgents: { from: [helper], auth: { roles: } }
           |                                       ^
           = help: name roles: `{ roles: [admin] }`
        ");
        let check_users = |users: &str| check(&format!("{AGENTS}customAgents: {{ from: [helper], users: {users} }}\n"));
        assert_snapshot!(check_users("{ from: [helpr], auth: { public: true } }"), @"
        chatwright.yaml:4:49: error: there is no agent `helpr`
           |
         4 | customAgents: { from: [helper], users: { from: [helpr], auth: { public: true } } }
           |                                                 ^^^^^
           = help: did you mean `helper`?

        chatwright.yaml:4:63: error: only signed-in users make agents
           |
         4 | customAgents: { from: [helper], users: { from: [helpr], auth: { public: true } } }
           |                                                               ^
           = help: visitors have no account to which an agent could belong
        ");
        let problems = check_users("{ models: [quick], tools: [search] }");
        for problem in ["4:51: error: there is no model `quick`", "4:67: error: no base agent has `search`"] {
            assert!(problems.contains(problem), "{problems}");
        }
    }
}
