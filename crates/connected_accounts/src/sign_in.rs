//! The tokens that providers of OpenID Connect issue at sign-ins. They are kept as an account of the user at the provider,
//! and exchanged for tokens of services.

use crate::accounts::{Accounts, page, problem_of};
use crate::exchange::Subject;
use crate::oauth::{AuthMethod, ClientIdentity, IssuedTokens, OauthError};
use crate::store::{self, NewTokens};
use crate::tokens::{AccountTokens, TokenKind, TokenSource};
use ::capability::{TokenProblem, TokenRefusal};
use config::{AuthMode, Config, OpenIdProvider};
use contract::{Bearer, RunScope};
use secrecy::ExposeSecret;
use settings::user_auth::{
    AccountAuth, AuthorizationServer, ExchangeAuth, ExchangeWay, OauthClient, Service, SignInTokens, UserAuth,
};
use web::query_encoded;
use web::times::now_millis;

/// The beginning of the names of such accounts. No connection has such an id.
const PREFIX: &str = "sign-in:";

/// A provider whose tokens are exchanged.
#[derive(Clone)]
pub(crate) struct SignInProvider(OpenIdProvider);

/// The providers of the config whose tokens are exchanged for those of services.
#[derive(Clone, Default)]
pub(crate) struct SignInProviders(Vec<SignInProvider>);

impl SignInProvider {
    /// Returns the sign-in at the provider as a service at which users have an account.
    pub(crate) fn service(&self) -> Service {
        let provider = &self.0;
        let client = OauthClient { id: provider.client_id.clone(), secret: provider.client_secret.clone() };
        let server = AuthorizationServer::Issuer(provider.issuer_url.clone());
        Service {
            name: format!("{PREFIX}{}", provider.id),
            url: provider.issuer_url.clone(),
            allow_private: provider.allow_private,
            is_mcp: false,
            auth: UserAuth::Account(AccountAuth {
                client: Some(client),
                server: Some(server),
                ..AccountAuth::default()
            }),
        }
    }

    /// Returns who renews the tokens of a sign-in, and how.
    fn source(&self, tokens: &SignInTokens) -> TokenSource {
        let secret = self.0.client_secret.as_ref().map(|secret| secret.expose_secret().to_owned());
        let method = if tokens.secret_in_body { AuthMethod::Post } else { AuthMethod::Basic };
        TokenSource {
            token_endpoint: tokens.token_endpoint.clone(),
            revocation_endpoint: tokens.revocation_endpoint.clone(),
            client: ClientIdentity::new(self.0.client_id.clone(), secret, method),
            resource: String::new(),
            allow_private: self.0.allow_private,
        }
    }
}

impl SignInProviders {
    /// Returns the providers of a config whose tokens these services need.
    pub(crate) fn needed(config: &Config, services: impl Iterator<Item = Service>) -> Self {
        let AuthMode::Accounts(accounts) = &config.auth.mode else { return Self::default() };
        let all: Self = accounts.providers.iter().cloned().collect();
        let exchanges: Vec<_> = services
            .filter_map(|service| match service.auth {
                UserAuth::Exchange(exchange) => Some(exchange),
                UserAuth::Account(_) => None,
            })
            .collect();
        let is_needed = |provider: &SignInProvider| {
            exchanges.iter().filter_map(|exchange| all.of(exchange)).any(|needed| needed.0.id == provider.0.id)
        };
        Self(all.0.iter().filter(|provider| is_needed(provider)).cloned().collect())
    }

    /// Returns whether no provider is needed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sign-ins as services.
    pub(crate) fn services(&self) -> impl Iterator<Item = Service> {
        self.0.iter().map(SignInProvider::service)
    }

    /// Returns the provider whose tokens are exchanged; `None` if requests come with tokens.
    pub(crate) fn of(&self, exchange: &ExchangeAuth) -> Option<&SignInProvider> {
        match &exchange.provider {
            Some(id) => self.find(id),
            None => self.0.first(),
        }
    }

    fn find(&self, id: &str) -> Option<&SignInProvider> {
        self.0.iter().find(|provider| provider.0.id == id)
    }
}

impl FromIterator<OpenIdProvider> for SignInProviders {
    fn from_iter<T: IntoIterator<Item = OpenIdProvider>>(providers: T) -> Self {
        Self(providers.into_iter().map(SignInProvider).collect())
    }
}

/// Returns the path at which a user signs in again for new tokens; `None` for accounts at other services.
pub(crate) fn sign_in_path(service: &str, next: &str) -> Option<String> {
    let provider = service.strip_prefix(PREFIX)?;
    Some(format!("/auth/openid-connect/{provider}?again=true&next={}", query_encoded(next)))
}

impl Accounts {
    /// Keeps the tokens of a sign-in, if they are needed.
    ///
    /// # Errors
    /// Why they cannot be kept, for the operator.
    pub(crate) async fn keep_tokens(&self, user_id: &str, tokens: SignInTokens) -> Result<(), String> {
        let providers = self.providers();
        let Some(provider) = providers.find(&tokens.provider) else { return Ok(()) };
        let (service, source) = (provider.service(), provider.source(&tokens));
        let access = tokens.access_token.expose_secret().to_owned();
        let refresh = tokens.refresh_token.map(|token| token.expose_secret().to_owned());
        let issued = IssuedTokens::new(access, refresh, tokens.expires_in, tokens.scopes.as_deref());
        let issued = issued.ok_or("the provider has issued none that can be used")?;
        let account = AccountTokens::new(&service, &issued, source).with_id_token(tokens.id_token.expose_secret());
        let sealed = self.seal(user_id, &service.name, &account)?;
        let new = NewTokens { sealed, scopes: issued.scopes.unwrap_or_default().join(" ") };
        let kept = store::keep(self.store(), (user_id, &service.name), new, now_millis()).await;
        if kept.map_err(|error| error.to_string())? {
            Ok(())
        } else {
            Err("the user has too many connected accounts".to_owned())
        }
    }

    /// Returns the token of a user for a service, for which that of their sign-in is exchanged.
    pub(crate) async fn exchanged_token(
        &self,
        service: &Service,
        exchange: &ExchangeAuth,
        scope: &RunScope,
    ) -> Result<Bearer, TokenProblem> {
        if let Some(token) = &scope.token {
            let subject = Subject { token: token.clone(), source: None };
            let exchanged = self.exchanges().token(service, exchange, (scope, &subject)).await;
            return exchanged.map_err(|error| refused_subject(&error));
        }
        let providers = self.providers();
        let (Some(provider), true) = (providers.of(exchange), scope.is_authenticated) else {
            let message =
                "Not run: it is called with the token with which the user is signed in, and this user has none.";
            return Err(TokenProblem::Failed(message.to_owned()));
        };
        let sign_in = provider.service();
        let subject = self.subject((provider, &sign_in), exchange, scope).await?;
        match self.exchanges().token(service, exchange, (scope, &subject)).await {
            Ok(token) => Ok(token),
            // The provider may have revoked the token before its time. RFC 8693 (2.2.2) calls that an invalid request.
            Err(OauthError::Refused("invalid_grant" | "invalid_request")) => {
                let refusal = TokenRefusal { token: &subject.token, challenge: "" };
                self.after_refusal(&sign_in, &scope.user_id, refusal).await.map_err(|error| {
                    tracing::error!(%error, "the refusal of a sign-in's token cannot be stored");
                    TokenProblem::Failed("Not run: the user's sign-in cannot be read now. Try again later.".to_owned())
                })?;
                let renewed = self.subject((provider, &sign_in), exchange, scope).await?;
                let exchanged = self.exchanges().token(service, exchange, (scope, &renewed)).await;
                exchanged.map_err(
                    |error| {
                        if error.is_invalid_grant() { sign_in_again(&sign_in) } else { problem_of(&error) }
                    },
                )
            }
            Err(error) => Err(problem_of(&error)),
        }
    }

    /// Returns the token of a user's sign-in that is exchanged. One of an identity that was unlinked since does not count.
    async fn subject(
        &self,
        (provider, sign_in): (&SignInProvider, &Service),
        exchange: &ExchangeAuth,
        scope: &RunScope,
    ) -> Result<Subject, TokenProblem> {
        let identities = self.store().identities(&scope.user_id).await.map_err(|error| {
            tracing::error!(%error, "the identities of a user cannot be read");
            TokenProblem::Failed("Not run: the user's sign-in cannot be read now. Try again later.".to_owned())
        })?;
        if !identities.iter().any(|identity| identity.issuer == provider.0.issuer) {
            return Err(sign_in_again(sign_in));
        }
        let kind = match exchange.way {
            ExchangeWay::Token { .. } => TokenKind::Access,
            ExchangeWay::Assertion { .. } => TokenKind::Id,
        };
        let tokens = self.fresh_tokens(sign_in, &scope.user_id, kind).await.map_err(|problem| match problem {
            TokenProblem::NotConnected { .. } => sign_in_again(sign_in),
            problem => problem,
        })?;
        match kind {
            TokenKind::Access => Ok(Subject { token: Bearer::new(&tokens.access_token), source: None }),
            // It was not kept by an older version, or not renewed by the provider.
            TokenKind::Id => {
                let id_token = tokens.id_token.as_deref().ok_or_else(|| sign_in_again(sign_in))?;
                Ok(Subject { token: Bearer::new(id_token), source: Some(tokens.source) })
            }
        }
    }
}

fn sign_in_again(sign_in: &Service) -> TokenProblem {
    TokenProblem::SignInAgain { page: page(&sign_in.name) }
}

/// Returns why the token of a request cannot be exchanged.
fn refused_subject(error: &OauthError) -> TokenProblem {
    if error.is_invalid_grant() {
        TokenProblem::Failed("Not run: the user's sign-in is no longer valid. Tell them to sign in again.".to_owned())
    } else {
        problem_of(error)
    }
}
