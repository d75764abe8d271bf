//! The state of sign-ins in memory.

use super::{FailedAttempts, Hasher, SetupToken, Throttle};
use crate::budgets::Budgets;
use crate::openid_connect::TokenKeeper;
use std::sync::Arc;

/// The in-memory state of sign-ins, kept across reloads of the config.
#[derive(Clone, Default)]
pub struct SignInState {
    /// Hashes and verifies passwords.
    pub hasher: Hasher,
    /// Slows down guessing.
    pub throttle: Arc<Throttle>,
    /// Failed attempts that are not in the audit log yet.
    pub failures: Arc<FailedAttempts>,
    /// How much each user may add to the audit log and to their keys.
    pub budgets: Arc<Budgets>,
    /// The token for the first account.
    pub setup: Arc<SetupToken>,
    /// The store of the tokens that providers issue.
    pub tokens: TokenKeeper,
}
