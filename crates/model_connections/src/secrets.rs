//! API keys that administrators have entered: encrypted with a key from the environment before they are stored.
//! The name of the connection is authenticated with them, so that the key of one connection cannot be put into
//! the row of another.

use auth::SealingKeys;
use config::Env;
use secrecy::{ExposeSecret, SecretString};
use settings::Variable;

/// The fewest characters of a key.
const MIN_KEY: usize = 32;
/// Keeps the keys apart from other uses of the same variables.
const PURPOSE: &[u8] = b"chatwright model connections 1\0";

/// The keys of this server. The first one encrypts, all decrypt.
pub(crate) struct Keys {
    keys: SealingKeys,
    /// Why there is none to encrypt with, and what to do.
    problem: Option<String>,
}

impl Keys {
    /// Reads the keys from the environment. With a first key that cannot be used, nothing is encrypted: another one
    /// must not do it in its place.
    pub(crate) fn read(variables: &[Variable], env: &dyn Env) -> Self {
        let found: Vec<_> = variables.iter().map(|variable| value(&variable.0, env)).collect();
        let problem = match found.first() {
            None => Some("name an environment variable in `modelConnections.keys` of the config".to_owned()),
            Some(first) => first.as_ref().err().cloned(),
        };
        let texts: Vec<_> = found.into_iter().filter_map(Result::ok).collect();
        Self { keys: SealingKeys::new(PURPOSE, texts.iter().map(String::as_bytes)), problem }
    }

    /// Returns why no API key can be stored, and what to do.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Encrypts the API key of a connection. Without one, the text is empty.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(crate) fn seal(&self, connection: &str, key: Option<&SecretString>) -> Result<String, String> {
        let Some(key) = key else { return Ok(String::new()) };
        if let Some(problem) = &self.problem {
            return Err(format!("this server cannot store API keys yet: {problem}"));
        }
        let sealed = self.keys.seal(connection.as_bytes(), key.expose_secret().as_bytes());
        sealed.ok_or_else(|| "the API key cannot be encrypted".to_owned())
    }

    /// Decrypts the API key of a connection; `None` if it has none.
    ///
    /// # Errors
    /// None of the keys fits, or the text was changed.
    pub(crate) fn open(&self, connection: &str, stored: &str) -> Result<Option<SecretString>, &'static str> {
        if stored.is_empty() {
            return Ok(None);
        }
        let opened = self.keys.open(connection.as_bytes(), stored).and_then(|text| String::from_utf8(text).ok());
        let key = opened.ok_or(
            "its API key cannot be read with the keys of this server (`modelConnections.keys`): enter it again",
        )?;
        Ok(Some(key.into()))
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

    fn keys(names: &[&str]) -> Keys {
        let entries =
            [("NEW", "n".repeat(32)), ("OLD", "o".repeat(40)), ("SHORT", "s".to_owned()), ("EMPTY", String::new())];
        let env: HashMap<String, String> = entries.map(|(name, value)| (name.to_owned(), value)).into();
        let variables: Vec<_> = names.iter().map(|&name| Variable(name.to_owned())).collect();
        Keys::read(&variables, &env)
    }

    fn key() -> SecretString {
        "canary".into()
    }

    #[test]
    fn api_keys_are_read_with_their_key_and_for_their_connection_only() {
        let sealed = keys(&["OLD"]).seal("openai", Some(&key())).unwrap();
        assert!(!sealed.contains("canary") && sealed != keys(&["OLD"]).seal("openai", Some(&key())).unwrap());
        let check = |names: &[&str], connection: &str, stored: &str, expected: Option<&str>| {
            let opened = keys(names).open(connection, stored).ok().flatten();
            assert_eq!(opened.as_ref().map(ExposeSecret::expose_secret), expected, "{names:?} {connection} {stored}");
        };
        check(&["OLD"], "openai", &sealed, Some("canary"));
        check(&["NEW", "OLD"], "openai", &sealed, Some("canary"));
        check(&["MISSING", "OLD"], "openai", &sealed, Some("canary"));
        check(&["NEW"], "openai", &sealed, None);
        check(&[], "openai", &sealed, None);
        check(&["OLD"], "other", &sealed, None);
        check(&["OLD"], "openai", &sealed[..sealed.len() - 8], None);
        assert!(keys(&["NEW"]).open("openai", &sealed).is_err());
        assert!(matches!(keys(&[]).open("openai", ""), Ok(None)));
    }

    #[test]
    fn nothing_is_encrypted_without_the_first_key() {
        let check = |names: &[&str], expected: &str| {
            let error = keys(names).seal("openai", Some(&key())).unwrap_err();
            assert!(error.contains(expected), "{error}");
            assert!(keys(names).problem().is_some_and(|problem| problem.contains(expected)));
        };
        check(&[], "in `modelConnections.keys`");
        check(&["MISSING", "OLD"], "set the environment variable `MISSING`");
        check(&["SHORT"], "`SHORT` is too short");
        check(&["EMPTY"], "set the environment variable `EMPTY`");
        assert_eq!(keys(&[]).seal("openai", None).unwrap(), "");
        assert_eq!(keys(&["NEW", "MISSING"]).problem(), None);
    }
}
