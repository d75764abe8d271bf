//! Tokens of users: from sign-ins to the capability that keeps them, and from there to web services.

use auth::openid_connect::KeepSignInTokens;
use capability::{AfterRefusal, Service, ServiceTokens, SignInTokens, TokenProblem, TokenRefusal};
use contract::{Bearer, RunScope};
use endpoints::{NoUserToken, UserTokens};
use futures::FutureExt;
use futures::future::BoxFuture;

/// Keeps the tokens of sign-ins with those of other accounts of users.
pub(super) struct SignInTokensOf(pub(super) ServiceTokens);

impl KeepSignInTokens for SignInTokensOf {
    fn keep<'a>(&'a self, user_id: &'a str, tokens: SignInTokens) -> BoxFuture<'a, ()> {
        self.0.keep_sign_in(user_id, tokens).boxed()
    }
}

/// The tokens with which one web service is called.
pub(super) struct TokensOf {
    pub(super) service: Service,
    pub(super) tokens: ServiceTokens,
}

impl UserTokens for TokensOf {
    fn token<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<Bearer, NoUserToken>> {
        let token = self.tokens.token(&self.service, scope);
        let problem = move |problem: TokenProblem| NoUserToken {
            message: problem.message(&self.service),
            for_user: problem.advice(&self.service),
        };
        async move { token.await.map_err(problem) }.boxed()
    }

    fn refused<'a>(&'a self, scope: &'a RunScope, token: &'a Bearer, challenge: &'a str) -> BoxFuture<'a, bool> {
        let refusal = TokenRefusal { token, challenge };
        async move { self.tokens.refused(&self.service, scope, refusal).await == AfterRefusal::Retry }.boxed()
    }
}
