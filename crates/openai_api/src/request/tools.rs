//! The tools of a request, and which of them the model must call.

use super::part;
use crate::error::ApiError;
use contract::{ToolChoice, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

/// The most tools of a request, as at OpenAI.
const MAX_TOOLS: usize = 128;
/// The most bytes of all tools as JSON.
const MAX_BYTES: usize = 512 << 10;
/// The longest description of a tool in bytes.
const MAX_DESCRIPTION: usize = 16 << 10;

/// A tool, as both APIs write it: Chat Completions has its parts below `function`.
#[derive(Deserialize)]
struct Tool {
    #[serde(rename = "type")]
    kind: String,
    function: Option<Function>,
    name: Option<String>,
    description: Option<String>,
    parameters: Option<Value>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
}

/// The tool that must be called, as both APIs write it.
#[derive(Deserialize)]
struct Choice {
    #[serde(rename = "type")]
    kind: String,
    function: Option<Named>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// The tools of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tools {
    /// The offered tools: none if `tool_choice` is `none`. Only their names are compared with those of the agent's own
    /// tools, whose results a request must not forge.
    pub(crate) offered: Vec<ToolSpec>,
    /// Whether the model must call one.
    pub(crate) choice: ToolChoice,
}

/// Reads the tools.
pub(super) fn read(tools: Option<&[Value]>, choice: Option<&Value>) -> Result<Tools, ApiError> {
    let tools = tools.unwrap_or_default();
    if tools.len() > MAX_TOOLS {
        return Err(ApiError::invalid("tools", format!("A request has at most {MAX_TOOLS} tools.")));
    }
    // The response repeats them.
    if tools.iter().map(|tool| tool.to_string().len()).sum::<usize>() > MAX_BYTES {
        return Err(ApiError::invalid("tools", format!("The tools have at most {} KB.", MAX_BYTES >> 10)));
    }
    let offered = tools.iter().enumerate().map(|(at, tool)| spec(tool, &format!("tools[{at}]")));
    let mut offered = offered.collect::<Result<Vec<_>, _>>()?;
    let choice = match self::choice(choice, &names_of(&offered))? {
        ToolChoice::None => {
            offered.clear();
            ToolChoice::Auto
        }
        choice => choice,
    };
    Ok(Tools { offered, choice })
}

impl Tools {
    /// Returns the names of those that are offered.
    pub(crate) fn names(&self) -> Vec<String> {
        names_of(&self.offered)
    }
}

fn names_of(tools: &[ToolSpec]) -> Vec<String> {
    tools.iter().map(|tool| tool.name.clone()).collect()
}

fn spec(value: &Value, param: &str) -> Result<ToolSpec, ApiError> {
    let Tool { kind, function, name, description, parameters } = part(value, param)?;
    if kind != "function" {
        let message = "Only tools of the type `function` can be brought along. The agent has its own tools.";
        return Err(ApiError::unsupported(format!("{param}.type"), message));
    }
    let (inner, function) = match (function, name) {
        (Some(function), _) => (".function", function),
        (None, Some(name)) => ("", Function { name, description, parameters }),
        (None, None) => return Err(ApiError::invalid(format!("{param}.name"), "A tool needs a name.")),
    };
    if !contract::is_name(&function.name) {
        let message = "The name of a tool has 1 to 64 letters, digits, `_` and `-`.";
        return Err(ApiError::invalid(format!("{param}{inner}.name"), message));
    }
    let description = function.description.unwrap_or_default();
    if description.len() > MAX_DESCRIPTION {
        let message = format!("A description has at most {} KB.", MAX_DESCRIPTION >> 10);
        return Err(ApiError::invalid(format!("{param}{inner}.description"), message));
    }
    let parameters = function.parameters.filter(|schema| !schema.is_null());
    let parameters = parameters.unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
    if !parameters.is_object() {
        return Err(ApiError::invalid(format!("{param}{inner}.parameters"), "The parameters are a JSON Schema."));
    }
    Ok(ToolSpec::new(function.name, description, parameters))
}

fn choice(value: Option<&Value>, names: &[String]) -> Result<ToolChoice, ApiError> {
    const PARAM: &str = "tool_choice";
    let choice = match value {
        None | Some(Value::Null) => ToolChoice::Auto,
        Some(Value::String(word)) => match word.as_str() {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "required" => ToolChoice::Required,
            _ => return Err(ApiError::invalid(PARAM, "It is `auto`, `none`, `required` or a function.")),
        },
        Some(value) => {
            let Choice { kind, function, name } = part(value, PARAM)?;
            let name = function.map(|function| function.name).or(name);
            match name.filter(|_| kind == "function") {
                Some(name) if names.contains(&name) => ToolChoice::Tool(name),
                Some(_) => return Err(ApiError::invalid(PARAM, "The request has no such tool.")),
                None => return Err(ApiError::unsupported(PARAM, "It is `auto`, `none`, `required` or a function.")),
            }
        }
    };
    match choice {
        ToolChoice::Required if names.is_empty() => {
            Err(ApiError::invalid(PARAM, "Without `tools` there is nothing to call."))
        }
        choice => Ok(choice),
    }
}
