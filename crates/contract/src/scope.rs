//! The scope of a run, and the keys of its calls.

use crate::{Bearer, ToolCall};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The scope of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunScope {
    /// The user for whom the run acts; a tool that reads or stores a user's data must use this id.
    pub user_id: String,
    /// The user's roles; none for visitors.
    pub roles: Vec<String>,
    /// Whether the user is signed in.
    pub is_authenticated: bool,
    /// The conversation; empty for runs outside of conversations.
    pub conversation_id: String,
    /// The run, of the agent that was asked first; empty where nothing is recorded as a run.
    pub run_id: String,
    /// The prompt of a program, in runs outside of conversations.
    pub prompt: Option<Arc<str>>,
    /// The agent; in a sub-agent's calls, the sub-agent.
    pub agent_id: String,
    /// The page from which the user sent the message; `None` for other clients.
    pub page_id: Option<String>,
    /// Whether the client is a chat of the page, which shows what a running tool asks the user.
    pub shows_questions: bool,
    /// The user's token, if it may be passed on to services that are called on the user's behalf.
    pub token: Option<Bearer>,
    /// Identifies the calls of this run, and stays the same when a call is repeated after a crash; empty if there is no
    /// such key. See [`ToolContext::idempotency_key`](crate::ToolContext::idempotency_key).
    pub key: String,
    /// Counts equal calls in a run that may be executed again with the same `key`, such as a step of a workflow. The
    /// model gives the calls new ids then, so their idempotency keys are made of the tool and the arguments.
    pub call_counts: Option<Arc<CallCounts>>,
    /// The part of the idempotency key that identifies a call of such a run, instead of the call's id.
    pub call_key: Option<String>,
    /// Whether the user has switched planning on or off for this turn; `None` if they have not chosen.
    pub plan_mode: Option<bool>,
    /// Whether the user has switched documents on or off for this turn; `None` if they have not chosen.
    pub documents: Option<bool>,
    /// The libraries that the user has chosen for this turn; `None` if they have not chosen.
    pub libraries: Option<Arc<[String]>>,
    /// Whether the user has switched the web on or off for this turn; `None` if they have not chosen.
    pub web: Option<bool>,
    /// Whether the user's message that the turn answers has files.
    pub has_files: bool,
    /// Whether a user interface calls that a source of tools has shown to the user (an MCP App), instead of a model. A
    /// source may have tools for one of the two only.
    pub for_app: bool,
    /// For a step of a workflow: the workflows that led to it, from the first one, its own last. A workflow that a
    /// tool starts has them as its causes, so that events of runs do not start each other without end.
    pub causes: Vec<String>,
}

impl RunScope {
    /// Returns the scope of one call. It has a `call_key` if the run has `call_counts`.
    #[must_use]
    pub fn for_call(self: Arc<Self>, call: &ToolCall) -> Arc<Self> {
        let Some(counts) = &self.call_counts else { return self };
        let call_key = Some(counts.key(&self.key, &call.name, &call.input));
        Arc::new(Self { call_key, ..Self::clone(&self) })
    }
}

/// How often each tool was called with the same arguments, by the agent of a run and by each of its sub-agents. There
/// are as many entries as calls at most.
#[derive(Debug, Default)]
pub struct CallCounts(Mutex<HashMap<[u8; 32], u32>>);

impl CallCounts {
    /// Counts a call and returns its key: a hash of the scope's key, the tool and the arguments, and the number of this
    /// call among equal ones. The scope's key keeps sub-agents apart that run at the same time: the order in which they
    /// make equal calls may be another one the next time.
    fn key(&self, scope: &str, tool: &str, input: &Value) -> String {
        let mut hasher = Sha256::new();
        hasher.update(format!("{}:{scope}/{tool}", scope.len()));
        hasher.update(":");
        hash(input, &mut hasher);
        let digest: [u8; 32] = hasher.finalize().into();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(digest).or_default();
        *count += 1;
        format!("{}:{count}", hex::encode(digest))
    }
}

/// Compares by identity: a run has one.
impl PartialEq for CallCounts {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for CallCounts {}

/// Hashes a value, independently of the order of its keys.
fn hash(value: &Value, hasher: &mut Sha256) {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<_> = object.keys().collect();
            keys.sort();
            hasher.update("{");
            for key in keys {
                hasher.update(Value::from(key.as_str()).to_string());
                hash(&object[key], hasher);
            }
            hasher.update("}");
        }
        Value::Array(list) => {
            hasher.update("[");
            list.iter().for_each(|item| hash(item, hasher));
            hasher.update("]");
        }
        plain => {
            hasher.update(plain.to_string());
            hasher.update(",");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_of_a_run_that_begins_anew_have_the_keys_that_they_had() {
        // The keys of the calls of one attempt: tool, arguments, and the id that the model has chosen.
        let keys = |calls: &[(&str, Value, &str)]| -> Vec<String> {
            let scope = Arc::new(RunScope { call_counts: Some(Arc::default()), ..RunScope::default() });
            let key = |(name, input, id): &(&str, Value, &str)| {
                let call = ToolCall {
                    id: (*id).to_owned(),
                    name: (*name).to_owned(),
                    input: input.clone(),
                    provider_executed: false,
                    metadata: None,
                };
                scope.clone().for_call(&call).call_key.clone().unwrap()
            };
            calls.iter().map(key).collect()
        };
        let (pay, two) = (json!({ "to": "ada", "sum": [1, 2] }), json!({ "sum": [1, 2], "to": "ada" }));
        let first = keys(&[("pay", pay.clone(), "a"), ("pay", pay.clone(), "b"), ("tell", pay.clone(), "c")]);
        let again = keys(&[("pay", two.clone(), "x"), ("pay", two, "y"), ("tell", pay, "z")]);
        assert_eq!(first, again);
        assert!(first[0] != first[1] && first[1] != first[2] && first[0] != first[2], "{first:?}");
        let nested = keys(&[("pay", json!([[1], 2]), "a"), ("pay", json!([[1, 2]]), "b"), ("pay", json!([1, 2]), "c")]);
        assert!(nested[0] != nested[1] && nested[1] != nested[2] && nested[0] != nested[2], "{nested:?}");
    }

    #[test]
    fn equal_calls_of_sub_agents_are_counted_apart() {
        let counts: Arc<CallCounts> = Arc::default();
        let call = ToolCall {
            id: "a".to_owned(),
            name: "pay".to_owned(),
            input: json!({}),
            provider_executed: false,
            metadata: None,
        };
        let key = |scope: &str| {
            let call_counts = Some(counts.clone());
            let scope = Arc::new(RunScope { key: scope.to_owned(), call_counts, ..RunScope::default() });
            scope.for_call(&call).call_key.clone().unwrap()
        };
        let keys = [key("step/a"), key("step/b"), key("step/a")];
        assert!(keys[0].ends_with(":1") && keys[1].ends_with(":1") && keys[2].ends_with(":2"), "{keys:?}");
    }

    #[test]
    fn other_runs_go_by_the_ids_of_calls() {
        let scope = Arc::new(RunScope::default());
        let call = ToolCall {
            id: "a".to_owned(),
            name: "pay".to_owned(),
            input: json!({}),
            provider_executed: false,
            metadata: None,
        };
        assert_eq!(scope.for_call(&call).call_key, None);
    }
}
