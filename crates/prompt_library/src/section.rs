//! The keys of the config: `prompts` of the root, and `prompts` of an agent.

use crate::prompt::{PromptContent, checked_roles, name_key};
use config::{Config, PathStep, Section, SectionPlace, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Text;
use std::collections::BTreeSet;

/// Prompts that users keep, and that are shared with them. Signed-in users write their own at
/// `/account/prompts`. Without this section there are none.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Prompts {
    /// The most prompts of a user.
    #[schemars(range(min = 1, max = 500))]
    pub(crate) per_user: u32,
    /// The longest text of a prompt, in bytes.
    #[schemars(range(min = 100, max = 32_768))]
    pub(crate) text_bytes: u32,
    /// Prompts for all users. Administrators add others in the console.
    #[schemars(length(max = 200))]
    pub(crate) shared: Vec<SharedPrompt>,
}

impl Default for Prompts {
    fn default() -> Self {
        Self { per_user: 100, text_bytes: 8_000, shared: Vec::new() }
    }
}

/// A prompt that the config shares.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SharedPrompt {
    /// The name, behind the `/`: letters, digits, hyphens and underscores.
    #[schemars(with = "Text")]
    pub(crate) name: String,
    /// Its purpose, in one line.
    #[serde(default)]
    #[schemars(with = "Text")]
    pub(crate) description: String,
    /// The text, with variables such as `{{topic}}`, `{{tone|friendly}}` and `{{length|short|long}}`.
    #[schemars(with = "Text")]
    pub(crate) text: String,
    /// The roles whose users see it. Default: everybody, also visitors.
    #[serde(default)]
    #[schemars(with = "Vec<Text>")]
    pub(crate) roles: Vec<String>,
}

impl SharedPrompt {
    /// Returns its contents.
    pub(crate) fn content(&self) -> PromptContent {
        PromptContent { name: self.name.clone(), description: self.description.clone(), text: self.text.clone() }
    }
}

impl Prompts {
    /// Returns the shared prompt with a name.
    pub(crate) fn find(&self, name: &str) -> Option<&SharedPrompt> {
        self.shared.iter().find(|prompt| name_key(&prompt.name) == name_key(name))
    }

    /// Returns the longest text.
    pub(crate) fn most_bytes(&self) -> usize {
        self.text_bytes as usize
    }
}

impl Section for Prompts {
    const KEY: &'static str = "prompts";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut names = BTreeSet::new();
        for (index, prompt) in self.shared.iter().enumerate() {
            let mut report = |field: &str, message: String, help: Option<String>| {
                let at = [PathStep::Key("shared"), PathStep::Index(index), PathStep::Key(field)];
                problems.error(&at, message, help);
            };
            let checked = prompt.content().checked(self.most_bytes()).map(drop);
            if let Err(problem) = checked.and_then(|()| checked_roles(prompt.roles.clone()).map(drop)) {
                report(problem.field, problem.message, None);
            }
            if !names.insert(name_key(&prompt.name)) {
                let help = "give each prompt another name; upper and lower case do not matter".to_owned();
                report("name", format!("there are two prompts with the name `{}`", prompt.name), Some(help));
            }
        }
    }

    fn roles(&self) -> Vec<&str> {
        self.shared.iter().flat_map(|prompt| &prompt.roles).map(String::as_str).collect()
    }
}

/// Whether prompts are offered in the chats of the agent. Default: `true` if the config has the section
/// `prompts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct AgentPrompts(pub(crate) bool);

impl Section for AgentPrompts {
    const KEY: &'static str = "prompts";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        if self.0 && config.section::<Prompts>().is_none() {
            let help = "add `prompts: {}` to the config".to_owned();
            problems.error(&[], "there are no prompts, because the config has no section `prompts`", Some(help));
        }
    }

    /// It is no choice of those who make custom agents.
    fn always_stays(&self) -> bool {
        true
    }
}

/// Returns whether the chats of an agent offer prompts.
pub(crate) fn offers_prompts(config: &Config, agent: &config::Agent) -> bool {
    config.section::<Prompts>().is_some() && agent.section::<AgentPrompts>().is_none_or(|offered| offered.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Language, SectionType};
    use insta::assert_snapshot;

    const AGENT: &str = "
connections: [{ id: demo, type: Demo }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo }";

    fn check(text: &str) -> String {
        let language = Language::new(&[SectionType::of::<Prompts>(), SectionType::of::<AgentPrompts>()], &[]);
        match language.read_text(text) {
            Ok((config, _)) => {
                let offering = config.agents.values().filter(|agent| offers_prompts(&config, agent));
                format!("{:?} {}", config.section::<Prompts>(), offering.count())
            }
            Err(problems) => config::render(&problems),
        }
    }

    #[test]
    fn section_is_read_with_its_defaults() {
        assert_snapshot!(check(&format!("{AGENT} }}]\n")), @"None 0");
        assert_snapshot!(check(&format!("{AGENT} }}]\nprompts: {{}}\n")), @"Some(Prompts { per_user: 100, text_bytes: 8000, shared: [] }) 1");
        assert_snapshot!(check(&format!("{AGENT}, prompts: false }}]\nprompts: {{ perUser: 5 }}\n")), @"Some(Prompts { per_user: 5, text_bytes: 8000, shared: [] }) 0");
        assert_snapshot!(check(&format!("{AGENT} }}]\nprompts: {{ shared: [{{ name: sum, text: Sum up. }}] }}\n")), @r#"Some(Prompts { per_user: 100, text_bytes: 8000, shared: [SharedPrompt { name: "sum", description: "", text: "Sum up.", roles: [] }] }) 1"#);
    }

    #[test]
    fn problems_are_reported_at_their_positions() {
        let check_shared = |prompts: &str, expected: &[&str]| {
            let problems = check(&format!("prompts:\n  textBytes: 100\n  shared:\n{prompts}"));
            let found: Vec<_> = problems.lines().filter(|line| line.starts_with("chatwright.yaml")).collect();
            assert_eq!(found, expected, "{problems}");
        };
        check_shared(
            "    - { name: a b, text: Sum up. }\n",
            &[
                "chatwright.yaml:4:15: error: A name has 1 to 40 letters, digits, hyphens and underscores, and no spaces.",
            ],
        );
        let long = format!("    - {{ name: a, text: {} }}\n", "b".repeat(101));
        check_shared(&long, &["chatwright.yaml:4:24: error: The text has 101 bytes. At most 100 are possible."]);
        let twice = "    - { name: Sum, text: a }\n    - { name: sum, text: b }\n";
        check_shared(twice, &["chatwright.yaml:5:15: error: there are two prompts with the name `sum`"]);
        let problems = check(&format!("{AGENT}, prompts: true }}]\n"));
        assert!(problems.contains("there are no prompts, because the config has no section `prompts`"), "{problems}");
    }
}
