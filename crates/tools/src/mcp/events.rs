//! What a server says without being asked. It may tell how far a call has come, and that its tools are others now; everything else
//! that a server can ask of a client (the user's words, a model's, folders) is refused.

use contract::Progress;
use parking_lot::Mutex;
use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken};
use rmcp::service::{NotificationContext, RoleClient};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of what a server says about how far it is.
const MAX_MESSAGE: usize = 300;

/// Listens to one connection; a cheap handle.
#[derive(Clone, Default)]
pub(super) struct Events {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    is_stale: AtomicBool,
    running: Mutex<HashMap<ProgressToken, Progress>>,
}

impl Events {
    /// Whether the list of tools changed since this was last asked.
    pub(super) fn take_stale(&self) -> bool {
        self.inner.is_stale.swap(false, Ordering::Relaxed)
    }

    /// Hands on how far a call has come, until the answer is dropped.
    pub(super) fn follow(&self, token: ProgressToken, progress: Progress) -> Following {
        self.inner.running.lock().insert(token.clone(), progress);
        Following { events: self.clone(), token }
    }
}

/// A call that is followed.
pub(super) struct Following {
    events: Events,
    token: ProgressToken,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.events.inner.running.lock().remove(&self.token);
    }
}

impl ClientHandler for Events {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("chatwright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.inner.is_stale.store(true, Ordering::Relaxed);
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let Some(progress) = self.inner.running.lock().get(&told.progress_token).cloned() else { return };
        let message = told.message.map(|message| super::clean(&message, MAX_MESSAGE));
        let mut shown = json!({ "progress": told.progress, "total": told.total, "message": message });
        if let Some(fields) = shown.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        progress.tell(shown);
    }
}
