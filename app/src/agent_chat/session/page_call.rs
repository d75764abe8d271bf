//! Calls of the page's own tools, which may do anything that the user could. So each runs once: the server is told before it begins, and
//! lets one page begin. What a page had begun when it went is not done again, because nobody knows how far it had come; the model reads
//! that, and decides. A tool that is `idempotent` does no more by being called twice, so its call is made once more.

use super::Session;
use crate::agent_chat::browser;
use crate::api;
use crate::numbers::time;
use crate::prelude::*;
use futures::future::{AbortHandle, Abortable, Either, select};
use leptos::prelude::{WindowListenerHandle, window_event_listener_untyped};
use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use wire::ToolPart;
use wire::api::{Answer, SendRequest, Submission};

/// What the model reads of a call whose page went.
const LOST: &str = "The page was closed or reloaded while it did this. It may or may not have had an effect: look before you do it again.";

/// Browsers end a page's requests before the page itself: what fails once it was told to go has failed only if it is still there after
/// this long.
const STAYS: Duration = Duration::from_secs(5);

impl Session {
    /// Whether a call may begin here, or has ended here: nobody runs it elsewhere, as far as is known.
    pub(super) fn is_free(self, call: &ToolPart) -> bool {
        let Some(runner) = call.runner() else { return true };
        self.inner.with_value(|inner| inner.runner.as_deref() == Some(runner)) || browser::was_runner(runner)
    }

    /// Runs a call. None if it runs elsewhere, or if the page went meanwhile: then the result has been sent already.
    pub(super) async fn run_page_call(self, call: ToolPart) -> Option<Answer> {
        let id = call.tool_call_id.clone();
        let known = |answer: &&Answer| matches!(answer, Answer::Output { tool_call_id, .. } | Answer::Error { tool_call_id, .. } if *tool_call_id == id);
        if let Some(answer) = self.inner.with_value(|inner| inner.ran.iter().find(known).cloned()) {
            return Some(answer);
        }
        let place = self.place.with_value(Clone::clone);
        let is_begun = call.runner().is_some();
        if is_begun && !place.tools.may_repeat(&call.tool_name) {
            return Some(failed(id, LOST));
        }
        let runner =
            self.inner.try_update_value(|inner| inner.runner.get_or_insert_with(browser::random_id).clone())?;
        browser::keep_runner(&runner);
        let begin = Answer::Started { tool_call_id: id.clone(), by: runner };
        let page = self.request(self.id.get_untracked()?, Submission::Answers { answers: vec![begin] }, &[]);
        // What may be done twice needs nobody's leave the second time: the first answer counts.
        if !is_begun && api::send(page.clone()).await.is_err() || self.is_gone() {
            return None;
        }
        if self.inner.with_value(|inner| inner.stop_early) {
            return Some(failed(id, "The user stopped this before it began."));
        }
        let (handle, registration) = AbortHandle::new_pair();
        self.inner.update_value(|inner| inner.interrupt = Some(handle));
        let farewell = Farewell::listen();
        let input = call.input.unwrap_or_default();
        let run = pin!(Abortable::new(place.tools.call(&call.tool_name, input), registration));
        let limit = place.tools.limit(&call.tool_name);
        let answer = match select(run, pin!(browser::sleep(limit))).await {
            Either::Left((Ok(Ok(output)), _)) => Answer::Output { tool_call_id: id, output },
            Either::Left((Ok(Err(why)), _)) => failed(id, &why),
            Either::Left((Err(_), _)) => failed(id, "The user stopped this while it ran."),
            Either::Right(_) => {
                let limit = time(limit.as_millis() as u64);
                failed(id, &format!("This took longer than {limit}. It may or may not have had an effect."))
            }
        };
        if matches!(answer, Answer::Error { .. }) && farewell.is_said() {
            browser::sleep(STAYS).await;
        }
        if self.is_gone() {
            leave_behind(page, answer).await;
            return None;
        }
        self.inner.update_value(|inner| inner.ran.push(answer.clone()));
        Some(answer)
    }
}

/// Hears whether the page is told to go: it is reloaded or closed, or another one is opened in its place. It may stay all the same, since
/// the user is asked where something is unsaved, and a download begins like that, too.
struct Farewell {
    said: Rc<Cell<bool>>,
    listeners: Vec<WindowListenerHandle>,
}

impl Farewell {
    fn listen() -> Self {
        let said = Rc::new(Cell::new(false));
        let listen = |event: &str| {
            let said = said.clone();
            window_event_listener_untyped(event, move |_| said.set(true))
        };
        Self { listeners: ["beforeunload", "pagehide"].map(listen).into(), said }
    }

    fn is_said(&self) -> bool {
        self.said.get()
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        self.listeners.drain(..).for_each(WindowListenerHandle::remove);
    }
}

/// Sends the result of a call that has led to another page. The answer goes on at the server, and is there when the user comes back.
async fn leave_behind(page: SendRequest, answer: Answer) {
    // Nobody is here to be told of a failure; whoever opens the conversation next finds the call open.
    let _ = api::send(SendRequest { submission: Submission::Answers { answers: vec![answer] }, ..page }).await;
}

fn failed(tool_call_id: String, why: &str) -> Answer {
    Answer::Error { tool_call_id, error_text: why.to_owned() }
}
