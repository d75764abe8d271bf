//! Checks what administrators, programs and users write about a custom agent.

use crate::choices::BaseChoices;
use crate::definition::CustomAgent;
use config::{AccessRule, Config};
use wire::UserError;
use wire::hidden_characters::{TextKind, TextRun, text_runs};

/// The maximum lengths of a display name, a description and instructions, in characters.
pub(crate) const MAX_NAME: usize = 60;
pub(crate) const MAX_DESCRIPTION: usize = 500;
pub(crate) const MAX_INSTRUCTIONS: usize = 20_000;
/// The maximum length of the name by which programs and makers know an agent.
pub(crate) const MAX_KEY: usize = 64;
/// Two letters, or the characters of which an emoji consists.
const MAX_PICTURE: usize = 8;
/// The most chosen tools, libraries and skills.
const MAX_TOOLS: usize = 200;

/// The most tools that a refusal names.
const MAX_NAMED: usize = 20;

/// Returns the agent with surrounding spaces removed, if the config allows it with these choices.
///
/// # Errors
/// 422 with the path of the first field that is invalid.
pub(crate) fn validate(
    config: &Config,
    choices: &[BaseChoices],
    custom: CustomAgent,
) -> Result<CustomAgent, UserError> {
    let trimmed = |text: String| text.trim().to_owned();
    let custom = CustomAgent {
        name: trimmed(custom.name),
        description: trimmed(custom.description),
        instructions: trimmed(custom.instructions),
        picture: trimmed(custom.picture),
        model: custom.model.filter(|model| !model.is_empty()),
        ..custom
    };
    let count = |text: &str| text.chars().count();
    let refuse = |path: &str, message: String| Err(UserError::invalid(path, message));
    if !(1..=MAX_NAME).contains(&count(&custom.name)) || custom.name.chars().any(char::is_control) {
        return refuse("/name", format!("A name has 1 to {MAX_NAME} characters."));
    }
    if has_hidden_characters(&custom.name) {
        return refuse("/name", "A name has no invisible characters.".to_owned());
    }
    if count(&custom.description) > MAX_DESCRIPTION {
        return refuse("/description", format!("A description has up to {MAX_DESCRIPTION} characters."));
    }
    if !(1..=MAX_INSTRUCTIONS).contains(&count(&custom.instructions)) {
        return refuse("/instructions", format!("Instructions have 1 to {MAX_INSTRUCTIONS} characters."));
    }
    if !is_picture(&custom.picture) {
        return refuse("/picture", "A picture is an emoji, or one or two letters.".to_owned());
    }
    let Some(base) = choices.iter().find(|base| base.from == custom.from) else {
        return refuse("/from", "The config does not allow agents based on this one.".to_owned());
    };
    if custom.tools.len() > MAX_TOOLS {
        return refuse("/tools", format!("An agent has at most {MAX_TOOLS} of them."));
    }
    if let Some(tool) = custom.tools.iter().find(|tool| !base.tools.contains(tool)) {
        let known: Vec<_> = base.tools.iter().take(MAX_NAMED).map(|tool| format!("`{tool}`")).collect();
        let known = if known.is_empty() {
            "It has none to choose.".to_owned()
        } else {
            format!("It has {}.", known.join(", "))
        };
        return refuse("/tools", format!("`{}` has no tool `{tool}`. {known}", base.from));
    }
    if let Some(model) = custom.model.as_ref().filter(|model| !base.models.iter().any(|known| known.id == **model)) {
        let known: Vec<_> = base.models.iter().map(|model| format!("`{}`", model.id)).collect();
        let known = if known.is_empty() {
            "there is none to choose".to_owned()
        } else {
            format!("choose one of {}", known.join(", "))
        };
        return refuse(
            "/model",
            format!("An agent based on `{}` cannot have the model `{model}`: {known}.", base.from),
        );
    }
    let built = custom.build(config, "", AccessRule::Protected);
    built.map_err(|(path, problem)| UserError::invalid(path, format!("This cannot be used: {problem}.")))?;
    Ok(custom)
}

fn has_hidden_characters(name: &str) -> bool {
    text_runs(name, TextKind::Prose).iter().any(|run| matches!(run, TextRun::Hidden(_)))
}

/// Checks the name by which programs and makers know an agent.
///
/// # Errors
/// 422.
pub(crate) fn check_key(name: &str) -> Result<(), UserError> {
    let is_allowed = |sign: char| sign.is_ascii_alphanumeric() || sign == '-';
    if (1..=MAX_KEY).contains(&name.len()) && name.chars().all(is_allowed) {
        return Ok(());
    }
    let message = format!("A name has 1 to {MAX_KEY} letters from a to z, digits and hyphens.");
    Err(UserError::invalid("/name", message))
}

/// Returns whether a text is one or two letters, or an emoji, and not the address of an image.
fn is_picture(text: &str) -> bool {
    let count = text.chars().count();
    let is_plain = text.chars().any(|sign| sign.is_ascii() || sign.is_alphanumeric());
    let most = if is_plain { 2 } else { MAX_PICTURE };
    count <= most && !text.chars().any(|sign| sign.is_control() || sign.is_whitespace() || sign == '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_pictures_have_a_form() {
        for (name, allowed) in [
            ("my-agent-2", true),
            ("A", true),
            ("", false),
            ("my_agent", false),
            ("my agent", false),
            ("é", false),
            (&"a".repeat(65), false),
        ] {
            assert_eq!(check_key(name).is_ok(), allowed, "{name}");
        }
        for (picture, allowed) in [
            ("", true),
            ("AB", true),
            ("ABC", false),
            ("🦜", true),
            ("👩‍🔬", true),
            ("/a", false),
            ("//", false),
            ("\u{7}", false),
            ("🦜🦜🦜🦜🦜🦜🦜🦜🦜", false),
        ] {
            assert_eq!(is_picture(picture), allowed, "{picture}");
        }
    }
}
