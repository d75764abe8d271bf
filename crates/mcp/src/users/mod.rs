//! The connection of a user: opened when it is first needed, and reopened after a failure.

mod access;
mod calls;
mod connect_account;

pub(crate) use access::UserAccess;
pub(crate) use connect_account::ConnectAccount;

use crate::connection::{Connection, OpenFailure, RequestError, unavailable};
use crate::events::ConnectionEvents;
use crate::listing::ServerTools;
use crate::server::McpServer;
use crate::settings::McpSettings;
use contract::{Bearer, RunScope, ToolError};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;

/// A connection that lasted this long resets the count of failures.
const STABLE_TIME: Duration = Duration::from_secs(60);
/// The maximum time between two attempts.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The connection of one user, and the tools that this user has accepted.
pub(crate) struct UserConnection {
    settings: Arc<McpSettings>,
    /// How it is authorized, if that is different for each user.
    pub(crate) access: Option<UserAccess>,
    /// The events of its connections.
    events: ConnectionEvents,
    pub(crate) state: Mutex<ConnectionState>,
    used: parking_lot::Mutex<Instant>,
    /// The fingerprint of each tool when it was first listed, or last accepted.
    known: parking_lot::Mutex<HashMap<String, [u8; 32]>>,
}

#[derive(Default)]
pub(crate) struct ConnectionState {
    pub(crate) connection: Option<Arc<Connection>>,
    /// The number of consecutive failed attempts.
    failures: u32,
    /// The time before which there is no further attempt.
    retry_at: Option<Instant>,
    pub(crate) error: Option<ToolError>,
    /// Since when there is an error; Unix time in milliseconds.
    pub(crate) failed_at: Option<i64>,
}

impl UserConnection {
    pub(crate) fn new(server: &McpServer) -> Self {
        let access = server.service.clone().map(|service| UserAccess::new(service, server.tokens.clone()));
        let used = parking_lot::Mutex::new(Instant::now());
        let (settings, ask, prompts) = (server.settings.clone(), server.ask.clone(), server.prompts.clone());
        let (server, shows_apps) = (settings.name.clone(), settings.features.apps.is_some());
        let events = ConnectionEvents { server, shows_apps, ask, prompts, revision: Arc::default() };
        Self { settings, access, events, state: Mutex::default(), used, known: parking_lot::Mutex::default() }
    }

    /// Returns how often the server has reported a change of its tools or prompts.
    pub(crate) fn revision(&self) -> u64 {
        self.events.revision.load(Ordering::Relaxed)
    }

    pub(crate) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    pub(crate) fn used(&self) -> Instant {
        *self.used.lock()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state.try_lock().is_ok_and(|state| state.connection.is_some())
    }

    /// Closes the connection once its running calls have ended.
    pub(crate) fn give_up(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.connection = None;
        }
    }

    /// Authorizes requests as the user of a run from now on.
    pub(crate) fn authorize_as(&self, scope: &RunScope) {
        if let Some(access) = &self.access {
            access.set_scope(scope);
        }
    }

    /// Returns the token of the user for requests outside of a call; `None` if the server is not called on their behalf.
    pub(crate) async fn token(&self) -> Result<Option<Bearer>, ToolError> {
        match &self.access {
            Some(access) => access.token().await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the connection, and opens one if there is none. After several failures this fails at
    /// once for some time.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, ToolError> {
        self.connection_with(self.token().await?).await
    }

    /// Returns the connection, outside of a call. If the server refuses the token, another one is tried, if there is one.
    async fn connection_with(&self, token: Option<Bearer>) -> Result<Arc<Connection>, ToolError> {
        let failure = match self.connect(token.clone()).await {
            Ok(connection) => return Ok(connection),
            Err(failure) => failure,
        };
        let (Some(access), Some(token), Some(challenge)) = (&self.access, &token, &failure.challenge) else {
            return Err(failure.error);
        };
        // If the user has to connect the account, there is no token any more.
        access.refused(token, challenge).await;
        self.allow_retry().await;
        self.connect(self.token().await?).await.map_err(|failure| failure.error)
    }

    /// Allows an attempt at once, since there is another token.
    async fn allow_retry(&self) {
        self.state.lock().await.retry_at = None;
    }

    /// Returns the connection with a token, and opens one if there is none.
    async fn connect(&self, token: Option<Bearer>) -> Result<Arc<Connection>, OpenFailure> {
        self.touch();
        let used = self.state.lock().await.connection.clone();
        if let Some(used) = used {
            used.probed().await;
        }
        let mut state = self.state.lock().await;
        match &state.connection {
            // The user has another token by now.
            Some(connection) if connection.token != token => state.connection = None,
            Some(connection) if connection.is_open() => return Ok(connection.clone()),
            // An expired access token is not a failure.
            Some(connection) if connection.is_token_expired() => state.connection = None,
            Some(_) => state.lost(),
            None => {}
        }
        if state.retry_at.is_some_and(|at| Instant::now() < at) {
            let error = state.error.clone();
            let error = error.unwrap_or_else(|| unavailable(&self.settings.name, "its connection was just lost"));
            return Err(OpenFailure { error, challenge: None });
        }
        match Connection::open(&self.settings, self.events.clone(), token).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.connection = Some(connection.clone());
                state.error = None;
                state.failed_at = None;
                Ok(connection)
            }
            Err(failure) => {
                state.failed(failure.error.clone());
                Err(failure)
            }
        }
    }

    /// Returns the server's tools with their connection, which has the user's token. A server that does not list them
    /// counts as failed; one that has forgotten the session, or wants another token, is connected to again.
    pub(crate) async fn offered(
        &self,
        token: Option<Bearer>,
    ) -> Result<(Arc<Connection>, Arc<ServerTools>), ToolError> {
        let connection = self.connection_with(token).await?;
        let failed = match connection.tools().await {
            Ok(offered) => return Ok((connection, offered)),
            Err(failed) => failed,
        };
        let (connection, error) = match failed {
            RequestError::Refused(_) | RequestError::Unauthorized(..) => {
                self.drop_failed(&connection, &failed).await;
                let connection = self.connection().await?;
                match connection.tools().await {
                    Ok(offered) => return Ok((connection, offered)),
                    Err(failed) => (connection, failed.into_error()),
                }
            }
            failed => (connection, failed.into_error()),
        };
        if let Some(mut state) = self.current(&connection).await {
            state.connection = None;
            state.failed(error.clone());
        }
        Err(error)
    }

    /// Drops a connection whose session the server has forgotten. The server responds, so the next
    /// connection is opened at once.
    pub(crate) async fn forgotten(&self, connection: &Arc<Connection>) {
        if let Some(mut state) = self.current(connection).await {
            state.connection = None;
        }
    }

    /// Drops a connection whose token the server has refused outside of a call.
    pub(crate) async fn unauthorized(&self, connection: &Arc<Connection>, challenge: &str) {
        if let (Some(access), Some(token)) = (&self.access, &connection.token) {
            access.refused(token, challenge).await;
        }
        self.forgotten(connection).await;
    }

    /// Drops a connection that failed.
    pub(crate) async fn broken(&self, connection: &Arc<Connection>) {
        if let Some(mut state) = self.current(connection).await {
            state.lost();
        }
    }

    /// Returns the state if this connection is still the current one.
    async fn current(&self, connection: &Arc<Connection>) -> Option<tokio::sync::MutexGuard<'_, ConnectionState>> {
        let state = self.state.lock().await;
        state.connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)).then_some(state)
    }

    /// Returns whether a tool has changed since the user accepted it: a server may exchange a
    /// harmless tool for a malicious one (a rug pull).
    pub(crate) fn is_changed(&self, tool: &str, fingerprint: [u8; 32]) -> bool {
        *self.known.lock().entry(tool.to_owned()).or_insert(fingerprint) != fingerprint
    }

    /// Records that the user accepts the tool as it is.
    pub(crate) fn accept(&self, tool: &str, fingerprint: [u8; 32]) {
        self.known.lock().insert(tool.to_owned(), fingerprint);
    }
}

impl ConnectionState {
    /// Drops a connection that was lost. After the first failure it is reopened at once.
    fn lost(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if connection.age() >= STABLE_TIME {
            self.failures = 0;
        }
        self.retry_at = (self.failures > 0).then(|| Instant::now() + wait(self.failures));
        self.failures += 1;
    }

    fn failed(&mut self, error: ToolError) {
        self.failures += 1;
        self.retry_at = Some(Instant::now() + wait(self.failures));
        self.error = Some(error);
        self.failed_at = SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_millis() as i64);
    }
}

/// Returns the time before the next attempt, which doubles with each failure.
fn wait(failures: u32) -> Duration {
    Duration::from_secs(1).saturating_mul(1 << failures.saturating_sub(1).min(10)).min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_attempts_doubles() {
        let seconds: Vec<_> = (1..=9).map(|failures| wait(failures).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(wait(u32::MAX).as_secs(), 60);
    }
}
