//! Accounts at an authorization server, on SQLite and, if it is installed, on PostgreSQL.

mod assertions;
mod connecting;
mod exchanging;
mod idp;
mod renewing;
mod sign_ins;
mod variables;

use crate::accounts::Accounts;
use crate::connect::ConnectProblem;
use crate::oauth::Callback;
use crate::secrets::Keys;
use crate::store::TABLES;
use ::capability::{ProvideTokens, TokenProblem};
use ::store::{Schema, Store};
use contract::{Bearer, RunScope};
use idp::{Fields, Idp};
use settings::Variable;
use settings::user_auth::Service;
use std::collections::HashMap;
use std::time::Duration;
use test_store::on_each_database;

fn keys() -> Keys {
    let env = HashMap::from([("KEY".to_owned(), "k".repeat(32))]);
    Keys::read(&[Variable("KEY".to_owned())], &env)
}

fn accounts(store: &Store) -> Accounts {
    Accounts::new(store.clone(), keys())
}

fn scope(user: &str) -> RunScope {
    RunScope { user_id: user.to_owned(), is_authenticated: true, ..RunScope::default() }
}

fn callback(answer: &Fields) -> Callback {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(answer).finish();
    let url = format!("https://chat.test/?{query}").parse().unwrap();
    axum::extract::Query::try_from_uri(&url).unwrap().0
}

const ORIGIN: &str = "http://chat.test";

/// Connects the account of a user, who agrees.
async fn connect(accounts: &Accounts, idp: &Idp, service: &Service, user: &str) -> Result<(), ConnectProblem> {
    let begun = accounts.begin(service, user, ORIGIN).await?;
    accounts.finish(service, user, &begun.pending, &callback(&idp.agree(&begun.url))).await
}

async fn token(accounts: &Accounts, service: &Service, user: &str) -> Result<String, TokenProblem> {
    ProvideTokens::token(accounts, service, &scope(user)).await.map(|token| exposed(&token))
}

fn exposed(token: &Bearer) -> String {
    token.expose().to_owned()
}

fn not_connected() -> Result<String, TokenProblem> {
    Err(TokenProblem::NotConnected { page: "/account/connections?connect=files".to_owned() })
}
