//! Completions: a program brings the history and its own tools, and gets what the agent answers to its
//! end. The run is recorded as an invocation, and ends when the program goes away.

use crate::admission::permits::RunPermit;
use crate::errors::Result;
use crate::files::attachments::FileReader;
use crate::outside::chunk_stream::ChunkStream;
use crate::outside::execute::{Executed, Execution};
use crate::outside::invoke_request;
use crate::outside::program_tools::{self, ProgramTool};
use crate::record::steps;
use crate::record::telemetry::in_trace;
use crate::{Caller, Chat, Frames, Inner, errors};
use agent::{Agent, AnswerForm, InvocationInput, ToolStrategy};
use contract::{Sampling, Tool, ToolChoice, ToolSpec};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use transcript::{exposure, to_prompt};
use wire::invoke::{AgentTier, InvokeInput, InvokeLimits, InvokeRequest, InvokeTools, ResponseSchema};
use wire::{Role, UiMessage, UserError};

/// The request of a program to an agent.
#[derive(Clone, Debug)]
pub struct CompletionRequest {
    /// The agent.
    pub agent_id: String,
    /// The history, oldest first. The agent answers its end. Results of tools in it count as private and
    /// as text from outside, because nobody knows where they come from.
    pub messages: Vec<UiMessage>,
    /// Instructions beside those of the agent.
    pub instructions: Option<String>,
    /// The tools of the program. A call of one ends the run; the program sends its result with the
    /// history of its next request.
    pub tools: Vec<ToolSpec>,
    /// Whether the model must call a tool; `None` of it is not possible.
    pub tool_choice: ToolChoice,
    /// Whether the model is told to make one call at a time.
    pub one_call_at_a_time: bool,
    /// Settings that replace those of the agent. The longest reply is the shorter of both.
    pub sampling: Sampling,
    /// The schema of the answer; if absent, the answer is text.
    pub response_schema: Option<ResponseSchema>,
    /// The limits of time and memory.
    pub tier: AgentTier,
}

/// A completion that was accepted.
pub struct CompletionRun {
    /// The id of the run, which is in the list of the caller's runs.
    pub run_id: String,
    /// The chunks of the run. The last one but `[DONE]` has the run as it is stored, and its tokens.
    pub frames: Frames,
}

/// A completion that has passed all checks.
struct Accepted {
    id: String,
    caller: Caller,
    agent: Arc<Agent>,
    request: InvokeRequest,
    input: InvocationInput,
    tools: Vec<Arc<dyn Tool>>,
    form: Option<AnswerForm>,
    created_at: i64,
    _permit: RunPermit,
}

impl Chat {
    /// Runs an agent on the history and with the tools of a program, until `cancel` is cancelled. Calls of
    /// the agent's own tools that need an approval are denied, because nobody can be asked.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not use, 413 and 422 for an invalid request, 429 for a quota or
    /// too many runs, 503 when full, short of memory or draining. A failure of the model is reported in the
    /// run.
    pub async fn complete(
        &self,
        caller: &Caller,
        request: CompletionRequest,
        cancel: CancellationToken,
    ) -> Result<CompletionRun, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let accepted = self.inner.accept_completion(caller, request).await?;
        let run_id = accepted.id.clone();
        let (stream, frames) = ChunkStream::begin(&run_id, self.inner.clock.clone());
        let inner = self.inner.clone();
        self.inner.tasks.spawn(in_trace(async move { inner.run_completion(accepted, stream, &cancel).await }));
        Ok(CompletionRun { run_id, frames })
    }
}

impl Inner {
    /// Checks a request, and stores that its run begins.
    async fn accept_completion(&self, caller: &Caller, request: CompletionRequest) -> Result<Accepted> {
        let agent = self.agents.by_id(caller, &request.agent_id).await?;
        program_tools::check(&request.tools, &agent)?;
        let _pass = self.check_quotas(caller, true, agent.unpriced_model()).await?;
        let permit = self.acquire_permit(caller, self.agents.submission_limits(caller).runs)?;
        if self.invocations.is_full() {
            return Err(invoke_request::capacity_error().into());
        }
        // Checked before anything is stored: an unusable schema is a bad request.
        let form = match request.response_schema.clone() {
            Some(schema) => Some(invoke_request::form(schema).await?),
            None => None,
        };
        let input = self.completion_input(caller, &agent, &request.messages).await?;
        let (id, created_at) = (crate::ids::new_id(), self.clock.now());
        self.store.begin_invocation(&caller.user_id, &id, &request.agent_id, created_at).await?;
        Ok(Accepted {
            id,
            caller: caller.clone(),
            agent: Arc::new(prepared(&agent, &request)),
            input,
            form,
            created_at,
            _permit: permit,
            tools: request.tools.into_iter().map(ProgramTool::shared).collect(),
            request: InvokeRequest {
                agent_name: request.agent_id,
                // The question of the program, as hooks and tools get it.
                input: InvokeInput { prompt: last_text(&request.messages) },
                response_schema: request.response_schema,
                agent_tier: request.tier,
                tools: InvokeTools::All(true),
                approved_tools: Vec::new(),
                limits: InvokeLimits::default(),
            },
        })
    }

    /// Returns the history as the model reads it.
    async fn completion_input(
        &self,
        caller: &Caller,
        agent: &Agent,
        messages: &[UiMessage],
    ) -> Result<InvocationInput> {
        let mut exposed = exposure::for_branch(messages).snapshot();
        if messages.iter().any(exposure::has_results) {
            exposed = exposure::preset();
        }
        let files = FileReader {
            store: &self.store,
            texts: &self.attachment_texts,
            owner: &caller.user_id,
            are_searched: agent.searches_attachments,
        };
        let read = files.with_files(messages).await?;
        let (prompt, ends) = to_prompt::to_prompt_with_ends(read.iter(), |_| false);
        if prompt.is_empty() {
            return Err(UserError::invalid("/messages", "The messages are empty.").into());
        }
        let last = messages.iter().rposition(|message| message.role == Role::User).unwrap_or_default();
        let turn_start = last.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or_default();
        Ok(InvocationInput { messages: prompt, turn_start, exposure: exposed })
    }

    /// Executes a completion to its end.
    async fn run_completion(&self, accepted: Accepted, stream: ChunkStream, outside: &CancellationToken) {
        let (id, owner, agent_name) =
            (accepted.id.clone(), accepted.caller.user_id.clone(), accepted.request.agent_name.clone());
        let (created_at, cancel) = (accepted.created_at, self.stopping.child_token());
        let permit = self.invocations.acquire_always(&id, cancel.clone());
        let tiers = self.agents.invocation_tiers();
        let Accepted { caller, agent, request, input, tools: program_tools, form, _permit, .. } = accepted;
        let execution = Execution {
            id: id.clone(),
            caller,
            time: invoke_request::time_limit(request.agent_tier, &tiers),
            max_bytes: invoke_request::byte_limit(request.agent_tier, &tiers),
            input,
            program_tools,
            request,
            agent,
            form,
            replaces_limits: false,
            from: None,
            key: None,
            causes: Vec::new(),
            state: None,
            stream: Some(stream),
            cancel: cancel.clone(),
        };
        let mut executed = self.execute(execution, outside).await;
        let end = executed.end(permit.is_ended());
        executed.report(&id, &agent_name, &end);
        let stored = self.store.finish_invocation(executed.finish(&id, &end)).await;
        let run = end.invocation(id.clone(), agent_name, created_at);
        end_stream(&mut executed, stored.map(|()| run), &id);
        if let Some((hooks, end)) = executed.hooks.take() {
            hooks.finish(end, cancel).await;
        }
        tracing::debug!(run = id, user = owner, "a completion has ended");
    }
}

/// Ends the stream. Without its last chunk, the program takes the run as cut off.
fn end_stream(executed: &mut Executed, stored: Result<wire::invoke::Invocation, store::StoreError>, id: &str) {
    let usage = steps::usage(executed.usage);
    match (stored, executed.stream.take()) {
        (Ok(run), Some(stream)) => stream.end(&run, usage),
        (Err(error), _) => tracing::error!(run = id, %error, "the end of a completion could not be stored"),
        (Ok(_), None) => {}
    }
}

/// Returns the text of the user's last message.
fn last_text(messages: &[UiMessage]) -> String {
    messages.iter().rfind(|message| message.role == Role::User).map(UiMessage::text).unwrap_or_default()
}

/// Returns the agent with the settings of the request.
fn prepared(agent: &Agent, request: &CompletionRequest) -> Agent {
    let mut agent = agent.clone();
    if let Some(added) = &request.instructions {
        program_tools::add_instructions(&mut agent, added);
    }
    let settings = &mut agent.settings;
    if request.one_call_at_a_time && settings.tool_strategy == ToolStrategy::Model {
        settings.tool_strategy = ToolStrategy::Sequential;
    }
    if request.tool_choice != ToolChoice::Auto {
        settings.tool_choice = request.tool_choice.clone();
        settings.prepare_step.iter_mut().for_each(|rule| rule.tool_choice = None);
    }
    let (own, wanted) = (&mut settings.sampling, &request.sampling);
    own.temperature = wanted.temperature.or(own.temperature);
    own.top_p = wanted.top_p.or(own.top_p);
    own.frequency_penalty = wanted.frequency_penalty.or(own.frequency_penalty);
    own.presence_penalty = wanted.presence_penalty.or(own.presence_penalty);
    own.seed = wanted.seed.or(own.seed);
    if !wanted.stop_sequences.is_empty() {
        own.stop_sequences.clone_from(&wanted.stop_sequences);
    }
    let shorter = |own: Option<u32>| own.into_iter().chain(wanted.max_output_tokens).min();
    own.max_output_tokens = shorter(own.max_output_tokens);
    for rule in &mut settings.prepare_step {
        rule.max_output_tokens = rule.max_output_tokens.and_then(|own| shorter(Some(own)));
        rule.temperature.take_if(|_| wanted.temperature.is_some());
    }
    agent
}
