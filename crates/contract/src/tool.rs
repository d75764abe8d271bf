//! The trait of tools.

use crate::{Annotations, CallReports, Message, ModelUse, RunScope, ToolError};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The declaration of a tool: its description for the model, and how the loop runs it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name; matches `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// The description that the model reads.
    pub description: String,
    /// The JSON Schema of the arguments, which are an object. The input is checked against it
    /// before anything runs.
    pub input_schema: Value,
    /// Where the tool runs.
    pub execution: Execution,
    /// Whether the user must approve each call.
    pub needs_approval: bool,
    /// The terms of approval requests, whatever their reason.
    pub approval: ApprovalTerms,
    /// The tool's annotations.
    pub annotations: Annotations,
    /// The maximum duration of one call.
    pub timeout: Duration,
    /// Whether an agent with many tools may find this one by search instead of listing it: tools of
    /// other services, of which an agent can have hundreds.
    pub deferrable: bool,
}

/// Returns whether every provider accepts the name of a tool or of an answer's form: 1 to 64 letters,
/// digits, `_` or `-`. Such a name has no special meaning in a URL.
pub fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

impl ToolSpec {
    /// The default of [`ToolSpec::timeout`].
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

    /// Creates the declaration of a tool that the server runs without approval.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            execution: Execution::Server,
            needs_approval: false,
            approval: ApprovalTerms::default(),
            annotations: Annotations::default(),
            timeout: Self::DEFAULT_TIMEOUT,
            deferrable: false,
        }
    }

    /// Returns a hash of the name, the description and the schema, as 64 hexadecimal digits. An
    /// approval is valid only for the tool with the fingerprint for which it was given.
    pub fn fingerprint(&self) -> String {
        let texts = [self.name.as_str(), &self.description, &self.input_schema.to_string()];
        let mut hash = Sha256::new();
        for text in texts {
            // The length goes first, so that text cannot move from one field to the next without
            // changing the hash.
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        hex::encode(hash.finalize())
    }
}

/// The terms of an approval request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalTerms {
    /// Whether the user may give a standing approval.
    pub may_remember: bool,
    /// How long the request waits for an answer; without a limit by default.
    pub expires_after: Option<Duration>,
    /// The arguments that the user sees first and may change; all of them if absent.
    pub visible_parameters: Option<Vec<String>>,
    /// The kinds of data that the agent has read so far, if that is why the user is asked about a tool that can send
    /// data to others.
    #[serde(default)]
    pub exposed: Option<Exposure>,
    /// Whether the call was interrupted while it ran: the user is asked whether to run it again.
    #[serde(default)]
    pub cut_off: bool,
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self { may_remember: true, expires_after: None, visible_parameters: None, exposed: None, cut_off: false }
    }
}

impl ApprovalTerms {
    /// Returns the terms for a tool whose config says how the user approves its calls, if it does.
    pub fn new(confirm: Option<Confirm>, visible_parameters: Option<Vec<String>>) -> Self {
        let Confirm { remember, expires_after } = confirm.unwrap_or_default();
        Self { may_remember: remember, expires_after, visible_parameters, ..Self::default() }
    }
}

/// How the user approves the calls of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Confirm {
    /// Whether the user may give a standing approval for further calls, in the same conversation or
    /// always.
    pub remember: bool,
    /// How long an approval is waited for, in seconds; after it the call is denied. Default:
    /// without end.
    #[serde(rename = "expiresAfterSeconds", with = "settings::seconds")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 31_536_000))]
    pub expires_after: Option<Duration>,
}

impl Default for Confirm {
    fn default() -> Self {
        Self { remember: true, expires_after: None }
    }
}

/// The kinds of data that an agent has read so far: in each field, the first tool that returned such data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// The source of private data.
    pub private: Option<String>,
    /// The source of untrusted text.
    pub untrusted: Option<String>,
}

impl Exposure {
    /// The name used when a provider has searched the web without reporting a tool call.
    pub const WEB: &str = "web";

    /// Returns whether both kinds of data were read, so that untrusted instructions could cause
    /// private data to be sent.
    pub fn has_both(&self) -> bool {
        self.private.is_some() && self.untrusted.is_some()
    }

    /// Adds the kinds of data that a call of this tool reads. Returns whether one of them is new.
    pub fn add(&mut self, tool: &str, marks: Annotations) -> bool {
        let mut grown = false;
        let (private, untrusted) = (&mut self.private, &mut self.untrusted);
        for (known, is_meant) in [(private, marks.reads_private), (untrusted, marks.returns_untrusted)] {
            if is_meant && known.is_none() {
                *known = Some(tool.to_owned());
                grown = true;
            }
        }
        grown
    }
}

/// Where a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// On this server, by [`Tool::call`].
    Server,
    /// In the user's browser: a call ends the run, and its output starts the next one. Such a tool
    /// asks the user itself, or can be undone with a click, so no policy is applied to it.
    Client,
    /// In the user's browser, as code of the page's developer. It may do anything that the user
    /// could do, so the user may have to approve it first.
    Page,
}

impl Execution {
    /// Returns whether the user's browser runs the tool.
    pub fn is_client(self) -> bool {
        self != Self::Server
    }
}

/// A tool that an agent can call.
pub trait Tool: Send + Sync + 'static {
    /// Returns the tool's declaration.
    fn spec(&self) -> &ToolSpec;

    /// Returns whether the user must approve this very call, because of its arguments, although the
    /// declaration requires no approval. `input` is valid for the schema. No standing approval
    /// covers such a call. An implementation that cannot tell must return true.
    fn needs_approval_for<'a>(&'a self, _input: &'a Value, _scope: &'a RunScope) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(false))
    }

    /// Runs one call. `input` is valid for the schema. Never called for a tool [of the
    /// browser](Execution::is_client).
    ///
    /// # Errors
    /// A message that the model reads before it continues; it must not contain secrets or paths.
    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>>;
}

/// The context of one call.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The call's id, unique within the conversation.
    pub call_id: String,
    /// The user, the conversation, the agent and the page of the call.
    pub scope: Arc<RunScope>,
    /// Cancelled when the run is stopped or the call has timed out.
    pub cancel: CancellationToken,
    /// Shows progress, and adds sources and data parts to the message.
    pub reports: CallReports,
    /// Whether the tool is [idempotent](Annotations::idempotent), so that a call with an unknown outcome
    /// may be repeated.
    pub may_repeat: bool,
    /// Meters the requests to models that the tool makes itself.
    pub models: ModelUse,
}

impl ToolContext {
    /// Returns a key that is unique to the call and stays the same over all its attempts, for services
    /// that tell repetitions apart.
    pub fn idempotency_key(&self) -> Option<String> {
        let key = &self.scope.key;
        (!key.is_empty()).then(|| {
            let call = self.scope.call_key.as_deref().unwrap_or(&self.call_id);
            let digest = Sha256::digest(format!("{}:{key}/{call}", key.len()));
            format!("call-{}", hex::encode(&digest[..16]))
        })
    }
}

/// The run and the messages for which a source is asked for a note.
#[derive(Clone, Copy, Debug)]
pub struct NoteQuery<'a> {
    /// The scope of the run.
    pub scope: &'a RunScope,
    /// The messages that the model reads: earlier ones may be summarised, and results cleared.
    pub messages: &'a [Arc<Message>],
    /// All messages of the shown branch, or of a task. Messages that a summary covers may be missing, unless the
    /// source [reads the history](ToolSource::reads_history).
    pub history: &'a [Arc<Message>],
}

/// A source of tools that are known only when a turn begins, such as a server that may be down or
/// that may change its tools.
pub trait ToolSource: Send + Sync + 'static {
    /// Returns the source's name, which the user sees.
    fn name(&self) -> &str;

    /// Returns the tools for a run, within the source's own time limit. The run asks again when a tool
    /// [reports](CallReports::tools_changed) that they have changed.
    ///
    /// # Errors
    /// None of the tools is available; the message is for the user.
    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>>;

    /// Returns a number that changes when the tools may have changed on their own, without a call that reports it.
    /// The run compares it before each step, and asks again if it has changed.
    fn revision(&self, _scope: &RunScope) -> u64 {
        0
    }

    /// Returns whether the [notes](Self::note) depend on messages that the model does not read any more. Reading
    /// them costs time in long conversations, and they are not read otherwise.
    fn reads_history(&self) -> bool {
        false
    }

    /// Returns the note for the model before its next step; `None` if there is nothing new. The note is stored in the
    /// conversation after the contents that the model has read, so that the beginning of later requests stays the same.
    fn note<'a>(&'a self, _asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

/// The tools and the context that a source provides for one turn.
#[derive(Default)]
pub struct SourceTools {
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// A block for the model's instructions about the user or the environment.
    pub context: Option<String>,
    /// The annotations of the context.
    pub context_annotations: Annotations,
    /// The annotations of the notes that the source has for the model in this turn.
    pub note_annotations: Annotations,
    /// Tools of the source that cannot be used.
    pub left_out: Vec<OmittedTool>,
}

/// A tool of a source that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OmittedTool {
    /// The source's name for the tool.
    pub name: String,
    /// The reason, for the operator.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_calls_apart_and_stay_the_same() {
        let key = |scope: &str, call: &str| {
            let scope = RunScope { key: scope.to_owned(), ..RunScope::default() };
            let context = ToolContext {
                call_id: call.to_owned(),
                scope: Arc::new(scope),
                cancel: CancellationToken::new(),
                reports: CallReports::default(),
                may_repeat: false,
                models: ModelUse::default(),
            };
            context.idempotency_key()
        };
        assert_eq!(key("", "a"), None);
        assert_eq!(key("run", "a"), key("run", "a"));
        assert_ne!(key("run", "a"), key("run", "b"));
        // A task's calls have the task in their key.
        assert_ne!(key("run/a", "b"), key("run", "a/b"));
    }
}
