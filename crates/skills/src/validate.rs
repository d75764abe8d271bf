//! The strict rules that a skill must keep to be installed: those of the specification, and our bounds.

use crate::archive::UnpackedArchive;
use crate::folder::SKILL_FILES;
use crate::frontmatter;
use crate::path::is_hidden;
use crate::skill::{self, MAX_DESCRIPTION, MAX_SKILL, Skill, name_problem, scalar_text};
use serde_json::{Map, Value};

/// The keys of a frontmatter. `version` and `author` are not in the specification, but common.
const KEYS: [&str; 8] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools", "version", "author"];
/// The longest texts of other keys, in characters.
const MAX_COMPATIBILITY: usize = 500;
const MAX_TEXT: usize = 1024;
/// The most entries of `metadata`.
const MAX_METADATA: usize = 100;

/// Checks a skill that is to be installed.
///
/// # Errors
/// All rules that it breaks, as sentences.
pub(crate) fn validate(unpacked: &UnpackedArchive) -> Result<Skill, Vec<String>> {
    let one = |problem: String| vec![problem];
    let file = unpacked.files.iter().find(|(path, _)| SKILL_FILES.contains(&path.as_str()));
    let (_, bytes) = file.ok_or_else(|| one("There is no SKILL.md.".to_owned()))?;
    if bytes.len() > MAX_SKILL {
        return Err(one(format!("The SKILL.md is larger than {} KB.", MAX_SKILL / 1024)));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| one("The SKILL.md is not UTF-8 text.".to_owned()))?;
    let parts = frontmatter::split(text).ok_or_else(|| {
        one("The SKILL.md does not begin with a frontmatter: YAML between two lines `---`.".to_owned())
    })?;
    let read =
        frontmatter::read(parts.yaml).map_err(|problem| one(format!("The SKILL.md cannot be used: {problem}.")))?;
    let mut problems: Vec<_> =
        read.invalid.iter().map(|problem| format!("The frontmatter is not valid YAML: {problem}.")).collect();
    check_keys(&read.keys, unpacked.folder.as_deref(), &mut problems);
    if parts.body.is_empty() {
        problems.push("The SKILL.md has no instructions after the frontmatter.".to_owned());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let folder = unpacked.folder.as_deref().unwrap_or_default();
    skill::read(folder, text)
        .map(|read| read.skill)
        .map_err(|problem| one(format!("The skill cannot be used: {problem}.")))
}

fn check_keys(keys: &Map<String, Value>, folder: Option<&str>, problems: &mut Vec<String>) {
    for key in keys.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        problems.push(format!("The frontmatter has an unknown key `{key}`."));
    }
    if let Some(name) = required(keys, "name", problems) {
        match name_problem(name) {
            Some(problem) => problems.push(format!("The name `{name}` is not valid: {problem}.")),
            None if folder.is_some_and(|folder| folder != name) => {
                problems
                    .push(format!("The name `{name}` is not that of the folder, `{}`.", folder.unwrap_or_default()));
            }
            None => {}
        }
    }
    if let Some(description) = required(keys, "description", problems) {
        check_length("description", description, MAX_DESCRIPTION, problems);
        if description.chars().any(|char| is_hidden(char) && !char.is_whitespace()) {
            problems.push("The description has characters that are not seen.".to_owned());
        }
    }
    for (key, most) in [("compatibility", MAX_COMPATIBILITY), ("license", MAX_TEXT), ("allowed-tools", MAX_TEXT)] {
        match keys.get(key) {
            None => {}
            Some(Value::String(text)) => check_length(key, text, most, problems),
            Some(_) => problems.push(format!("`{key}` is not a text.")),
        }
    }
    match keys.get("metadata") {
        None => {}
        Some(Value::Object(entries)) => {
            let is_text = |value: &Value| scalar_text(value).is_some_and(|text| text.chars().count() <= MAX_TEXT);
            if entries.len() > MAX_METADATA || !entries.values().all(is_text) {
                problems.push(format!("`metadata` has up to {MAX_METADATA} texts of up to {MAX_TEXT} characters."));
            }
        }
        Some(_) => problems.push("`metadata` is not a mapping of texts.".to_owned()),
    }
}

fn required<'k>(keys: &'k Map<String, Value>, key: &str, problems: &mut Vec<String>) -> Option<&'k str> {
    let text = keys.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    if text.is_none() {
        problems.push(format!("The frontmatter has no `{key}`, or it is not a text."));
    }
    text
}

fn check_length(key: &str, text: &str, most: usize, problems: &mut Vec<String>) {
    let length = text.chars().count();
    if length == 0 || length > most {
        problems.push(format!("`{key}` has {length} characters. It must have 1 to {most}."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::SkillPath;
    use insta::assert_snapshot;

    fn check(folder: Option<&str>, text: &str) -> String {
        let files = vec![(SkillPath::parse("SKILL.md").unwrap(), text.as_bytes().to_vec())];
        match validate(&UnpackedArchive { folder: folder.map(str::to_owned), files }) {
            Ok(skill) => format!("{} is valid", skill.name),
            Err(problems) => problems.join("\n"),
        }
    }

    #[test]
    fn valid_skills_are_accepted() {
        let full = "---\nname: pdf\ndescription: d\nlicense: MIT\ncompatibility: c\nmetadata: { a: b, v: 1.0 }\nallowed-tools: a b\nversion: 2\nauthor: x\n---\nDo it.";
        assert_snapshot!(check(Some("pdf"), full), @"pdf is valid");
        assert_snapshot!(check(None, "---\nname: pdf\ndescription: d\n---\nDo it."), @"pdf is valid");
    }

    #[test]
    fn all_problems_are_named() {
        let long = "x".repeat(1025);
        assert_snapshot!(check(Some("b"), &format!("---\nname: a\ndescription: {long}\nmodel: m\ncompatibility: ''\nmetadata: [a]\nallowed-tools: [a]\n---\n")), @"
        The frontmatter has an unknown key `model`.
        The name `a` is not that of the folder, `b`.
        `description` has 1025 characters. It must have 1 to 1024.
        `compatibility` has 0 characters. It must have 1 to 500.
        `allowed-tools` is not a text.
        `metadata` is not a mapping of texts.
        The SKILL.md has no instructions after the frontmatter.
        ");
        assert_snapshot!(check(None, "---\nname: A B\ndescription: a: b\n---\nx"), @"
        The frontmatter is not valid YAML: line 3: this is not valid YAML: mapping values are not allowed in this context.
        The name `A B` is not valid: a name has lowercase letters, digits and hyphens only.
        ");
        assert_snapshot!(check(None, "---\nname: 7\n---\nx"), @"
        The frontmatter has no `name`, or it is not a text.
        The frontmatter has no `description`, or it is not a text.
        ");
        assert_snapshot!(check(None, "---\nname: a\ndescription: a\u{202e}b\n---\nx"), @"The description has characters that are not seen.");
        assert_snapshot!(check(None, "---\nname: install\ndescription: d\n---\nx"), @"The skill cannot be used: no skill can have the name `install`.");
        assert_snapshot!(check(None, "# x"), @"The SKILL.md does not begin with a frontmatter: YAML between two lines `---`.");
        assert_snapshot!(check(None, "---\n[\n---\nx"), @"The SKILL.md cannot be used: its frontmatter cannot be read: line 2: this is not valid YAML: while parsing a node, did not find expected node content.");
    }
}
