//! An MCP server and its connections: one for each user, opened when it is first needed, reopened
//! after a failure, and closed when it is not used.

use crate::McpFeatures;
use crate::asking::AskUser;
use crate::content::KnownPrompts;
use crate::settings::McpSettings;
use crate::users::UserConnection;
use ::settings::user_auth::Service;
use capability::ServiceTokens;
use contract::RunScope;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of open connections; beyond that the least recently used one is closed.
const MAX_OPEN: usize = 64;
/// The maximum number of users that are remembered; beyond that the least recent one is forgotten.
const MAX_USERS: usize = 4096;
/// How long an unused connection stays open.
const IDLE: Duration = Duration::from_secs(600);

/// An MCP server and the connections of its users. When it is dropped, its connections are closed
/// and its processes are ended.
pub struct McpServer {
    pub(crate) settings: Arc<McpSettings>,
    /// Asks users the server's questions.
    pub(crate) ask: Option<Arc<dyn AskUser>>,
    /// The service that is called on behalf of each user, if it is.
    pub(crate) service: Option<Service>,
    /// The tokens of users.
    pub(crate) tokens: ServiceTokens,
    /// Its prompts, as its connections have listed them.
    pub(crate) prompts: Arc<parking_lot::Mutex<KnownPrompts>>,
    pub(crate) seats: parking_lot::Mutex<HashMap<String, Arc<UserConnection>>>,
}

impl McpServer {
    /// Creates a server without connections, which may not ask users anything.
    pub fn new(settings: McpSettings) -> Self {
        let service = settings.transport.user_service(&settings.name);
        let (tokens, prompts, seats) = Default::default();
        Self { settings: Arc::new(settings), ask: None, service, tokens, prompts, seats }
    }

    /// Returns the server with the tokens of users, if it is called on behalf of each of them.
    #[must_use]
    pub fn with_tokens(self, tokens: ServiceTokens) -> Self {
        Self { tokens, ..self }
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

    /// Returns the connection state of the user of a run, with which the connection is authorized from now on.
    pub(crate) fn connection_for(&self, scope: &RunScope) -> Arc<UserConnection> {
        let seat = self.user_connection(&scope.user_id);
        seat.authorize_as(scope);
        seat
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
}
