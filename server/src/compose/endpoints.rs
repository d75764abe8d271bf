//! Endpoints and their connections.

use super::models::text::RoutineModels;
use super::retained::RetainedState;
use super::user_tokens::TokensOf;
use crate::capabilities::all_operators;
use anyhow::anyhow;
use auth::rights::CallerGate;
use capability::{EndpointCall, EndpointFailure};
use chat::{Caller, RoutineMeters};
use config::{Config, ConnectionKind};
use contract::{CallReports, ModelUse};
use endpoints::{
    CallContext, Connection, Endpoint, EndpointError, Endpoints, HttpConnection, HttpSettings, SqlConnection,
    SqlSettings,
};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use wire::{ErrorCode, UserError};

/// The open databases by connection id, with the settings that they were opened with.
pub(super) type Databases = HashMap<String, (SqlSettings, SqlConnection)>;

/// Opens the databases. A database that was open `before` with the same settings stays open, since
/// an in-memory one would be lost. A PostgreSQL server may be down: connections are opened when a
/// statement needs them.
pub(super) async fn open_databases(config: &Config, before: &Databases) -> anyhow::Result<Databases> {
    let mut databases = Databases::new();
    for (id, connection) in &config.connections {
        let ConnectionKind::Sql(sql) = &connection.kind else { continue };
        let settings = SqlSettings { url: sql.url.clone(), read_only: sql.read_only, init: sql.init.clone() };
        let opened = match before.get(id) {
            Some((known, opened)) if *known == settings => opened.clone(),
            _ => SqlConnection::open(&settings)
                .await
                .map_err(|error| anyhow!("{}: the connection `{id}`: {error}", connection.at))?,
        };
        databases.insert(id.clone(), (settings, opened));
    }
    Ok(databases)
}

/// Returns the connections without their settings.
pub(super) fn connections(databases: &Databases) -> HashMap<String, SqlConnection> {
    databases.iter().map(|(id, (_, opened))| (id.clone(), opened.clone())).collect()
}

/// Builds the endpoints with their connections.
pub(super) fn build(config: &Arc<Config>, databases: &Databases, kept: &RetainedState) -> anyhow::Result<Endpoints> {
    let connections = config.connections.values().filter_map(|connection| {
        let built = build_connection(config, connection, databases, kept).transpose()?;
        Some(built.map(|built| (connection.id.clone(), built)))
    });
    let connections = connections.collect::<anyhow::Result<_>>()?;
    let endpoints = config.endpoints.values().map(|endpoint| Endpoint {
        id: endpoint.id.clone(),
        description: endpoint.description.clone(),
        payload_schema: endpoint.payload_schema.clone(),
        routine: endpoint.routine.clone(),
        at: endpoint.at.to_string(),
        step_positions: endpoint.step_positions.iter().map(|(id, at)| (id.clone(), at.to_string())).collect(),
    });
    let secrets = config.endpoints.values().flat_map(|endpoint| endpoint.secrets.iter().cloned());
    let built = Endpoints::new(endpoints.collect(), connections, config.limits.tool).map_err(|error| anyhow!(error))?;
    Ok(built.with_secrets(secrets.collect()).with_operators(all_operators()))
}

/// Returns a connection for routines; `None` if routines cannot use its type.
fn build_connection(
    config: &Arc<Config>,
    connection: &config::Connection,
    databases: &Databases,
    kept: &RetainedState,
) -> anyhow::Result<Option<Connection>> {
    Ok(match &connection.kind {
        ConnectionKind::Sql(_) => databases.get(&connection.id).map(|(_, opened)| Connection::Sql(opened.clone())),
        ConnectionKind::Http(http) => {
            let settings = HttpSettings {
                base_url: http.base_url.clone(),
                headers: http.headers.clone(),
                allow_private: http.allow_private,
                timeout: http.timeout,
            };
            let opened = HttpConnection::new(settings)
                .map_err(|error| anyhow!("{}: the connection `{}`: {error}", connection.at, connection.id))?;
            let service = http.user_service(&connection.id);
            Some(Connection::Http(match service {
                Some(service) => opened.with_user_tokens(Arc::new(TokensOf { service, tokens: kept.tokens.clone() })),
                None => opened,
            }))
        }
        kind if kind.is_model() => {
            let (config, time) = (config.clone(), config.limits.turn);
            let (connection, models) = (connection.clone(), kept.models.clone());
            Some(Connection::Models(Arc::new(RoutineModels { config, connection, time, models })))
        }
        _ => None,
    })
}

/// Returns the id in usage records for model requests of an endpoint that no agent called.
pub(crate) fn usage_caller(endpoint_id: &str) -> String {
    format!("endpoint:{endpoint_id}")
}

/// Runs an endpoint for a caller; dropping the future cancels the routine.
pub(super) async fn call(
    endpoints: &Endpoints,
    gate: Arc<CallerGate>,
    caller: &Caller,
    models: ModelUse,
    id: &str,
    payload: Value,
) -> Result<Value, UserError> {
    let cancel = CancellationToken::new();
    let _gone = cancel.clone().drop_guard();
    let context = CallContext {
        user_id: caller.user_id.clone(),
        gate,
        agent: None,
        models,
        idempotency_key: None,
        cancel,
        reports: CallReports::default(),
    };
    endpoints.call(id, payload, &context).await.map_err(|error| match error {
        EndpointError::NotFound => UserError::not_found(),
        EndpointError::Unauthenticated => UserError::unauthenticated(),
        EndpointError::Payload { path, message } => UserError::invalid(path, message),
        EndpointError::Rejected(message) => UserError::invalid("/", message),
        EndpointError::Thrown(message) => UserError::new(ErrorCode::Internal, message),
        EndpointError::NoUserToken { for_user, .. } => UserError::new(ErrorCode::Forbidden, for_user),
        error => {
            tracing::warn!(endpoint = id, at = error.position(), %error, "an endpoint failed");
            UserError::new(ErrorCode::Internal, "This could not be done right now. Try again.")
        }
    })
}

/// Runs an endpoint for a capability, which may be an internal one.
pub(super) async fn call_for_capability(
    endpoints: &Endpoints,
    gate: Arc<CallerGate>,
    counted: &RoutineMeters,
    call: EndpointCall<'_>,
) -> Result<Value, EndpointFailure> {
    let EndpointCall { caller, id, payload, usage, idempotency_key, meter, cancel, reports } = call;
    let context = CallContext {
        user_id: caller.user_id.clone(),
        gate,
        agent: None,
        models: meter(counted.meter(caller, usage)),
        idempotency_key: Some(idempotency_key),
        cancel,
        reports,
    };
    endpoints.call(id, payload, &context).await.map_err(|error| {
        let message = error.to_string();
        match error {
            EndpointError::NotFound
            | EndpointError::Unauthenticated
            | EndpointError::Payload { .. }
            | EndpointError::Rejected(_) => EndpointFailure::Refused(message),
            EndpointError::TooSlow(_) => EndpointFailure::TimedOut(message),
            error => {
                tracing::warn!(endpoint = id, at = error.position(), %error, "an endpoint failed");
                EndpointFailure::Failed(message)
            }
        }
    })
}
