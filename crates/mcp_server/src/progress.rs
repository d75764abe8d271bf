//! Tells the client how far a call is, if it has asked for that.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The shortest time between two messages about a text that is being written.
const TEXT_INTERVAL: Duration = Duration::from_secs(1);

/// Sends notifications about the progress of a call.
pub(crate) struct Progress {
    /// The client's name of this progress; `None` if it has not asked for it.
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
    cancel: CancellationToken,
    /// How many notifications were sent. The total is not known.
    sent: f64,
    last: Option<Instant>,
    /// How many steps of the answer were reported.
    answer_steps: usize,
}

impl Progress {
    pub(crate) fn new(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { token, peer: context.peer.clone(), cancel: context.ct.clone(), sent: 0.0, last: None, answer_steps: 0 }
    }

    /// Reports a new step.
    pub(crate) async fn step(&mut self, message: String) {
        let Some(token) = self.token.clone() else { return };
        self.sent += 1.0;
        self.last = Some(Instant::now());
        let notification = ProgressNotificationParam::new(token, self.sent).with_message(message);
        // A client that does not read must not keep a cancelled call.
        tokio::select! {
            // One that has gone ends the call in another way.
            _ = self.peer.notify_progress(notification) => {}
            () = self.cancel.cancelled() => {}
        }
    }

    /// Reports the step with this number of an answer, unless it was reported before: the stream of a run that continues an answer
    /// begins with its earlier steps.
    pub(crate) async fn answer_step(&mut self, number: usize, message: String) {
        if number > self.answer_steps {
            self.answer_steps = number;
            self.step(message).await;
        }
    }

    /// Reports that a text goes on, at most once a second.
    pub(crate) async fn text(&mut self, characters: usize) {
        if self.token.is_some() && self.last.is_none_or(|last| last.elapsed() >= TEXT_INTERVAL) {
            self.step(format!("Writing: {characters} characters")).await;
        }
    }
}
