//! Handles the notifications and requests of a server. It may report progress and changes of its
//! tools. Everything else that a server can request of a client (elicitation, sampling, roots) is
//! refused.

use contract::CallReports;
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

/// The minimum time between two progress reports of a call.
const PACE: Duration = Duration::from_millis(200);
/// The maximum size of a progress message in bytes.
const MAX_MESSAGE: usize = 300;

/// The handler of one connection; cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct NotificationHandler {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    is_stale: AtomicBool,
    /// The running calls, each with the time of its last report.
    running: Mutex<HashMap<ProgressToken, (CallReports, Option<Instant>)>>,
}

impl NotificationHandler {
    /// Returns whether the list of tools has changed since the last call of this function.
    pub(crate) fn take_stale(&self) -> bool {
        self.inner.is_stale.swap(false, Ordering::Relaxed)
    }

    /// Forwards the progress of a call until the returned value is dropped.
    pub(crate) fn track_progress(&self, token: ProgressToken, reports: CallReports) -> ProgressGuard {
        self.inner.running.lock().insert(token.clone(), (reports, None));
        ProgressGuard { events: self.clone(), token }
    }
}

impl NotificationHandler {
    /// Returns where to report a call's progress, if the next report is due.
    fn due_progress(&self, token: &ProgressToken) -> Option<CallReports> {
        let mut running = self.inner.running.lock();
        let (reports, last) = running.get_mut(token)?;
        if last.is_some_and(|last| last.elapsed() < PACE) {
            return None;
        }
        *last = Some(Instant::now());
        Some(reports.clone())
    }
}

/// A call whose progress is forwarded.
pub(crate) struct ProgressGuard {
    events: NotificationHandler,
    token: ProgressToken,
}

impl Drop for ProgressGuard {
    fn drop(&mut self) {
        self.events.inner.running.lock().remove(&self.token);
    }
}

impl ClientHandler for NotificationHandler {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("chatwright", env!("CARGO_PKG_VERSION"));
        // The latest version that has `initialize`. Later versions have none, so offering one in it
        // would violate the protocol.
        ClientConfig::new(ClientCapabilities::default(), name)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.inner.is_stale.store(true, Ordering::Relaxed);
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let Some(reports) = self.due_progress(&progress.progress_token) else { return };
        let message = progress.message.map(|message| super::clean(&message, MAX_MESSAGE));
        let mut shown = json!({ "progress": progress.progress, "total": progress.total, "message": message });
        if let Some(fields) = shown.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        reports.progress(shown);
    }
}
