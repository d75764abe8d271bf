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
        self.token_or_problem().await.map_err(|problem| self.error(&problem))
    }

    /// Returns the token; `None` if the user has to connect their account before anything can be asked.
    ///
    /// # Errors
    /// There is none for another reason.
    pub(crate) async fn token_if_connected(&self) -> Result<Option<Bearer>, ToolError> {
        match self.token_or_problem().await {
            Ok(token) => Ok(Some(token)),
            Err(TokenProblem::NotConnected { .. } | TokenProblem::SignInAgain { .. }) => Ok(None),
            Err(problem) => Err(self.error(&problem)),
        }
    }

    async fn token_or_problem(&self) -> Result<Bearer, TokenProblem> {
        let scope = self.scope.lock().clone();
        self.tokens.token(&self.service, &scope).await
    }

    fn error(&self, problem: &TokenProblem) -> ToolError {
        ToolError::new(problem.message(&self.service))
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
