//! Reads conversations in which nothing is happening, and stores the facts that users state about
//! themselves: a job for each conversation. It is due some time after the newest message and waits
//! as a row, so a restart loses nothing, and each further message moves it. The facts and the marks
//! of the messages that were read are stored in one transaction, behind the fence of the job: of
//! several servers or attempts, only one stores them.

use crate::fact::Fact;
use crate::own_words::own_words;
use crate::prompt::{FORM, INSTRUCTIONS, Words, accepted_facts, prompt, schema};
use crate::section::MemorySettings;
use crate::service::{Memory, audit};
use crate::store::{self, FactTarget, NewFact, UserState};
use ::store::StoreError;
use ::store::sql::Db;
use capability::{CurrentConfig, ModelQuestion};
use chat::Caller;
use jobs::{Backoff, Due, Handler, JobContext, JobError, Kind, OnPending, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use web::times::now_millis;

/// The most characters of a conversation that are read at once.
const MAX_READ: usize = 16_000;
/// The time limit of the model's answer.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The longest answer in tokens, for models that reason before it.
const MAX_OUTPUT_TOKENS: u32 = 4_000;

/// A conversation to read. Its key is the conversation.
const EXTRACT: Kind<Extract> = Kind::new("memory.extract")
    .concurrency(4)
    .attempts(4)
    .backoff(Backoff { base: Duration::from_secs(30), cap: Duration::from_secs(15 * 60) })
    .timeout(Duration::from_secs(120));

/// The payload.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Extract {
    pub(crate) conversation_id: String,
    /// The roles of the user, for their quotas.
    pub(crate) roles: Vec<String>,
}

/// Enqueues the job of a conversation, or moves the one that waits.
pub(crate) async fn enqueue(memory: &Memory, db: &mut Db, user_id: &str, extract: &Extract) -> Result<(), StoreError> {
    let job = EXTRACT.job(extract).owner(user_id).key(&extract.conversation_id);
    let job = job.due(Due::After(memory.settings().rest)).on_pending(OnPending::Replace);
    memory.jobs().enqueue_in(db, job).await?;
    Ok(())
}

/// Returns the handler of the jobs.
pub(crate) fn handler(memory: Memory, current: Arc<dyn CurrentConfig>) -> Handler {
    Handler::new(EXTRACT, move |job: JobContext, extract: Extract| {
        let reader = Reader { memory: memory.clone(), current: current.clone(), job, extract };
        async move { reader.run().await }
    })
}

struct Reader {
    memory: Memory,
    current: Arc<dyn CurrentConfig>,
    job: JobContext,
    extract: Extract,
}

/// The messages of a user that are to be read.
struct Work {
    user: UserState,
    known: Vec<Fact>,
    words: Vec<Words>,
    /// The ids of the messages that count as read afterwards, including those without text.
    messages: Vec<String>,
    /// Whether there are more messages to read.
    has_more: bool,
}

impl Reader {
    async fn run(self) -> Result<Outcome, JobError> {
        let user_id = self.job.owner().unwrap_or_default().to_owned();
        let settings = self.memory.settings();
        let conversation = self.job.store().conversation(&user_id, &self.extract.conversation_id).await?;
        let Some(conversation) = conversation else { return Ok(Outcome::DONE) };
        let agent_id = conversation.summary.agent_id;
        let Some(options) = self.memory.agent(&agent_id).filter(|_| !conversation.summary.temporary) else {
            return self.forget().await;
        };
        let rested = now_millis() - conversation.summary.updated_at;
        let rest = settings.rest.as_millis() as i64;
        // The time of a server that is behind may lie in the future.
        if conversation.summary.running || (0..rest).contains(&rested) {
            let left = if conversation.summary.running { rest } else { rest - rested };
            return Ok(Outcome::again(Due::After(Duration::from_millis(left.max(1) as u64))));
        }
        let scope = options.facts_agent(&agent_id);
        let Some(work) = self.work(&user_id, &scope).await? else { return self.forget().await };
        if work.messages.is_empty() {
            return Ok(Outcome::DONE);
        }
        let found =
            if work.words.is_empty() { Vec::new() } else { self.ask(&user_id, &agent_id, &settings, &work).await? };
        self.finish(user_id, scope, settings, work, found).await
    }

    /// Drops the pending messages unread, because memory is off or the conversation is temporary
    /// now.
    async fn forget(&self) -> Result<Outcome, JobError> {
        let conversation_id = self.extract.conversation_id.clone();
        let finish = self.job.finish(Outcome::DONE, move |db| {
            Box::pin(async move { store::forget_pending(db, &conversation_id).await })
        });
        Ok(finish.await?)
    }

    /// Returns the messages to read; `None` if memory is off for the user.
    async fn work(&self, user_id: &str, scope: &str) -> Result<Option<Work>, StoreError> {
        let (memory, owner, id) = (self.memory.clone(), user_id.to_owned(), self.extract.conversation_id.clone());
        let read = self.job.store().read(move |db| {
            Box::pin(async move {
                let switches = memory.switches(&mut *db, &owner).await?;
                let pending = store::pending(&mut *db, &id).await?;
                Ok((switches, pending, store::facts(db, &owner).await?))
            })
        });
        let (switches, pending, mut known) = read.await?;
        if !switches.is_on() {
            return Ok(None);
        }
        known.retain(|fact| fact.agent_id == scope);
        let branch = self.job.store().branch(user_id, &self.extract.conversation_id).await?;
        let (mut words, mut messages, mut length) = (Vec::new(), Vec::new(), 0);
        let all = pending.len();
        for message_id in pending {
            // A message of another branch was withdrawn by an edit.
            let stored = branch.iter().find(|stored| stored.id == message_id);
            let text = stored.map(|stored| own_words(&stored.message)).unwrap_or_default();
            length += text.chars().count();
            if !words.is_empty() && length > MAX_READ {
                break;
            }
            messages.push(message_id.clone());
            if !text.is_empty() {
                words.push(Words { message_id, text });
            }
        }
        let has_more = messages.len() < all;
        Ok(Some(Work { user: switches.user, known, words, messages, has_more }))
    }

    async fn ask(
        &self,
        user_id: &str,
        agent_id: &str,
        settings: &MemorySettings,
        work: &Work,
    ) -> Result<Vec<NewFact>, JobError> {
        let caller = Caller::signed_in(user_id).with_roles(self.extract.roles.clone());
        let question = ModelQuestion {
            caller: &caller,
            agent_id,
            model: settings.model.as_ref(),
            instructions: INSTRUCTIONS.to_owned(),
            prompt: prompt(&work.known, &work.words),
            files: Vec::new(),
            form: (FORM, schema()),
            max_output_tokens: MAX_OUTPUT_TOKENS,
            time: TIMEOUT,
            cancel: self.job.stop().clone(),
        };
        let answer = self.current.ask_model(question).await;
        let answer = answer.map_err(|failure| JobError::retry(failure.to_string()))?;
        Ok(accepted_facts(answer, &work.known, &work.words, settings.threshold))
    }

    /// Stores the facts that were found, and marks the messages as read.
    async fn finish(
        &self,
        user_id: String,
        scope: String,
        settings: MemorySettings,
        work: Work,
        found: Vec<NewFact>,
    ) -> Result<Outcome, JobError> {
        let conversation_id = self.extract.conversation_id.clone();
        let outcome = if work.has_more { Outcome::again(Due::Now) } else { Outcome::DONE };
        let finish = self.job.finish(outcome, move |db| {
            Box::pin(async move {
                let now = now_millis();
                store::lock(&mut *db, &user_id).await?;
                // Facts that the user has changed or deleted meanwhile are not restored.
                if store::user(&mut *db, &user_id).await? != work.user
                    || !store::mark_read(&mut *db, &conversation_id, &work.messages, now).await?
                {
                    return Err(StoreError::Invalid("the memory was changed while it was read"));
                }
                let replaced: usize = found.iter().map(|fact| fact.replaces.len()).sum();
                let about = json!({ "facts": found.len(), "replaced": replaced });
                let audit = audit(&user_id, "extract", &conversation_id, about);
                let target = FactTarget {
                    owner: &user_id,
                    agent_id: &scope,
                    conversation_id: &conversation_id,
                    most: settings.max_facts,
                };
                store::add_facts(db, &target, &found, audit, now).await
            })
        });
        Ok(finish.await?)
    }
}
