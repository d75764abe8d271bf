//! Calls of the page's own tools, which may do anything that the user could. So each runs once: the server is told before it begins, and
//! lets one page begin. What a page had begun when it went is not done again, because nobody knows how far it had come; the model reads
//! that, and decides. A tool that is `idempotent` does no more by being called twice, so its call is made once more.

use super::Session;
use crate::agent_chat::browser;
use crate::api;
use crate::numbers::time;
use futures::future::{AbortHandle, Abortable, Either, select};
use std::pin::pin;
use wire::ToolPart;
use wire::api::{Answer, SendRequest, Submission};

/// What the model reads of a call whose page went.
const LOST: &str = "The page was closed or reloaded while it did this. It may or may not have had an effect: look before you do it again.";

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
        if self.is_gone() {
            leave_behind(page, answer).await;
            return None;
        }
        self.inner.update_value(|inner| inner.ran.push(answer.clone()));
        Some(answer)
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
