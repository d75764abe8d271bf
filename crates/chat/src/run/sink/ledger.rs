//! Notes the ledger of tool calls: the start of a call before its effect, and its end afterwards,
//! together with its audit entry.

use crate::run::sink::observer::{EventRows, LedgerRow, RunEvent, RunObserver};
use crate::stream::live::RunIdentity;
use agent::{Event, RepeatTerms};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use store::{AuditEntry, SubAgentCall, ToolOutcome};

/// The calls of a run, as the ledger knows them.
pub(super) struct Ledger {
    identity: RunIdentity,
    /// The arguments of calls.
    inputs: HashMap<String, Value>,
    /// Calls that are in the ledger and have not ended. Calls that could not be run are never
    /// there.
    started: HashSet<String>,
    /// Calls that were suspended in an earlier run.
    resumed: HashSet<String>,
    /// Calls that were interrupted in an earlier run.
    repeated: HashSet<String>,
}

impl Ledger {
    pub(super) fn new(identity: RunIdentity) -> Self {
        Self {
            identity,
            inputs: HashMap::new(),
            started: HashSet::new(),
            resumed: HashSet::new(),
            repeated: HashSet::new(),
        }
    }

    /// Returns the call's id in the ledger.
    fn id(&self, call_id: &str) -> String {
        let RunIdentity { message_id, run_id, .. } = &self.identity;
        let is_again = self.resumed.contains(call_id) || self.repeated.contains(call_id);
        entry_id(message_id, call_id, is_again.then_some(run_id.as_str()))
    }

    fn input(&self, call_id: &str) -> Value {
        self.inputs.get(call_id).cloned().unwrap_or_default()
    }

    fn started(&self, call_id: &str, name: &str, repeat: Option<&RepeatTerms>) -> LedgerRow {
        let (id, input) = (self.id(call_id), self.input(call_id));
        LedgerRow::Started { id, name: name.to_owned(), input, repeat: repeat.cloned() }
    }

    /// Returns the end of a call. Without an entry in the ledger, only its audit entry is left.
    fn ended(&mut self, call_id: &str, outcome: ToolOutcome, audit: Option<AuditEntry>) -> Option<LedgerRow> {
        if self.started.remove(call_id) {
            Some(LedgerRow::Ended { id: self.id(call_id), outcome, audit })
        } else {
            audit.map(LedgerRow::Audit)
        }
    }
}

/// Returns the id of a call in the ledger. Providers reuse call ids in other branches of a
/// conversation, so the id is prefixed by the message's. A call that was suspended or interrupted
/// gets a new entry in each run that resumes or repeats it, so the run's id is appended.
pub(crate) fn entry_id(message_id: &str, call_id: &str, again_in: Option<&str>) -> String {
    match again_in {
        Some(run_id) => format!("{message_id}:{call_id}:{run_id}"),
        None => format!("{message_id}:{call_id}"),
    }
}

/// Returns the call of an entry of a message, and whether this run has resumed or repeated it; `None` if the entry is of
/// another message.
pub(crate) fn call_of_entry<'e>(entry: &'e str, message_id: &str, run_id: &str) -> Option<(&'e str, bool)> {
    let call_id = entry.strip_prefix(message_id)?.strip_prefix(':')?;
    let first = call_id.strip_suffix(run_id).and_then(|call_id| call_id.strip_suffix(':'));
    Some(first.map_or((call_id, false), |call_id| (call_id, true)))
}

impl RunObserver for Ledger {
    fn observe(&mut self, event: &RunEvent, rows: &mut EventRows) {
        match &event.event {
            Event::ToolCall { call, .. } => drop(self.inputs.insert(call.id.clone(), call.input.clone())),
            Event::CallDecided { call, cut_off, .. } => {
                if *cut_off {
                    self.repeated.insert(call.id.clone());
                }
                self.inputs.insert(call.id.clone(), call.input.clone());
            }
            Event::ToolStarted { call_id, name, resumed, repeat } => {
                self.started.insert(call_id.clone());
                if *resumed {
                    self.resumed.insert(call_id.clone());
                }
                rows.ledger.push(match event.agent_id() {
                    None => self.started(call_id, name, repeat.as_ref()),
                    Some(agent_id) => LedgerRow::SubAgentStarted(SubAgentCall {
                        call_id: self.id(call_id),
                        name: name.clone(),
                        input: self.input(call_id),
                        agent_id: agent_id.to_owned(),
                        gates: std::mem::take(&mut rows.gates),
                    }),
                });
            }
            // This entry has no end: the page reports the result, which the message and the audit
            // log record.
            Event::PageCallReady { call_id, name, repeat } => {
                rows.ledger.push(self.started(call_id, name, Some(repeat)));
            }
            Event::ToolFinished { call_id, result, .. } => {
                for entry in rows.cut_off.drain(..) {
                    let call_id = entry.call_id.clone();
                    rows.ledger.extend(self.ended(&call_id, ToolOutcome::Error, Some(entry)));
                }
                let outcome = if result.is_err() { ToolOutcome::Error } else { ToolOutcome::Ok };
                rows.ledger.extend(self.ended(call_id, outcome, rows.ended.pop()));
            }
            Event::ToolSuspended { call_id, .. } => {
                rows.ledger.extend(self.ended(call_id, ToolOutcome::Ok, rows.ended.pop()));
            }
            _ => rows.ledger.extend(rows.ended.drain(..).map(LedgerRow::Audit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_entries_are_read_as_they_are_written() {
        let check = |call_id: &str, again_in: Option<&str>| {
            let id = entry_id("m", call_id, again_in);
            assert_eq!(call_of_entry(&id, "m", "r"), Some((call_id, again_in.is_some())), "{id}");
        };
        check("call", None);
        check("call", Some("r"));
        check("a:b", None);
        check("a:b", Some("r"));
        assert_eq!(call_of_entry("other:call", "m", "r"), None);
        assert_eq!(call_of_entry("m2:call", "m", "r"), None);
    }
}
