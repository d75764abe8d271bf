//! Secrets that administrators have entered: encrypted with a key from the environment before they are
//! stored. The name of the server is authenticated with them, so that those of one server cannot be put into
//! the row of another.

use auth::EnvironmentKeys;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use config::Env;
use secrecy::{ExposeSecret, SecretString};
use settings::Variable;
use std::collections::BTreeMap;
use std::fmt;

/// The prefix of a stored text. Behind it, the alphabet of Base64 is that with `+` and `/`.
const VERSION: &str = "1.";
/// Keeps the key apart from other uses of the same variable.
const PURPOSE: &[u8] = b"chatwright mcp_servers secrets 1\0";

/// The secrets of a server by what they are for, as [`crate::definition::SecretField`] names it.
#[derive(Clone, Default)]
pub(crate) struct Secrets(pub(crate) BTreeMap<String, SecretString>);

/// Formats what the secrets are for.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl PartialEq for Secrets {
    fn eq(&self, other: &Self) -> bool {
        let exposed = |of: &Self| -> Vec<(String, String)> {
            of.0.iter().map(|(place, value)| (place.clone(), value.expose_secret().to_owned())).collect()
        };
        exposed(self) == exposed(other)
    }
}

/// The keys of this server.
pub(crate) struct Keys(EnvironmentKeys);

impl Keys {
    /// Reads the keys from the environment.
    pub(crate) fn read(variables: &[Variable], env: &dyn Env) -> Self {
        Self(EnvironmentKeys::read("mcpServers.keys", PURPOSE, variables, env))
    }

    /// Logs what is wrong with the keys.
    pub(crate) fn warn(&self) {
        self.0.warn();
    }

    /// Encrypts the secrets of a server. Without secrets, the text is empty.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(crate) fn seal(&self, server: &str, secrets: &Secrets) -> Result<String, String> {
        if secrets.0.is_empty() {
            return Ok(String::new());
        }
        let failed = || "the secrets cannot be encrypted".to_owned();
        let plain: BTreeMap<_, _> = secrets.0.iter().map(|(place, value)| (place, value.expose_secret())).collect();
        let plain = serde_json::to_vec(&plain).map_err(|_| failed())?;
        let sealed = self.0.seal(server.as_bytes(), &plain);
        let sealed = sealed.map_err(|problem| {
            format!(
                "this server cannot store secrets yet: {problem}; or write `{{ _secret: NAME }}` in place of a secret"
            )
        })?;
        let sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| failed())?;
        Ok(format!("{VERSION}{}", STANDARD.encode(sealed)))
    }

    /// Decrypts the secrets of a server.
    ///
    /// # Errors
    /// None of the keys fits, or the text was changed.
    pub(crate) fn open(&self, server: &str, stored: &str) -> Result<Secrets, &'static str> {
        if stored.is_empty() {
            return Ok(Secrets::default());
        }
        let opened = self.opened(server, stored);
        opened.ok_or("its secrets cannot be read with the keys of this server (`mcpServers.keys`): enter them again")
    }

    fn opened(&self, server: &str, stored: &str) -> Option<Secrets> {
        let sealed = STANDARD.decode(stored.strip_prefix(VERSION)?).ok()?;
        let plain = self.0.open(server.as_bytes(), &URL_SAFE_NO_PAD.encode(sealed))?;
        let plain: BTreeMap<String, String> = serde_json::from_slice(&plain).ok()?;
        Some(Secrets(plain.into_iter().map(|(place, value)| (place, value.into())).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn keys(names: &[&str]) -> Keys {
        let env = HashMap::from([("KEY".to_owned(), "o".repeat(40))]);
        let variables: Vec<_> = names.iter().map(|&name| Variable(name.to_owned())).collect();
        Keys::read(&variables, &env)
    }

    fn secrets() -> Secrets {
        Secrets(BTreeMap::from([("url".to_owned(), SecretString::from("canary"))]))
    }

    #[test]
    fn secrets_are_read_with_their_key_and_for_their_server_only() {
        let sealed = keys(&["KEY"]).seal("weather", &secrets()).unwrap();
        assert!(!sealed.contains("canary") && sealed != keys(&["KEY"]).seal("weather", &secrets()).unwrap());
        let check = |names: &[&str], server: &str, stored: &str, expected: bool| {
            let opened = keys(names).open(server, stored);
            assert_eq!(opened == Ok(secrets()), expected, "{names:?} {server} {stored}");
        };
        check(&["KEY"], "weather", &sealed, true);
        check(&[], "weather", &sealed, false);
        check(&["KEY"], "other", &sealed, false);
        check(&["KEY"], "weather", &sealed[..sealed.len() - 8], false);
        check(&["KEY"], "weather", "1.", false);
        // As versions before have stored it.
        check(&["KEY"], "weather", "1.+/+++/+++/+++/++xhCcI/v7Laftdv5HwOMci+a7BJQYFOPaPpezsYIs78k=", true);
        assert_eq!(keys(&[]).open("weather", ""), Ok(Secrets::default()));
        assert!(!format!("{:?}", secrets()).contains("canary"));
    }

    #[test]
    fn nothing_is_encrypted_without_a_key() {
        let problem = keys(&[]).seal("weather", &secrets()).unwrap_err();
        assert!(problem.contains("name an environment variable in `mcpServers.keys`"), "{problem}");
        assert!(problem.contains("`{ _secret: NAME }`"), "{problem}");
        assert_eq!(keys(&[]).seal("weather", &Secrets::default()).unwrap(), "");
    }
}
