//! What a server says without being asked. It may tell how far a call has come, and that its tools are others now; everything else
//! that a server can ask of a client (the user's words, a model's, folders) is refused.

use contract::Progress;
use parking_lot::Mutex;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RoleClient};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A call is told of this often at most.
const PACE: Duration = Duration::from_millis(200);
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
    /// With when each call was last told of.
    running: Mutex<HashMap<ProgressToken, (Progress, Option<Instant>)>>,
}

impl Events {
    /// Whether the list of tools changed since this was last asked.
    pub(super) fn take_stale(&self) -> bool {
        self.inner.is_stale.swap(false, Ordering::Relaxed)
    }

    /// Hands on how far a call has come, until the answer is dropped.
    pub(super) fn follow(&self, token: ProgressToken, progress: Progress) -> Following {
        self.inner.running.lock().insert(token.clone(), (progress, None));
        Following { events: self.clone(), token }
    }
}

impl Events {
    /// Where a call's progress goes, if it is time to tell again.
    fn due(&self, token: &ProgressToken) -> Option<Progress> {
        let mut running = self.inner.running.lock();
        let (progress, last) = running.get_mut(token)?;
        if last.is_some_and(|last| last.elapsed() < PACE) {
            return None;
        }
        *last = Some(Instant::now());
        Some(progress.clone())
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
        // The newest that has `initialize`: the versions after it have none, so to offer one there is against the protocol.
        ClientConfig::new(ClientCapabilities::default(), name)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.inner.is_stale.store(true, Ordering::Relaxed);
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let Some(progress) = self.due(&told.progress_token) else { return };
        let message = told.message.map(|message| super::clean(&message, MAX_MESSAGE));
        let mut shown = json!({ "progress": told.progress, "total": told.total, "message": message });
        if let Some(fields) = shown.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        progress.tell(shown);
    }
}
