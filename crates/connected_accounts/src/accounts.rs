//! The accounts of users, and their tokens.

use crate::audit;
use crate::exchange::Exchanges;
use crate::oauth::{Challenge, OauthError};
use crate::secrets::Keys;
use crate::sign_in::SignInProviders;
use crate::store::{self, AccountRow, NewTokens, Refresh};
use crate::tokens::{AccountTokens, TokenKind};
use ::capability::{AfterRefusal, ProvideTokens, TokenProblem, TokenRefusal, UserValues};
use ::store::{Store, StoreError};
use arc_swap::ArcSwap;
use contract::{Bearer, RunScope};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::json;
use settings::user_auth::{Service, SignInTokens, UserAuth, UserVariables};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;
use web::query_encoded;
use web::times::now_millis;

/// The page of the accounts.
pub(crate) const PATH: &str = "/account/connections";
/// How long a server may take to renew tokens before another one does it, in milliseconds. Longer than its request.
const REFRESH_TIME: i64 = 30_000;
/// How long a request waits for another server that renews the tokens.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(150);

/// The accounts of all users; cheap to clone.
#[derive(Clone)]
pub(crate) struct Accounts(Arc<Inner>);

struct Inner {
    store: Store,
    keys: ArcSwap<Keys>,
    exchanges: Exchanges,
    providers: ArcSwap<SignInProviders>,
}

impl Accounts {
    /// Creates the accounts of a database. Nothing is encrypted before the keys are set.
    pub(crate) fn new(store: Store, keys: Keys) -> Self {
        Self(Arc::new(Inner {
            store,
            keys: ArcSwap::from_pointee(keys),
            exchanges: Exchanges::default(),
            providers: ArcSwap::default(),
        }))
    }

    pub(crate) fn set_providers(&self, providers: SignInProviders) {
        self.0.providers.store(Arc::new(providers));
    }

    /// Returns the providers whose tokens are exchanged.
    pub(crate) fn providers(&self) -> Arc<SignInProviders> {
        self.0.providers.load_full()
    }

    pub(crate) fn exchanges(&self) -> &Exchanges {
        &self.0.exchanges
    }

    pub(crate) fn set_keys(&self, keys: Keys) {
        self.0.keys.store(Arc::new(keys));
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn keys(&self) -> Arc<Keys> {
        self.0.keys.load_full()
    }

    /// Encrypts the tokens of an account.
    pub(crate) fn seal(&self, owner: &str, service: &str, tokens: &AccountTokens) -> Result<String, String> {
        self.keys().seal(&["account", owner, service], tokens)
    }

    /// Decrypts the tokens of an account; `None` if there are none, or the keys are others.
    fn open(&self, owner: &str, row: &AccountRow) -> Option<AccountTokens> {
        self.keys().open(&["account", owner, &row.service], &row.sealed)
    }

    /// Returns the tokens of an account, if they can be used for the service.
    pub(crate) fn usable_tokens(&self, service: &Service, owner: &str, row: &AccountRow) -> Option<AccountTokens> {
        self.open(owner, row).filter(|tokens| tokens.are_for(service))
    }

    /// Returns the account of a user with its tokens, if they can be used for the service.
    pub(crate) async fn usable(
        &self,
        service: &Service,
        owner: &str,
    ) -> Result<Option<(AccountRow, AccountTokens)>, StoreError> {
        let Some(row) = store::account(self.store(), owner, &service.name).await? else { return Ok(None) };
        Ok(self.usable_tokens(service, owner, &row).map(|tokens| (row, tokens)))
    }

    /// Deletes the account of a user, and revokes its tokens. Returns false if there was none.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn disconnect(&self, owner: &str, service: &str) -> Result<bool, StoreError> {
        let audit = audit(owner, "disconnect", json!({ "service": service }));
        let Some(row) = store::delete(self.store(), owner, service, audit).await? else { return Ok(false) };
        // The user does not wait for it: whatever the authorization server says, the tokens are gone here.
        if let Some(tokens) = self.open(owner, &row) {
            tokio::spawn(revoke(row.service, tokens));
        }
        Ok(true)
    }

    /// Returns the access token of a user's account, renewed if it is about to expire.
    async fn account_token(&self, service: &Service, owner: &str) -> Result<Bearer, TokenProblem> {
        let tokens = self.fresh_tokens(service, owner, TokenKind::Access).await?;
        Ok(Bearer::new(&tokens.access_token))
    }

    /// Returns the tokens of a user's account, renewed if the one of this kind is about to expire.
    pub(crate) async fn fresh_tokens(
        &self,
        service: &Service,
        owner: &str,
        kind: TokenKind,
    ) -> Result<AccountTokens, TokenProblem> {
        let until = Instant::now() + PATIENCE;
        loop {
            let found = self.usable(service, owner).await.map_err(|error| failed(service, &error))?;
            let (row, tokens) = found.ok_or_else(|| not_connected(service))?;
            if !tokens.is_expiring(kind) {
                return Ok(tokens);
            }
            if tokens.refresh_token.is_none() {
                return Err(not_connected(service));
            }
            // Renewed tokens could not be stored, and the authorization server may accept the old ones no longer.
            if let Some(problem) = self.keys().problem() {
                tracing::warn!(service = service.name, problem, "the tokens of an account cannot be renewed");
                return Err(unreachable(service));
            }
            let (owner, version) = (owner.to_owned(), row.version);
            let refresh = Refresh { owner, service: service.name.clone(), version, by: Uuid::new_v4().to_string() };
            let now = now_millis();
            let reserved = store::reserve(self.store(), &refresh, now, now + REFRESH_TIME).await;
            if reserved.map_err(|error| failed(service, &error))? {
                // A task of its own: if the caller goes away, the new refresh token must not be lost.
                let (accounts, service) = (self.clone(), service.clone());
                let task = tokio::spawn(async move { accounts.renew(&service, refresh, row, tokens).await });
                return task
                    .await
                    .unwrap_or_else(|_| Err(TokenProblem::Failed("The account cannot be used now.".to_owned())));
            }
            if Instant::now() >= until {
                return Err(unreachable(service));
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// Renews tokens whose refresh is reserved.
    async fn renew(
        &self,
        service: &Service,
        refresh: Refresh,
        row: AccountRow,
        tokens: AccountTokens,
    ) -> Result<AccountTokens, TokenProblem> {
        let store = self.store();
        match tokens.renew().await {
            Ok((renewed, scopes)) => {
                let sealed = self.seal(&refresh.owner, &service.name, &renewed).map_err(|problem| {
                    tracing::error!(
                        service = service.name,
                        problem,
                        "the renewed tokens of an account cannot be stored"
                    );
                    unreachable(service)
                })?;
                let scopes = scopes.map_or(row.scopes, |scopes| scopes.join(" "));
                let stored = store::renew(store, &refresh, NewTokens { sealed, scopes }).await;
                if stored.map_err(|error| failed(service, &error))? {
                    return Ok(renewed);
                }
                // It was disconnected, or connected again, meanwhile.
                tokio::spawn(revoke(service.name.clone(), renewed));
                Err(not_connected(service))
            }
            Err(error) if error.is_invalid_grant() => {
                tracing::info!(service = service.name, "the tokens of an account have been revoked or have expired");
                let account = (refresh.owner.as_str(), service.name.as_str());
                let replaced = store::replace(store, account, refresh.version, String::new()).await;
                replaced.map_err(|error| failed(service, &error))?;
                Err(not_connected(service))
            }
            Err(error) => {
                tracing::warn!(service = service.name, %error, "the tokens of an account cannot be renewed");
                store::release(store, &refresh).await.map_err(|error| failed(service, &error))?;
                Err(unreachable(service))
            }
        }
    }

    /// Handles the refusal of a token of a user's account.
    pub(crate) async fn after_refusal(
        &self,
        service: &Service,
        owner: &str,
        refusal: TokenRefusal<'_>,
    ) -> Result<AfterRefusal, StoreError> {
        let connect = || AfterRefusal::Connect { page: page(&service.name) };
        let Some((row, tokens)) = self.usable(service, owner).await? else { return Ok(connect()) };
        let Some(kind) = tokens.kind_of(refusal.token.expose()) else { return Ok(AfterRefusal::Retry) };
        let challenge = Challenge::parse(refusal.challenge);
        if challenge.is_insufficient_scope() {
            store::need(self.store(), owner, &service.name, challenge.scopes.join(" ")).await?;
            return Ok(connect());
        }
        let account = (owner, service.name.as_str());
        if tokens.refresh_token.is_none() {
            store::replace(self.store(), account, row.version, String::new()).await?;
            return Ok(connect());
        }
        // The next request renews it, or another call has begun to: a new version would make that renewal fail.
        if tokens.is_expiring(kind) {
            return Ok(AfterRefusal::Retry);
        }
        match self.seal(owner, &service.name, &tokens.expired()) {
            Ok(sealed) => {
                store::replace(self.store(), account, row.version, sealed).await?;
            }
            Err(problem) => tracing::warn!(service = service.name, problem, "a refused token cannot be renewed"),
        }
        Ok(AfterRefusal::Retry)
    }
}

impl ProvideTokens for Accounts {
    fn token<'a>(&'a self, service: &'a Service, scope: &'a RunScope) -> BoxFuture<'a, Result<Bearer, TokenProblem>> {
        async move {
            match &service.auth {
                UserAuth::Account(_) if !scope.is_authenticated => {
                    let message =
                        format!("Not run: only signed-in users can connect an account at `{}`.", service.name);
                    Err(TokenProblem::Failed(message))
                }
                UserAuth::Account(_) => self.account_token(service, &scope.user_id).await,
                UserAuth::Exchange(exchange) => self.exchanged_token(service, exchange, scope).await,
            }
        }
        .boxed()
    }

    fn refused<'a>(
        &'a self,
        service: &'a Service,
        scope: &'a RunScope,
        refusal: TokenRefusal<'a>,
    ) -> BoxFuture<'a, AfterRefusal> {
        async move {
            if let UserAuth::Exchange(_) = service.auth {
                self.0.exchanges.forget(refusal.token);
                return AfterRefusal::Retry;
            }
            let after = self.after_refusal(service, &scope.user_id, refusal).await;
            after.unwrap_or_else(|error| {
                tracing::warn!(%error, "the refusal of a token cannot be stored");
                AfterRefusal::Retry
            })
        }
        .boxed()
    }

    fn connected_at<'a>(&'a self, service: &'a Service, scope: &'a RunScope) -> BoxFuture<'a, Option<i64>> {
        async move {
            let sign_in = match &service.auth {
                UserAuth::Exchange(exchange) => Some(self.providers().of(exchange)?.service()),
                UserAuth::Account(_) => None,
            };
            let found = self.usable(sign_in.as_ref().unwrap_or(service), &scope.user_id).await.ok()??;
            Some(found.0.connected_at)
        }
        .boxed()
    }

    fn variables<'a>(
        &'a self,
        wanted: &'a UserVariables,
        scope: &'a RunScope,
    ) -> BoxFuture<'a, Result<UserValues, String>> {
        async move {
            if !scope.is_authenticated {
                return Ok(UserValues::new());
            }
            self.entered(wanted, &scope.user_id).await.map_err(|error| {
                tracing::error!(connection = wanted.connection, %error, "what a user has entered cannot be read");
                "Not run: what the user has entered cannot be read now. Try again later.".to_owned()
            })
        }
        .boxed()
    }

    fn page(&self, service: &str) -> String {
        page(service)
    }

    fn keep_sign_in<'a>(&'a self, user_id: &'a str, tokens: SignInTokens) -> BoxFuture<'a, ()> {
        async move {
            let provider = tokens.provider.clone();
            if let Err(problem) = self.keep_tokens(user_id, tokens).await {
                tracing::warn!(provider, problem, "the tokens of a sign-in cannot be kept");
            }
        }
        .boxed()
    }
}

/// Revokes tokens, as far as their authorization server can.
async fn revoke(service: String, tokens: AccountTokens) {
    if let Err(error) = tokens.revoke().await {
        tracing::warn!(service, %error, "the tokens of a disconnected account could not be revoked");
    }
}

/// Returns the page on which the account at a service is connected.
pub(crate) fn page(service: &str) -> String {
    format!("{PATH}?connect={}", query_encoded(service))
}

fn not_connected(service: &Service) -> TokenProblem {
    TokenProblem::NotConnected { page: page(&service.name) }
}

fn unreachable(service: &Service) -> TokenProblem {
    TokenProblem::Failed(format!(
        "Not run: the user's access to `{}` could not be renewed. Try again later.",
        service.name
    ))
}

fn failed(service: &Service, error: &StoreError) -> TokenProblem {
    tracing::error!(service = service.name, %error, "an account cannot be read or stored");
    unreachable(service)
}

/// Returns the problem with a token that could not be got.
pub(crate) fn problem_of(error: &OauthError) -> TokenProblem {
    TokenProblem::Failed(format!("Not run: {error}."))
}
