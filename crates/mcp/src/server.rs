//! An MCP server and its connections: one for each user, opened when it is first needed, reopened
//! after a failure, and closed when it is not used.

use crate::McpFeatures;
use crate::asking::AskUser;
use crate::connection::{Connection, RequestError, unavailable};
use crate::content::KnownPrompts;
use crate::events::ConnectionEvents;
use crate::listing::ServerTools;
use crate::settings::McpSettings;
use contract::{ToolContext, ToolError};
use rmcp::model::JsonObject;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;

/// The maximum number of open connections; beyond that the least recently used one is closed.
const MAX_OPEN: usize = 64;
/// The maximum number of users that are remembered; beyond that the least recent one is forgotten.
const MAX_USERS: usize = 4096;
/// How long an unused connection stays open.
const IDLE: Duration = Duration::from_secs(600);
/// A connection that lasted this long resets the count of failures.
const STABLE_TIME: Duration = Duration::from_secs(60);
/// The maximum time between two attempts.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// An MCP server and the connections of its users. When it is dropped, its connections are closed
/// and its processes are ended.
pub struct McpServer {
    pub(crate) settings: Arc<McpSettings>,
    /// Asks users the server's questions.
    ask: Option<Arc<dyn AskUser>>,
    /// Its prompts, as its connections have listed them.
    pub(crate) prompts: Arc<parking_lot::Mutex<KnownPrompts>>,
    pub(crate) seats: parking_lot::Mutex<HashMap<String, Arc<UserConnection>>>,
}

impl McpServer {
    /// Creates a server without connections, which may not ask users anything.
    pub fn new(settings: McpSettings) -> Self {
        Self { settings: Arc::new(settings), ask: None, prompts: Arc::default(), seats: parking_lot::Mutex::default() }
    }

    /// Returns the server with what asks users its questions, if its settings allow that.
    #[must_use]
    pub fn asking(self, ask: Arc<dyn AskUser>) -> Self {
        let ask = self.settings.features.elicitation.then_some(ask);
        Self { ask, ..self }
    }

    /// Returns the server's name.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Returns what is used of the server beside its tools.
    pub(crate) fn features(&self) -> &McpFeatures {
        &self.settings.features
    }

    /// Returns whether the server has the same settings, so that its connections can be kept.
    pub fn has_settings(&self, settings: &McpSettings) -> bool {
        self.settings.is_same(settings)
    }

    /// Closes the connections that nobody has used for ten minutes, once their calls have ended.
    pub fn close_idle(&self) {
        self.seats.lock().values().filter(|seat| seat.used().elapsed() > IDLE).for_each(|seat| seat.give_up());
    }

    /// Closes a user's own connection, and forgets which tools they have accepted.
    pub fn forget_user(&self, user_id: &str) {
        self.seats.lock().remove(user_id);
    }

    /// Returns the connection state of a user.
    pub(crate) fn user_connection(&self, user_id: &str) -> Arc<UserConnection> {
        let key = if self.settings.shared { "" } else { user_id };
        let mut seats = self.seats.lock();
        if !seats.contains_key(key) && seats.len() >= MAX_USERS {
            let oldest = seats.iter().min_by_key(|(_, seat)| seat.used()).map(|(key, _)| key.clone());
            oldest.map(|key| seats.remove(&key));
        }
        let seat = seats.entry(key.to_owned()).or_insert_with(|| Arc::new(UserConnection::new(self)));
        let seat = seat.clone();
        seat.touch();
        give_up_over(&seats, MAX_OPEN);
        seat
    }
}

fn give_up_over(seats: &HashMap<String, Arc<UserConnection>>, most: usize) {
    let mut open: Vec<_> = seats.values().filter(|seat| seat.is_open()).collect();
    let over = open.len().saturating_sub(most);
    open.sort_unstable_by_key(|seat| seat.used());
    open.iter().take(over).for_each(|seat| seat.give_up());
}

/// The connection of one user, and the tools that this user has accepted.
pub(crate) struct UserConnection {
    settings: Arc<McpSettings>,
    /// What its connections tell it.
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
    fn new(server: &McpServer) -> Self {
        let used = parking_lot::Mutex::new(Instant::now());
        let (settings, ask, prompts) = (server.settings.clone(), server.ask.clone(), server.prompts.clone());
        let events = ConnectionEvents { server: settings.name.clone(), ask, prompts, revision: Arc::default() };
        Self { settings, events, state: Mutex::default(), used, known: parking_lot::Mutex::default() }
    }

    /// Returns how often the server has reported a change of its tools or prompts.
    pub(crate) fn revision(&self) -> u64 {
        self.events.revision.load(Ordering::Relaxed)
    }

    fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    fn used(&self) -> Instant {
        *self.used.lock()
    }

    fn is_open(&self) -> bool {
        self.state.try_lock().is_ok_and(|state| state.connection.is_some())
    }

    /// Closes the connection once its running calls have ended.
    fn give_up(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.connection = None;
        }
    }

    /// Returns the connection, and opens one if there is none. After several failures this fails at
    /// once for some time.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, ToolError> {
        self.touch();
        let used = self.state.lock().await.connection.clone();
        if let Some(used) = used {
            used.probed().await;
        }
        let mut state = self.state.lock().await;
        match &state.connection {
            Some(connection) if connection.is_open() => return Ok(connection.clone()),
            // An expired access token is not a failure.
            Some(connection) if connection.is_token_expired() => state.connection = None,
            Some(_) => state.lost(),
            None => {}
        }
        if state.retry_at.is_some_and(|at| Instant::now() < at) {
            let error = state.error.clone();
            return Err(error.unwrap_or_else(|| unavailable(&self.settings.name, "its connection was just lost")));
        }
        match Connection::open(&self.settings, self.events.clone()).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.connection = Some(connection.clone());
                state.error = None;
                state.failed_at = None;
                Ok(connection)
            }
            Err(error) => {
                state.failed(error.clone());
                Err(error)
            }
        }
    }

    /// Returns the server's tools. A server that does not list them counts as failed; one that has
    /// forgotten the session is connected to again.
    pub(crate) async fn offered(&self) -> Result<Arc<ServerTools>, ToolError> {
        let connection = self.connection().await?;
        let failed = match connection.tools().await {
            Ok(offered) => return Ok(offered),
            Err(failed) => failed,
        };
        let (connection, error) = match failed {
            RequestError::Refused(_) => {
                self.forgotten(&connection).await;
                let connection = self.connection().await?;
                match connection.tools().await {
                    Ok(offered) => return Ok(offered),
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

    /// Calls a tool. The call is repeated on a new connection if the server refused it because it
    /// has forgotten the session, or, if the context allows a repetition, when the connection was
    /// lost.
    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &str,
        fingerprint: [u8; 32],
        arguments: JsonObject,
        context: ToolContext,
    ) -> Result<Value, ToolError> {
        let connection = self.connection().await?;
        let failed = match self.call_on(&connection, tool, arguments.clone(), context.clone()).await {
            Ok(value) => return Ok(value),
            Err(failed) => failed,
        };
        let is_again = match failed {
            RequestError::Answered(error) => return Err(error),
            RequestError::Refused(_) => true,
            RequestError::Lost(_) => context.may_repeat,
        };
        if !is_again || context.cancel.is_cancelled() {
            return Err(failed.into_error());
        }
        let connection = self.connection().await?;
        // The new connection may be to another version of the server.
        let listed = connection.tools().await.map_err(RequestError::into_error)?;
        if !listed.offered.iter().any(|offered| offered.name == tool && offered.fingerprint == fingerprint) {
            return Err(ToolError::new("The tool has changed on the server, so the call was not repeated."));
        }
        self.call_on(&connection, tool, arguments, context).await.map_err(RequestError::into_error)
    }

    /// Calls a tool on a connection, which is dropped if it cannot be used any more.
    async fn call_on(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        tool: &str,
        arguments: JsonObject,
        context: ToolContext,
    ) -> Result<Value, RequestError> {
        let (seat, used) = (Arc::downgrade(self), Arc::downgrade(connection));
        let gone = async move {
            if let (Some(seat), Some(connection)) = (seat.upgrade(), used.upgrade()) {
                tracing::warn!(server = seat.settings.name, "an MCP server does not respond any more; reconnecting");
                seat.broken(&connection).await;
            }
        };
        let result = connection.call(tool, arguments, context, gone).await;
        match &result {
            Err(RequestError::Refused(_)) => self.forgotten(connection).await,
            Err(RequestError::Lost(_)) => self.broken(connection).await,
            Ok(_) | Err(RequestError::Answered(_)) => {}
        }
        result
    }

    /// Drops a connection whose session the server has forgotten. The server responds, so the next
    /// connection is opened at once.
    pub(crate) async fn forgotten(&self, connection: &Arc<Connection>) {
        if let Some(mut state) = self.current(connection).await {
            state.connection = None;
        }
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
    use crate::{McpTransport, StdioSettings};

    #[test]
    fn a_user_who_is_deleted_is_forgotten_and_others_are_not() {
        let program = StdioSettings { command: "none".to_owned(), args: Vec::new(), env: Vec::new(), folder: None };
        let transport = McpTransport::Stdio(program);
        let server = McpServer::new(McpSettings {
            name: "notes".to_owned(),
            transport,
            shared: false,
            features: McpFeatures::default(),
        });
        let (ada, bob) = (server.user_connection("ada"), server.user_connection("bob"));
        server.forget_user("ada");
        assert!(!Arc::ptr_eq(&ada, &server.user_connection("ada")), "ada gets a new one");
        assert!(Arc::ptr_eq(&bob, &server.user_connection("bob")), "bob keeps the old one");
    }

    #[test]
    fn the_time_between_attempts_doubles() {
        let seconds: Vec<_> = (1..=9).map(|failures| wait(failures).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(wait(u32::MAX).as_secs(), 60);
    }
}
