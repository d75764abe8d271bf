//! The common parts of exports as a config.

use std::collections::BTreeSet;

/// The most characters of a variable.
const MAX_VARIABLE: usize = 100;

/// Adds a line of a comment with names, if there are any.
pub fn comment(text: &mut String, what: &str, names: &[impl AsRef<str>]) {
    if names.is_empty() {
        return;
    }
    // Some names are part of a config and may hold anything.
    let names = names.iter().map(|name| name.as_ref().replace(char::is_control, " "));
    text.push_str(&format!("# {what}: {}\n", names.collect::<Vec<_>>().join(", ")));
}

/// The environment variables that stand for secrets in an export.
#[derive(Debug, Default)]
pub struct Variables(BTreeSet<String>);

impl Variables {
    /// Returns a variable that no other secret has. Its name is made of a text.
    pub fn name(&mut self, text: &str) -> String {
        let sign = |sign: char| if sign.is_ascii_alphanumeric() { sign.to_ascii_uppercase() } else { '_' };
        let plain: String = text.chars().map(sign).take(MAX_VARIABLE).collect();
        let name = first_free(plain, '_', |name| !self.0.contains(name));
        self.0.insert(name.clone());
        name
    }
}

/// Returns the name, or else the first free one of it with a number behind a sign.
pub fn first_free(name: String, sign: char, is_free: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}{sign}{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| is_free(name));
    free.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_names_of_their_own() {
        let mut variables = Variables::default();
        let mut check = |text: &str, expected: &str| assert_eq!(variables.name(text), expected);
        check("my-server_key", "MY_SERVER_KEY");
        check("my.server.key", "MY_SERVER_KEY_2");
        check("my server key", "MY_SERVER_KEY_3");
        check(&"x".repeat(200), &"X".repeat(MAX_VARIABLE));
    }

    #[test]
    fn comments_stay_in_their_line() {
        let check = |names: &[&str], expected: &str| {
            let mut text = String::new();
            comment(&mut text, "Off", names);
            assert_eq!(text, expected);
        };
        check(&[], "");
        check(&["a", "b\nkey: value"], "# Off: a, b key: value\n");
    }
}
