//! Names a new conversation with a model, beside the first answer.
//!
//! The answer never waits for the title. If the title is there when the run ends, it becomes part of
//! the message like that of a hook, so that open pages show it; otherwise it is only stored.
//!
//! The work is a job that this server runs at once, with the agent that it has resolved for the user.
//! If the server dies or the model fails, any server tries again later.

use crate::record::audit::RunContext;
use crate::record::steps;
use crate::run::hooks::TITLE;
use crate::submit::content::{shortened, title_from};
use crate::{AgentRequest, AgentSource, Caller, TitleAgent};
use agent::{InvocationInput, InvocationRequest, InvokeError, Limit, TurnLimits};
use contract::{ModelUse, RunScope};
use jobs::{Backoff, Handler, JobContext, JobError, Kind, Lane, Outcome, Workers};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::StepRecord;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;
use wire::chunk::DataChunk;
use wire::{Role, UiMessage};

/// The timeout of the request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long the end of a run waits for the title, beside its hooks.
const LAST_WAIT: Duration = Duration::from_millis(500);
/// The longest part of the message that the model reads, in characters.
const MAX_READ: usize = 4_000;
/// The id in usage records of the request, where that of a sub-agent's call is otherwise.
const CALL_ID: &str = "generateTitle";

/// A title to generate.
const JOB: Kind<TitleJob> = Kind::new("chat.title")
    .lane(Lane::Interactive)
    .concurrency(32)
    .attempts(3)
    .backoff(Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(120) })
    .timeout(Duration::from_secs(60));

/// The payload: what another server needs to resolve the agent again.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TitleJob {
    conversation_id: String,
    agent_id: String,
    page_id: String,
    message_id: String,
    run_id: String,
    is_authenticated: bool,
    roles: Vec<String>,
    /// The title that the conversation has until then: its first words.
    #[serde(default)]
    first_words: String,
}

/// The titles that this server generates, by conversation.
#[derive(Clone, Default)]
pub(crate) struct Titles(Arc<Mutex<HashMap<String, LocalTitle>>>);

/// The parts of the job that only this server has.
struct LocalTitle {
    agent: TitleAgent,
    text: String,
    cancel: CancellationToken,
    title: oneshot::Sender<String>,
}

/// A title that is being generated.
pub(crate) struct PendingTitle {
    title: oneshot::Receiver<String>,
    cancel: CancellationToken,
    _entry: Entry,
}

/// Removes what only this server has when the run is over and the job has not begun.
struct Entry {
    titles: Titles,
    conversation_id: String,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.titles.0.lock().remove(&self.conversation_id);
    }
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

impl Titles {
    /// Starts to generate a title for a conversation that begins with this message. `None` if it has
    /// no text.
    pub(crate) fn start(
        &self,
        (workers, tasks): (&Workers, &TaskTracker),
        agent: TitleAgent,
        (caller, page_id, subject): (&Caller, &str, RunContext),
        message: &UiMessage,
    ) -> Option<PendingTitle> {
        let text = text_to_read(message)?;
        let (sender, title) = oneshot::channel();
        let cancel = CancellationToken::new();
        let local = LocalTitle { agent, text, cancel: cancel.clone(), title: sender };
        self.0.lock().insert(subject.conversation_id.clone(), local);
        let payload = TitleJob {
            conversation_id: subject.conversation_id.clone(),
            agent_id: subject.agent_id,
            page_id: page_id.to_owned(),
            message_id: subject.message_id,
            run_id: subject.run_id,
            is_authenticated: caller.is_authenticated,
            roles: caller.roles().to_vec(),
            first_words: title_from(message),
        };
        let job = JOB.job(&payload).owner(subject.user_id).key(subject.conversation_id.clone());
        let entry = Entry { titles: self.clone(), conversation_id: subject.conversation_id };
        let workers = workers.clone();
        let work = async move {
            if let Err(error) = workers.run_here(job).await {
                tracing::warn!(%error, "the title of a conversation could not be requested");
            }
        };
        tasks.spawn(work.in_current_span());
        Some(PendingTitle { title, cancel, _entry: entry })
    }

    /// Returns the handler of the jobs.
    pub(crate) fn handler(&self, agents: Arc<dyn AgentSource>) -> Handler {
        let titles = self.clone();
        Handler::new(JOB, move |job: JobContext, wanted: TitleJob| {
            let (titles, agents) = (titles.clone(), agents.clone());
            async move { titles.run(&*agents, &job, wanted).await }
        })
    }

    async fn run(&self, agents: &dyn AgentSource, job: &JobContext, wanted: TitleJob) -> Result<Outcome, JobError> {
        let user_id = job.owner().unwrap_or_default().to_owned();
        let local = self.0.lock().remove(&wanted.conversation_id);
        let (agent, text, cancel, sender) = match local {
            Some(LocalTitle { agent, text, cancel, title }) => (agent, text, cancel, Some(title)),
            None => match resolve(agents, job, &user_id, &wanted).await? {
                Some((agent, text)) => (agent, text, CancellationToken::new(), None),
                // The conversation, the agent or its right to it is gone.
                None => return Ok(Outcome::DONE),
            },
        };
        let subject = RunContext {
            user_id,
            agent_id: wanted.agent_id,
            conversation_id: wanted.conversation_id,
            message_id: wanted.message_id,
            run_id: wanted.run_id,
        };
        // Boxed, because what can be cancelled has room for it twice.
        let request = Box::pin(generate(&agent, &subject, text, cancel.clone()));
        let Some((title, used)) = job.stop().run_until_cancelled(request).await else {
            return Err(JobError::retry("it was stopped"));
        };
        let title = match title {
            _ if cancel.is_cancelled() => None,
            Ok(title) => title,
            Err(cause) => {
                job.write(move |db| Box::pin(store::append_steps(db, used))).await?;
                return Err(JobError::retry(cause));
            }
        };
        let named = title.clone();
        let finished = job.finish(Outcome::DONE, move |db| {
            Box::pin(async move {
                store::append_steps(&mut *db, used).await?;
                match named {
                    Some(title) => {
                        let (owner, id) = (&subject.user_id, &subject.conversation_id);
                        store::set_generated_title(db, owner, id, &wanted.first_words, &title).await
                    }
                    None => Ok(()),
                }
            })
        });
        let outcome = finished.await?;
        if let Some((title, sender)) = title.zip(sender) {
            // The run may have ended.
            let _ = sender.send(title);
        }
        Ok(outcome)
    }
}

/// Returns the agent and the first message, on a server that did not accept it, or later.
async fn resolve(
    agents: &dyn AgentSource,
    job: &JobContext,
    user_id: &str,
    wanted: &TitleJob,
) -> Result<Option<(TitleAgent, String)>, JobError> {
    let known = job.store().conversation(user_id, &wanted.conversation_id).await?;
    // A temporary conversation is soon gone.
    let is_known = known.is_some_and(|known| !known.summary.temporary);
    let messages = if is_known { job.store().branch(user_id, &wanted.conversation_id).await? } else { Vec::new() };
    let first = messages.iter().find(|stored| stored.message.role == Role::User);
    let Some(text) = first.and_then(|stored| text_to_read(&stored.message)) else { return Ok(None) };
    let caller = Caller::new(user_id, wanted.is_authenticated).with_roles(wanted.roles.clone());
    let Ok(answers) = agents.by_id(&caller, &wanted.agent_id).await else { return Ok(None) };
    let request = AgentRequest {
        page_id: &wanted.page_id,
        conversation_id: &wanted.conversation_id,
        ..AgentRequest::without_page(&caller, &wanted.agent_id)
    };
    Ok(agents.title_agent(&request, &answers).map(|agent| (agent, text)))
}

/// Returns the part of a message that the model reads, if it has text.
fn text_to_read(message: &UiMessage) -> Option<String> {
    let text: String = message.text().chars().take(MAX_READ).collect();
    (!text.trim().is_empty()).then_some(text)
}

/// Asks the model. Returns a title if the answer has a usable one, or why there is no answer, and the
/// usage to record.
async fn generate(
    agent: &TitleAgent,
    subject: &RunContext,
    text: String,
    cancel: CancellationToken,
) -> (Result<Option<String>, String>, Vec<StepRecord>) {
    let question = InvocationRequest {
        replaces_limits: false,
        asks: false,
        from: None,
        // The message must not close the block and pass for instructions.
        input: InvocationInput::prompt(format!("<message>\n{}\n</message>", text.replace("</message", "<\\/message"))),
        form: None,
        tools: None,
        observer: None,
        limits: TurnLimits::default(),
        time: TIMEOUT,
        scope: RunScope { user_id: subject.user_id.clone(), ..RunScope::default() },
        models: ModelUse::default(),
        cancel,
    };
    let answer = agent::invoke(&agent.agent, question).await;
    let row = |reply: agent::InvocationReply| {
        steps::for_run(subject, reply.usage, Some((CALL_ID.to_owned(), subject.agent_id.clone())))
    };
    let title = match answer.output {
        // A title is shortened anyway.
        Ok(Value::String(text)) | Err(InvokeError::Incomplete { limit: Limit::OutputTokens, text }) => {
            Ok(cleaned(&text, agent.max_words, agent.max_chars))
        }
        Ok(_) => Ok(None),
        Err(error) => Err(error.to_string()),
    };
    (title, answer.replies.into_iter().map(row).collect())
}

/// Returns the title in an answer: its last line, without a label, markup or quotes, and not longer than
/// allowed.
fn cleaned(answer: &str, max_words: usize, max_chars: usize) -> Option<String> {
    let answer = answer.rsplit("</think>").next().unwrap_or(answer);
    let line = answer.lines().rfind(|line| !line.trim().is_empty())?.trim();
    let line = line.strip_prefix("Title:").unwrap_or(line);
    let is_frame = |c: char| c.is_whitespace() || "\"'`*#_\u{201c}\u{201d}\u{201e}\u{ab}\u{bb}.".contains(c);
    let words: Vec<_> = line.trim_matches(is_frame).split_whitespace().collect();
    let is_cut = words.len() > max_words;
    let mut title = words[..words.len().min(max_words)].join(" ");
    if is_cut {
        title.push('…');
    }
    (!title.is_empty()).then(|| shortened(&title, max_chars))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_cleaned() {
        let check = |answer: &str, expected: &str| {
            assert_eq!(cleaned(answer, 6, 30).unwrap_or_default(), expected, "{answer}");
        };
        check("Refund of an order", "Refund of an order");
        check("\n **\"Refund of an order.\"** \n", "Refund of an order");
        check("Title: Refunds", "Refunds");
        check("<think>What is it?</think>\nRefunds", "Refunds");
        check("Here it is:\nRefunds", "Refunds");
        check("\u{201e}R\u{fc}ckgabe\u{201c}", "R\u{fc}ckgabe");
        check(" \n", "");
        check("\"\"", "");
        check(&"word ".repeat(6), "word word word word word word");
        check(&"word ".repeat(7), "word word word word word word…");
        check("a considerably longer title of six", "a considerably longer title…");
    }
}
