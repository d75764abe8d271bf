//! For tests of crates that send tokens: users who connect their account as soon as they are asked to, and a user who has signed
//! in with a company account, without a browser.

use crate::accounts::Accounts;
use crate::audit;
use crate::oauth::{Callback, OauthHttp};
use crate::secrets::Keys;
use crate::sign_in::SignInProviders;
use crate::store::TABLES;
use ::capability::{AskToOpen, PageToOpen, ServiceTokens};
use ::http::{HeaderMap, Method, header};
use ::store::{NewUser, ProviderClaims, Schema, Store, StoreError};
use axum::extract::Query;
use config::OpenIdProvider;
use contract::ToolContext;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use settings::Variable;
use settings::user_auth::{Service, SignInTokens};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use url::Url;

/// The origin in the redirect URI, at which no server listens: the redirect is read, not followed.
const ORIGIN: &str = "http://127.0.0.1:1";

/// Connects the accounts of all users at one service.
struct WillingUsers {
    accounts: Accounts,
    service: Service,
}

/// Returns the tokens of users for a service, in a database of their own in memory. A user who is asked agrees at the
/// authorization server, which must redirect at once.
///
/// # Errors
/// The database cannot be opened.
pub async fn tokens_of_willing_users(service: Service) -> anyhow::Result<ServiceTokens> {
    let accounts = new_accounts().await?;
    let tokens = ServiceTokens::default();
    tokens.provide(Arc::new(accounts.clone()));
    tokens.ask_with(Arc::new(WillingUsers { accounts, service }));
    Ok(tokens)
}

/// The ID token that a provider has issued to a user who has signed in there, and its circumstances.
#[derive(Clone)]
pub struct TestSignIn {
    /// The user's id, which is their subject at the provider as well.
    pub user_id: String,
    /// The provider.
    pub issuer: Url,
    /// The provider's token endpoint.
    pub token_endpoint: Url,
    /// This server as a client of the provider, without a secret.
    pub client_id: String,
    /// The ID token.
    pub id_token: String,
}

/// Returns the tokens of a user who has signed in, in a database of their own in memory.
///
/// # Errors
/// The database cannot be opened, or the tokens cannot be kept.
pub async fn tokens_of_signed_in_user(sign_in: TestSignIn) -> anyhow::Result<ServiceTokens> {
    let accounts = new_accounts().await?;
    let provider = provider(sign_in.issuer, &sign_in.client_id);
    add_user(accounts.store(), &sign_in.user_id, &provider.issuer).await?;
    let issued = SignInTokens {
        provider: provider.id.clone(),
        token_endpoint: sign_in.token_endpoint,
        revocation_endpoint: None,
        secret_in_body: false,
        access_token: "unused".into(),
        refresh_token: None,
        id_token: sign_in.id_token.into(),
        expires_in: None,
        scopes: None,
    };
    accounts.set_providers(SignInProviders::from_iter([provider]));
    accounts.keep_tokens(&sign_in.user_id, issued).await.map_err(anyhow::Error::msg)?;
    let tokens = ServiceTokens::default();
    tokens.provide(Arc::new(accounts));
    Ok(tokens)
}

/// Adds a user with an identity at an issuer. The user's id is the same there.
pub(crate) async fn add_user(store: &Store, id: &str, issuer: &str) -> Result<(), StoreError> {
    let user = NewUser {
        id: id.to_owned(),
        name: id.to_owned(),
        name_key: id.to_owned(),
        password: String::new(),
        must_change_password: false,
        roles: Vec::new(),
        now: 1,
    };
    let (issuer, subject, label) = (issuer.to_owned(), id.to_owned(), id.to_owned());
    let claims = ProviderClaims { issuer, subject, label, roles: Vec::new() };
    store.add_user_with_identity(user, &format!("{id}-1"), claims, audit(id, "test", Value::Null)).await?;
    Ok(())
}

/// Returns a provider with this client, without a client secret.
pub(crate) fn provider(issuer: Url, client_id: &str) -> OpenIdProvider {
    OpenIdProvider {
        id: "company".to_owned(),
        label: "Company".to_owned(),
        issuer: issuer.to_string(),
        issuer_url: issuer,
        allow_private: true,
        client_id: client_id.to_owned(),
        client_secret: None,
        scopes: Vec::new(),
        sign_up: true,
        allowed_domains: Vec::new(),
        link_verified_email: false,
        roles: Vec::new(),
        groups: None,
        session: Duration::from_secs(60),
        leeway: Duration::ZERO,
        directory_claim: None,
    }
}

async fn new_accounts() -> anyhow::Result<Accounts> {
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await?;
    let env = HashMap::from([("KEY".to_owned(), "k".repeat(32))]);
    Ok(Accounts::new(store, Keys::read(&[Variable("KEY".to_owned())], &env)))
}

impl AskToOpen for WillingUsers {
    fn ask_to_open(&self, _: PageToOpen, context: ToolContext, _: CancellationToken) -> BoxFuture<'static, bool> {
        let (accounts, service) = (self.accounts.clone(), self.service.clone());
        async move {
            let connected = connect(&accounts, &service, &context.scope.user_id).await;
            if let Err(problem) = &connected {
                tracing::warn!(problem, "the account of a test cannot be connected");
            }
            connected.is_ok()
        }
        .boxed()
    }
}

async fn connect(accounts: &Accounts, service: &Service, user_id: &str) -> Result<(), String> {
    let begun = accounts.begin(service, user_id, ORIGIN).await.map_err(|problem| problem.to_string())?;
    let http = OauthHttp::new(true).map_err(|error| error.to_string())?;
    let answer = http.send("the page", Method::GET, begun.url, HeaderMap::new(), None).await;
    let headers = answer.map_err(|error| error.to_string())?.headers;
    let location = headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or("the authorization server does not redirect")?;
    let location = location.parse().map_err(|_| "the redirect cannot be read")?;
    let Query(callback) = Query::<Callback>::try_from_uri(&location).map_err(|error| error.to_string())?;
    accounts.finish(service, user_id, &begun.pending, &callback).await.map_err(|problem| problem.to_string())
}
