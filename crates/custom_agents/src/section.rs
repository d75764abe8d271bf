//! The section `customAgents` of the config.

use config::{AccessRule, Id, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// Agents that administrators create in the admin console. Each gets a page of its own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomAgents {
    /// The agents of this config that custom agents may be based on. A custom agent has the model,
    /// the limits and the policy of its base, and a selection of its tools.
    #[schemars(with = "Vec<Id>", length(min = 1))]
    pub from: Vec<String>,
    /// Who may use custom agents. Default: all signed-in users.
    #[serde(default)]
    pub auth: AccessRule,
}

impl Section for CustomAgents {
    const KEY: &'static str = "customAgents";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        for (index, id) in self.from.iter().enumerate() {
            problems.check_agent(&[PathStep::Key("from"), PathStep::Index(index)], id);
        }
    }

    fn access_rules(&self) -> Vec<&AccessRule> {
        vec![&self.auth]
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
        assert_snapshot!(check(&format!("{AGENTS}customAgents: {{ from: [helper] }}")), @r#"Some(CustomAgents { from: ["helper"], auth: Protected })"#);
        let auth = "{ from: [helper], auth: { roles: [editor] } }";
        assert_snapshot!(check(&format!("{AGENTS}customAgents: {auth}")), @r#"Some(CustomAgents { from: ["helper"], auth: Roles(["editor"]) })"#);
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
    }
}
