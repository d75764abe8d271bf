//! Keys from the environment with which a capability encrypts what it stores.

use super::SealingKeys;
use config::Env;
use settings::Variable;

/// The fewest characters of a key.
const MIN_KEY: usize = 32;

/// Keys from environment variables that a setting of the config names. The first one encrypts, all decrypt.
pub struct EnvironmentKeys {
    keys: SealingKeys,
    setting: &'static str,
    /// Why there is none to encrypt with, and what to do.
    problem: Option<String>,
    /// The problems of the variables.
    unusable: Vec<String>,
}

impl EnvironmentKeys {
    /// Reads the keys that a setting such as `mcpServers.keys` names. `purpose` keeps them apart from other uses of the
    /// same variables. With a first key that cannot be used, nothing is encrypted: another one must not do it in its
    /// place.
    pub fn read(setting: &'static str, purpose: &[u8], variables: &[Variable], env: &dyn Env) -> Self {
        let found: Vec<_> = variables.iter().map(|variable| value(&variable.0, env)).collect();
        let problem = match found.first() {
            None => Some(format!("name an environment variable in `{setting}` of the config")),
            Some(first) => first.as_ref().err().cloned(),
        };
        let (mut texts, mut unusable) = (Vec::new(), Vec::new());
        for found in found {
            match found {
                Ok(text) => texts.push(text),
                Err(problem) => unusable.push(problem),
            }
        }
        Self { keys: SealingKeys::new(purpose, texts.iter().map(String::as_bytes)), setting, problem, unusable }
    }

    /// Returns why nothing can be encrypted, and what to do.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Logs which of the named variables cannot be used.
    pub fn warn(&self) {
        for problem in &self.unusable {
            tracing::warn!(setting = self.setting, problem, "a key cannot be used");
        }
    }

    /// Encrypts a text, which can only be decrypted with the same `context`.
    ///
    /// # Errors
    /// As [`EnvironmentKeys::problem`].
    pub fn seal(&self, context: &[u8], plain: &[u8]) -> Result<String, String> {
        match &self.problem {
            Some(problem) => Err(problem.clone()),
            None => self.keys.seal(context, plain).ok_or_else(|| "the key cannot be used".to_owned()),
        }
    }

    /// Decrypts a text. `None` if no key fits, or the text or the context is another one.
    pub fn open(&self, context: &[u8], sealed: &str) -> Option<Vec<u8>> {
        self.keys.open(context, sealed)
    }
}

fn value(variable: &str, env: &dyn Env) -> Result<String, String> {
    let what =
        format!("a random text of at least {MIN_KEY} characters, such as the output of `openssl rand -base64 32`");
    match env.get(variable).filter(|text| !text.is_empty()) {
        None => Err(format!("set the environment variable `{variable}` to {what}, and start the server again")),
        Some(text) if text.chars().count() < MIN_KEY => Err(format!(
            "the environment variable `{variable}` is too short: set it to {what}, and start the server again"
        )),
        Some(text) => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn keys(names: &[&str]) -> EnvironmentKeys {
        let entries =
            [("NEW", "n".repeat(32)), ("OLD", "o".repeat(40)), ("SHORT", "s".to_owned()), ("EMPTY", String::new())];
        let env: HashMap<String, String> = entries.map(|(name, value)| (name.to_owned(), value)).into();
        let variables: Vec<_> = names.iter().map(|&name| Variable(name.to_owned())).collect();
        EnvironmentKeys::read("some.keys", b"a test\0", &variables, &env)
    }

    #[test]
    fn texts_are_read_with_all_keys() {
        let sealed = keys(&["OLD"]).seal(b"ada", b"canary").unwrap();
        let check = |names: &[&str], context: &str, expected: bool| {
            let opened = keys(names).open(context.as_bytes(), &sealed);
            assert_eq!(opened.as_deref() == Some(b"canary"), expected, "{names:?} {context}");
        };
        check(&["OLD"], "ada", true);
        check(&["NEW", "OLD"], "ada", true);
        check(&["MISSING", "OLD"], "ada", true);
        check(&["NEW"], "ada", false);
        check(&[], "ada", false);
        check(&["OLD"], "bob", false);
    }

    #[test]
    fn nothing_is_encrypted_without_the_first_key() {
        let check = |names: &[&str], expected: &str, unusable: usize| {
            let keys = keys(names);
            let problem = keys.seal(b"ada", b"canary").err();
            assert_eq!(keys.problem(), problem.as_deref());
            let problem = problem.unwrap_or_default();
            assert!(problem.contains(expected) && problem.is_empty() == expected.is_empty(), "{problem}");
            assert_eq!(keys.unusable.len(), unusable, "{:?}", keys.unusable);
        };
        check(&[], "name an environment variable in `some.keys` of the config", 0);
        check(&["MISSING", "OLD"], "set the environment variable `MISSING` to a random text", 1);
        check(&["SHORT"], "`SHORT` is too short", 1);
        check(&["EMPTY"], "set the environment variable `EMPTY`", 1);
        check(&["NEW", "MISSING", "SHORT"], "", 2);
    }
}
