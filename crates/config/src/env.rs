//! The source of environment variables, which hold secrets.

use std::collections::HashMap;

/// Reads environment variables: from the process in the server, from a map in tests.
pub trait Env {
    /// Returns the value of a variable, if it is set.
    fn get(&self, name: &str) -> Option<String>;
}

/// The environment of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessEnv;

impl Env for ProcessEnv {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

impl Env for HashMap<String, String> {
    fn get(&self, name: &str) -> Option<String> {
        Self::get(self, name).cloned()
    }
}
