//! Calls of client tools, which may have any effect that the user could have. Each call therefore
//! runs once: before it starts, the page registers with the server, which lets one page start. A
//! call whose page was closed while it ran is not repeated, because its effect is unknown; the
//! model is told so and decides. A call of an `idempotent` tool is repeated once.

use crate::agent_chat::session::Session;
use crate::api;
use crate::prelude::*;
use crate::ui::browser;
use crate::ui::numbers::duration;
use futures::future::{AbortHandle, Abortable, Either, select};
use leptos::prelude::{WindowListenerHandle, window_event_listener_untyped};
use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use wire::ToolPart;
use wire::api::{Answer, SendRequest, Submission};

/// The error for the model if the page was closed or reloaded during a call.
const INTERRUPTED_TEXT: &str = "The page was closed or reloaded during this call. It may or may not have had an effect: check before you call it again.";

/// When a page is closed, the browser aborts its requests first. So a call that fails after an
/// unload event counts as failed only if the page still exists after this time.
const UNLOAD_GRACE: Duration = Duration::from_secs(5);

impl Session {
    /// Whether the call may run here: no other tab is known to run it.
    pub(in crate::agent_chat::session) fn may_run_here(self, call: &ToolPart) -> bool {
        let Some(runner) = call.claimed_by() else { return true };
        self.inner.with_value(|inner| inner.runner_id.as_deref() == Some(runner)) || browser::is_own_runner_id(runner)
    }

    /// Runs a call and returns its result. None if another tab runs it, or if the page was closed
    /// meanwhile and the result has been sent already.
    pub(in crate::agent_chat::session) async fn run_page_call(self, call: ToolPart) -> Option<Answer> {
        let id = call.tool_call_id.clone();
        let known = |answer: &&Answer| matches!(answer, Answer::Output { tool_call_id, .. } | Answer::Error { tool_call_id, .. } if *tool_call_id == id);
        if let Some(answer) = self.inner.with_value(|inner| inner.unsent_results.iter().find(known).cloned()) {
            return Some(answer);
        }
        let place = self.block.with_value(Clone::clone);
        let is_begun = call.claimed_by().is_some();
        if is_begun && !place.tools.may_repeat(&call.tool_name) {
            return Some(error_answer(id, INTERRUPTED_TEXT));
        }
        let runner =
            self.inner.try_update_value(|inner| inner.runner_id.get_or_insert_with(browser::random_id).clone())?;
        browser::save_runner_id(&runner);
        let begin = Answer::Started { tool_call_id: id.clone(), by: runner };
        let page = self.request(self.id.get_untracked()?, Submission::Answers { answers: vec![begin] }, &[]);
        // An idempotent call needs no registration to be repeated: the server accepts the first
        // result.
        if !is_begun && api::send(page.clone()).await.is_err() || self.is_disposed() {
            return None;
        }
        if self.inner.with_value(|inner| inner.stop_requested) {
            return Some(error_answer(id, "The user stopped this call before it started."));
        }
        let (handle, registration) = AbortHandle::new_pair();
        self.inner.update_value(|inner| inner.wait_handle = Some(handle));
        let farewell = UnloadWatch::listen();
        let input = call.input.unwrap_or_default();
        let run = pin!(Abortable::new(place.tools.call(&call.tool_name, input), registration));
        let limit = place.tools.timeout(&call.tool_name);
        let answer = match select(run, pin!(browser::sleep(limit))).await {
            Either::Left((Ok(Ok(output)), _)) => Answer::Output { tool_call_id: id, output },
            Either::Left((Ok(Err(why)), _)) => error_answer(id, &why),
            Either::Left((Err(_), _)) => error_answer(id, "The user stopped this call while it was running."),
            Either::Right(_) => {
                let limit = duration(limit.as_millis() as u64);
                error_answer(id, &format!("This call took longer than {limit}. It may or may not have had an effect."))
            }
        };
        if matches!(answer, Answer::Error { .. }) && farewell.has_fired() {
            browser::sleep(UNLOAD_GRACE).await;
        }
        if self.is_disposed() {
            send_after_unload(page, answer).await;
            return None;
        }
        self.inner.update_value(|inner| inner.unsent_results.push(answer.clone()));
        Some(answer)
    }
}

/// Detects that the page may be about to be closed, reloaded or left. The page may stay all the
/// same, if the user decides to stay because of unsaved changes, or because a download triggers the
/// same events.
struct UnloadWatch {
    fired: Rc<Cell<bool>>,
    listeners: Vec<WindowListenerHandle>,
}

impl UnloadWatch {
    fn listen() -> Self {
        let said = Rc::new(Cell::new(false));
        let listen = |event: &str| {
            let said = said.clone();
            window_event_listener_untyped(event, move |_| said.set(true))
        };
        Self { listeners: ["beforeunload", "pagehide"].map(listen).into(), fired: said }
    }

    fn has_fired(&self) -> bool {
        self.fired.get()
    }
}

impl Drop for UnloadWatch {
    fn drop(&mut self) {
        self.listeners.drain(..).for_each(WindowListenerHandle::remove);
    }
}

/// Sends the result of a call that led to another page. The run continues on the server, and its
/// answer is there when the user returns.
async fn send_after_unload(page: SendRequest, answer: Answer) {
    // An error cannot be shown here; the page that opens the conversation next finds the call open.
    let _ = api::send(SendRequest { submission: Submission::Answers { answers: vec![answer] }, ..page }).await;
}

fn error_answer(tool_call_id: String, why: &str) -> Answer {
    Answer::Error { tool_call_id, error_text: why.to_owned() }
}
