//! The recording as a replay consumes it, each entry once, and the entries that were missing.

use super::{Options, ReplayError, Replies, ToolMode};
use crate::format::{
    Entry, NeutralRequest, Outcome, RawReply, RecordedTool, Recording, annotations_from_names, blob_id,
};
use crate::record::Session;
use agent::{Agent, Grant, GrantQuery, Ruling};
use contract::Annotations;
use contract::{Model, Part, ToolSpec};
use parking_lot::Mutex;
use providers::recorded::decode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A request or call that the recording does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Miss {
    /// The path of the agent.
    pub agent: String,
    /// The number of the agent's request before or at which it happened, from 1.
    pub step: u32,
    /// The missing item.
    pub what: String,
}

/// The figures of a replay.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplayStats {
    pub(super) misses: Vec<Miss>,
    pub(super) live_requests: u32,
    pub(super) simulated: u32,
}

/// A recorded reply.
#[derive(Clone)]
pub(super) struct TapedReply {
    pub(super) parts: Vec<Part>,
    pub(super) error: Option<String>,
}

/// A recorded call.
#[derive(Clone)]
struct TapedCall {
    id: String,
    outcome: Outcome,
}

/// The note of a source for the model before a step, if any.
#[derive(Clone)]
pub(super) struct TapedNote(pub(super) Option<String>);

/// The answer of a source.
#[derive(Clone)]
pub(super) struct TapedSource {
    pub(super) tools: Vec<ToolSpec>,
    pub(super) context: Option<String>,
    pub(super) context_annotations: Annotations,
    pub(super) note_annotations: Annotations,
    pub(super) error: Option<String>,
}

/// The recording as it is consumed.
pub(super) struct Tape {
    pub(super) options: Options,
    /// Records the replay.
    pub(super) session: Arc<Session>,
    /// Makes up results of tools.
    pub(super) model: Arc<dyn Model>,
    /// Stops the replay.
    pub(super) stop: CancellationToken,
    /// Whether the recorded run was stopped by its user.
    pub(super) was_stopped: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The requests by the whole and by the conversation, with their replies.
    replies: Vec<Item<(String, String), TapedReply>>,
    /// Calls by agent, tool and arguments.
    tools: Vec<Item<(String, String, String), TapedCall>>,
    sources: Vec<Item<(String, String), TapedSource>>,
    notes: Vec<Item<(String, String), TapedNote>>,
    rulings: Vec<Item<(String, String), Ruling>>,
    approvals: Vec<Item<(String, String, String), bool>>,
    grants: Vec<Item<(String, String, String), Option<Grant>>>,
    /// In a run that was stopped: the number of calls of an agent and a tool without a result.
    cut_off: HashMap<(String, String), usize>,
    steps: HashMap<String, u32>,
    seen: ReplayStats,
}

/// A recorded request: its agent, and the hashes of the whole and of the conversation.
struct RecordedRequest {
    agent: String,
    whole: String,
    conversation: String,
}

struct Item<K, V> {
    key: K,
    value: V,
    is_used: bool,
}

impl<K, V: Clone> Item<K, V> {
    fn new(key: K, value: V) -> Self {
        Self { key, value, is_used: false }
    }
}

/// Takes the first unused item that matches.
fn take_unused<K, V: Clone>(items: &mut [Item<K, V>], matches: impl Fn(&K, &V) -> bool) -> Option<V> {
    let item = items.iter_mut().find(|item| !item.is_used && matches(&item.key, &item.value))?;
    item.is_used = true;
    Some(item.value.clone())
}

impl Tape {
    /// Reads a recording from the entry on with the index `begin`, with which the replay begins.
    pub(super) fn new(
        recording: &Recording,
        agent: &Agent,
        options: &Options,
        begin: usize,
        session: Arc<Session>,
        stop: CancellationToken,
    ) -> Result<Self, ReplayError> {
        let was_stopped = recording.end().is_none_or(|end| end.ending == "stopped");
        let mut state = State::default();
        if options.from_step > 1 {
            state.steps.insert(agent.id.clone(), options.from_step - 1);
        }
        let mut asked: HashMap<u32, RecordedRequest> = HashMap::new();
        for (at, entry) in recording.entries.iter().enumerate() {
            match entry {
                Entry::Source { .. } => state.add_source(recording, entry, at < begin)?,
                // The first step has its notes already.
                Entry::Note { agent, source, .. } if at < begin => {
                    let key = (agent.clone(), source.clone());
                    if !state.notes.iter().any(|note| note.key == key) {
                        state.notes.push(Item::new(key, TapedNote(None)));
                    }
                }
                _ if at < begin => {}
                Entry::Request { id, agent, request } => {
                    let (whole, conversation) = (request.hash(agent), request.conversation_hash(agent));
                    asked.insert(*id, RecordedRequest { agent: agent.clone(), whole, conversation });
                }
                Entry::Reply { id, parts, error, raw, .. } => {
                    let Some(asked) = asked.remove(id) else { continue };
                    let reply = match raw {
                        Some(raw) => decoded(recording, raw)?,
                        None => TapedReply { parts: parts.clone(), error: error.clone() },
                    };
                    if was_stopped {
                        state.add_calls(&asked.agent, &reply.parts);
                    }
                    state.replies.push(Item::new((asked.whole, asked.conversation), reply));
                }
                entry => state.add(entry),
            }
        }
        let (options, model) = (options.clone(), agent.model.clone());
        Ok(Self { options, session, model, stop, was_stopped, state: Mutex::new(state) })
    }

    /// Returns the reply to a request; `None` if the model is to be asked.
    ///
    /// # Errors
    /// The recording does not have the request.
    pub(super) fn reply(&self, agent: &str, request: &NeutralRequest) -> Result<Option<TapedReply>, ()> {
        let mut state = self.state.lock();
        *state.steps.entry(agent.to_owned()).or_default() += 1;
        let (whole, conversation) = (request.hash(agent), request.conversation_hash(agent));
        let found = match self.options.replies {
            Replies::Live => None,
            Replies::Recorded if !self.options.same_config => {
                take_unused(&mut state.replies, |key, _| key.1 == conversation)
            }
            Replies::Recorded | Replies::Auto => take_unused(&mut state.replies, |key, _| key.0 == whole),
        };
        match (found, self.options.replies) {
            (Some(reply), _) => Ok(Some(reply)),
            (None, Replies::Recorded) => {
                state.miss(agent, "the request to the model".to_owned());
                Err(())
            }
            (None, _) => {
                state.seen.live_requests += 1;
                Ok(None)
            }
        }
    }

    /// Returns the result of a call. Equal calls have their results by their ids, then in the
    /// recorded order.
    pub(super) fn outcome(&self, agent: &str, tool: &str, call_id: &str, input: &Value) -> Option<Outcome> {
        let wanted = (agent.to_owned(), tool.to_owned(), arguments_id(input));
        let mut state = self.state.lock();
        let same = take_unused(&mut state.tools, |key, call| *key == wanted && call.id == call_id);
        let found = same.or_else(|| take_unused(&mut state.tools, |key, _| *key == wanted));
        found.map(|call| call.outcome)
    }

    /// Returns whether the recorded run was stopped before such a call had its result, and no other
    /// call has one.
    pub(super) fn was_cut_off(&self, agent: &str, tool: &str) -> bool {
        let is_recorded = matches!(self.options.tools, ToolMode::Recorded | ToolMode::Stop);
        is_recorded
            && self.state.lock().cut_off.get(&(agent.to_owned(), tool.to_owned())).is_some_and(|calls| *calls > 0)
    }

    /// Returns the recorded results of a tool, as examples.
    pub(super) fn examples(&self, tool: &str, most: usize) -> Vec<Outcome> {
        let state = self.state.lock();
        let of_tool = state.tools.iter().filter(|item| item.key.1 == tool);
        of_tool.take(most).map(|item| item.value.outcome.clone()).collect()
    }

    /// Returns the answer of a source. The last answer is repeated.
    pub(super) fn source(&self, agent: &str, source: &str) -> Option<TapedSource> {
        let mut state = self.state.lock();
        let is_it = |key: &(String, String)| key.0 == agent && key.1 == source;
        let next = take_unused(&mut state.sources, |key, _| is_it(key));
        next.or_else(|| state.sources.iter().rev().find(|item| is_it(&item.key)).map(|item| item.value.clone()))
    }

    /// Returns the note of a source; `None` if the recording does not know the source.
    pub(super) fn note(&self, agent: &str, source: &str) -> Option<TapedNote> {
        let mut state = self.state.lock();
        let is_it = |key: &(String, String)| key.0 == agent && key.1 == source;
        let next = take_unused(&mut state.notes, |key, _| is_it(key));
        next.or_else(|| state.sources.iter().any(|item| is_it(&item.key)).then_some(TapedNote(None)))
    }

    /// Returns the decision of a policy.
    pub(super) fn ruling(&self, agent: &str, call_id: &str) -> Option<Ruling> {
        take_unused(&mut self.state.lock().rulings, |key, _| key.0 == agent && key.1 == call_id)
    }

    /// Returns whether a tool required an approval for these arguments.
    pub(super) fn approval(&self, agent: &str, tool: &str, input: &Value) -> Option<bool> {
        let wanted = (agent.to_owned(), tool.to_owned(), arguments_id(input));
        take_unused(&mut self.state.lock().approvals, |key, _| *key == wanted)
    }

    /// Returns the standing approval for a call.
    pub(super) fn grant(&self, wanted: GrantQuery<'_>) -> Option<Grant> {
        let key = (wanted.agent_id.to_owned(), wanted.tool.to_owned(), wanted.fingerprint.to_owned());
        take_unused(&mut self.state.lock().grants, |known, _| *known == key).flatten()
    }

    /// Records that something is not in the recording.
    pub(super) fn miss(&self, agent: &str, what: String) {
        self.state.lock().miss(agent, what);
    }

    /// Records that a result is made up.
    pub(super) fn record_simulated(&self) {
        self.state.lock().seen.simulated += 1;
    }

    /// Returns whether a tool may run.
    pub(super) fn may_run(&self, spec: &ToolSpec) -> bool {
        self.options.tools == ToolMode::Live && self.options.allow_effects.contains(&spec.name)
    }

    /// Returns the figures.
    pub(super) fn stats(&self) -> ReplayStats {
        self.state.lock().seen.clone()
    }
}

impl State {
    fn miss(&mut self, agent: &str, what: String) {
        let step = self.steps.get(agent).copied().unwrap_or(1);
        self.seen.misses.push(Miss { agent: agent.to_owned(), step, what });
    }

    /// Adds the answer of a source; only the newest answer before the first step counts.
    fn add_source(&mut self, recording: &Recording, entry: &Entry, is_before: bool) -> Result<(), ReplayError> {
        let Entry::Source { agent, source, tools, context, context_annotations, note_annotations, error } = entry
        else {
            return Ok(());
        };
        let tools: Vec<RecordedTool> = serde_json::from_value(recording.blob(tools).clone())
            .map_err(|error| ReplayError::Damaged(format!("the tools of {source}: {error}")))?;
        let key = (agent.clone(), source.clone());
        if is_before {
            self.sources.retain(|item| item.key != key);
        }
        let value = TapedSource {
            tools: tools.into_iter().map(ToolSpec::from).collect(),
            context: context.clone(),
            context_annotations: annotations_from_names(context_annotations),
            note_annotations: annotations_from_names(note_annotations),
            error: error.clone(),
        };
        self.sources.push(Item::new(key, value));
        Ok(())
    }

    /// Counts the calls of a reply that have no result yet.
    fn add_calls(&mut self, agent: &str, parts: &[Part]) {
        for part in parts {
            if let Part::ToolCall { name, provider_executed: false, .. } = part {
                *self.cut_off.entry((agent.to_owned(), name.clone())).or_default() += 1;
            }
        }
    }

    fn add(&mut self, entry: &Entry) {
        match entry {
            Entry::Tool { agent, call_id, tool, input, outcome, .. } => {
                if let Some(calls) = self.cut_off.get_mut(&(agent.clone(), tool.clone())) {
                    *calls = calls.saturating_sub(1);
                }
                let key = (agent.clone(), tool.clone(), arguments_id(input));
                let call = TapedCall { id: call_id.clone(), outcome: outcome.clone() };
                self.tools.push(Item::new(key, call));
            }
            Entry::Note { agent, source, text } => {
                self.notes.push(Item::new((agent.clone(), source.clone()), TapedNote(text.clone())));
            }
            Entry::Ruling { agent, call_id, ruling, reason } => {
                let ruling = match ruling.as_str() {
                    "allow" => Ruling::Allow,
                    "ask" => Ruling::Ask,
                    _ => Ruling::Deny(reason.clone().unwrap_or_default()),
                };
                self.rulings.push(Item::new((agent.clone(), call_id.clone()), ruling));
            }
            Entry::Approval { agent, tool, input, needed } => {
                let key = (agent.clone(), tool.clone(), arguments_id(input));
                self.approvals.push(Item::new(key, *needed));
            }
            Entry::Grant { agent, tool, fingerprint, grant } => {
                let key = (agent.clone(), tool.clone(), fingerprint.clone());
                self.grants.push(Item::new(key, grant.clone()));
            }
            _ => {}
        }
    }
}

/// Decodes a reply as the provider sent it.
fn decoded(recording: &Recording, raw: &RawReply) -> Result<TapedReply, ReplayError> {
    let events: Vec<String> = serde_json::from_value(recording.blob(&raw.events).clone())
        .map_err(|error| ReplayError::Damaged(format!("the events of the provider: {error}")))?;
    let decoded = decode(raw.api, events.iter().map(String::as_str));
    Ok(TapedReply { parts: decoded.parts, error: decoded.failure.map(|error| error.kind.to_string()) })
}

/// Returns the hash of arguments, in which the order of keys does not matter.
fn arguments_id(input: &Value) -> String {
    let mut input = input.clone();
    input.sort_all_objects();
    blob_id(&input)
}

/// Returns the request with which a replay begins, and the index of its entry; `None` if it begins
/// with the run.
pub(super) fn first_request<'a>(
    recording: &'a Recording,
    root: &str,
    from_step: u32,
) -> Result<Option<(usize, &'a NeutralRequest)>, ReplayError> {
    if from_step <= 1 {
        return Ok(None);
    }
    let requests = recording.entries.iter().enumerate().filter_map(|(at, entry)| match entry {
        Entry::Request { agent, request, .. } if agent == root => Some((at, request)),
        _ => None,
    });
    let requests: Vec<_> = requests.collect();
    let index = usize::try_from(from_step - 1).unwrap_or(usize::MAX);
    let found = requests.get(index).copied();
    found.map(Some).ok_or(ReplayError::NoStep { steps: requests.len(), from: from_step })
}
