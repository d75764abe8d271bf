//! Secrets that administrators have entered: encrypted with a key from the environment before they are
//! stored. The name of the server is authenticated with them, so that those of one server cannot be put into
//! the row of another.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use config::Env;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use secrecy::{ExposeSecret, SecretString};
use settings::Variable;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;

/// The fewest characters of a key.
const MIN_KEY: usize = 32;
/// What a stored text begins with.
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

/// The keys of this server. The first one encrypts, all decrypt.
pub(crate) struct Keys {
    keys: Vec<LessSafeKey>,
    /// Why there is none to encrypt with.
    problem: Option<String>,
    /// Why others cannot be used.
    unusable: Vec<String>,
}

impl Keys {
    /// Reads the keys from the environment.
    pub(crate) fn read(variables: &[Variable], env: &dyn Env) -> Self {
        let mut problem = variables.is_empty().then(|| {
            "a secret can only be entered if the config names a key in `mcpServers.keys`; otherwise write `{ _secret: NAME }`"
                .to_owned()
        });
        let (mut keys, mut unusable) = (Vec::new(), Vec::new());
        for (index, variable) in variables.iter().enumerate() {
            match key(&variable.0, env) {
                Ok(key) => keys.push(key),
                // Another key must not encrypt in its place.
                Err(why) if index == 0 => problem = Some(why),
                Err(why) => unusable.push(why),
            }
        }
        Self { keys, problem, unusable }
    }

    /// Logs what is wrong with the keys.
    pub(crate) fn warn(&self) {
        if let Some(problem) = &self.problem {
            tracing::warn!(problem, "secrets of MCP servers cannot be entered");
        }
        for problem in &self.unusable {
            tracing::warn!(problem, "a key of `mcpServers.keys` cannot be used");
        }
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
        let key = match (&self.problem, self.keys.first()) {
            (Some(problem), _) => return Err(problem.clone()),
            (None, key) => key.ok_or_else(failed)?,
        };
        let plain: BTreeMap<_, _> = secrets.0.iter().map(|(place, value)| (place, value.expose_secret())).collect();
        let mut sealed = serde_json::to_vec(&plain).map_err(|_| failed())?;
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| failed())?;
        let aad = Aad::from(server.as_bytes());
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed).map_err(|_| failed())?;
        Ok(format!("{VERSION}{}", STANDARD.encode([&nonce[..], &sealed].concat())))
    }

    /// Decrypts the secrets of a server.
    ///
    /// # Errors
    /// None of the keys fits, or the text was changed.
    pub(crate) fn open(&self, server: &str, stored: &str) -> Result<Secrets, &'static str> {
        if stored.is_empty() {
            return Ok(Secrets::default());
        }
        let failed = "its secrets cannot be read with the keys of this server (`mcpServers.keys`): enter them again";
        let sealed = stored.strip_prefix(VERSION).and_then(|text| STANDARD.decode(text).ok()).ok_or(failed)?;
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN).ok_or(failed)?;
        self.keys.iter().find_map(|key| open(key, server, nonce, sealed)).ok_or(failed)
    }
}

fn key(variable: &str, env: &dyn Env) -> Result<LessSafeKey, String> {
    let text = env.get(variable).ok_or_else(|| format!("the environment variable `{variable}` is not set"))?;
    if text.chars().count() < MIN_KEY {
        return Err(format!("the key in `{variable}` has fewer than {MIN_KEY} characters"));
    }
    let hash = Sha256::new().chain_update(PURPOSE).chain_update(&text).finalize();
    let key = UnboundKey::new(&AES_256_GCM, &hash).map_err(|_| format!("the key in `{variable}` cannot be used"))?;
    Ok(LessSafeKey::new(key))
}

fn open(key: &LessSafeKey, server: &str, nonce: &[u8], sealed: &[u8]) -> Option<Secrets> {
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let mut text = sealed.to_vec();
    let plain = key.open_in_place(nonce, Aad::from(server.as_bytes()), &mut text).ok()?;
    let plain: BTreeMap<String, String> = serde_json::from_slice(plain).ok()?;
    Some(Secrets(plain.into_iter().map(|(place, value)| (place, value.into())).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn keys(names: &[&str]) -> Keys {
        let env: HashMap<String, String> =
            [("NEW", "n".repeat(32)), ("OLD", "o".repeat(40)), ("SHORT", "s".to_owned())]
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
        let variables: Vec<_> = names.iter().map(|&name| Variable(name.to_owned())).collect();
        Keys::read(&variables, &env)
    }

    fn secrets() -> Secrets {
        Secrets(BTreeMap::from([("url".to_owned(), SecretString::from("canary"))]))
    }

    #[test]
    fn secrets_are_read_with_their_key_and_for_their_server_only() {
        let sealed = keys(&["OLD"]).seal("weather", &secrets()).unwrap();
        assert!(!sealed.contains("canary") && sealed != keys(&["OLD"]).seal("weather", &secrets()).unwrap());
        let check = |names: &[&str], server: &str, stored: &str, expected: bool| {
            let opened = keys(names).open(server, stored);
            assert_eq!(opened == Ok(secrets()), expected, "{names:?} {server} {stored}");
        };
        check(&["OLD"], "weather", &sealed, true);
        check(&["NEW", "OLD"], "weather", &sealed, true);
        check(&["MISSING", "OLD"], "weather", &sealed, true);
        check(&["NEW"], "weather", &sealed, false);
        check(&[], "weather", &sealed, false);
        check(&["OLD"], "other", &sealed, false);
        check(&["OLD"], "weather", &sealed[..sealed.len() - 8], false);
        check(&["OLD"], "weather", "1.", false);
        assert_eq!(keys(&[]).open("weather", ""), Ok(Secrets::default()));
        assert!(!format!("{:?}", secrets()).contains("canary"));
    }

    #[test]
    fn nothing_is_encrypted_without_the_first_key() {
        let check = |names: &[&str], expected: &str| {
            let error = keys(names).seal("weather", &secrets()).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(&[], "the config names a key in `mcpServers.keys`");
        check(&["MISSING", "OLD"], "`MISSING` is not set");
        check(&["SHORT"], "fewer than 32 characters");
        assert_eq!(keys(&[]).seal("weather", &Secrets::default()).unwrap(), "");
    }
}
