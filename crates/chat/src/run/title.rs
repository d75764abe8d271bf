//! Names a new conversation with a model, beside the first answer.
//!
//! The answer never waits for the title. If the title is there when the run ends, it becomes part of
//! the message like that of a hook, so that open pages show it; otherwise it is only stored.

use crate::Inner;
use crate::record::audit::RunContext;
use crate::record::steps;
use crate::run::hooks::TITLE;
use agent::{Agent, InvocationRequest, TurnLimits};
use contract::{ModelUse, RunScope};
use serde_json::{Value, json};
use std::time::Duration;
use store::Store;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use wire::UiMessage;
use wire::chunk::DataChunk;

/// The timeout of the request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long the end of a run waits for the title, beside its hooks.
const LAST_WAIT: Duration = Duration::from_millis(500);
/// The longest part of the message that the model reads, in characters.
const MAX_READ: usize = 4_000;
/// The maximum length of a title in characters.
const MAX_TITLE: usize = 60;
/// The id in usage records of the request, where that of a sub-agent's call is otherwise.
const CALL_ID: &str = "generateTitle";

/// A title that is being generated.
pub(crate) struct PendingTitle {
    title: oneshot::Receiver<String>,
    cancel: CancellationToken,
}

impl PendingTitle {
    /// Returns the part with the title, if it is there soon.
    pub(crate) async fn part(self) -> Option<DataChunk> {
        let title = tokio::time::timeout(LAST_WAIT, self.title).await.ok()?.ok()?;
        Some(DataChunk { kind: TITLE.to_owned(), id: None, data: json!({ "title": title }), transient: None })
    }

    /// Gives the title up, because the conversation has another one.
    pub(crate) fn discard(self) {
        self.cancel.cancel();
    }
}

/// Starts to generate a title for a conversation that begins with this message. `None` if it has no
/// text.
pub(crate) fn start(chat: &Inner, agent: Agent, subject: RunContext, message: &UiMessage) -> Option<PendingTitle> {
    let text: String = message.text().chars().take(MAX_READ).collect();
    if text.trim().is_empty() {
        return None;
    }
    let (sender, title) = oneshot::channel();
    let cancel = chat.stopping.child_token();
    let (store, stop) = (chat.store.clone(), cancel.clone());
    let work = async move {
        if let Some(title) = generate(&store, &agent, &subject, text, stop.clone()).await
            && let Err(late) = sender.send(title)
            && !stop.is_cancelled()
        {
            let RunContext { user_id, conversation_id, .. } = &subject;
            if let Err(error) = store.set_generated_title(user_id, conversation_id, &late).await {
                tracing::warn!(%error, "the title of a conversation could not be stored");
            }
        }
    };
    chat.tasks.spawn(work.in_current_span());
    Some(PendingTitle { title, cancel })
}

/// Asks the model and records its usage.
async fn generate(
    store: &Store,
    agent: &Agent,
    subject: &RunContext,
    text: String,
    cancel: CancellationToken,
) -> Option<String> {
    let question = InvocationRequest {
        // The message must not close the block and pass for instructions.
        prompt: format!("<message>\n{}\n</message>", text.replace("</message", "<\\/message")),
        form: None,
        tools: None,
        observer: None,
        limits: TurnLimits::default(),
        time: TIMEOUT,
        scope: RunScope { user_id: subject.user_id.clone(), ..RunScope::default() },
        models: ModelUse::default(),
        cancel,
    };
    let answer = agent::invoke(agent, question).await;
    let row = |reply: agent::InvocationReply| {
        steps::for_run(subject, reply.usage, Some((CALL_ID.to_owned(), subject.agent_id.clone())))
    };
    if let Err(error) = store.append_steps(answer.replies.into_iter().map(row).collect()).await {
        tracing::error!(%error, "the usage of a title could not be stored");
    }
    match answer.output {
        Ok(Value::String(text)) => cleaned(&text),
        Ok(_) => None,
        Err(error) => {
            tracing::warn!(agent = subject.agent_id, cause = %error, "a conversation could not be named");
            None
        }
    }
}

/// Returns the title in an answer: its last line, without a label, markup or quotes.
fn cleaned(answer: &str) -> Option<String> {
    let answer = answer.rsplit("</think>").next().unwrap_or(answer);
    let line = answer.lines().rfind(|line| !line.trim().is_empty())?.trim();
    let line = line.strip_prefix("Title:").unwrap_or(line);
    let is_frame = |c: char| c.is_whitespace() || "\"'`*#_\u{201c}\u{201d}\u{201e}\u{ab}\u{bb}.".contains(c);
    let words = line.trim_matches(is_frame).split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then(|| crate::submit::content::shortened(&words, MAX_TITLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_cleaned() {
        let check =
            |answer: &str, expected: &str| assert_eq!(cleaned(answer).unwrap_or_default(), expected, "{answer}");
        check("Refund of an order", "Refund of an order");
        check("\n **\"Refund of an order.\"** \n", "Refund of an order");
        check("Title: Refunds", "Refunds");
        check("<think>What is it?</think>\nRefunds", "Refunds");
        check("Here it is:\nRefunds", "Refunds");
        check("\u{201e}R\u{fc}ckgabe\u{201c}", "R\u{fc}ckgabe");
        check(" \n", "");
        check("\"\"", "");
        check(&"word ".repeat(40), &format!("{}\u{2026}", ["word"; 12].join(" ")));
    }
}
