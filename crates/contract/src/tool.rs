//! What a tool promises.

use crate::{ModelUse, ToolError};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What the model is told about a tool, and how the loop treats it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// For the model.
    pub description: String,
    /// JSON Schema of an object. Input is checked against it before anything runs.
    pub input_schema: Value,
    /// Who runs it.
    pub execution: Execution,
    /// Whether the user must say yes to each call.
    pub needs_approval: bool,
    /// How the user is asked, for whatever reason.
    pub approval: ApprovalTerms,
    /// What a call does with what others should not read, or wrote.
    pub marks: Marks,
    /// How long one call may take.
    pub timeout: Duration,
}

impl ToolSpec {
    /// How long a call may take unless a tool says otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

    /// A tool that the server runs without asking.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            execution: Execution::Server,
            needs_approval: false,
            approval: ApprovalTerms::default(),
            marks: Marks::default(),
            timeout: Self::DEFAULT_TIMEOUT,
        }
    }

    /// Another text when the tool says something else of itself: 64 hexadecimal digits. A yes to a call holds for the tool that it was
    /// given to.
    pub fn fingerprint(&self) -> String {
        let said = [self.name.as_str(), &self.description, &self.input_schema.to_string()];
        let mut hash = Sha256::new();
        for text in said {
            // With its length, so that nothing can move from one to the next.
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// How the user is asked about a tool's calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalTerms {
    /// A yes may be given for further calls, too.
    pub may_remember: bool,
    /// How long a question waits for its answer; without an end by default.
    pub expires_after: Option<Duration>,
    /// The arguments that the user sees first and may change; all without it.
    pub visible_parameters: Option<Vec<String>>,
    /// Why the user is asked about a tool that can send things away: what the agent has read by then.
    #[serde(default)]
    pub exposed: Option<Exposure>,
    /// The call was cut off when it ran: the user is asked whether it is made once more.
    #[serde(default)]
    pub cut_off: bool,
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self { may_remember: true, expires_after: None, visible_parameters: None, exposed: None, cut_off: false }
    }
}

/// What a call does with data, and whether it may be made twice. Text from outside may hold instructions, and a model may follow them: one that has also read private data
/// must not be able to send it away without the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// It reads what not everybody may see.
    pub reads_private: bool,
    /// Its result may be anybody's words.
    pub returns_untrusted: bool,
    /// It can send something to others.
    pub egress: bool,
    /// Made twice, the same call does no more than once: one that was cut off may run again without anybody being asked.
    pub idempotent: bool,
}

/// What an agent has read so far, by the names of the tools that it came from first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// Private data.
    pub private: Option<String>,
    /// Text from outside.
    pub untrusted: Option<String>,
}

impl Exposure {
    /// What is named where a provider has looked something up without telling of a tool.
    pub const WEB: &str = "web";

    /// Whether both are there, so that what is sent may be private data on an outsider's word.
    pub fn is_whole(&self) -> bool {
        self.private.is_some() && self.untrusted.is_some()
    }

    /// Takes in what a call of this tool adds; says whether that is something new.
    pub fn add(&mut self, tool: &str, marks: Marks) -> bool {
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

/// Who runs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// [`Tool::call`].
    Server,
    /// The user's browser: a call ends the run, its output starts the next one. It asks the user, or what it does can be taken back with
    /// a click: no policy asks before it.
    Client,
    /// The same for what the page's developer wrote. It may do anything that the user could, so the user may be asked first.
    Page,
}

impl Execution {
    /// Whether the user's browser runs it.
    pub fn is_client(self) -> bool {
        self != Self::Server
    }
}

/// A tool that an agent can call.
pub trait Tool: Send + Sync + 'static {
    /// What it is.
    fn spec(&self) -> &ToolSpec;

    /// Runs one call. `input` has passed the schema. Never called for what [a client runs](Execution::is_client).
    ///
    /// # Errors
    /// The text is for the model, which reads it and goes on; it must not hold secrets or paths.
    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>>;
}

/// What a call may know and must obey.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The call's id, unique within the conversation.
    pub call_id: String,
    /// On whose behalf; a tool that reads someone's data asks for this id.
    pub user_id: String,
    /// In which conversation.
    pub conversation_id: String,
    /// Ends the call: the run was stopped or the call took too long.
    pub cancel: CancellationToken,
    /// Shows the user how far the call has come.
    pub progress: Progress,
    /// The tool is [idempotent](Marks::idempotent): a call whose outcome is unknown may be made once more.
    pub may_repeat: bool,
    /// Counts the requests to models that the tool makes itself.
    pub models: ModelUse,
}

/// Shows the user how far a call has come. What comes faster than it can be shown is left out.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<(String, mpsc::Sender<(String, Value)>)>);

impl Progress {
    /// Hands on what is told, with the call's id; the channel's size is what may wait.
    pub fn new(call_id: impl Into<String>, sender: mpsc::Sender<(String, Value)>) -> Self {
        Self(Some((call_id.into(), sender)))
    }

    /// Tells what there is of the result so far; it takes the place of what was told before.
    pub fn tell(&self, output: Value) {
        if let Some((call_id, sender)) = &self.0 {
            let _ = sender.try_send((call_id.clone(), output));
        }
    }
}

/// Tools that are known only when a turn begins: those of a server that may be down, or that offers other ones today.
pub trait ToolSource: Send + Sync + 'static {
    /// What it is called, for the user.
    fn name(&self) -> &str;

    /// The tools for one turn of this user. Takes no longer than the source's own limit of time.
    ///
    /// # Errors
    /// None of its tools can be had; the text is for the user.
    fn tools<'a>(&'a self, user_id: &'a str) -> BoxFuture<'a, Result<Sourced, ToolError>>;
}

/// What a source has for one turn.
#[derive(Default)]
pub struct Sourced {
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What the model should know of the user or the surroundings: a whole block for its instructions.
    pub context: Option<String>,
    /// What that is.
    pub context_marks: Marks,
    /// Tools that the source has, and that cannot be used.
    pub left_out: Vec<LeftOut>,
}

/// A tool that a source has and that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The source's name for it.
    pub name: String,
    /// Why; for the operator.
    pub reason: String,
}
