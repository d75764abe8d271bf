//! The credentials of the user in requests: a token, and the values that they have entered for variables.

use crate::settings::UserToken;
use ::settings::user_auth::{Service, UserVariables};
use capability::{ServiceTokens, TokenRefusal, UserValues};
use contract::{Bearer, RunScope, ToolContext, ToolError};
use std::fmt;

/// Where the tokens of users come from.
#[derive(Clone)]
pub struct UserService {
    /// The service, as users know it.
    pub service: Service,
    /// The tokens of all users.
    pub tokens: ServiceTokens,
}

/// Variables that each user enters.
#[derive(Clone)]
pub struct EnteredVariables {
    /// The variables.
    pub wanted: UserVariables,
    /// The values that users have entered.
    pub entered: ServiceTokens,
}

/// The credentials of a user in a request.
#[derive(Clone, Default)]
pub(crate) struct UserCredentials {
    pub(crate) token: Option<Bearer>,
    pub(crate) values: UserValues,
}

/// How users are known to a remote agent.
#[derive(Clone, Default)]
pub(crate) struct UserAccess {
    pub(crate) token: Option<UserToken>,
    pub(crate) variables: Option<EnteredVariables>,
}

impl UserAccess {
    /// Returns the credentials for a request of the user of a run; `None` if one is missing.
    pub(crate) async fn credentials(&self, scope: &RunScope) -> Option<UserCredentials> {
        let token = match &self.token {
            Some(UserToken::Service(user)) => Some(user.tokens.token(&user.service, scope).await.ok()?),
            _ => scope.token.clone(),
        };
        let values = match &self.variables {
            Some(variables) => variables.entered.variables(&variables.wanted, scope).await.ok()?,
            None => UserValues::new(),
        };
        Some(UserCredentials { token, values })
    }

    /// Returns the credentials for a call. If the user has to connect their account or to enter something first, they
    /// are asked to, and the call waits for it.
    ///
    /// # Errors
    /// Something is missing. The message is for the model.
    pub(crate) async fn credentials_for_call(&self, context: &ToolContext) -> Result<UserCredentials, ToolError> {
        let values = match &self.variables {
            Some(variables) => variables.entered.variables_for_call(&variables.wanted, context).await?,
            None => UserValues::new(),
        };
        let token = match &self.token {
            Some(UserToken::Service(user)) => Some(user.tokens.token_for_call(&user.service, context).await?),
            _ => context.scope.token.clone(),
        };
        Ok(UserCredentials { token, values })
    }

    /// Handles the refusal of a call. Returns whether it can be made once more.
    pub(crate) async fn renew(&self, credentials: &UserCredentials, context: &ToolContext, challenge: &str) -> bool {
        match (&self.token, &credentials.token) {
            (Some(UserToken::Service(user)), Some(token)) => {
                user.tokens.renew_for_call(&user.service, context, TokenRefusal { token, challenge }).await
            }
            _ => false,
        }
    }
}

impl fmt::Debug for UserService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserService").field("service", &self.service).finish_non_exhaustive()
    }
}

impl fmt::Debug for EnteredVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnteredVariables").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}
