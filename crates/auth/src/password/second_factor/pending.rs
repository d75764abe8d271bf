//! Sign-ins between the password and the code. They are kept in the form, encrypted: the server needs no memory for those
//! that are never finished, and every server of a database can finish them.

use super::super::Accounts;
use crate::token_parts::now_seconds;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use store::{StoredPassword, User};

/// How long a step may take, in seconds.
const MAX_AGE: i64 = 10 * 60;
/// The purpose of the encrypted texts.
const CONTEXT: &[u8] = b"step";

/// A user who has entered their password, and has not shown a code yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingStep {
    /// The user's id.
    pub user_id: String,
    /// The hash of the stored hash of the password that was checked.
    password: [u8; 32],
    /// The next step of the user.
    pub kind: StepKind,
    /// Unix time in seconds.
    begun_at: i64,
}

/// The next step of a user. The kind is sealed with the step: one of the account page, where the password was not entered,
/// must not complete a sign-in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepKind {
    /// Entering a code, to be signed in.
    EnterCode,
    /// Confirming a new app, to be signed in.
    SetUpToSignIn(PendingApp),
    /// Confirming a new app on the account page.
    SetUpInAccount(PendingApp),
}

/// An app that a user is setting up.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingApp {
    /// Its secret in base32.
    pub(super) secret: String,
    /// The encrypted secret of the app that it replaces, of which the user has shown a code.
    pub replaced: Option<String>,
}

/// Formats nothing secret.
impl fmt::Debug for PendingApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingApp").field("replaces_another", &self.replaced.is_some()).finish_non_exhaustive()
    }
}

impl PendingStep {
    /// Returns the step of a user whose password has this hash.
    pub fn new(user_id: &str, password: &str, kind: StepKind) -> Self {
        let password = Sha256::digest(password).into();
        Self { user_id: user_id.to_owned(), password, kind, begun_at: now_seconds() }
    }

    fn is_current(&self, password: &StoredPassword) -> bool {
        let is_fresh = (-60..MAX_AGE).contains(&(now_seconds() - self.begun_at));
        is_fresh && !password.must_change && self.password == <[u8; 32]>::from(Sha256::digest(&password.hash))
    }
}

impl Accounts {
    /// Encrypts a step for a form.
    pub fn seal_step(&self, step: &PendingStep) -> Option<String> {
        self.second_factors.steps.seal(CONTEXT, &serde_json::to_vec(step).ok()?)
    }

    /// Returns a step from a form, and its user. `None` if it is too old, or the user is disabled, deleted, or has another
    /// password by now.
    ///
    /// # Errors
    /// The database failed.
    pub async fn open_step(
        &self,
        sealed: &str,
    ) -> Result<Option<(PendingStep, User, StoredPassword)>, store::StoreError> {
        let opened = self.second_factors.steps.open(CONTEXT, sealed);
        let step = opened.and_then(|plain| serde_json::from_slice::<PendingStep>(&plain).ok());
        let Some(step) = step else { return Ok(None) };
        let found = self.store.user_by_id(&step.user_id).await?;
        let found = found.filter(|(user, password)| user.disabled_at.is_none() && step.is_current(password));
        Ok(found.map(|(user, password)| (step, user, password)))
    }
}
