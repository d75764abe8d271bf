//! API keys that administrators have entered: encrypted with a key from the environment before they are stored.
//! The name of the connection is authenticated with them, so that the key of one connection cannot be put into
//! the row of another.

use auth::EnvironmentKeys;
use config::Env;
use secrecy::{ExposeSecret, SecretString};
use settings::Variable;

/// Keeps the keys apart from other uses of the same variables.
const PURPOSE: &[u8] = b"chatwright model connections 1\0";

/// The keys of this server.
pub(crate) struct Keys(EnvironmentKeys);

impl Keys {
    /// Reads the keys from the environment.
    pub(crate) fn read(variables: &[Variable], env: &dyn Env) -> Self {
        Self(EnvironmentKeys::read("modelConnections.keys", PURPOSE, variables, env))
    }

    /// Returns why no API key can be stored, and what to do.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.0.problem()
    }

    /// Encrypts the API key of a connection. Without one, the text is empty.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(crate) fn seal(&self, connection: &str, key: Option<&SecretString>) -> Result<String, String> {
        let Some(key) = key else { return Ok(String::new()) };
        let sealed = self.0.seal(connection.as_bytes(), key.expose_secret().as_bytes());
        sealed.map_err(|problem| format!("this server cannot store API keys yet: {problem}"))
    }

    /// Decrypts the API key of a connection; `None` if it has none.
    ///
    /// # Errors
    /// None of the keys fits, or the text was changed.
    pub(crate) fn open(&self, connection: &str, stored: &str) -> Result<Option<SecretString>, &'static str> {
        if stored.is_empty() {
            return Ok(None);
        }
        let opened = self.0.open(connection.as_bytes(), stored).and_then(|text| String::from_utf8(text).ok());
        let key = opened.ok_or(
            "its API key cannot be read with the keys of this server (`modelConnections.keys`): enter it again",
        )?;
        Ok(Some(key.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn api_keys_are_read_for_their_connection_only() {
        let env = HashMap::from([("KEY".to_owned(), "k".repeat(32))]);
        let (keys, none) = (Keys::read(&[Variable("KEY".to_owned())], &env), Keys::read(&[], &env));
        let sealed = keys.seal("openai", Some(&"canary".into())).unwrap();
        assert!(!sealed.contains("canary") && sealed != keys.seal("openai", Some(&"canary".into())).unwrap());
        let check = |keys: &Keys, connection: &str, stored: &str, expected: &str| {
            let opened = match keys.open(connection, stored) {
                Ok(Some(key)) => key.expose_secret().to_owned(),
                Ok(None) => "none".to_owned(),
                Err(problem) => problem.to_owned(),
            };
            assert!(opened.contains(expected), "{connection} {stored}: {opened}");
        };
        check(&keys, "openai", &sealed, "canary");
        check(&keys, "other", &sealed, "enter it again");
        check(&keys, "openai", &sealed[..sealed.len() - 8], "enter it again");
        check(&none, "openai", &sealed, "enter it again");
        check(&none, "openai", "", "none");
        assert_eq!(none.seal("openai", None).unwrap(), "");
        let problem = none.seal("openai", Some(&"canary".into())).unwrap_err();
        assert!(problem.contains("cannot store API keys yet: name an environment variable in `modelConnections.keys`"));
    }
}
