//! Encrypts what is stored: with keys from the environment, and for one purpose and owner only.

use auth::EnvironmentKeys;
use config::Env;
use serde::Serialize;
use serde::de::DeserializeOwned;
use settings::Variable;

/// Keeps the keys apart from other uses of the same variables.
const PURPOSE: &[u8] = b"chatwright connected accounts 1\0";

/// The keys of this server.
pub(crate) struct Keys(EnvironmentKeys);

impl Keys {
    /// Reads the keys from the environment.
    pub(crate) fn read(variables: &[Variable], env: &dyn Env) -> Self {
        Self(EnvironmentKeys::read("connectedAccounts.keys", PURPOSE, variables, env))
    }

    /// Logs what is wrong with the keys.
    pub(crate) fn warn(&self) {
        self.0.warn();
    }

    /// Returns why nothing can be stored.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.0.problem()
    }

    /// Encrypts a value for a context.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(crate) fn seal<T: Serialize>(&self, context: &[&str], value: &T) -> Result<String, String> {
        let plain = serde_json::to_vec(value).map_err(|_| "it cannot be encrypted".to_owned())?;
        self.0.seal(joined(context).as_bytes(), &plain)
    }

    /// Decrypts a value of a context; `None` if no key fits, or the text or the context is another one.
    pub(crate) fn open<T: DeserializeOwned>(&self, context: &[&str], sealed: &str) -> Option<T> {
        serde_json::from_slice(&self.0.open(joined(context).as_bytes(), sealed)?).ok()
    }
}

/// Joins the parts so that no other parts have the same text.
fn joined(context: &[&str]) -> String {
    context.iter().map(|part| format!("{}:{part}\n", part.len())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn values_are_read_with_their_context_only() {
        let env = HashMap::from([("KEY".to_owned(), "k".repeat(32))]);
        let keys = Keys::read(&[Variable("KEY".to_owned())], &env);
        let sealed = keys.seal(&["ada", "files"], &"canary").unwrap();
        assert!(!sealed.contains("canary"));
        let check = |context: &[&str], expected: bool| {
            let opened: Option<String> = keys.open(context, &sealed);
            assert_eq!(opened.as_deref() == Some("canary"), expected, "{context:?}");
        };
        check(&["ada", "files"], true);
        check(&["bob", "files"], false);
        check(&["adaf", "iles"], false);
        let problem = Keys::read(&[], &env).seal(&["ada"], &"canary").unwrap_err();
        assert!(problem.contains("`connectedAccounts.keys`"), "{problem}");
    }
}
