//! A project, and the checks of its settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The longest name in characters: that of a folder.
pub(crate) const MAX_NAME: usize = 60;
/// The most libraries of a project: as many as a search has.
pub(crate) const MAX_LIBRARIES: usize = 20;
/// The longest id of a library, an agent or a model in bytes.
const MAX_ID: usize = 200;

/// The colour of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ProjectColor")]
pub(crate) enum Color {
    #[default]
    Gray,
    Red,
    Orange,
    Yellow,
    Green,
    Teal,
    Blue,
    Purple,
    Pink,
}

impl Color {
    /// All colours, in the order of a choice.
    pub(crate) const ALL: [Self; 9] = [
        Self::Gray,
        Self::Red,
        Self::Orange,
        Self::Yellow,
        Self::Green,
        Self::Teal,
        Self::Blue,
        Self::Purple,
        Self::Pink,
    ];

    /// Returns the name, as it is stored and sent.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gray => "gray",
            Self::Red => "red",
            Self::Orange => "orange",
            Self::Yellow => "yellow",
            Self::Green => "green",
            Self::Teal => "teal",
            Self::Blue => "blue",
            Self::Purple => "purple",
            Self::Pink => "pink",
        }
    }

    /// Returns the colour with a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|color| color.name() == name)
    }
}

/// The role of a user in a project; each includes those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ProjectRole")]
pub(crate) enum Role {
    /// Use it: file conversations of their own in it.
    Viewer,
    /// Change its settings.
    Editor,
    /// Manage its members, and delete it. There is one.
    Owner,
}

impl Role {
    /// Returns the name, as it is stored and sent.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Owner => "owner",
        }
    }

    /// Returns the role with a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Viewer, Self::Editor, Self::Owner].into_iter().find(|role| role.name() == name)
    }
}

/// The settings of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProjectSettings {
    pub(crate) name: String,
    pub(crate) color: Color,
    pub(crate) instructions: String,
    /// The ids of libraries, sorted.
    pub(crate) libraries: Vec<String>,
    /// The agent of new conversations; empty if none.
    pub(crate) agent_id: String,
    /// The model of new conversations; empty if none.
    pub(crate) model_id: String,
}

/// A problem of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The field, as the API names it.
    pub(crate) field: &'static str,
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }
}

impl ProjectSettings {
    /// Returns the settings with line feeds as line ends, without spaces around texts, and with
    /// each library once.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub(crate) fn checked(self, most_characters: usize) -> Result<Self, Problem> {
        let Self { name, color, instructions, libraries, agent_id, model_id } = self;
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        if !(1..=MAX_NAME).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            return Err(Problem::new("name", format!("A name has 1 to {MAX_NAME} characters.")));
        }
        let instructions = instructions.replace("\r\n", "\n").trim().to_owned();
        let count = instructions.chars().count();
        if count > most_characters {
            let message = format!("The instructions have {count} characters. At most {most_characters} are possible.");
            return Err(Problem::new("instructions", message));
        }
        if instructions.chars().any(|sign| sign.is_control() && !matches!(sign, '\n' | '\t')) {
            return Err(Problem::new("instructions", "The instructions have control characters. Remove them."));
        }
        let libraries: BTreeSet<_> = libraries.into_iter().collect();
        if libraries.len() > MAX_LIBRARIES || libraries.iter().any(|id| !is_id(id)) {
            let message = format!("A project has at most {MAX_LIBRARIES} libraries, which are named by their ids.");
            return Err(Problem::new("libraries", message));
        }
        for (field, id) in [("agentId", &agent_id), ("modelId", &model_id)] {
            if !id.is_empty() && !is_id(id) {
                return Err(Problem::new(field, "This cannot be an id."));
            }
        }
        let libraries = libraries.into_iter().collect();
        Ok(Self { name, color, instructions, libraries, agent_id, model_id })
    }
}

fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && !id.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(name: &str, instructions: &str) -> ProjectSettings {
        ProjectSettings { name: name.into(), instructions: instructions.into(), ..ProjectSettings::default() }
    }

    #[test]
    fn settings_are_normalized_and_bounded() {
        let check = |settings: ProjectSettings, wrong: Option<&str>| {
            let found = settings.clone().checked(100);
            assert_eq!(found.as_ref().err().map(|problem| problem.field), wrong, "{settings:?}");
        };
        check(settings("Sales 2027", ""), None);
        check(settings(&"é".repeat(MAX_NAME), &"é".repeat(100)), None);
        check(settings(" \n", ""), Some("name"));
        check(settings(&"é".repeat(MAX_NAME + 1), ""), Some("name"));
        check(settings("a\u{7}", ""), Some("name"));
        check(settings("a", &"b".repeat(101)), Some("instructions"));
        check(settings("a", "b\u{0}"), Some("instructions"));
        let with = |libraries: Vec<String>| ProjectSettings { libraries, ..settings("a", "") };
        check(with((0..MAX_LIBRARIES).map(|number| number.to_string()).collect()), None);
        check(with((0..=MAX_LIBRARIES).map(|number| number.to_string()).collect()), Some("libraries"));
        check(with(vec![String::new()]), Some("libraries"));
        check(ProjectSettings { agent_id: "a\n".into(), ..settings("a", "") }, Some("agentId"));
        check(ProjectSettings { model_id: "m".repeat(MAX_ID + 1), ..settings("a", "") }, Some("modelId"));
        let sent = ProjectSettings {
            libraries: vec!["b".into(), "a".into(), "b".into()],
            ..settings(" Sales \t 2027 ", " a\r\nb\t\n")
        };
        let expected = ProjectSettings { libraries: vec!["a".into(), "b".into()], ..settings("Sales 2027", "a\nb") };
        assert_eq!(sent.checked(100), Ok(expected));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for color in Color::ALL {
            assert_eq!(Color::from_name(color.name()), Some(color));
            assert_eq!(serde_json::to_value(color).unwrap(), color.name());
        }
        for role in [Role::Viewer, Role::Editor, Role::Owner] {
            assert_eq!(Role::from_name(role.name()), Some(role));
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
        }
        assert!(Role::Viewer < Role::Editor && Role::Editor < Role::Owner);
        assert_eq!((Color::from_name("Red"), Role::from_name("")), (None, None));
    }
}
