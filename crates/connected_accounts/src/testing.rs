//! For tests of crates that send tokens: users who connect their account as soon as they are asked to, without a browser.

use crate::accounts::Accounts;
use crate::oauth::{Callback, OauthHttp};
use crate::secrets::Keys;
use crate::store::TABLES;
use ::capability::{AskToOpen, PageToOpen, ServiceTokens};
use ::http::{HeaderMap, Method, header};
use ::store::Schema;
use axum::extract::Query;
use contract::ToolContext;
use futures::FutureExt;
use futures::future::BoxFuture;
use settings::Variable;
use settings::user_auth::Service;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

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
    let store = Schema::new(&[TABLES]).open("sqlite::memory:", "", Duration::ZERO).await?;
    let env = HashMap::from([("KEY".to_owned(), "k".repeat(32))]);
    let accounts = Accounts::new(store, Keys::read(&[Variable("KEY".to_owned())], &env));
    let tokens = ServiceTokens::default();
    tokens.provide(Arc::new(accounts.clone()));
    tokens.ask_with(Arc::new(WillingUsers { accounts, service }));
    Ok(tokens)
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
