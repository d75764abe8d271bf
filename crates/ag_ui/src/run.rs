//! A run of a frontend: begins what it asks for, translates what the agent writes, makes the agent's changes of the
//! shared state, and says at the end what it waits for. One run of a frontend may be several of the agent.

use crate::event::{Event, PROTOCOL_VERSION, RunOutcome, Usage};
use crate::files::ContentReader;
use crate::input::RunAgentInput;
use crate::messages::{self, MessageIds};
use crate::request::{self, Asked, NewMessage};
use crate::state::SharedState;
use crate::translate::Translator;
use crate::{history, interrupts, tools};
use bytes::Bytes;
use capability::Context;
use chat::{Caller, ChunkReader, Frames, Frontend, SendResponse};
use futures::StreamExt;
use serde_json::{Map, json};
use tokio::sync::mpsc;
use wire::api::{Answer, ConversationView, MessageMetadata, Outcome, RunOptions, SendRequest, Submission, TokenUsage};
use wire::{Role, ToolState, UiMessage, UserError};

/// The most frames that wait for a slow frontend.
const MAX_WAITING: usize = 256;
const CUT_OFF: &str = "The answer was cut off. It goes on in the conversation.";
const NO_ANSWER: &str = "The agent has no answer. Try again.";

/// A run of a frontend.
struct Run {
    context: Context,
    caller: Caller,
    agent_id: String,
    page_id: String,
    thread_id: String,
    run_id: String,
    options: RunOptions,
    frontend: Frontend,
    state: SharedState,
    /// Whether the agent works for this run, which then ends with its frontend, or the run only shows the thread.
    is_own: bool,
    /// What the answer had used before.
    used: TokenUsage,
    client: mpsc::Sender<Bytes>,
}

/// The frontend has gone.
struct Gone;

/// Begins a run. Returns its events.
///
/// # Errors
/// Those of [`chat::Chat::send_from`], and 422 with the place of what cannot be used.
pub(crate) async fn begin(
    context: Context,
    caller: Caller,
    (agent_id, page_id): (String, String),
    input: RunAgentInput,
) -> Result<Frames, UserError> {
    let view = thread(&context, &caller, &input.thread_id).await?;
    let branch = view.map(|view| view.messages).unwrap_or_default();
    let specs = tools::specs(&input.tools)?;
    tools::check_schemas(&specs).await?;
    let asked = request::decide(&input, &branch)?;
    let frontend = Frontend {
        tools: specs,
        instructions: input.instructions(),
        context: input.context_text(),
        results: Vec::new(),
    };
    let (client, mut frames) = mpsc::channel(MAX_WAITING);
    let mut run = Run {
        agent_id,
        page_id,
        thread_id: input.thread_id.clone(),
        run_id: input.run_id.clone(),
        options: input.options()?,
        frontend,
        state: SharedState::new(&input.state),
        is_own: true,
        used: TokenUsage::default(),
        client,
        context,
        caller,
    };
    let mut first = vec![Event::RunStarted {
        thread_id: input.thread_id.clone(),
        run_id: input.run_id.clone(),
        protocol_version: PROTOCOL_VERSION,
        parent_run_id: input.parent_run_id.clone(),
    }];
    let (translator, frames_of_run) = run.start(asked, &input, &branch, &mut first).await?;
    tokio::spawn(run.drive(first, translator, frames_of_run));
    Ok(futures::stream::poll_fn(move |context| frames.poll_recv(context)).boxed())
}

/// Returns the conversation; `None` if the caller has none with this id.
async fn thread(context: &Context, caller: &Caller, id: &str) -> Result<Option<ConversationView>, UserError> {
    match context.chat.conversation(caller, id).await {
        Ok(view) => Ok(Some(view)),
        Err(error) if error.code == wire::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Run {
    /// Begins what the frontend asks for. Returns what translates it, and its chunks if the agent writes.
    async fn start(
        &mut self,
        asked: Asked<'_>,
        input: &RunAgentInput,
        branch: &[UiMessage],
        first: &mut Vec<Event>,
    ) -> Result<(Translator, Option<Frames>), UserError> {
        let is_complete = request::has_all(input, branch);
        let submission = match asked {
            Asked::Follow => return self.follow(input, branch, first).await,
            // The answer to it may be one that is being written.
            Asked::Regenerate(message_id) => match self.watch().await? {
                Some(frames) => return Ok(self.watched(input, branch, frames, first)),
                None => Submission::Regenerate { message_id: Some(message_id) },
            },
            Asked::Answers(answers) => Submission::Answers { answers },
            Asked::Message(new) => {
                let is_addition = new.replaces.is_none();
                let submission = self.message(new, input, branch).await?;
                // Sent before the run begins, with the new message at the end.
                if let (true, false, Submission::Message { message, .. }) = (is_addition, is_complete, &submission) {
                    first.extend(load(input, &[branch, std::slice::from_ref(message)].concat()));
                }
                submission
            }
        };
        let goes_on = matches!(submission, Submission::Answers { .. });
        if goes_on && !is_complete {
            first.extend(load(input, branch));
        }
        let sent = self.send(submission).await?;
        let last = branch.last().filter(|_| goes_on);
        self.used = last.and_then(|last| MessageMetadata::from_message(last).usage).unwrap_or_default();
        let ids = last.map_or_else(|| MessageIds::new(&sent.message_id), MessageIds::after);
        Ok((Translator::new(ids), frames_of(sent)))
    }

    /// Sends the thread, and follows the answer that is being written.
    async fn follow(
        &mut self,
        input: &RunAgentInput,
        branch: &[UiMessage],
        first: &mut Vec<Event>,
    ) -> Result<(Translator, Option<Frames>), UserError> {
        match self.watch().await? {
            Some(frames) => Ok(self.watched(input, branch, frames, first)),
            None => {
                self.is_own = false;
                first.extend(load(input, branch));
                Ok((Translator::new(MessageIds::new("")), None))
            }
        }
    }

    /// Follows an answer from its beginning. The snapshot is without it, so that it is not written twice.
    fn watched(
        &mut self,
        input: &RunAgentInput,
        branch: &[UiMessage],
        frames: Frames,
        first: &mut Vec<Event>,
    ) -> (Translator, Option<Frames>) {
        self.is_own = false;
        let before = match branch.split_last() {
            Some((last, before)) if last.role == Role::Assistant => before,
            _ => branch,
        };
        first.extend(load(input, before));
        (Translator::new(MessageIds::new("")), Some(frames))
    }

    async fn watch(&self) -> Result<Option<Frames>, UserError> {
        self.context.chat.watch(&self.caller, &self.thread_id, None).await
    }

    /// Returns the submission of a new message.
    async fn message(
        &mut self,
        new: NewMessage<'_>,
        input: &RunAgentInput,
        branch: &[UiMessage],
    ) -> Result<Submission, UserError> {
        let NewMessage { id, contents, replaces, before, results } = new;
        let mut message = UiMessage::new(id, Role::User);
        let mut reader = ContentReader::new(&self.context, &self.caller);
        for (at, content) in contents.into_iter().enumerate() {
            let path = format!("/messages/{}/content", before + at);
            message.parts.extend(reader.parts(content, &path).await?);
        }
        let history = match branch.is_empty() {
            true => history::read(&mut reader, &input.messages[..before]).await?,
            false => Vec::new(),
        };
        self.frontend.results = results;
        Ok(Submission::Message { message, replaces, history })
    }

    async fn send(&mut self, submission: Submission) -> Result<SendResponse, UserError> {
        let frontend = self.frontend.clone();
        // They belong to the one message with which they came.
        self.frontend.results.clear();
        let request = SendRequest {
            page_id: self.page_id.clone(),
            block_id: None,
            agent_id: self.agent_id.clone(),
            conversation_id: self.thread_id.clone(),
            submission,
            shared_state: self.state.values.clone(),
            url_query: Map::new(),
            switches: Map::new(),
            options: self.options.clone(),
        };
        self.context.chat.send_from(&self.caller, request, frontend).await
    }

    /// Sends the events until the run has ended or its frontend has gone, which stops the answer. What was written
    /// stays.
    async fn drive(mut self, first: Vec<Event>, mut translator: Translator, frames: Option<Frames>) {
        if self.write(first, &mut translator, frames).await.is_err()
            && self.is_own
            && let Err(error) = self.context.chat.stop(&self.caller, &self.thread_id).await
        {
            tracing::warn!(%error, "a run whose frontend has gone could not be stopped");
        }
    }

    async fn write(
        &mut self,
        first: Vec<Event>,
        translator: &mut Translator,
        mut frames: Option<Frames>,
    ) -> Result<(), Gone> {
        self.tell(first).await?;
        loop {
            if let Some(frames) = frames.take() {
                self.translate(translator, frames).await?;
            }
            self.tell(translator.end()).await?;
            let view = match thread(&self.context, &self.caller, &self.thread_id).await {
                Ok(Some(view)) => view,
                Ok(None) => return self.tell(vec![failure(UserError::not_found().message, None)]).await,
                Err(error) => return self.tell(vec![failure(error.message, None)]).await,
            };
            match self.write_state(&view).await? {
                Ok(Some(next)) => frames = Some(next),
                Ok(None) => return self.finish(view).await,
                Err(error) => return self.tell(vec![failure(error.message, None)]).await,
            }
        }
    }

    async fn translate(&self, translator: &mut Translator, mut frames: Frames) -> Result<(), Gone> {
        let mut chunks = ChunkReader::new();
        loop {
            let frame = tokio::select! {
                frame = frames.next() => frame,
                () = self.client.closed() => return Err(Gone),
            };
            let Some(frame) = frame else { return Ok(()) };
            for chunk in chunks.push(&frame) {
                self.tell(translator.events(chunk)).await?;
            }
        }
    }

    /// Makes the changes of the shared state that the answer waits for, which lets it go on. Returns what the agent
    /// writes then.
    async fn write_state(&mut self, view: &ConversationView) -> Result<Result<Option<Frames>, UserError>, Gone> {
        let waiting = view.messages.last().filter(|last| self.is_own && is_waiting(last));
        let (answers, events) = waiting.map(|last| self.state.write(last)).unwrap_or_default();
        if answers.is_empty() {
            return Ok(Ok(None));
        }
        self.tell(events).await?;
        Ok(self.go_on(answers).await)
    }

    async fn go_on(&mut self, answers: Vec<Answer>) -> Result<Option<Frames>, UserError> {
        Ok(frames_of(self.send(Submission::Answers { answers }).await?))
    }

    /// Sends how the run has ended.
    async fn finish(&self, view: ConversationView) -> Result<(), Gone> {
        let Some(last) = view.messages.last().filter(|last| last.role == Role::Assistant) else {
            return self.tell(vec![failure(NO_ANSWER.to_owned(), None)]).await;
        };
        let MessageMetadata { outcome, reason, error, usage, model, .. } = MessageMetadata::from_message(last);
        let reason = reason.map(wire::EndReason::name);
        let events = match outcome.filter(|_| view.active.is_none()) {
            None => vec![failure(CUT_OFF.to_owned(), None)],
            Some(Outcome::Failed | Outcome::Interrupted) => {
                vec![failure(error.map_or_else(|| NO_ANSWER.to_owned(), |error| error.message), reason)]
            }
            Some(ended) => {
                let outcome = outcome_of(ended, last);
                let mut events = Vec::new();
                if matches!(outcome, RunOutcome::Interrupt { .. }) {
                    events.extend(self.state.snapshot());
                    events.push(snapshot(&view.messages));
                }
                events.push(Event::RunFinished {
                    thread_id: self.thread_id.clone(),
                    run_id: self.run_id.clone(),
                    outcome,
                    result: json!({ "outcome": ended, "reason": reason }),
                    usage: usage
                        .filter(|_| self.is_own)
                        .map(|usage| since(usage, self.used, model))
                        .into_iter()
                        .collect(),
                });
                events
            }
        };
        self.tell(events).await
    }

    async fn tell(&self, events: Vec<Event>) -> Result<(), Gone> {
        for event in events {
            self.client.send(event.frame()).await.map_err(|_| Gone)?;
        }
        Ok(())
    }
}

/// Returns what the agent writes; `None` if the answers were stored and others are missing.
fn frames_of(sent: SendResponse) -> Option<Frames> {
    (!sent.run_id.is_empty()).then_some(sent.frames)
}

fn snapshot(branch: &[UiMessage]) -> Event {
    Event::MessagesSnapshot { messages: messages::of_branch(branch).into_iter().map(|(_, message)| message).collect() }
}

/// Returns the events with which a frontend loads a thread. The client of AG-UI keeps the order of the messages that it
/// has and adds the others at the end, so it forgets them first.
fn load(input: &RunAgentInput, branch: &[UiMessage]) -> Vec<Event> {
    let mut events = vec![snapshot(branch)];
    if !input.messages.is_empty() {
        events.insert(0, snapshot(&[]));
    }
    events
}

fn failure(message: String, code: Option<&str>) -> Event {
    Event::RunError { message, code: code.map(str::to_owned) }
}

fn is_waiting(message: &UiMessage) -> bool {
    MessageMetadata::from_message(message).outcome == Some(Outcome::Waiting)
}

fn outcome_of(ended: Outcome, message: &UiMessage) -> RunOutcome {
    let interrupts = interrupts::of_message(message);
    match ended {
        Outcome::Stopped => RunOutcome::Cancelled,
        Outcome::Waiting if !interrupts.is_empty() => RunOutcome::Interrupt { interrupts },
        _ => {
            let open = message.tools().filter(|tool| tool.state == ToolState::InputAvailable);
            RunOutcome::Success { pending_tool_call_ids: open.map(|tool| tool.tool_call_id.clone()).collect() }
        }
    }
}

/// Returns what a run has used itself.
fn since(now: TokenUsage, before: TokenUsage, model: Option<String>) -> Usage {
    let input_tokens = now.input_tokens.saturating_sub(before.input_tokens);
    let output_tokens = now.output_tokens.saturating_sub(before.output_tokens);
    Usage {
        model,
        input_tokens,
        output_tokens,
        total_tokens: input_tokens.saturating_add(output_tokens),
        reasoning_tokens: now.reasoning_tokens.saturating_sub(before.reasoning_tokens),
        cached_input_tokens: now.cache_read_tokens.saturating_sub(before.cache_read_tokens),
        cache_write_input_tokens: now.cache_write_tokens.saturating_sub(before.cache_write_tokens),
    }
}
