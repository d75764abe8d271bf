//! The variables in the text of a prompt: `{{name}}`, `{{name|default}}` and `{{name|one|other}}`.
//!
//! Every text can be read: whatever is not a variable stays as it is written, and `\{{` stands for `{{`.

use schemars::JsonSchema;
use serde::Serialize;

/// The most variables of a prompt.
pub(crate) const MAX_VARIABLES: usize = 20;
/// The longest name of a variable, in characters.
const MAX_NAME: usize = 40;
/// The most values of a variable, and the longest value in characters.
const MAX_VALUES: usize = 20;
const MAX_VALUE: usize = 200;

const OPENING: &str = "{{";
const CLOSING: &str = "}}";

/// A variable, whose value the user enters before the prompt is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PromptVariable")]
pub(crate) struct Variable {
    /// Its name, which the form shows.
    pub(crate) name: String,
    /// None: the user must enter a text. One: the text if the user enters no other. Several: the user chooses
    /// among them; the first one is chosen at first.
    pub(crate) values: Vec<String>,
}

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PromptPart")]
pub(crate) enum Part {
    /// A text that stays as it is.
    Text(String),
    /// The index of a variable, whose value stands here.
    Variable(usize),
}

/// A prompt as pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
    /// Each variable once, in the order of the text: at most one more than [`MAX_VARIABLES`].
    pub(crate) variables: Vec<Variable>,
}

impl Template {
    /// Reads a text. Takes time in proportion to its length.
    pub(crate) fn parse(text: &str) -> Self {
        let mut template = Self::default();
        let mut rest = text;
        while let Some(at) = rest.find(OPENING) {
            let (before, inside) = (&rest[..at], &rest[at + OPENING.len()..]);
            if let Some(before) = before.strip_suffix('\\') {
                template.push_text(before);
                template.push_text(OPENING);
                rest = inside;
                continue;
            }
            template.push_text(before);
            match read_variable(inside).filter(|(variable, _)| template.has_room_for(&variable.name)) {
                Some((variable, after)) => {
                    template.push_variable(variable);
                    rest = after;
                }
                // The second brace may begin a variable.
                None => {
                    template.push_text(&OPENING[..1]);
                    rest = &rest[at + 1..];
                }
            }
        }
        template.push_text(rest);
        template
    }

    fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// Whether a variable is known, or one more can be kept.
    fn has_room_for(&self, name: &str) -> bool {
        self.variables.len() <= MAX_VARIABLES || self.index_of(name).is_some()
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|known| known.name == name)
    }

    /// Adds a variable. The first place with values says which ones it has.
    fn push_variable(&mut self, variable: Variable) {
        let index = self.index_of(&variable.name).unwrap_or(self.variables.len());
        match self.variables.get_mut(index) {
            Some(known) if known.values.is_empty() => known.values = variable.values,
            Some(_) => {}
            None => self.variables.push(variable),
        }
        self.parts.push(Part::Variable(index));
    }
}

/// Reads a variable behind its opening braces; returns it with the text behind its closing ones.
fn read_variable(inside: &str) -> Option<(Variable, &str)> {
    let end = inside.find(['{', '}', '\n', '\r'])?;
    let after = inside[end..].strip_prefix(CLOSING)?;
    let mut fields = inside[..end].split('|').map(str::trim);
    let name = fields.next().filter(|name| is_name(name))?.to_owned();
    let values: Vec<_> = fields.map(str::to_owned).collect();
    let is_bounded = values.len() <= MAX_VALUES && values.iter().all(|value| value.chars().count() <= MAX_VALUE);
    is_bounded.then_some((Variable { name, values }, after))
}

/// Whether a variable can have this name: a letter, and then letters, digits, spaces, `-` and `_`.
fn is_name(name: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_');
    name.starts_with(char::is_alphabetic) && name.chars().all(is_part) && name.chars().count() <= MAX_NAME
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the text with a value for each variable.
    fn fill(template: &Template, value: &str) -> String {
        let piece = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Variable(index) => format!("{value}{index}"),
        };
        template.parts.iter().map(piece).collect()
    }

    /// Checks the text with `<0>`, `<1>` … in place of the variables, and the variables.
    fn check(text: &str, filled: &str, variables: &[(&str, &[&str])]) {
        let template = Template::parse(text);
        let found: Vec<_> =
            template.variables.iter().map(|of| (of.name.as_str(), format!("{:?}", of.values))).collect();
        let expected: Vec<_> = variables.iter().map(|(name, values)| (*name, format!("{values:?}"))).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(fill(&template, "$"), filled, "{text}");
    }

    #[test]
    fn variables_are_read_and_everything_else_stays() {
        check("Say it.", "Say it.", &[]);
        check("", "", &[]);
        check("Sum up {{text}}.", "Sum up $0.", &[("text", &[])]);
        check("{{ tone | friendly }}", "$0", &[("tone", &["friendly"])]);
        check("{{tone|friendly|very formal}}", "$0", &[("tone", &["friendly", "very formal"])]);
        check("{{a}}{{b}}{{a}}", "$0$1$0", &[("a", &[]), ("b", &[])]);
        check("{{a}} {{a|1}} {{a|2}}", "$0 $0 $0", &[("a", &["1"])]);
        check("{{note|}}", "$0", &[("note", &[""])]);
        check("{{שפת יעד}} {{Ziel-Sprache_2}}", "$0 $1", &[("שפת יעד", &[]), ("Ziel-Sprache_2", &[])]);
        check(r"\{{a}} and {{a}}", "{{a}} and $0", &[("a", &[])]);
        check(r"\\{{a}}", r"\{{a}}", &[]);
        check("{{{a}}}", "{$0}", &[("a", &[])]);
        for same in
            ["{{}}", "{{ }}", "{{1}}", "{{#if a}}", "{{a", "{{a}", "{{a{b}}", "{{a\n}}", "{a}", "}}{{", "{{a.b}}"]
        {
            check(same, same, &[]);
        }
        let long = format!("{{{{{}}}}}", "a".repeat(MAX_NAME + 1));
        check(&long, &long, &[]);
        let many = format!("{{{{a{}}}}}", "|b".repeat(MAX_VALUES + 1));
        check(&many, &many, &[]);
    }

    #[test]
    fn variables_are_bounded() {
        let text: String = (0..100).map(|number| format!("{{{{v{number}}}}}")).collect();
        assert_eq!(Template::parse(&text).variables.len(), MAX_VARIABLES + 1);
        assert_eq!(Template::parse(&"{".repeat(100_000)).parts.len(), 1);
    }

    proptest! {
        #[test]
        fn escaped_text_is_what_it_was(text in r"([{}|\\ a\n]|\PC){0,60}") {
            let template = Template::parse(&text.replace(OPENING, r"\{{"));
            prop_assert_eq!(fill(&template, ""), text);
            prop_assert!(template.variables.is_empty());
        }

        #[test]
        fn each_text_has_bounded_variables_and_no_part_is_lost(text in r"(\{\{|\}\}|[{}|\\ ab\n]|\PC){0,60}") {
            let template = Template::parse(&text);
            prop_assert!(template.variables.iter().all(|of| is_name(&of.name) && of.values.len() <= MAX_VALUES));
            let used = template.parts.iter().filter_map(|part| match part {
                Part::Variable(index) => Some(*index),
                Part::Text(text) => { assert!(!text.is_empty()); None }
            });
            let used: std::collections::BTreeSet<_> = used.collect();
            prop_assert!(used.into_iter().eq(0..template.variables.len()));
            let kept: usize = template.parts.iter().map(|part| match part { Part::Text(text) => text.len(), Part::Variable(_) => 0 }).sum();
            prop_assert!(kept <= text.len());
        }
    }
}
