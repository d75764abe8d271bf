//! A server with its connections: one for each user, made when it is first needed, made anew when it is lost, given up when it is
//! not used.

use super::connection::{Connection, Unanswered, unavailable};
use super::listing::Listed;
use super::settings::McpSettings;
use super::status::McpStatus;
use contract::{ToolContext, ToolError};
use rmcp::model::JsonObject;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;
use tokio_util::task::AbortOnDropHandle;

/// Users whose connections are open at the same time; of more, the one that has waited longest is given up.
const MAX_OPEN: usize = 64;
/// Users who are known; of more, the one who has waited longest is forgotten.
const MAX_SEATS: usize = 4096;
/// A connection that is not used for so long is given up.
const IDLE: Duration = Duration::from_secs(600);
/// How often that is looked at.
const SWEEP: Duration = Duration::from_secs(60);
/// A connection that lasted so long was a good one.
const GOOD: Duration = Duration::from_secs(60);
/// The longest time between two attempts.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A server, and who is connected to it. It ends its connections, and a program it started, when it is dropped.
pub struct McpServer {
    settings: Arc<McpSettings>,
    seats: Seats,
    _sweeper: AbortOnDropHandle<()>,
}

type Seats = Arc<parking_lot::Mutex<HashMap<String, Arc<Seat>>>>;

impl McpServer {
    /// A server that nobody is connected to yet. To be called within a runtime.
    pub fn new(settings: McpSettings) -> Self {
        let seats = Seats::default();
        let sweeper = AbortOnDropHandle::new(tokio::spawn(sweep(Arc::downgrade(&seats))));
        Self { settings: Arc::new(settings), seats, _sweeper: sweeper }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Whether it was made with these settings, so that its connections need not be made anew.
    pub fn has(&self, settings: &McpSettings) -> bool {
        self.settings.is_same(settings)
    }

    /// How it does. Nobody is connected for that, and who is being connected just now counts as not connected.
    pub fn status(&self) -> McpStatus {
        let mut status = McpStatus::idle(&self.settings);
        let seats: Vec<_> = self.seats.lock().values().cloned().collect();
        status.users = seats.len();
        for seat in seats {
            let Ok(state) = seat.state.try_lock() else { continue };
            if let Some(connection) = state.connection.as_ref().filter(|connection| connection.is_open()) {
                status.open += 1;
                let (tools, left_out) = connection.known_tools();
                if !tools.is_empty() || !left_out.is_empty() {
                    (status.tools, status.left_out) = (tools, left_out);
                }
            }
            if state.failed_at > status.failed_at {
                status.failed_at = state.failed_at;
                status.error = state.error.as_ref().map(|error| error.message.clone());
            }
        }
        status
    }

    /// The user's seat.
    pub(super) fn seat(&self, user_id: &str) -> Arc<Seat> {
        let key = if self.settings.shared { "" } else { user_id };
        let mut seats = self.seats.lock();
        if !seats.contains_key(key) && seats.len() >= MAX_SEATS {
            let oldest = seats.iter().min_by_key(|(_, seat)| seat.used()).map(|(key, _)| key.clone());
            oldest.map(|key| seats.remove(&key));
        }
        let seat = seats.entry(key.to_owned()).or_insert_with(|| Arc::new(Seat::new(self.settings.clone())));
        let seat = seat.clone();
        seat.touch();
        give_up_over(&seats, MAX_OPEN);
        seat
    }
}

/// Ends what is not used, until the server is gone.
async fn sweep(seats: Weak<parking_lot::Mutex<HashMap<String, Arc<Seat>>>>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let Some(seats) = seats.upgrade() else { return };
        let seats = seats.lock();
        seats.values().filter(|seat| seat.used().elapsed() > IDLE).for_each(|seat| seat.give_up());
    }
}

fn give_up_over(seats: &HashMap<String, Arc<Seat>>, most: usize) {
    let mut open: Vec<_> = seats.values().filter(|seat| seat.is_open()).collect();
    let over = open.len().saturating_sub(most);
    open.sort_unstable_by_key(|seat| seat.used());
    open.iter().take(over).for_each(|seat| seat.give_up());
}

/// One user's connection, and what the user knows of the tools.
pub(super) struct Seat {
    settings: Arc<McpSettings>,
    state: Mutex<State>,
    used: parking_lot::Mutex<Instant>,
    /// What each tool said of itself when it was first seen, or last agreed to.
    known: parking_lot::Mutex<HashMap<String, [u8; 32]>>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    /// Attempts in a row that came to nothing.
    failures: u32,
    /// Not to be tried again before.
    retry_at: Option<Instant>,
    error: Option<ToolError>,
    /// Since when there is an error; Unix time, milliseconds.
    failed_at: Option<i64>,
}

impl Seat {
    fn new(settings: Arc<McpSettings>) -> Self {
        let used = parking_lot::Mutex::new(Instant::now());
        Self { settings, state: Mutex::default(), used, known: parking_lot::Mutex::default() }
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

    /// Ends the connection once the calls that run on it are over.
    fn give_up(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.connection = None;
        }
    }

    /// The connection; a new one where there is none, but not at once after several failures.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, ToolError> {
        self.touch();
        let mut state = self.state.lock().await;
        match &state.connection {
            Some(connection) if connection.is_open() => return Ok(connection.clone()),
            // That is nobody's failure.
            Some(connection) if connection.is_over() => state.connection = None,
            Some(_) => state.lost(),
            None => {}
        }
        if state.retry_at.is_some_and(|at| Instant::now() < at) {
            let error = state.error.clone();
            return Err(error.unwrap_or_else(|| unavailable(&self.settings.name, "its connection was lost just now")));
        }
        match Connection::open(&self.settings).await {
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

    /// What the server offers. One that does not say is taken for lost; one that has forgotten the session is connected to anew.
    pub(super) async fn offered(&self) -> Result<Arc<Listed>, ToolError> {
        let connection = self.connection().await?;
        let failed = match connection.tools().await {
            Ok(offered) => return Ok(offered),
            Err(failed) => failed,
        };
        let (connection, error) = match failed {
            Unanswered::Refused(_) => {
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

    /// Calls a tool. The call is made once more, on a new connection, if the server refused it since it has forgotten the session; and if
    /// the connection was lost, where the context says that the call may be made twice.
    pub(super) async fn call(
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
            Unanswered::Answered(error) => return Err(error),
            Unanswered::Refused(_) => true,
            Unanswered::Lost(_) => context.may_repeat,
        };
        if !is_again || context.cancel.is_cancelled() {
            return Err(failed.into_error());
        }
        let connection = self.connection().await?;
        // Behind the new connection there may be another version of the server.
        let listed = connection.tools().await.map_err(Unanswered::into_error)?;
        if !listed.offered.iter().any(|offered| offered.name == tool && offered.fingerprint == fingerprint) {
            return Err(ToolError::new(
                "The server no longer has this tool as it was, so the call was not made again.",
            ));
        }
        self.call_on(&connection, tool, arguments, context).await.map_err(Unanswered::into_error)
    }

    /// Calls a tool on a connection, which is given up if it is of no more use then.
    async fn call_on(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        tool: &str,
        arguments: JsonObject,
        context: ToolContext,
    ) -> Result<Value, Unanswered> {
        let (seat, used) = (Arc::downgrade(self), Arc::downgrade(connection));
        let gone = async move {
            if let (Some(seat), Some(connection)) = (seat.upgrade(), used.upgrade()) {
                tracing::warn!(
                    server = seat.settings.name,
                    "an MCP server does not answer any more; it is connected to anew"
                );
                seat.broken(&connection).await;
            }
        };
        let result = connection.call(tool, arguments, context, gone).await;
        match &result {
            Err(Unanswered::Refused(_)) => self.forgotten(connection).await,
            Err(Unanswered::Lost(_)) => self.broken(connection).await,
            Ok(_) | Err(Unanswered::Answered(_)) => {}
        }
        result
    }

    /// The server has forgotten the connection. It answers, so the next one is made at once.
    async fn forgotten(&self, connection: &Arc<Connection>) {
        if let Some(mut state) = self.current(connection).await {
            state.connection = None;
        }
    }

    /// The connection broke.
    async fn broken(&self, connection: &Arc<Connection>) {
        if let Some(mut state) = self.current(connection).await {
            state.lost();
        }
    }

    /// The state, as long as this connection is the one in use.
    async fn current(&self, connection: &Arc<Connection>) -> Option<tokio::sync::MutexGuard<'_, State>> {
        let state = self.state.lock().await;
        state.connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)).then_some(state)
    }

    /// Whether a tool says something else of itself than when the user came to know it: what was harmless once may have been
    /// exchanged (a rug pull).
    pub(super) fn is_changed(&self, tool: &str, fingerprint: [u8; 32]) -> bool {
        *self.known.lock().entry(tool.to_owned()).or_insert(fingerprint) != fingerprint
    }

    /// The user agrees to the tool as it is.
    pub(super) fn accept(&self, tool: &str, fingerprint: [u8; 32]) {
        self.known.lock().insert(tool.to_owned(), fingerprint);
    }
}

impl State {
    /// The connection ended by itself. The first time it is made anew at once.
    fn lost(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if connection.age() >= GOOD {
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

/// Twice as long after each failure.
fn wait(failures: u32) -> Duration {
    Duration::from_secs(1).saturating_mul(1 << failures.saturating_sub(1).min(10)).min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use super::wait;

    #[test]
    fn attempts_become_rarer() {
        let seconds: Vec<_> = (1..=9).map(|failures| wait(failures).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(wait(u32::MAX).as_secs(), 60);
    }
}
