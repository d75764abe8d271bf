//! A skill: what its `SKILL.md` says.

use crate::frontmatter::{self, Parts};
use serde_json::{Map, Value};

/// The largest `SKILL.md` in bytes.
pub(crate) const MAX_SKILL: usize = 256 * 1024;
/// The longest name, in characters.
pub(crate) const MAX_NAME: usize = 64;
/// Names that no skill has: `/api/skills/install` is the route to which archives are sent, and `/compact` in
/// a chat has the conversation summarised.
const RESERVED_NAMES: [&str; 2] = ["install", "compact"];
/// The longest description in characters, by the specification.
pub(crate) const MAX_DESCRIPTION: usize = 1024;
/// The most tools of `allowed-tools` that are read.
const MAX_ALLOWED_TOOLS: usize = 200;

/// The content of a `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The only tools that the agent may call once it has the skill; all of its tools if absent.
    pub(crate) allowed_tools: Option<Vec<String>>,
    /// The instructions.
    pub(crate) body: String,
}

/// A skill as it was read, with what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadSkill {
    pub(crate) skill: Skill,
    pub(crate) warnings: Vec<String>,
}

/// Reads a `SKILL.md` leniently: a skill that does not keep to the specification can still be used if it has
/// a description. `folder` is the name of its folder.
///
/// # Errors
/// Why it cannot be used.
pub(crate) fn read(folder: &str, text: &str) -> Result<ReadSkill, String> {
    let Parts { yaml, body } = frontmatter::split(text).ok_or("its SKILL.md does not begin with a frontmatter")?;
    let read = frontmatter::read(yaml)?;
    let mut warnings: Vec<_> =
        read.invalid.iter().map(|why| format!("its frontmatter was read line by line: {why}")).collect();
    let description = text_value(&read.keys, "description").ok_or("it has no description")?;
    if description.chars().count() > MAX_DESCRIPTION {
        warnings.push(format!("its description has more than {MAX_DESCRIPTION} characters"));
    }
    let name = name(&read.keys, folder, &mut warnings)?;
    let allowed_tools = allowed_tools(&read.keys);
    for tool in allowed_tools.iter().flatten().filter(|tool| tool.contains('(')) {
        warnings.push(format!("`{tool}` in `allowed-tools` allows nothing: arguments of tools are not compared"));
    }
    Ok(ReadSkill { skill: Skill { name, description, allowed_tools, body: body.to_owned() }, warnings })
}

/// Returns the name of the frontmatter; that of the folder if there is none that can be used.
fn name(keys: &Map<String, Value>, folder: &str, warnings: &mut Vec<String>) -> Result<String, String> {
    let written = text_value(keys, "name");
    match &written {
        None => warnings.push("it has no name, so that of its folder is used".to_owned()),
        Some(name) if name_problem(name).is_some() => {
            warnings.push(format!("its name is not valid: {}", name_problem(name).unwrap_or_default()));
        }
        Some(name) if name != folder => warnings.push(format!("its folder has another name, `{folder}`")),
        Some(_) => {}
    }
    let mut names = written.into_iter().chain([folder.to_owned()]);
    match names.find(|name| is_usable(name)) {
        Some(name) if RESERVED_NAMES.contains(&name.as_str()) => Err(format!("no skill can have the name `{name}`")),
        Some(name) => Ok(name),
        None => Err("it has no name that can be used".to_owned()),
    }
}

/// Returns whether a name can stand after `/` and in the prompt.
fn is_usable(name: &str) -> bool {
    let is_safe = |char: char| char.is_alphanumeric() || "-_.".contains(char);
    !name.is_empty() && name.chars().count() <= MAX_NAME && name.chars().all(is_safe)
}

/// Returns the problem of a name by the specification.
pub(crate) fn name_problem(name: &str) -> Option<&'static str> {
    let is_allowed = |char: char| char == '-' || (char.is_alphanumeric() && !char.is_uppercase());
    if name.is_empty() || name.chars().count() > MAX_NAME {
        Some("a name has 1 to 64 characters")
    } else if !name.chars().all(is_allowed) {
        Some("a name has lowercase letters, digits and hyphens only")
    } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        Some("a name has single hyphens, and none at its beginning or end")
    } else {
        None
    }
}

/// Returns a text that is not empty. Numbers and the like become texts.
pub(crate) fn text_value(keys: &Map<String, Value>, key: &str) -> Option<String> {
    let text = scalar_text(keys.get(key)?)?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns a scalar as text.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the names in `allowed-tools`: a text with spaces, or commas, or a list.
fn allowed_tools(keys: &Map<String, Value>) -> Option<Vec<String>> {
    let texts = match keys.get("allowed-tools")? {
        Value::Array(items) => items.iter().filter_map(scalar_text).collect(),
        value => vec![scalar_text(value)?],
    };
    let names = texts.iter().flat_map(|text| split_tools(text)).take(MAX_ALLOWED_TOOLS).collect::<Vec<_>>();
    (!names.is_empty()).then_some(names)
}

/// Splits at spaces and commas outside of brackets: `Bash(git add:*) Read`.
fn split_tools(text: &str) -> Vec<String> {
    let (mut names, mut name, mut depth) = (Vec::new(), String::new(), 0_usize);
    for char in text.chars() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (char.is_whitespace() || char == ',') {
            names.push(std::mem::take(&mut name))
        } else {
            name.push(char)
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;
    use proptest::prelude::*;

    fn check(text: &str) -> String {
        match read("folder", text) {
            Err(reason) => format!("error: {reason}"),
            Ok(ReadSkill { skill: Skill { name, description, allowed_tools, body }, warnings }) => {
                let mut shown = format!("{name} | {description} | {allowed_tools:?} | {body:?}");
                warnings.iter().for_each(|warning| shown.push_str(&format!("\nwarning: {warning}")));
                shown
            }
        }
    }

    #[test]
    fn valid_skills_are_read() {
        assert_snapshot!(check("---\nname: folder\ndescription: Does it.\n---\n\n# Do it\n"), @r##"folder | Does it. | None | "# Do it""##);
        assert_snapshot!(check("\u{feff}---\r\nname: folder\r\ndescription: >\r\n  Does\r\n  it.\r\n---\r\nx"), @r#"folder | Does it. | None | "x""#);
        assert_snapshot!(check("---\nname: folder\ndescription: d\nallowed-tools: a b_c\n---\n"), @r#"folder | d | Some(["a", "b_c"]) | """#);
        assert_snapshot!(check("---\nname: folder\ndescription: d\nallowed-tools: [a, b]\n---\n"), @r#"folder | d | Some(["a", "b"]) | """#);
        assert_snapshot!(check("---\nname: folder\ndescription: d\nallowed-tools: ''\nmetadata: { version: 1.0 }\n---\n--- x ---"), @r#"folder | d | None | "--- x ---""#);
    }

    #[test]
    fn violations_of_the_specification_cause_warnings() {
        assert_snapshot!(check("---\ndescription: Use it: always.\n---\nx"), @r#"
        folder | Use it: always. | None | "x"
        warning: its frontmatter was read line by line: line 2: this is not valid YAML: mapping values are not allowed in this context
        warning: it has no name, so that of its folder is used
        "#);
        assert_snapshot!(check("---\nname: Other_One\ndescription: 7\n---\nx"), @r#"
        Other_One | 7 | None | "x"
        warning: its name is not valid: a name has lowercase letters, digits and hyphens only
        "#);
        assert_snapshot!(check("---\nname: a b\ndescription: d\n---\nx"), @r#"
        folder | d | None | "x"
        warning: its name is not valid: a name has lowercase letters, digits and hyphens only
        "#);
        assert_snapshot!(check("---\nname: other\ndescription: d\nallowed-tools: Bash(git add:*), Read\n---\nx"), @r#"
        other | d | Some(["Bash(git add:*)", "Read"]) | "x"
        warning: its folder has another name, `folder`
        warning: `Bash(git add:*)` in `allowed-tools` allows nothing: arguments of tools are not compared
        "#);
    }

    #[test]
    fn unusable_skills_have_reasons() {
        assert_snapshot!(check("# Do it"), @"error: its SKILL.md does not begin with a frontmatter");
        assert_snapshot!(check("---\nname: folder\ndescription: d\n"), @"error: its SKILL.md does not begin with a frontmatter");
        assert_snapshot!(check("---\nname: folder\ndescription: ' '\n---\n"), @"error: it has no description");
        assert_snapshot!(check("---\nname: install\ndescription: d\n---\n"), @"error: no skill can have the name `install`");
        assert_snapshot!(check("---\nname: compact\ndescription: d\n---\n"), @"error: no skill can have the name `compact`");
        assert_snapshot!(check("---\n- name\n---\n"), @"error: its frontmatter cannot be read: it is not a mapping of keys");
        let long = format!("---\nname: folder\ndescription: {}\n---\n", "d".repeat(frontmatter::MAX_FRONTMATTER));
        assert_snapshot!(check(&long), @"error: its frontmatter is longer than 16 KB");
    }

    #[test]
    fn names_are_those_of_the_specification() {
        let check = |name: &str, is_valid: bool| assert_eq!(name_problem(name).is_none(), is_valid, "{name}");
        check("pdf-processing", true);
        check("ünïcode-7", true);
        check(&"a".repeat(64), true);
        check(&"a".repeat(65), false);
        check("", false);
        check("PDF", false);
        check("-pdf", false);
        check("pdf-", false);
        check("pdf--x", false);
        check("pdf_x", false);
        check("a/b", false);
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(yaml in "[a-z:\\-|>\"'\\[\\]{}&* \n]{0,60}", body in "\\PC{0,20}") {
            if let Ok(read) = read("folder", &format!("---\nname: a\ndescription: b\n{yaml}\n---\n{body}")) {
                prop_assert!(is_usable(&read.skill.name) && !read.skill.description.is_empty());
            }
        }
    }
}
