//! The loop: ask, run the tools, append, until something says stop.

use crate::above::{Above, Place};
use crate::act::Acted;
use crate::calls::{Ids, Offer};
use crate::limits::Meter;
use crate::loops::{self, Loops, Verdict};
use crate::prune::{self, Prune};
use crate::reply::{self, Failure, Reply};
use crate::sources;
use crate::spent::Spent;
use crate::tools::Caller;
use crate::{
    Agent, Ending, Event, EventSink, Limit, Outcome, PendingCall, Turn, WaitingCall, prepare_step, retry, stop,
};
use contract::{FinishReason, Message, ModelError, ModelErrorKind, Replied, Request, ToolSpec, Usage, UserPart};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Runs a turn to its end. Never panics because of a tool or a model; ends within a second after `cancel`.
pub async fn run<S: EventSink>(agent: &Agent, turn: Turn, sink: &mut S) -> Outcome {
    run_below(agent, turn, None, sink).await
}

/// The same for an agent below another one, whose limits count for it, too.
pub(crate) async fn run_below<S: EventSink>(agent: &Agent, turn: Turn, above: Option<Above>, sink: &mut S) -> Outcome {
    let limit = agent.settings.timeouts.total;
    let outer = turn.cancel.clone();
    // A child, so that running out of time ends the run as a stop would, and only the ending tells them apart.
    let cancel = outer.child_token();
    let clock = cancel.clone();
    let _timer = AbortOnDropHandle::new(tokio::spawn(async move {
        tokio::time::sleep(limit).await;
        clock.cancel();
    }));
    // What comes before, between and after the replies is boxed: a run is as large as the largest of what it waits for, and nearly all of
    // its life it waits for a reply.
    let gathered = Box::pin(sources::gather(agent, (&turn.user_id, &turn.seen), &cancel, sink)).await;
    // A sink that closed before the beginning says so again at the first step.
    let agent = gathered.unwrap_or(Cow::Borrowed(agent));
    // A run that is stopped before its tools are known ends at its first step.
    let offer = Box::pin(cancel.run_until_cancelled(Offer::of(&agent))).await.unwrap_or_default();
    let mut run = Run::new(&agent, offer, turn, above, cancel.clone());
    let ending = match run.drive(sink).await {
        Ok(ending) => ending,
        Err(Failure::Sink) => Ending::SinkClosed,
        Err(Failure::UnknownPrice { model }) => Ending::UnknownPrice { model },
        Err(Failure::Model(_)) if outer.is_cancelled() => Ending::Stopped,
        Err(Failure::Model(_)) if cancel.is_cancelled() => Ending::Limit(Limit::Time),
        Err(Failure::Model(error)) => Ending::Failed(error),
    };
    let used = run.caller.meter.spent();
    Outcome {
        ending,
        finish_reason: run.finish_reason,
        usage: used.usage,
        cost_usd: used.cost_usd,
        in_all: run.in_all(),
        steps: run.steps,
        messages: run.messages,
        waiting: run.waiting,
    }
}

/// A turn that runs.
pub(crate) struct Run<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) offer: Offer,
    ids: Ids,
    pub(crate) caller: Caller,
    pub(crate) messages: Vec<Arc<Message>>,
    pub(crate) pending: Vec<PendingCall>,
    /// Calls that came to a question for the user.
    pub(crate) waiting: Vec<WaitingCall>,
    finish_reason: FinishReason,
    /// Requests to the model.
    pub(crate) steps: u32,
    /// The same of the runs before this one.
    steps_before: u32,
    loops: Loops,
    /// The model is to be warned about a loop before it is asked again.
    warns: bool,
    /// A call that the turn waits or waited for ends it.
    pub(crate) is_last: bool,
    /// Messages from this one on belong to the turn itself, and are not pruned.
    own_from: usize,
    /// Whether a call was refused because there were too many.
    pub(crate) is_over_calls: bool,
    /// Which of the agent's models is asked.
    model: usize,
}

impl<'a> Run<'a> {
    fn new(agent: &'a Agent, offer: Offer, turn: Turn, above: Option<Above>, cancel: CancellationToken) -> Self {
        let earlier = turn.earlier;
        let is_sub_agent = above.is_some();
        let (meter, mut policies, place) = match above {
            Some(Above { meter, policies, place }) => (Some(meter), policies, place),
            None => (None, Vec::new(), Place::of_first(agent.settings.max_parallel_agents)),
        };
        policies.extend(agent.policy.clone());
        let caller = Caller {
            agent_id: agent.id.clone(),
            user_id: turn.user_id,
            conversation_id: turn.conversation_id,
            grants: turn.grants,
            seen: turn.seen,
            cancel,
            is_sub_agent,
            meter: Meter::new(agent.settings.limits.clone(), earlier.used, meter),
            policies,
            place,
        };
        Self {
            agent,
            offer,
            ids: Ids::of(&turn.messages),
            caller,
            messages: turn.messages,
            pending: turn.pending,
            waiting: Vec::new(),
            finish_reason: FinishReason::Other,
            steps: 0,
            steps_before: earlier.steps,
            loops: earlier.loops,
            warns: earlier.warns,
            is_last: earlier.is_last,
            own_from: turn.own_from,
            is_over_calls: false,
            model: 0,
        }
    }

    async fn drive<S: EventSink>(&mut self, sink: &mut S) -> Result<Ending, Failure> {
        if !Box::pin(self.act_on_decisions(sink)).await? {
            return Ok(Ending::Waiting);
        }
        self.prune_history();
        // A turn that goes on has made its steps before: what it waited for may have been the last one.
        if self.steps_before > 0
            && let Some(limit) = stop::limit(&self.agent.settings, self.all_steps(), self.is_last)
        {
            return Ok(Ending::Limit(limit));
        }
        loop {
            self.check_not_stopped()?;
            if let Some(limit) = self.caller.meter.reached() {
                return Ok(Ending::Limit(limit));
            }
            if std::mem::take(&mut self.warns) {
                let text = loops::WARNING.to_owned();
                self.messages.push(Arc::new(Message::User(vec![UserPart::Text { text }])));
            }
            let reply = self.ask(sink).await?;
            // A provider that paused goes on when it reads its reply so far; the limit of steps bounds that, too.
            let is_paused = reply.reason == FinishReason::Pause;
            let verdict = self.loops.see(&reply.calls.iter().map(|checked| checked.call.clone()).collect::<Vec<_>>());
            self.warns = verdict == Verdict::Warn;
            let invalid = self.invalid_call(&reply);
            let Acted { called, settled, accepted } = Box::pin(self.act_on_calls(reply, verdict, sink)).await?;
            self.check_not_stopped()?;
            if !called && !is_paused {
                return Ok(Ending::Done);
            }
            if let Some(tool) = invalid {
                return Ok(Ending::InvalidCall { tool });
            }
            if verdict == Verdict::Stop {
                return Ok(Ending::Limit(Limit::Loop));
            }
            if self.is_over_calls || self.caller.meter.is_over_calls() {
                return Ok(Ending::Limit(Limit::ToolCalls));
            }
            self.is_last = stop::is_last(&self.agent.settings, &accepted);
            if !settled {
                return Ok(Ending::Waiting);
            }
            if let Some(limit) = stop::limit(&self.agent.settings, self.all_steps(), self.is_last) {
                return Ok(Ending::Limit(limit));
            }
        }
    }

    /// Requests to the model, those before it waited included.
    fn all_steps(&self) -> u32 {
        self.steps.saturating_add(self.steps_before)
    }

    /// What the turn has used, for the run that goes on with it.
    fn in_all(&self) -> Spent {
        Spent {
            used: self.caller.meter.in_all(),
            steps: self.all_steps(),
            loops: self.loops.clone(),
            warns: self.warns,
            is_last: self.is_last,
        }
    }

    /// Prunes what came before the turn. What the turn adds itself stays: the model needs the results of its own calls.
    fn prune_history(&mut self) {
        let rules = &self.agent.settings.prune;
        if *rules != Prune::default() {
            self.messages = prune::prune_before(&self.messages, self.own_from, rules);
            // No provider takes an empty message.
            self.messages.retain(|message| !prune::is_empty(message));
        }
    }

    /// The tool of the first call that cannot be run, where that ends the turn.
    fn invalid_call(&self, reply: &Reply) -> Option<String> {
        let invalid = reply.calls.iter().find(|checked| checked.tool.is_err())?;
        (!self.agent.settings.repair_tool_call).then(|| invalid.call.name.clone())
    }

    /// Refuses a request whose cost could not be limited.
    fn check_prices(&self) -> Result<(), Failure> {
        if !self.caller.meter.limits_cost() {
            return Ok(());
        }
        // Any of them may come to answer.
        let mut names = self.agent.models().map(|model| &model.id().model);
        match names.find(|name| !self.agent.settings.prices.contains_key(*name)) {
            Some(model) => Err(Failure::UnknownPrice { model: model.clone() }),
            None => Ok(()),
        }
    }

    pub(crate) fn check_not_stopped(&self) -> Result<(), Failure> {
        if self.caller.cancel.is_cancelled() { Err(retry::stopped().into()) } else { Ok(()) }
    }

    /// One request, read to the end of its reply.
    async fn ask<S: EventSink>(&mut self, sink: &mut S) -> Result<Reply, Failure> {
        self.check_prices()?;
        let request = self.request();
        self.steps += 1;
        self.caller.meter.request();
        let cancel = self.caller.cancel.clone();
        let (asked, mut first_part) = (Instant::now(), Duration::ZERO);
        let ask = async {
            let begun = retry::ask(self.agent, &mut self.model, &request, &cancel, sink).await?;
            first_part = asked.elapsed();
            sink.emit(Event::StepStart { number: self.steps }).await?;
            reply::read(self.agent, &self.offer, &mut self.ids, begun, &cancel, sink).await
        };
        let reply = match self.agent.settings.timeouts.step {
            None => ask.await?,
            Some(limit) => tokio::time::timeout(limit, ask).await.unwrap_or_else(|_| {
                Err(ModelError::new(ModelErrorKind::Timeout, format!("no whole reply within {limit:?} (step)")).into())
            })?,
        };
        self.finish_reason = reply.reason;
        let cost_usd = self.cost(reply.usage);
        self.caller.meter.reply(reply.usage, cost_usd);
        if let Some(model) = self.agent.models().nth(self.model) {
            let replied = Replied {
                number: self.steps,
                model: model.id().clone(),
                finish_reason: reply.reason,
                usage: reply.usage,
                cost_usd,
                first_part,
                whole: asked.elapsed(),
            };
            sink.emit(Event::Replied(replied)).await?;
        }
        Ok(reply)
    }

    /// What a request's tokens cost at the price of the model that answered it.
    pub(crate) fn cost(&self, usage: Usage) -> Option<f64> {
        let model = self.agent.models().nth(self.model)?;
        Some(self.agent.settings.prices.get(&model.id().model)?.of(usage))
    }

    fn request(&mut self) -> Request {
        let settings = &self.agent.settings;
        let rule = prepare_step::rule(&settings.prepare_step, self.all_steps() + 1);
        // What is offered is what is accepted in the reply, and nothing else.
        self.offer.narrow(rule.and_then(|rule| rule.active_tools.as_deref()).or(settings.active_tools.as_deref()));
        let tools = self.agent.tools.iter().map(|tool| tool.spec());
        let tools = tools.chain(self.agent.agents.iter().map(|below| &below.spec));
        let active = |spec: &&ToolSpec| self.offer.has(&spec.name);
        let mut sampling = settings.sampling.clone();
        if let Some(rule) = rule {
            sampling.max_output_tokens = rule.max_output_tokens.or(sampling.max_output_tokens);
            sampling.temperature = rule.temperature.or(sampling.temperature);
        }
        Request {
            system: system(self.agent),
            messages: self.messages.clone(),
            tools: tools.filter(active).filter(|spec| !self.offer.is_refused(&spec.name)).cloned().collect(),
            tool_choice: rule.and_then(|rule| rule.tool_choice.as_ref()).unwrap_or(&settings.tool_choice).clone(),
            sampling,
            response_format: settings.response_format.clone(),
            provider_options: settings.provider_options.clone(),
        }
    }
}

/// What the model is told before everything else.
fn system(agent: &Agent) -> Option<String> {
    /// The word by which models of the kind of Qwen3 leave out their thoughts.
    const NO_THINK: &str = "/no_think";
    match (&agent.instructions, agent.settings.no_think) {
        (instructions, false) => instructions.clone(),
        (Some(instructions), true) => Some(format!("{NO_THINK}\n\n{instructions}")),
        (None, true) => Some(NO_THINK.to_owned()),
    }
}
