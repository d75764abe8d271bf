//! A prompt, and what it may contain.

use crate::template::{MAX_VARIABLES, Template};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest name and the longest description, in characters.
pub(crate) const MAX_NAME: usize = 40;
pub(crate) const MAX_DESCRIPTION: usize = 200;
/// The most roles of a shared prompt, and the longest name of a role in bytes.
const MAX_ROLES: usize = 20;
const MAX_ROLE: usize = 64;

/// Whose a prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PromptOrigin")]
pub(crate) enum Origin {
    /// The caller's own.
    Own,
    /// Shared by administrators.
    Shared,
    /// Shared by the config.
    Config,
}

/// The contents of a prompt, as users write them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PromptContent {
    /// The name, behind the `/`.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) text: String,
}

/// The problem of a field of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The field: `name`, `description`, `text` or `roles`.
    pub(crate) field: &'static str,
    pub(crate) message: String,
}

impl Problem {
    fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }
}

impl PromptContent {
    /// Returns the content with line feeds as line ends and without spaces around it.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub(crate) fn checked(self, most_bytes: usize) -> Result<Self, Problem> {
        let Self { name, description, text } = self;
        let name = name.trim().trim_start_matches('/').to_owned();
        let description = description.trim().to_owned();
        let text = text.replace("\r\n", "\n").trim().to_owned();
        check_name(&name)?;
        if description.chars().count() > MAX_DESCRIPTION || description.chars().any(char::is_control) {
            let message = format!("A description is one line of at most {MAX_DESCRIPTION} characters.");
            return Err(Problem::new("description", message));
        }
        check_text(&text, most_bytes)?;
        Ok(Self { name, description, text })
    }
}

/// Returns the key by which names are compared, without regard to case.
pub(crate) fn name_key(name: &str) -> String {
    name.to_lowercase()
}

fn check_name(name: &str) -> Result<(), Problem> {
    let is_part = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '_');
    if (1..=MAX_NAME).contains(&name.chars().count()) && name.chars().all(is_part) {
        return Ok(());
    }
    let message = format!("A name has 1 to {MAX_NAME} letters, digits, hyphens and underscores, and no spaces.");
    Err(Problem::new("name", message))
}

fn check_text(text: &str, most_bytes: usize) -> Result<(), Problem> {
    let refused = |message: String| Err(Problem::new("text", message));
    if text.is_empty() {
        return refused("The text is missing.".to_owned());
    }
    if text.len() > most_bytes {
        return refused(format!("The text has {} bytes. At most {most_bytes} are possible.", text.len()));
    }
    if text.chars().any(|sign| sign.is_control() && !matches!(sign, '\n' | '\t')) {
        return refused("The text has control characters. Remove them.".to_owned());
    }
    if Template::parse(text).variables.len() > MAX_VARIABLES {
        return refused(format!("The text has more than {MAX_VARIABLES} variables."));
    }
    Ok(())
}

/// Returns the roles of a shared prompt, sorted and each once.
///
/// # Errors
/// There are too many, or one cannot be a role.
pub(crate) fn checked_roles(roles: Vec<String>) -> Result<Vec<String>, Problem> {
    let mut roles: Vec<_> = roles.iter().map(|role| role.trim().to_owned()).filter(|role| !role.is_empty()).collect();
    roles.sort_unstable();
    roles.dedup();
    let is_role = |role: &String| role.len() <= MAX_ROLE && !role.chars().any(char::is_control);
    if roles.len() > MAX_ROLES || !roles.iter().all(is_role) {
        let message = format!("A prompt is shared with at most {MAX_ROLES} roles of up to {MAX_ROLE} bytes.");
        return Err(Problem::new("roles", message));
    }
    Ok(roles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_normalized_and_bounded() {
        let check = |name: &str, description: &str, text: &str, wrong: Option<&str>| {
            let content = PromptContent { name: name.into(), description: description.into(), text: text.into() };
            let found = content.checked(100);
            assert_eq!(found.as_ref().err().map(|problem| problem.field), wrong, "{name} {description} {text}");
        };
        check("sum-up_2", "", "Sum up.", None);
        check("סיכום", "About a text", "{{text}}", None);
        check(&"é".repeat(MAX_NAME), &"é".repeat(MAX_DESCRIPTION), &"a".repeat(100), None);
        check("", "", "a", Some("name"));
        check("a b", "", "a", Some("name"));
        check("a/b", "", "a", Some("name"));
        check(&"é".repeat(MAX_NAME + 1), "", "a", Some("name"));
        check("a", "b\nc", "a", Some("description"));
        check("a", &"b".repeat(MAX_DESCRIPTION + 1), "a", Some("description"));
        check("a", "", " \n", Some("text"));
        check("a", "", "a\u{0}b", Some("text"));
        check("a", "", &"a".repeat(101), Some("text"));
        let many: String =
            (0..=MAX_VARIABLES).map(|number| format!("{{{{{}}}}}", char::from(b'a' + number as u8))).collect();
        let content = PromptContent { name: "a".into(), text: many, ..PromptContent::default() };
        assert_eq!(content.checked(1_000).unwrap_err().field, "text");
        let sent = PromptContent { name: " /Sum ".into(), description: " b ".into(), text: " a\r\nb\t\n".into() };
        let expected = PromptContent { name: "Sum".into(), description: "b".into(), text: "a\nb".into() };
        assert_eq!(sent.checked(100), Ok(expected));
    }

    #[test]
    fn roles_are_sorted_and_bounded() {
        let roles = |all: &[&str]| checked_roles(all.iter().map(ToString::to_string).collect());
        assert_eq!(roles(&["b", " a", "", "b"]), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert!(roles(&["a\nb"]).is_err());
        assert!(roles(&[&"a".repeat(MAX_ROLE + 1)]).is_err());
        assert!(checked_roles((0..=MAX_ROLES).map(|number| number.to_string()).collect()).is_err());
    }
}
