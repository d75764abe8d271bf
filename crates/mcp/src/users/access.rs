//! The tokens with which the connection of a user is authorized.

use ::settings::user_auth::Service;
use capability::{ServiceTokens, TokenProblem, TokenRefusal};
use contract::{Bearer, RunScope, ToolContext, ToolError};
use parking_lot::Mutex;

/// The tokens of a user for a server.
pub(crate) struct UserAccess {
    service: Service,
    tokens: ServiceTokens,
    /// The user's newest run: the token of their sign-in changes.
    scope: Mutex<RunScope>,
}

impl UserAccess {
    pub(super) fn new(service: Service, tokens: ServiceTokens) -> Self {
        Self { service, tokens, scope: Mutex::default() }
    }

    pub(super) fn set_scope(&self, scope: &RunScope) {
        *self.scope.lock() = scope.clone();
    }

    /// Returns the token.
    ///
    /// # Errors
    /// There is none.
    pub(super) async fn token(&self) -> Result<Bearer, ToolError> {
        let scope = self.scope.lock().clone();
        let token = self.tokens.token(&self.service, &scope).await;
        token.map_err(|problem| ToolError::new(problem.message(&self.service)))
    }

    /// Returns whether the user has to connect their account before anything can be asked.
    pub(crate) async fn needs_account(&self) -> bool {
        let scope = self.scope.lock().clone();
        matches!(self.tokens.token(&self.service, &scope).await, Err(TokenProblem::NotConnected { .. }))
    }

    /// Returns the token for a call, for which the user may be asked to connect their account.
    ///
    /// # Errors
    /// There is none.
    pub(crate) async fn token_for_call(&self, context: &ToolContext) -> Result<Bearer, ToolError> {
        self.tokens.token_for_call(&self.service, context).await
    }

    /// Records that the server has refused a token outside of a call.
    pub(super) async fn refused(&self, token: &Bearer, challenge: &str) {
        let scope = self.scope.lock().clone();
        self.tokens.refused(&self.service, &scope, TokenRefusal { token, challenge }).await;
    }

    /// Handles the refusal of a call's token. Returns whether the call can be made once more.
    pub(super) async fn renew_for_call(&self, context: &ToolContext, token: &Bearer, challenge: &str) -> bool {
        self.tokens.renew_for_call(&self.service, context, TokenRefusal { token, challenge }).await
    }
}
