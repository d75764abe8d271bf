//! Encrypts what is stored: with keys from the environment, and for one purpose and owner only.

use auth::SealingKeys;
use config::Env;
use serde::Serialize;
use serde::de::DeserializeOwned;
use settings::Variable;

/// The fewest characters of a key.
const MIN_KEY: usize = 32;
/// Keeps the keys apart from other uses of the same variables.
const PURPOSE: &[u8] = b"chatwright connected accounts 1\0";

/// The keys of this server. The first one encrypts, all decrypt.
pub(crate) struct Keys {
    keys: SealingKeys,
    /// Why there is none to encrypt with.
    problem: Option<String>,
}

impl Keys {
    /// Reads the keys from the environment. With a first key that cannot be used, nothing is encrypted: another one must
    /// not do it in its place.
    pub(crate) fn read(variables: &[Variable], env: &dyn Env) -> Self {
        let found: Vec<_> = variables.iter().map(|variable| value(&variable.0, env)).collect();
        for problem in found.iter().filter_map(|found| found.as_ref().err()) {
            tracing::warn!(problem, "a key of `connectedAccounts.keys` cannot be used");
        }
        let problem = match found.first() {
            None => Some("the config names no key in `connectedAccounts.keys`".to_owned()),
            Some(first) => first.as_ref().err().cloned(),
        };
        let texts: Vec<_> = found.into_iter().filter_map(Result::ok).collect();
        Self { keys: SealingKeys::new(PURPOSE, texts.iter().map(String::as_bytes)), problem }
    }

    /// Returns why nothing can be stored.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Encrypts a value for a context.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(crate) fn seal<T: Serialize>(&self, context: &[&str], value: &T) -> Result<String, String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        let failed = || "it cannot be encrypted".to_owned();
        let plain = serde_json::to_vec(value).map_err(|_| failed())?;
        self.keys.seal(joined(context).as_bytes(), &plain).ok_or_else(failed)
    }

    /// Decrypts a value of a context; `None` if no key fits, or the text or the context is another one.
    pub(crate) fn open<T: DeserializeOwned>(&self, context: &[&str], sealed: &str) -> Option<T> {
        serde_json::from_slice(&self.keys.open(joined(context).as_bytes(), sealed)?).ok()
    }
}

/// Joins the parts so that no other parts have the same text.
fn joined(context: &[&str]) -> String {
    context.iter().map(|part| format!("{}:{part}\n", part.len())).collect()
}

fn value(variable: &str, env: &dyn Env) -> Result<String, String> {
    let text = env.get(variable).ok_or_else(|| format!("the environment variable `{variable}` is not set"))?;
    match text.chars().count() < MIN_KEY {
        true => Err(format!("the key in `{variable}` has fewer than {MIN_KEY} characters")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn keys(names: &[&str]) -> Keys {
        let entries = [("NEW", "n".repeat(32)), ("OLD", "o".repeat(40)), ("SHORT", "s".to_owned())];
        let env: HashMap<String, String> = entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let variables: Vec<_> = names.iter().map(|&name| Variable(name.to_owned())).collect();
        Keys::read(&variables, &env)
    }

    #[test]
    fn values_are_read_with_their_key_and_context_only() {
        let sealed = keys(&["OLD"]).seal(&["ada", "files"], &"canary").unwrap();
        assert!(!sealed.contains("canary"));
        let check = |names: &[&str], context: &[&str], expected: bool| {
            let opened: Option<String> = keys(names).open(context, &sealed);
            assert_eq!(opened.as_deref() == Some("canary"), expected, "{names:?} {context:?}");
        };
        check(&["OLD"], &["ada", "files"], true);
        check(&["NEW", "OLD"], &["ada", "files"], true);
        check(&["NEW"], &["ada", "files"], false);
        check(&["OLD"], &["bob", "files"], false);
        check(&["OLD"], &["adaf", "iles"], false);
    }

    #[test]
    fn nothing_is_encrypted_without_the_first_key() {
        let check = |names: &[&str], expected: &str| {
            let error = keys(names).seal(&["ada"], &"canary").unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(&[], "names no key in `connectedAccounts.keys`");
        check(&["MISSING", "OLD"], "`MISSING` is not set");
        check(&["SHORT"], "fewer than 32 characters");
    }
}
