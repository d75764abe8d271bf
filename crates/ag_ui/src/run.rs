//! A run of a frontend: begins what it asks for, translates what the agent writes, makes the agent's changes of the
//! shared state, and says at the end what it waits for. One run of a frontend may be several of the agent.

use crate::event::{Event, PROTOCOL_VERSION, RunOutcome};
use crate::files::ContentReader;
use crate::input::RunAgentInput;
use crate::messages::MessageIds;
use crate::outcome::{failure, is_waiting, load, outcome_of, since, snapshot};
use crate::places::Places;
use crate::request::{self, Asked, NewMessage};
use crate::state::SharedState;
use crate::translate::Translator;
use crate::{history, tools};
use bytes::Bytes;
use capability::Context;
use chat::{Caller, ChunkReader, Frames, Frontend, SendResponse, TextOrigin};
use futures::StreamExt;
use serde_json::{Map, json};
use tokio::sync::{mpsc, oneshot};
use tracing::Instrument;
use wire::api::{Answer, ConversationView, MessageMetadata, Outcome, RunOptions, SendRequest, Submission, TokenUsage};
use wire::{ErrorCode, ErrorReason, Role, UiMessage, UserError};

/// The most frames that wait for a slow frontend.
const MAX_WAITING: usize = 256;
const CUT_OFF: &str = "The answer was cut off. It goes on in the conversation.";
const NO_ANSWER: &str = "The agent has no answer. Try again.";
const FAILED: &str = "Something went wrong on our side. Try again.";

/// A run of a frontend.
struct Run {
    context: Context,
    caller: Caller,
    /// The author of a new message.
    origin: TextOrigin,
    agent_id: String,
    page_id: String,
    thread_id: String,
    run_id: String,
    options: RunOptions,
    frontend: Frontend,
    state: SharedState,
    /// Whether the agent works for this run, which then ends with its frontend, or the run only shows the thread.
    is_own: bool,
    /// The id of the agent's run that answers the last submission; empty if there is none.
    agent_run_id: String,
    /// The usage of the answer before this run.
    used: TokenUsage,
    client: mpsc::Sender<Bytes>,
}

/// The frontend has gone.
struct Gone;

/// The outcome of the changes of the shared state that an answer waits for.
enum StateChange {
    /// They are made, and the agent writes on.
    GoesOn(Frames),
    /// They are made and stored. The answer waits for others.
    Kept,
    /// The answer waits for none.
    Nothing,
}

/// Begins a run. Returns its events.
///
/// # Errors
/// The errors of [`chat::Chat::send_from`], and 422 with the path of an invalid value.
pub(crate) async fn begin(
    context: Context,
    (caller, origin): (Caller, TextOrigin),
    (agent_id, page_id): (String, String),
    input: RunAgentInput,
) -> Result<Frames, UserError> {
    let view = thread(&context, &caller, &input.thread_id).await?;
    let branch = view.map(|view| view.messages).unwrap_or_default();
    let specs = tools::specs(&input.tools)?;
    tools::check_schemas(&specs).await?;
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
        agent_run_id: String::new(),
        used: TokenUsage::default(),
        client,
        context,
        caller,
        origin,
    };
    let mut first = vec![Event::RunStarted {
        thread_id: input.thread_id.clone(),
        run_id: input.run_id.clone(),
        protocol_version: PROTOCOL_VERSION,
        parent_run_id: input.parent_run_id.clone(),
    }];
    let (begun, outcome) = oneshot::channel();
    // In a task of its own, so that the run of a frontend that goes away while it begins is stopped as well.
    spawn(async move {
        let started = run.start(&input, &branch, &mut first).await;
        // They may be large, and the run may take long.
        drop((input, branch));
        match started {
            Ok((translator, frames)) => {
                // The request may be gone, which `drive` notices.
                let _ = begun.send(Ok(()));
                run.drive(first, translator, frames).await;
            }
            Err(error) => drop(begun.send(Err(error))),
        }
    });
    outcome.await.map_err(|_| UserError::new(ErrorCode::Internal, FAILED).because(ErrorReason::ServerFailed))??;
    Ok(futures::stream::poll_fn(move |context| frames.poll_recv(context)).boxed())
}

/// Starts a task that belongs to the trace of this request, for logs and telemetry.
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    let trace = chat::current_trace();
    let task = async move {
        match trace {
            Some(trace) => chat::traced(trace, task).await,
            None => task.await,
        }
    };
    tokio::spawn(task.in_current_span());
}

/// Returns the conversation; `None` if the caller has none with this id.
async fn thread(context: &Context, caller: &Caller, id: &str) -> Result<Option<ConversationView>, UserError> {
    match context.chat.conversation(caller, id).await {
        Ok(view) => Ok(Some(view)),
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Run {
    /// Begins what the frontend asks for. Returns what translates it, and its chunks if the agent writes.
    async fn start(
        &mut self,
        input: &RunAgentInput,
        branch: &[UiMessage],
        first: &mut Vec<Event>,
    ) -> Result<(Translator, Option<Frames>), UserError> {
        let is_complete = request::has_all(input, branch);
        let mut places = Places::default();
        let submission = match request::decide(input, branch)? {
            Asked::Follow => return self.follow(input, branch, first).await,
            // The answer to it may be one that is being written.
            Asked::Regenerate(message_id) => match self.watch().await? {
                Some(frames) => return Ok(self.watched(input, branch, frames, first)),
                None => Submission::Regenerate { message_id: Some(message_id) },
            },
            Asked::Answers(placed) => Submission::Answers { answers: places.separate(placed) },
            Asked::Message(mut new) => {
                let is_addition = new.replaces.is_none();
                let last = new.contents.last().map_or(new.before, |(at, _)| *at);
                places.add("/message/id", format!("/messages/{last}/id"));
                places.add("/message", format!("/messages/{}/content", new.before));
                self.frontend.results = places.separate(std::mem::take(&mut new.results));
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
        let sent = self.send(submission).await;
        let sent = sent.map_err(|error| places.locate(error, &input.messages))?;
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
        &self,
        new: NewMessage<'_>,
        input: &RunAgentInput,
        branch: &[UiMessage],
    ) -> Result<Submission, UserError> {
        let NewMessage { id, contents, replaces, before, .. } = new;
        let mut reader = ContentReader::new(&self.context, &self.caller);
        // First, since it may be too long, which is found before files are stored.
        let history =
            if branch.is_empty() { history::read(&mut reader, &input.messages[..before]).await? } else { Vec::new() };
        let mut message = UiMessage::new(id, Role::User);
        for (at, content) in contents {
            message.parts.extend(reader.parts(content, &format!("/messages/{at}/content")).await?);
        }
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
            submission: self.origin.mark_submission(submission),
            shared_state: self.state.values.clone(),
            url_query: Map::new(),
            switches: Map::new(),
            options: self.options.clone(),
        };
        let sent = self.context.chat.send_from(&self.caller, request, frontend).await?;
        self.agent_run_id = sent.run_id.clone();
        Ok(sent)
    }

    /// Sends the events until the run has ended or its frontend has gone, which stops the answer. The text so far is
    /// kept.
    async fn drive(mut self, first: Vec<Event>, mut translator: Translator, frames: Option<Frames>) {
        if self.write(first, &mut translator, frames).await.is_err()
            && self.is_own
            && let Err(error) = self.stop().await
        {
            tracing::warn!(%error, "a run whose frontend has gone could not be stopped");
        }
    }

    /// Stops the agent's run if it is the active one: the user may have begun another one elsewhere meanwhile.
    async fn stop(&self) -> Result<(), UserError> {
        self.context.chat.stop_if_active(&self.caller, &self.thread_id, &self.agent_run_id).await
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
                Ok(StateChange::GoesOn(next)) => frames = Some(next),
                // The view is from before it, so the thread is read again.
                Ok(StateChange::Kept) => {}
                Ok(StateChange::Nothing) => return self.finish(view).await,
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

    /// Makes the changes of the shared state that the answer waits for, which lets it go on.
    async fn write_state(&mut self, view: &ConversationView) -> Result<Result<StateChange, UserError>, Gone> {
        let waiting = view.messages.last().filter(|last| self.is_own && is_waiting(last));
        let (answers, events) = waiting.map(|last| self.state.write(last)).unwrap_or_default();
        if answers.is_empty() {
            return Ok(Ok(StateChange::Nothing));
        }
        self.tell(events).await?;
        Ok(self.go_on(answers).await)
    }

    async fn go_on(&mut self, answers: Vec<Answer>) -> Result<StateChange, UserError> {
        let sent = self.send(Submission::Answers { answers }).await?;
        Ok(frames_of(sent).map_or(StateChange::Kept, StateChange::GoesOn))
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
