//! The tool loop: asks the model, runs the tools, appends both to the history, and repeats until a
//! stop condition.

use crate::calls::execution::CallScope;
use crate::calls::handling::CallsOutcome;
use crate::calls::ids::ConversationCallIds;
use crate::calls::sources;
use crate::calls::validation::OfferedTools;
use crate::context::{ContextInput, MeasuredSize};
use crate::deferral::{self, Deferral};
use crate::limits::UsageMeter;
use crate::limits::loop_detection::{self, EarlierSteps, LoopDetector, LoopVerdict};
use crate::limits::stop;
use crate::limits::turn_usage::TurnUsage;
use crate::model::reply::{ModelReply, RunFailure};
use crate::model::retry;
use crate::sub_agent::parent::{AgentPermit, ParentContext};
use crate::{Agent, Ending, EventSink, Limit, PendingCall, Route, RunOutcome, SinkClosed, TurnInput, WaitingCall};
use contract::{CallTime, FinishReason, Message, RunScope, ToolSpec};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Runs a turn to its end. Never panics because of a tool or a model, and ends within a second
/// after `cancel`.
pub async fn run<S: EventSink>(agent: &Agent, mut turn: TurnInput, sink: &mut S) -> RunOutcome {
    if agent.recorder.is_some() {
        // A recording has the whole history.
        turn.turn_start += turn.context.complete(&mut turn.messages).await;
    }
    // Boxed, so that runs that are not recorded, which most are, reserve no memory for it.
    let recorded = agent.recorder.as_ref().and_then(|recorder| recorder.begin(agent, &mut turn)).map(Box::new);
    let runs = recorded.as_ref().map_or(agent, |recorded| &recorded.agent);
    let outcome = run_nested(runs, turn, None, sink).await;
    if let Some(recorded) = recorded {
        recorded.recording.finish(&outcome);
    }
    outcome
}

/// Runs a turn, for a sub-agent with what it inherits from its calling agents.
pub(crate) async fn run_nested<S: EventSink>(
    agent: &Agent,
    turn: TurnInput,
    above: Option<ParentContext>,
    sink: &mut S,
) -> RunOutcome {
    let limit = agent.settings.timeouts.total();
    let outer = turn.cancel.clone();
    // A child token, so that the timeout ends the run like a stop, and only the ending tells them
    // apart.
    let cancel = outer.child_token();
    let clock = cancel.clone();
    let _timer = AbortOnDropHandle::new(tokio::spawn(async move {
        tokio::time::sleep(limit).await;
        clock.cancel();
    }));
    let mut run = Run::new(agent, turn, above, cancel.clone());
    let ended = match run.context.compaction {
        Some(_) => Box::pin(run.compact(sink)).await,
        None => run.run_loop(sink).await,
    };
    let ending = match ended {
        Ok(ending) => ending,
        Err(RunFailure::Sink) => Ending::SinkClosed,
        Err(RunFailure::UnknownPrice { model }) => Ending::UnknownPrice { model },
        Err(RunFailure::Model(_) | RunFailure::TooLong(_)) if outer.is_cancelled() => Ending::Stopped,
        Err(RunFailure::Model(_) | RunFailure::TooLong(_)) if cancel.is_cancelled() => Ending::Limit(Limit::Time),
        Err(RunFailure::Model(error) | RunFailure::TooLong(error)) => Ending::Failed(error),
    };
    let used = run.caller.meter.spent();
    RunOutcome {
        ending,
        finish_reason: run.finish_reason,
        usage: used.usage,
        cost_usd: used.cost_usd,
        turn_usage: run.turn_usage(),
        steps: run.steps,
        messages: run.messages,
        waiting: run.waiting,
    }
}

/// A running turn.
pub(crate) struct Run<'a> {
    /// The agent as it is configured.
    pub(crate) configured: &'a Agent,
    /// The agent with the tools of its sources.
    pub(crate) agent: Cow<'a, Agent>,
    pub(crate) offer: OfferedTools,
    /// The revisions of the sources when they were asked.
    revisions: Vec<u64>,
    /// The tools that are found by search.
    pub(crate) deferral: Option<Arc<Deferral>>,
    /// Whether the search of the provider finds them instead.
    pub(crate) provider_search: bool,
    pub(crate) ids: ConversationCallIds,
    pub(crate) caller: CallScope,
    pub(crate) messages: Vec<Arc<Message>>,
    pub(crate) pending: Vec<PendingCall>,
    /// The calls that wait for the user's decision.
    pub(crate) waiting: Vec<WaitingCall>,
    pub(crate) finish_reason: FinishReason,
    /// The number of requests to the model in this run.
    pub(crate) steps: u32,
    /// The number of requests to the model in earlier runs of the turn.
    steps_before: u32,
    pub(crate) loops: LoopDetector,
    /// The calls of the turns before.
    pub(crate) earlier_steps: EarlierSteps,
    /// Whether to warn the model about a loop before the next request.
    warns: bool,
    /// Whether a call of the last reply ends the turn: one that has run, or that the turn waits for.
    pub(crate) is_last: bool,
    /// Whether such a call has run, or was handed over to the page.
    pub(crate) last_has_run: bool,
    /// The index of the first message that belongs to the turn; messages from there on are not
    /// pruned.
    pub(crate) turn_start: usize,
    /// Whether a call was refused because of the limit of tool calls.
    pub(crate) is_over_calls: bool,
    /// The part of the history that the model reads.
    pub(crate) context: ContextInput,
    /// Whether the turn has more than the user's message.
    pub(crate) has_begun: bool,
    /// How many messages were searched for large results.
    pub(crate) searched_messages: usize,
    /// Whether there are large results.
    pub(crate) has_large_results: bool,
    /// Whether this run has told the model what the user's page contains.
    pub(crate) adds_page_context: bool,
    /// By how much the estimates of tokens are too low for this model and language.
    pub(crate) estimate_factor: f64,
    /// Whether a summary has failed in this run, so that no other one is attempted.
    pub(crate) has_failed_summary: bool,
    /// Whether the newest request was refused because it was too long.
    pub(crate) is_refused: bool,
    /// The estimated tokens of a request that was too long. The requests after it have at most half.
    pub(crate) refused_size: Option<u64>,
    /// The route of the turn, once it is chosen.
    pub(crate) route: Option<&'static Route>,
    /// The tools that the route has taken away and the history has calls of. They are listed, but refused:
    /// some providers refuse a history with calls of tools that the request does not have.
    pub(crate) closed_tools: Vec<ToolSpec>,
    /// The index of the model that is asked.
    pub(crate) model: usize,
}

impl<'a> Run<'a> {
    /// Creates a run that does not know the tools of its sources yet.
    pub(crate) fn new(
        agent: &'a Agent,
        turn: TurnInput,
        above: Option<ParentContext>,
        cancel: CancellationToken,
    ) -> Self {
        let earlier = turn.earlier;
        let is_sub_agent = above.is_some();
        let (meter, mut policies, permit, time) = match above {
            Some(ParentContext { meter, policies, permit, time }) => (Some(meter), policies, permit, time),
            None => {
                let permit = AgentPermit::root(agent.settings.max_parallel_agents);
                (None, Vec::new(), permit, CallTime::default())
            }
        };
        policies.extend(agent.policy.clone());
        let caller = CallScope {
            scope: Arc::new(RunScope { agent_id: agent.id.clone(), ..turn.scope }),
            grants: turn.grants,
            exposure: turn.exposure,
            cancel,
            is_sub_agent,
            meter: UsageMeter::new(agent.settings.limits.clone(), earlier.used, meter),
            policies,
            tools_changed: Arc::default(),
            permit,
            time,
        };
        Self {
            configured: agent,
            agent: Cow::Borrowed(agent),
            offer: OfferedTools::default(),
            revisions: Vec::new(),
            deferral: None,
            provider_search: false,
            ids: ConversationCallIds::from_history(&turn.messages).after(turn.context.earlier.clone()),
            earlier_steps: EarlierSteps::from_history(turn.messages.get(..turn.turn_start).unwrap_or(&turn.messages)),
            caller,
            has_begun: turn.messages.len() > turn.turn_start,
            adds_page_context: false,
            searched_messages: 0,
            has_large_results: false,
            messages: turn.messages,
            pending: turn.pending,
            waiting: Vec::new(),
            finish_reason: FinishReason::Other,
            steps: 0,
            steps_before: earlier.steps,
            loops: earlier.loops,
            warns: earlier.warns,
            is_last: earlier.is_last,
            last_has_run: earlier.last_has_run,
            turn_start: turn.turn_start,
            is_over_calls: false,
            estimate_factor: turn.context.measured.and_then(MeasuredSize::factor).unwrap_or(1.0),
            has_failed_summary: false,
            is_refused: false,
            refused_size: None,
            context: turn.context,
            closed_tools: Vec::new(),
            route: earlier.route.and_then(|name| agent.routes.iter().find(|route| route.name == name)),
            model: 0,
        }
    }

    /// Runs the turn. The phases before, between and after the replies are boxed: a run is as large
    /// as the largest future that it waits for, and nearly all of the time it waits for a reply.
    async fn run_loop<S: EventSink>(&mut self, sink: &mut S) -> Result<Ending, RunFailure> {
        Box::pin(self.gather_tools(sink)).await?;
        if !Box::pin(self.apply_decisions(sink)).await? {
            return Ok(Ending::Waiting);
        }
        Box::pin(self.add_page_context(sink)).await?;
        Box::pin(self.prune_history()).await;
        // A resumed turn has completed steps before, and the call that it waited for may have been
        // its last one.
        if self.steps_before > 0
            && let Some(limit) = stop::limit(&self.agent.settings, self.total_steps(), self.is_last)
        {
            return Ok(Ending::Limit(limit));
        }
        loop {
            self.check_not_stopped()?;
            if let Some(limit) = self.caller.meter.reached() {
                return Ok(Ending::Limit(limit));
            }
            if self.caller.tools_changed.swap(false, Ordering::Relaxed) || self.revisions != self.source_revisions() {
                Box::pin(self.gather_tools(sink)).await?;
            }
            if std::mem::take(&mut self.warns) {
                Box::pin(self.add_note(loop_detection::WARNING.to_owned(), sink)).await?;
            }
            Box::pin(self.add_notes(sink)).await?;
            Box::pin(self.find_large_results(sink)).await?;
            let mut request = self.build_request();
            if Box::pin(self.fit_context(&request, sink)).await? {
                Box::pin(self.add_page_context(sink)).await?;
                // The text of a source may be among the messages that were summarised or cleared.
                Box::pin(self.add_notes(sink)).await?;
                request = self.build_request();
            }
            // A summary counts, too.
            if let Some(limit) = self.caller.meter.reached() {
                return Ok(Ending::Limit(limit));
            }
            // Boxed for the stack: agents that call agents nest this function.
            let Some(mut reply) = Box::pin(self.reply_or_shrink(request, sink)).await? else { continue };
            let (reason, raw_reason) = (reply.reason, reply.raw_reason.take());
            // A provider that paused continues when it reads its reply so far. The limit of steps
            // applies to that, too.
            let is_paused = reason == FinishReason::Pause;
            let calls: Vec<_> = reply.calls.iter().map(|checked| checked.call.clone()).collect();
            if self.judges_by_history(&calls) {
                Box::pin(self.complete_history()).await;
            }
            let verdict = self.loops.record(&calls, &self.earlier_steps);
            self.warns = verdict == LoopVerdict::Warn;
            let invalid = self.invalid_call(&reply);
            let CallsOutcome { has_calls, all_have_results, accepted } =
                Box::pin(self.handle_reply(reply, verdict, sink)).await?;
            self.check_not_stopped()?;
            if !has_calls && !is_paused {
                return Ok(Ending::of_reply(reason, raw_reason.as_deref()));
            }
            if let Some(tool) = invalid {
                return Ok(Ending::InvalidCall { tool });
            }
            if verdict == LoopVerdict::Stop {
                return Ok(Ending::Limit(Limit::Loop));
            }
            if self.is_over_calls || self.caller.meter.is_over_calls() {
                return Ok(Ending::Limit(Limit::ToolCalls));
            }
            // An invalid or refused call does not end the turn, since the model may correct it.
            let (accepted, waiting) = (self.count_last(&accepted), self.waiting_last());
            (self.is_last, self.last_has_run) = (accepted > 0, accepted > waiting);
            if !all_have_results {
                return Ok(Ending::Waiting);
            }
            if let Some(limit) = stop::limit(&self.agent.settings, self.total_steps(), self.is_last) {
                return Ok(Ending::Limit(limit));
            }
        }
    }

    /// Asks the sources for their tools, and compiles what the agent offers. A run that is stopped
    /// meanwhile ends at its next step.
    pub(crate) async fn gather_tools<S: EventSink>(&mut self, sink: &mut S) -> Result<(), RunFailure> {
        // Before they are asked, so that a change meanwhile is not missed.
        self.revisions = self.source_revisions();
        let CallScope { scope, exposure, cancel, .. } = &self.caller;
        let gathered = sources::with_source_tools(self.configured, (scope, exposure), cancel, sink).await;
        let contexts;
        (self.agent, contexts) = gathered.map_err(|SinkClosed| RunFailure::Sink)?;
        if !self.configured.routes.is_empty() {
            self.complete_history().await;
        }
        // Boxed: agents that call agents nest this future, and most choose nothing.
        Box::pin(self.choose_route(sink)).await?;
        self.apply_route(&contexts);
        self.defer_tools().await;
        self.compile_offer().await;
        self.offer_reading().await;
        Ok(())
    }

    fn source_revisions(&self) -> Vec<u64> {
        self.configured.sources.iter().map(|source| source.revision(&self.caller.scope)).collect()
    }

    /// Decides which tools are found by search. They stay so for the rest of the run.
    async fn defer_tools(&mut self) {
        let earlier = self.context.earlier.as_ref();
        if earlier.is_some_and(|earlier| deferral::may_have_been_used(&self.agent, earlier)) {
            self.complete_history().await;
        }
        let is_deferring = self.deferral.is_some() || self.provider_search;
        let (deferral, provider_search) = deferral::decide(&self.agent, &self.messages, is_deferring);
        (self.deferral, self.provider_search) = (deferral.map(Arc::new), provider_search);
        if let Some(deferral) = &self.deferral {
            deferral.add_helpers(self.agent.to_mut());
        }
    }

    /// Returns whether a tool of the provider is the one that finds the agent's tools.
    pub(crate) fn is_tool_search(&self, name: &str) -> bool {
        self.provider_search && deferral::is_provider_search(name)
    }

    /// Compiles what the agent offers now.
    pub(crate) async fn compile_offer(&mut self) {
        let cancel = &self.caller.cancel;
        if let Some(offer) = cancel.run_until_cancelled(OfferedTools::compile(&self.agent, self.deferral.clone())).await
        {
            self.offer = offer;
        }
    }

    /// Returns the number of requests to the model, including earlier runs of the turn.
    pub(crate) fn total_steps(&self) -> u32 {
        self.steps.saturating_add(self.steps_before)
    }

    /// Returns the usage of the turn for the run that resumes it.
    pub(crate) fn turn_usage(&self) -> TurnUsage {
        TurnUsage {
            used: self.caller.meter.in_all(),
            steps: self.total_steps(),
            loops: self.loops.clone(),
            warns: self.warns,
            is_last: self.is_last,
            last_has_run: self.last_has_run,
            route: self.route.map(|route| route.name.to_owned()),
        }
    }

    /// Returns how many of these tools end the turn.
    pub(crate) fn count_last<'n>(&self, tools: impl IntoIterator<Item = &'n String>) -> usize {
        stop::count_last(&self.agent.settings, tools)
    }

    /// Returns how many calls that wait for the user end the turn.
    pub(crate) fn waiting_last(&self) -> usize {
        self.count_last(self.waiting.iter().map(|waiting| &waiting.call.name))
    }

    /// Returns the tool of the first invalid call if it ends the turn.
    fn invalid_call(&self, reply: &ModelReply) -> Option<String> {
        let invalid = reply.calls.iter().find(|checked| checked.tool.is_err())?;
        (!self.agent.settings.repair_tool_call).then(|| invalid.call.name.clone())
    }

    pub(crate) fn check_not_stopped(&self) -> Result<(), RunFailure> {
        if self.caller.cancel.is_cancelled() { Err(retry::cancelled_error().into()) } else { Ok(()) }
    }
}
