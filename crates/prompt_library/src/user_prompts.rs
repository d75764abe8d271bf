//! Prompts for other programs than the composer of a chat. Each has a name that no other one has.

use crate::prompt::{MAX_NAME, Origin, PromptContent};
use crate::section::Prompts;
use crate::service;
use crate::template::{Part, Template, Variable};
use crate::views::PromptDetail;
use capability::{Context, FilledPrompt, UserPrompt, UserPromptPage, UserPromptVariable, UserPrompts};
use chat::Caller;
use config::Config;
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use wire::{ErrorCode, UserError};

/// The most prompts of a page of the list.
const PAGE: usize = 100;
/// The longest text of a prompt with values, in bytes. A variable may stand in it many times.
const MAX_FILLED: usize = 1_000_000;

/// The beginnings of unique names. Clients accept letters, digits, `_` and `-` in names.
const OWN: &str = "own__";
const SHARED: &str = "shared__";
const CONFIG: &str = "config__";

/// The prompts that users have.
pub(crate) struct Library;

impl UserPrompts for Library {
    fn is_on(&self, config: &Config) -> bool {
        config.section::<Prompts>().is_some()
    }

    fn list<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        after: Option<&'a str>,
    ) -> BoxFuture<'a, Result<UserPromptPage, UserError>> {
        Box::pin(async move { Ok(page(service::whole(context, caller).await?, after)) })
    }

    fn fill<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        name: &'a str,
        values: BTreeMap<String, String>,
    ) -> BoxFuture<'a, Result<FilledPrompt, UserError>> {
        Box::pin(async move {
            let items = service::list(context, caller).await?.items;
            let found = items.into_iter().find(|item| unique_name(item.origin, &item.name) == name);
            let unknown = || UserError::new(ErrorCode::NotFound, "There is no prompt with this name.");
            let id = found.ok_or_else(unknown)?.id;
            let detail = service::detail(context, caller, &id).await?;
            let PromptDetail { description, origin, variables, parts, .. } = detail;
            let text = filled(&parts, &variables, values)?;
            Ok(FilledPrompt { description: described(origin, description), text })
        })
    }
}

/// Returns the name of a prompt among all that a user sees. The beginnings tell the origins apart; a user's own prompt
/// whose name begins like that gets another beginning.
fn unique_name(origin: Origin, name: &str) -> String {
    match origin {
        Origin::Own if [OWN, SHARED, CONFIG].iter().any(|taken| name.starts_with(taken)) => format!("{OWN}{name}"),
        Origin::Own => name.to_owned(),
        Origin::Shared => format!("{SHARED}{name}"),
        Origin::Config => format!("{CONFIG}{name}"),
    }
}

fn described(origin: Origin, description: String) -> String {
    let described = Some(description).filter(|description| !description.is_empty());
    let instead = match origin {
        Origin::Own => "Your prompt.",
        Origin::Shared | Origin::Config => "A shared prompt.",
    };
    described.unwrap_or_else(|| instead.to_owned())
}

/// Returns the prompts after a name.
fn page(all: Vec<(Origin, PromptContent)>, after: Option<&str>) -> UserPromptPage {
    let named = all.into_iter().map(|(origin, content)| (unique_name(origin, &content.name), origin, content));
    let mut named: Vec<_> = named.filter(|(name, ..)| after.is_none_or(|after| name.as_str() > after)).collect();
    named.sort_unstable_by(|(one, ..), (other, ..)| one.cmp(other));
    let has_more = named.len() > PAGE;
    named.truncate(PAGE);
    let prompts = named.into_iter().map(|(name, origin, content)| {
        let PromptContent { name: title, description, text } = content;
        let variables = Template::parse(&text).variables.into_iter();
        let variables = variables.map(|Variable { name, values }| UserPromptVariable { name, values }).collect();
        UserPrompt { name, title, description: described(origin, description), variables }
    });
    UserPromptPage { prompts: prompts.collect(), has_more }
}

/// Returns a text with values in place of the variables.
///
/// # Errors
/// The first value that is missing or cannot be used.
fn filled(parts: &[Part], variables: &[Variable], mut given: BTreeMap<String, String>) -> Result<String, UserError> {
    let mut values = Vec::with_capacity(variables.len());
    for variable in variables {
        values.push(value_of(variable, given.remove(&variable.name))?);
    }
    if let Some(name) = given.keys().next() {
        let name: String = name.chars().take(MAX_NAME).collect();
        return Err(refused(format!("This prompt has no argument `{name}`.")));
    }
    let pieces = parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Variable(index) => values.get(*index).map_or("", String::as_str),
    });
    let pieces: Vec<_> = pieces.collect();
    if pieces.iter().map(|piece| piece.len()).sum::<usize>() > MAX_FILLED {
        let message = format!("With these arguments, the prompt has more than {MAX_FILLED} bytes. Give shorter ones.");
        return Err(refused(message));
    }
    Ok(pieces.concat())
}

/// Returns the value of a variable, as the form of the composer would accept it.
fn value_of(Variable { name, values }: &Variable, given: Option<String>) -> Result<String, UserError> {
    match (values.as_slice(), given) {
        ([], None) => Err(refused(format!("The argument `{name}` is missing."))),
        ([], Some(value)) if value.is_empty() => Err(refused(format!("The argument `{name}` is empty."))),
        ([first, ..], None) => Ok(first.clone()),
        ([_, _, ..], Some(value)) if !values.contains(&value) => {
            Err(refused(format!("The argument `{name}` must be one of: {}.", values.join(", "))))
        }
        (_, Some(value)) => Ok(value),
    }
}

fn refused(message: String) -> UserError {
    UserError::new(ErrorCode::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(name: &str, text: &str) -> PromptContent {
        PromptContent { name: name.to_owned(), description: String::new(), text: text.to_owned() }
    }

    #[test]
    fn no_prompt_takes_the_name_of_another_one() {
        let check = |origin: Origin, name: &str, expected: &str| assert_eq!(unique_name(origin, name), expected);
        check(Origin::Own, "sum", "sum");
        check(Origin::Shared, "sum", "shared__sum");
        check(Origin::Config, "sum", "config__sum");
        check(Origin::Own, "shared__sum", "own__shared__sum");
        check(Origin::Own, "config__sum", "own__config__sum");
        check(Origin::Own, "own__sum", "own__own__sum");
        check(Origin::Own, "shared_sum", "shared_sum");
        check(Origin::Shared, "own__sum", "shared__own__sum");
    }

    #[test]
    fn names_are_sorted_and_pages_follow_them() {
        let all = || {
            let mut all = vec![
                (Origin::Config, content("sum", "Sum up {{text}} in a {{tone|friendly}} tone.")),
                (Origin::Shared, content("sum", "Sum up.")),
                (Origin::Own, content("sum", "Sum up.")),
            ];
            all.extend((0..PAGE).map(|number| (Origin::Own, content(&format!("a{number:03}"), "a"))));
            all
        };
        let first = page(all(), None);
        assert_eq!((first.prompts.len(), first.has_more), (PAGE, true));
        let last = page(all(), first.prompts.last().map(|prompt| prompt.name.as_str()));
        let names: Vec<_> = last.prompts.iter().map(|prompt| (prompt.name.as_str(), prompt.title.as_str())).collect();
        assert_eq!(names, [("config__sum", "sum"), ("shared__sum", "sum"), ("sum", "sum")]);
        assert!(!last.has_more);
        assert_eq!(last.prompts[0].description, "A shared prompt.");
        assert_eq!(last.prompts[2].description, "Your prompt.");
        let variable = |name: &str, values: &[&str]| UserPromptVariable {
            name: name.to_owned(),
            values: values.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(last.prompts[0].variables, [variable("text", &[]), variable("tone", &["friendly"])]);
        // The name after which a page begins need not exist any more.
        assert_eq!(page(all(), Some("shared__a")).prompts.len(), 2);
        assert_eq!(page(all(), Some("t")), UserPromptPage { prompts: Vec::new(), has_more: false });
    }

    /// Checks the text with these values, or why they are refused.
    fn check(text: &str, values: &[(&str, &str)], expected: Result<&str, &str>) {
        let Template { parts, variables } = Template::parse(text);
        let given = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let found = filled(&parts, &variables, given);
        let found = found.as_deref().map_err(|error| error.message.as_str());
        assert_eq!(found, expected, "{text} {values:?}");
    }

    #[test]
    fn values_replace_variables() {
        check("Sum up.", &[], Ok("Sum up."));
        check("Sum up {{text}}: {{text}}", &[("text", "{{text}}")], Ok("Sum up {{text}}: {{text}}"));
        check("{{text}}", &[], Err("The argument `text` is missing."));
        check("{{text}}", &[("text", "")], Err("The argument `text` is empty."));
        check("{{tone|friendly}}", &[], Ok("friendly"));
        check("{{tone|friendly}}", &[("tone", "")], Ok(""));
        check("{{tone|friendly}}", &[("tone", "formal")], Ok("formal"));
        check("{{in|English|French}}", &[], Ok("English"));
        check("{{in|English|French}}", &[("in", "French")], Ok("French"));
        check("{{in|English|French}}", &[("in", "Latin")], Err("The argument `in` must be one of: English, French."));
        check("Sum up.", &[("text", "a")], Err("This prompt has no argument `text`."));
        let (half, whole) = ("a".repeat(MAX_FILLED / 2), "a".repeat(MAX_FILLED));
        check("{{a}}{{a}}", &[("a", half.as_str())], Ok(whole.as_str()));
        let message = "With these arguments, the prompt has more than 1000000 bytes. Give shorter ones.";
        check("{{a}}{{a}}.", &[("a", half.as_str())], Err(message));
    }
}
