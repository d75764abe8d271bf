//! Push notifications: clients name an address to which the states of a task are sent.

mod deliver;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use deliver::{Deliveries, handler};

use crate::error::RpcError;
use crate::request::CallContext;
use crate::section::{A2a, PushNotifications};
use crate::task;
use ::config::{Config, ProcessEnv};
use a2a_types::{
    AuthenticationInfo, DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig,
};
use auth::EnvironmentKeys;
use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::PushRow;
use url::Url;
use web::times::now_millis;

/// Keeps the keys apart from other uses of the same variables.
const PURPOSE: &[u8] = b"chatwright a2a push notifications 1\0";
/// The longest address in bytes.
const MAX_URL: usize = 2_000;
/// The longest token, and the longest credentials, in bytes.
const MAX_SECRET: usize = 4 << 10;

/// The token and the credentials that a notification is sent with, which are stored encrypted.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
struct Secrets {
    token: Option<String>,
    authentication: Option<AuthenticationInfo>,
}

/// Returns the settings.
///
/// # Errors
/// This server sends no notifications.
fn settings(config: &Config) -> Result<&PushNotifications, RpcError> {
    config
        .section::<A2a>()
        .and_then(|section| section.push_notifications.as_ref())
        .ok_or_else(RpcError::no_push_notifications)
}

impl PushNotifications {
    /// Returns the keys of this server.
    fn environment_keys(&self) -> EnvironmentKeys {
        EnvironmentKeys::read("a2a.pushNotifications.keys", PURPOSE, &self.keys, &ProcessEnv)
    }

    /// Logs which keys cannot be used.
    pub(crate) fn warn(&self) {
        self.environment_keys().warn();
    }
}

/// Checks what a client wants to be told where. `field` is its place in the request.
///
/// # Errors
/// It cannot be used, or this server sends no notifications.
pub(crate) fn check(asked: &CallContext, wanted: &TaskPushNotificationConfig, field: &str) -> Result<(), RpcError> {
    let config = asked.context.current.config();
    let settings = settings(&config)?;
    let at = |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
    if !asked.caller.is_authenticated {
        return Err(RpcError::unsupported("Only signed-in callers are notified. Use `SendStreamingMessage` instead."));
    }
    let url = Url::parse(&wanted.url).ok().filter(|url| wanted.url.len() <= MAX_URL && url.has_host());
    let is_scheme = |url: &Url| url.scheme() == "https" || (url.scheme() == "http" && settings.allow_private);
    if !url.is_some_and(|url| is_scheme(&url) && url.username().is_empty() && url.password().is_none()) {
        let message = format!("The address begins with `https://` and has at most {MAX_URL} bytes.");
        return Err(RpcError::invalid(at("url"), message));
    }
    if wanted.id.as_deref().is_some_and(|id| !id.is_empty() && !wire::is_id(id)) {
        return Err(RpcError::invalid(at("id"), "An id has 1 to 128 letters, digits, `-` or `_`."));
    }
    let is_sendable = |text: &str| text.len() <= MAX_SECRET && HeaderValue::from_str(text).is_ok();
    if !wanted.token.as_deref().is_none_or(is_sendable) {
        return Err(RpcError::invalid(at("token"), "The token cannot be sent in a header."));
    }
    if let Some(AuthenticationInfo { scheme, credentials }) = &wanted.authentication {
        let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_scheme || scheme.len() > 100 || !credentials.as_deref().is_none_or(is_sendable) {
            let message = "The scheme is one of HTTP, such as `Bearer`, and the credentials can be sent in a header.";
            return Err(RpcError::invalid(at("authentication"), message));
        }
    }
    Ok(())
}

/// Stores the address at which a client is notified of its task, with the job that sends the current state. An address with
/// the same id is replaced. `id` is used if the client names none.
///
/// # Errors
/// There is no such task, it has too many, or this server cannot encrypt them.
pub(crate) async fn keep(
    asked: &CallContext,
    task_id: &str,
    wanted: TaskPushNotificationConfig,
    id: String,
) -> Result<TaskPushNotificationConfig, RpcError> {
    let config = asked.context.current.config();
    let keys = settings(&config)?.environment_keys();
    let id = wanted.id.filter(|id| !id.is_empty()).unwrap_or(id);
    let secrets = Secrets { token: wanted.token, authentication: wanted.authentication };
    let plain = serde_json::to_vec(&secrets).unwrap_or_default();
    let owner = &asked.caller.user_id;
    let sealed = keys.seal(seal_context(owner, task_id, &id).as_bytes(), &plain).map_err(|problem| {
        tracing::error!(problem, "push notifications cannot be stored");
        RpcError::unsupported(
            "This server cannot store push notifications now. The administrator has to set their key.",
        )
    })?;
    let row = PushRow {
        task_id: task_id.to_owned(),
        id,
        owner: owner.clone(),
        agent_id: asked.agent_id.clone(),
        url: wanted.url,
        sealed,
        origin: asked.origin.clone(),
        sent_at: 0,
    };
    let deliveries = Deliveries { store: asked.context.store.clone(), jobs: asked.context.chat.jobs().clone() };
    if deliveries.keep(row.clone(), now_millis()).await? {
        Ok(shown(row, secrets))
    } else {
        Err(RpcError::unsupported(format!("A task has at most {} push notifications.", store::MAX_CONFIGS)))
    }
}

/// `CreateTaskPushNotificationConfig`
///
/// # Errors
/// Those of [`check`] and [`keep`].
pub(crate) async fn create(asked: &CallContext, wanted: TaskPushNotificationConfig) -> Result<Value, RpcError> {
    check(asked, &wanted, "")?;
    let task = task::row(asked, &wanted.task_id).await?;
    Ok(json!(keep(asked, &task.id, wanted, uuid::Uuid::now_v7().to_string()).await?))
}

/// `GetTaskPushNotificationConfig`
///
/// # Errors
/// There is no such task, or nothing with this id.
pub(crate) async fn get(asked: &CallContext, wanted: GetTaskPushNotificationConfigRequest) -> Result<Value, RpcError> {
    let all = all(asked, &wanted.task_id).await?;
    let found = all.into_iter().find(|config| config.id.as_ref() == Some(&wanted.id));
    Ok(json!(found.ok_or_else(RpcError::task_not_found)?))
}

/// `ListTaskPushNotificationConfigs`. There is one page.
///
/// # Errors
/// There is no such task.
pub(crate) async fn list(
    asked: &CallContext,
    wanted: ListTaskPushNotificationConfigsRequest,
) -> Result<Value, RpcError> {
    let configs = all(asked, &wanted.task_id).await?;
    Ok(json!(ListTaskPushNotificationConfigsResponse { configs, next_page_token: None }))
}

/// `DeleteTaskPushNotificationConfig`. One that is not there is deleted already.
///
/// # Errors
/// There is no such task.
pub(crate) async fn delete(
    asked: &CallContext,
    wanted: DeleteTaskPushNotificationConfigRequest,
) -> Result<Value, RpcError> {
    settings(&asked.context.current.config())?;
    let task = task::row(asked, &wanted.task_id).await?;
    store::delete(&asked.context.store, &asked.caller.user_id, &task.id, &wanted.id).await?;
    Ok(json!({}))
}

async fn all(asked: &CallContext, task_id: &str) -> Result<Vec<TaskPushNotificationConfig>, RpcError> {
    let config = asked.context.current.config();
    let keys = settings(&config)?.environment_keys();
    let task = task::row(asked, task_id).await?;
    let rows = store::of_task(&asked.context.store, &asked.caller.user_id, &task.id).await?;
    let shown = rows.into_iter().map(|row| {
        let secrets = open(&keys, &row).unwrap_or_default();
        shown(row, secrets)
    });
    Ok(shown.collect())
}

/// Returns what the client is shown. Credentials are not given out again.
fn shown(row: PushRow, secrets: Secrets) -> TaskPushNotificationConfig {
    let authentication = secrets.authentication;
    TaskPushNotificationConfig {
        url: row.url,
        id: Some(row.id),
        task_id: row.task_id,
        token: secrets.token,
        authentication: authentication.map(|known| AuthenticationInfo { credentials: None, ..known }),
        tenant: None,
    }
}

/// Decrypts what a notification is sent with.
fn open(keys: &EnvironmentKeys, row: &PushRow) -> Option<Secrets> {
    let plain = keys.open(seal_context(&row.owner, &row.task_id, &row.id).as_bytes(), &row.sealed)?;
    serde_json::from_slice(&plain).ok()
}

/// Returns for whom and what it is encrypted.
fn seal_context(owner: &str, task_id: &str, id: &str) -> String {
    format!("{}:{owner}\n{task_id}\n{id}", owner.len())
}
