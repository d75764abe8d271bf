//! The frontmatter of a `SKILL.md`: finds it, and reads its YAML.

use serde_json::{Map, Value};

/// The largest frontmatter in bytes.
pub(crate) const MAX_FRONTMATTER: usize = 16 * 1024;

/// Keys whose values are texts, for frontmatter that is not valid YAML.
const TEXT_KEYS: [&str; 5] = ["name", "description", "license", "compatibility", "allowed-tools"];

/// The two parts of a `SKILL.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'t> {
    /// The YAML between the two lines `---`.
    pub(crate) yaml: &'t str,
    /// The instructions after it.
    pub(crate) body: &'t str,
}

/// The keys of a frontmatter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frontmatter {
    pub(crate) keys: Map<String, Value>,
    /// Why it is not valid YAML, if it was read line by line.
    pub(crate) invalid: Option<String>,
}

/// Splits a file into frontmatter and body; `None` if it does not begin with a frontmatter that ends.
pub(crate) fn split(text: &str) -> Option<Parts<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some(Parts { yaml: &rest[..at], body: rest[at + line.len()..].trim() });
        }
        at += line.len();
    }
    None
}

/// Reads a frontmatter. Many skills have a description with a colon and without quotes, which is no valid
/// YAML: then lines `key: text` are read as they stand.
///
/// # Errors
/// It is too long, no mapping, or neither valid YAML nor a list of such lines.
pub(crate) fn read(yaml: &str) -> Result<Frontmatter, String> {
    if yaml.len() > MAX_FRONTMATTER {
        return Err(format!("its frontmatter is longer than {} KB", MAX_FRONTMATTER / 1024));
    }
    match parse(yaml) {
        Ok(keys) => Ok(Frontmatter { keys, invalid: None }),
        Err(reason) => match parse(&with_quoted_texts(yaml)) {
            Ok(keys) => Ok(Frontmatter { keys, invalid: Some(reason) }),
            Err(_) => Err(format!("its frontmatter cannot be read: {reason}")),
        },
    }
}

fn parse(yaml: &str) -> Result<Map<String, Value>, String> {
    match config::read_yaml("SKILL.yaml", yaml) {
        Ok(Value::Object(keys)) => Ok(keys),
        Ok(_) => Err("it is not a mapping of keys".to_owned()),
        // The frontmatter begins in the second line of the file. By its ending, it is read as YAML.
        Err(problems) => Err(problems
            .first()
            .map_or_else(String::new, |problem| format!("line {}: {}", problem.line + 1, problem.message))),
    }
}

/// Returns the frontmatter with quotes around the values of lines `key: text`.
fn with_quoted_texts(yaml: &str) -> String {
    let line = |line: &str| {
        let quoted = line.split_once(':').filter(|(key, _)| TEXT_KEYS.contains(key)).and_then(|(key, text)| {
            let text = text.trim();
            let is_plain = !text.is_empty() && !text.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!']);
            is_plain.then(|| format!("{key}: {}", Value::from(text)))
        });
        quoted.unwrap_or_else(|| line.to_owned())
    };
    yaml.lines().map(line).collect::<Vec<_>>().join("\n")
}
