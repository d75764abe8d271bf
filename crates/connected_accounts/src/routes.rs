//! The routes: the caller's accounts, the document about this client, and the pages.

use crate::accounts::Accounts;
use crate::connect::{CLIENT_PATH, client_document};
use crate::{pages, services, store};
use ::capability::CurrentConfig;
use auth::rights::{AccessDecision, check_rule};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, NoContent, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use chat::Caller;
use config::Endpoint;
use schemars::JsonSchema;
use serde::Serialize;
use settings::user_auth::{Service, UserVariables};
use std::collections::BTreeMap;
use std::sync::Arc;
use web::admin::from_store_error;
use web::openapi::{Access, ApiRouter, Tag};
use web::{HttpError, Origin};
use wire::UserError;

/// The group in the OpenAPI document.
const ACCOUNTS: Tag = Tag {
    name: "connected accounts",
    description: "The caller's accounts at services that agents call on their behalf. Only for signed-in users: API keys \
                  cannot use these routes. Accounts are connected on the page `/account/connections`.",
    access: Access::SignedIn,
};

/// The state of the routes.
#[derive(Clone)]
pub(crate) struct RouteState {
    pub(crate) accounts: Accounts,
    pub(crate) current: Arc<dyn CurrentConfig>,
}

/// An account of the caller, or a service at which they can connect one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConnectedAccount {
    /// The name of the service.
    pub(crate) service: String,
    /// The host of the service; absent if no agent of the caller uses it any more.
    pub(crate) host: Option<String>,
    /// Whether the account can be used. Otherwise it has to be connected, again if it was before.
    pub(crate) is_connected: bool,
    /// When it was connected last, as Unix time in milliseconds; absent if it never was.
    pub(crate) connected_at: Option<i64>,
    /// The granted scopes.
    pub(crate) scopes: Vec<String>,
    /// Scopes that the service has asked for since.
    pub(crate) needed_scopes: Vec<String>,
}

impl RouteState {
    /// Returns the services at which the caller can connect an account, by name: those of the agents that they may use.
    pub(crate) fn services(&self, caller: &Caller) -> BTreeMap<String, Service> {
        let (config, agents) = (self.current.config(), self.current.usable_agents(caller));
        let is_usable = |endpoint: &Endpoint| check_rule(caller, &endpoint.auth) == AccessDecision::Allowed;
        services::with_accounts(&config, agents.iter().map(String::as_str), is_usable)
    }

    /// Returns the variables that the caller can enter, by connection.
    pub(crate) fn variables(&self, caller: &Caller) -> BTreeMap<String, UserVariables> {
        let (config, agents) = (self.current.config(), self.current.usable_agents(caller));
        services::variables(&config, agents.iter().map(String::as_str))
    }

    /// Returns the accounts of the caller, and the services at which they can connect one.
    pub(crate) async fn list(&self, caller: &Caller) -> Result<Vec<ConnectedAccount>, UserError> {
        let mut services = self.services(caller);
        let sign_ins = self.accounts.providers();
        services.extend(sign_ins.services().map(|service| (service.name.clone(), service)));
        let mut list = Vec::new();
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for row in store::accounts(self.accounts.store(), &caller.user_id).await.map_err(from_store_error)? {
            let service = services.remove(&row.service);
            let usable = |service| self.accounts.usable_tokens(service, &caller.user_id, &row).is_some();
            list.push(ConnectedAccount {
                is_connected: service.as_ref().is_some_and(usable),
                host: service.and_then(|service| host(&service)),
                connected_at: Some(row.connected_at),
                scopes: words(&row.scopes),
                needed_scopes: words(&row.needed_scopes),
                service: row.service,
            });
        }
        list.extend(services.into_values().map(|service| ConnectedAccount {
            host: host(&service),
            service: service.name,
            is_connected: false,
            connected_at: None,
            scopes: Vec::new(),
            needed_scopes: Vec::new(),
        }));
        list.sort_by(|one, other| one.service.cmp(&other.service));
        Ok(list)
    }
}

fn host(service: &Service) -> Option<String> {
    service.url.host_str().map(str::to_owned)
}

/// Returns the routes.
pub(crate) fn routes(state: RouteState) -> ApiRouter {
    // Authorization servers read it, without credentials.
    let public = Router::new().route(CLIENT_PATH, get(client));
    ApiRouter::new(&ACCOUNTS)
        .get("/api/connected-accounts", list, "List the caller's connected accounts, and those that can be connected")
        .delete("/api/connected-accounts/{service}", disconnect, "Disconnect an account: delete and revoke its tokens")
        .with_pages(pages::routes())
        .with_pages(public)
        .map(|router| router.with_state(state))
}

async fn list(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Vec<ConnectedAccount>>, HttpError> {
    Ok(Json(state.list(&caller).await?))
}

async fn disconnect(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(service): Path<String>,
) -> Result<NoContent, HttpError> {
    if state.accounts.disconnect(&caller.user_id, &service).await.map_err(from_store_error)? {
        Ok(NoContent)
    } else {
        Err(UserError::not_found().into())
    }
}

/// `GET /auth/connected-accounts/client.json`
async fn client(origin: Option<Extension<Origin>>) -> Response {
    match origin {
        Some(Extension(Origin(origin))) => Json(client_document(&origin)).into_response(),
        None => HttpError::from(UserError::not_found()).into_response(),
    }
}
