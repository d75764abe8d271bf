//! The prompts that users have, for other programs than the composer of a chat.

use crate::Context;
use chat::Caller;
use config::Config;
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use wire::UserError;

/// The prompts that users have: the capability with the prompt library knows them. The rights are those of the pages; a
/// prompt that a caller does not see does not exist for them.
pub trait UserPrompts: Send + Sync + 'static {
    /// Returns whether a config has prompts.
    fn is_on(&self, config: &Config) -> bool;

    /// Returns a page of the prompts that a caller sees, sorted by their names: those after the name `after`, or the first
    /// ones.
    ///
    /// # Errors
    /// 404 if there are no prompts here; the database failed.
    fn list<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        after: Option<&'a str>,
    ) -> BoxFuture<'a, Result<UserPromptPage, UserError>>;

    /// Returns a prompt with these values in place of its variables.
    ///
    /// # Errors
    /// 404 for a prompt that the caller does not see; 422 if a value is missing, not one of those that the variable has,
    /// or of no variable, or if the text becomes too long; the database failed.
    fn fill<'a>(
        &'a self,
        context: &'a Context,
        caller: &'a Caller,
        name: &'a str,
        values: BTreeMap<String, String>,
    ) -> BoxFuture<'a, Result<FilledPrompt, UserError>>;
}

/// A page of a list of prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserPromptPage {
    /// The prompts.
    pub prompts: Vec<UserPrompt>,
    /// Whether there are others after the last one.
    pub has_more: bool,
}

/// A prompt in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserPrompt {
    /// A name that no other prompt has which the caller sees. It changes only if the prompt is renamed.
    pub name: String,
    /// The name that people see, which other prompts may have, too.
    pub title: String,
    /// Its purpose; never empty.
    pub description: String,
    /// Its variables.
    pub variables: Vec<UserPromptVariable>,
}

/// A variable of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserPromptVariable {
    /// The name.
    pub name: String,
    /// None: a value is needed. One: the value if no other is given. Several: the only values, of which the first one is
    /// used if none is given.
    pub values: Vec<String>,
}

/// A prompt with values in place of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilledPrompt {
    /// Its purpose; never empty.
    pub description: String,
    /// The text.
    pub text: String,
}
