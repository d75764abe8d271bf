//! Validates the model's tool calls. The errors are written so that the model can correct the call.

use crate::deferral::{self, Deferral};
use crate::{Agent, Ruling, SubAgent, TOOL_CALL, TOOL_SEARCH};
use contract::{RunScope, Tool, ToolCall, ToolSpec};
use schemas::{CheckError, InstanceFault, Schema, SchemaError};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The maximum size of the arguments, in bytes.
const MAX_INPUT: usize = 1024 * 1024;
/// The maximum number of errors that are reported for one call.
const MAX_ERRORS: usize = 5;
/// The longest schema that is shown with the errors of a call, in bytes.
const MAX_SHOWN_SCHEMA: usize = 8_000;

/// The tools of one run by name, with their compiled schemas.
#[derive(Default)]
pub(crate) struct OfferedTools {
    /// The tools that any step may offer.
    tools: HashMap<String, CompiledTool>,
    /// The names of the tools that the current step offers; all if absent.
    active: Option<HashSet<String>>,
    /// Tools that are not offered, because their schemas are invalid or too costly to check.
    refused: HashSet<String>,
    /// The tools that are found by search.
    deferral: Option<Arc<Deferral>>,
}

struct CompiledTool {
    tool: CallTarget,
    /// The compiled schema; `None` if too many others were being compiled at the time.
    schema: Option<Schema>,
}

/// The executor of a call.
#[derive(Clone)]
pub(crate) enum CallTarget {
    /// A tool.
    Tool(Arc<dyn Tool>),
    /// A sub-agent.
    Agent(Arc<SubAgent>),
    /// The provider, once the user has approved: see [`ToolCall::needs_provider_approval`].
    Provider(Arc<ToolSpec>),
}

impl CallTarget {
    pub(crate) fn spec(&self) -> &ToolSpec {
        match self {
            Self::Tool(tool) => tool.spec(),
            Self::Agent(agent) => &agent.spec,
            Self::Provider(spec) => spec,
        }
    }

    /// Returns the ruling of the tool itself on a call: whether its arguments need the user's
    /// approval.
    pub(crate) async fn ruling(&self, call: &ToolCall, scope: &RunScope) -> Ruling {
        match self {
            Self::Tool(tool) if tool.needs_approval_for(&call.input, scope).await => Ruling::Ask,
            _ => Ruling::Allow,
        }
    }

    /// Creates the target of a call that the provider runs.
    fn provider(name: &str) -> Self {
        let spec = ToolSpec::new(name, "", json!({ "type": "object" }));
        Self::Provider(Arc::new(ToolSpec { needs_approval: true, ..spec }))
    }
}

/// A call after validation.
pub(crate) struct CheckedCall {
    pub(crate) call: ToolCall,
    pub(crate) tool: Result<CallTarget, InvalidCall>,
}

/// Why a call is invalid.
pub(crate) struct InvalidCall {
    /// The arguments as the model wrote them, as text if they are not JSON.
    pub(crate) input: Value,
    /// The message for the model.
    pub(crate) error: String,
    /// Whether no tool of this name exists.
    pub(crate) dynamic: bool,
}

impl OfferedTools {
    /// Compiles the schemas of an agent's tools.
    pub(crate) async fn compile(agent: &Agent, deferral: Option<Arc<Deferral>>) -> Self {
        let settings = &agent.settings;
        let rules = settings.prepare_step.iter().filter_map(|rule| rule.active_tools.as_ref());
        let active = |name: &str| {
            let mut lists = settings.active_tools.iter().chain(rules.clone());
            let is_named = settings.active_tools.is_none() || lists.any(|list| list.iter().any(|known| known == name));
            is_named || (deferral.is_some() && deferral::is_helper(name))
        };
        let agents = agent.agents.iter().cloned().map(CallTarget::Agent);
        let tools = agent.tools.iter().cloned().map(CallTarget::Tool).chain(agents);
        let mut offer = Self::default();
        for tool in tools.filter(|tool| active(&tool.spec().name)) {
            let ToolSpec { name, input_schema, .. } = tool.spec();
            let name = name.clone();
            let schema = match Schema::compile_cached(input_schema).await {
                Ok(schema) => Some(schema),
                Err(SchemaError::Busy) => None,
                Err(error) => {
                    tracing::warn!(tool = name, %error, "a tool is not offered, because its schema cannot be used");
                    offer.refused.insert(name);
                    continue;
                }
            };
            offer.tools.insert(name, CompiledTool { tool, schema });
        }
        offer.deferral = deferral.clone();
        offer
    }

    /// Returns whether a tool is not offered because of its schema.
    pub(crate) fn is_refused(&self, name: &str) -> bool {
        self.refused.contains(name)
    }

    /// Restricts the next step to these tools; `None` lifts the restriction.
    pub(crate) fn restrict_to(&mut self, active: Option<&[String]>) {
        self.active = active.map(|names| names.iter().cloned().collect());
    }

    /// Returns whether the agent has a usable tool of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Returns whether a tool is found by search.
    pub(crate) fn is_deferred(&self, name: &str) -> bool {
        self.deferral.as_ref().is_some_and(|deferral| deferral.contains(name))
    }

    /// Returns whether the step offers a tool of this name. Those that find and call deferred tools are
    /// offered with any of these.
    pub(crate) fn offers(&self, name: &str) -> bool {
        let is_active = |name: &str| self.active.as_ref().is_none_or(|active| active.contains(name));
        let is_offered = match &self.deferral {
            Some(deferral) if deferral::is_helper(name) => deferral.names().any(|name| is_active(name)),
            _ => is_active(name),
        };
        is_offered && self.tools.contains_key(name)
    }

    /// Returns whether a name is that of the tool through which deferred tools are called.
    pub(crate) fn is_bridge(&self, name: &str) -> bool {
        self.deferral.is_some() && name == TOOL_CALL
    }

    /// Replaces a call of the bridge by one of the tool that it names, if the step offers that. A
    /// deferred tool that is called directly is not in the request, so the call is treated as if it had
    /// gone through the bridge.
    fn unwrap_bridge(&self, call: &mut ToolCall, input: Value) -> Value {
        if self.deferral.is_none() {
            return input;
        }
        match (call.name.as_str(), deferral::target(&input)) {
            (TOOL_CALL, Some((name, arguments))) if name != TOOL_CALL && self.offers(name) => {
                call.name = name.to_owned();
                call.metadata = deferral::mark(call.metadata.take());
                arguments
            }
            (name, _) if self.is_deferred(name) => {
                call.metadata = deferral::mark(call.metadata.take());
                input
            }
            _ => input,
        }
    }

    /// Parses a call's arguments (empty means `{}`) and finds its tool, which the step must offer.
    pub(crate) async fn check(&self, mut call: ToolCall, text: &str) -> CheckedCall {
        let input = match parse(text) {
            Ok(input) => input,
            Err(error) => {
                let dynamic = !self.offers(&call.name);
                let unusable = InvalidCall { input: Value::from(text), error, dynamic };
                return CheckedCall { call, tool: Err(unusable) };
            }
        };
        let input = self.unwrap_bridge(&mut call, input);
        let tool = if !self.offers(&call.name) && !call.needs_provider_approval() {
            Err(InvalidCall { input: input.clone(), error: self.no_such_tool(&call.name), dynamic: true })
        } else if call.name == TOOL_CALL && self.deferral.is_some() {
            // A call of the bridge that was not unwrapped names no tool that the step offers.
            let error = match deferral::target(&input) {
                Some((name, _)) => self.no_such_tool(name),
                None => "Give the `name` of a tool and its `arguments`.".to_owned(),
            };
            Err(InvalidCall { input: input.clone(), error, dynamic: false })
        } else {
            self.resolve(&call, &input).await
        };
        if input.is_object() {
            call.input = input;
        }
        CheckedCall { call, tool }
    }

    /// Returns the tool for a call with these arguments, regardless of the step that offered it.
    /// Dropping the future ends the check of the arguments.
    pub(crate) async fn resolve(&self, call: &ToolCall, input: &Value) -> Result<CallTarget, InvalidCall> {
        let name = call.name.as_str();
        if call.needs_provider_approval() {
            return Ok(CallTarget::provider(name));
        }
        let unusable = |error, dynamic| InvalidCall { input: input.clone(), error, dynamic };
        let Some(CompiledTool { tool, schema }) = self.tools.get(name) else {
            return Err(unusable(self.no_such_tool(name), true));
        };
        if !input.is_object() {
            return Err(unusable("The arguments must be a JSON object.".to_owned(), false));
        }
        let schema = match schema {
            Some(schema) => schema.clone(),
            None => Schema::compile_cached(&tool.spec().input_schema).await.map_err(|error| {
                tracing::error!(tool = name, %error, "the tool's schema cannot be used");
                unusable("This tool cannot be used now. Try again in a moment.".to_owned(), false)
            })?,
        };
        match schema.check(input, MAX_ERRORS).await {
            Ok(()) => Ok(tool.clone()),
            Err(misfit) => Err(unusable(describe_misfit(&misfit) + &self.shown_schema(tool.spec()), false)),
        }
    }

    /// Returns the schema of a deferred tool, which the model may not have looked up.
    fn shown_schema(&self, tool: &ToolSpec) -> String {
        let schema = tool.input_schema.to_string();
        if self.is_deferred(&tool.name) && schema.len() <= MAX_SHOWN_SCHEMA {
            format!(" The parameters are: {schema}")
        } else {
            String::new()
        }
    }

    fn no_such_tool(&self, name: &str) -> String {
        let is_listed = |name: &&str| self.offers(name) && !self.is_deferred(name);
        let mut names: Vec<_> = self.tools.keys().map(String::as_str).filter(is_listed).collect();
        names.sort_unstable();
        if let Some(deferral) = &self.deferral {
            let similar: Vec<_> = deferral.similar(name).into_iter().filter(|name| self.offers(name)).collect();
            return if similar.is_empty() {
                format!("There is no tool `{name}`. Find tools with {TOOL_SEARCH}.")
            } else {
                format!(
                    "There is no tool `{name}`. Similar tools: {}. Find others with {TOOL_SEARCH}.",
                    similar.join(", ")
                )
            };
        }
        if names.is_empty() {
            format!("There is no tool `{name}`. No tools are available.")
        } else {
            format!("There is no tool `{name}`. Available: {}.", names.join(", "))
        }
    }
}

/// Describes for the model why arguments do not fit the schema.
fn describe_misfit(misfit: &CheckError) -> String {
    match misfit {
        CheckError::Faults(faults) => {
            let place = |fault: &InstanceFault| {
                format!("{}: {}", if fault.path.is_empty() { "/" } else { &fault.path }, fault.message)
            };
            format!("The arguments do not fit: {}", faults.iter().map(place).collect::<Vec<_>>().join("; "))
        }
        CheckError::TooCostly => {
            "Checking these arguments takes too much work. Use smaller or simpler ones.".to_owned()
        }
        CheckError::PatternTooCostly => {
            "The tool's schema has a pattern that is too costly for a text of this length. Use a shorter text."
                .to_owned()
        }
        CheckError::Busy => "The arguments cannot be checked now. Try again in a moment.".to_owned(),
    }
}

fn parse(text: &str) -> Result<Value, String> {
    if text.len() > MAX_INPUT {
        return Err(format!("The arguments are longer than {} KB.", MAX_INPUT / 1024));
    }
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    serde_json::from_str(text).map_err(|error| format!("The arguments are not valid JSON: {error}."))
}
