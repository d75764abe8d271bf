//! The store of the tokens that providers issue at sign-ins, for services that are called on behalf of users.

use futures::future::BoxFuture;
use settings::user_auth::SignInTokens;
use std::sync::{Arc, OnceLock};

/// Keeps the tokens of sign-ins.
pub trait KeepSignInTokens: Send + Sync + 'static {
    /// Keeps the tokens of a user, in place of those of their last sign-in at the provider. A sign-in does not fail because
    /// of it, so an implementation logs what goes wrong.
    fn keep<'a>(&'a self, user_id: &'a str, tokens: SignInTokens) -> BoxFuture<'a, ()>;
}

/// The store of the tokens of sign-ins, if there is one; a cheap handle. It is set when the server starts.
#[derive(Clone, Default)]
pub struct TokenKeeper(Arc<OnceLock<Arc<dyn KeepSignInTokens>>>);

impl TokenKeeper {
    /// Sets what keeps the tokens. Only the first one counts.
    pub fn set(&self, keeper: Arc<dyn KeepSignInTokens>) {
        if self.0.set(keeper).is_err() {
            tracing::warn!("the tokens of sign-ins are kept in two places; the first one is used");
        }
    }

    /// Keeps the tokens of a user.
    pub async fn keep(&self, user_id: &str, tokens: Option<SignInTokens>) {
        if let (Some(keeper), Some(tokens)) = (self.0.get(), tokens) {
            keeper.keep(user_id, tokens).await;
        }
    }
}
