//! Parses the answer to `GET /tools`.

use crate::answer;
use crate::client::RemoteReply;
use crate::schema;
use crate::secrets::Secrets;
use contract::is_name;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;
use tools::RESERVED_NAMES;
use tools::text::{one_line, truncate, visible};

/// The maximum number of tools of one agent.
const MAX_TOOLS: usize = 256;
/// The maximum size of a description in bytes.
const MAX_DESCRIPTION: usize = 1 << 10;
/// The maximum size of the parameters of one tool in bytes.
const MAX_SCHEMA: usize = 64 << 10;
/// The maximum size of a quotation in a warning, in bytes.
const MAX_QUOTE: usize = 200;

/// A parsed list of tools.
pub(crate) struct Listing {
    pub(crate) tools: Vec<ParsedTool>,
    pub(crate) warnings: Vec<String>,
}

/// One tool of the list.
pub(crate) struct ParsedTool {
    /// The server's name for the tool, for its URL.
    pub(crate) remote_name: String,
    /// The name for the model.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    pub(crate) needs_approval: bool,
    pub(crate) visible_parameters: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct ListAnswer<'a> {
    #[serde(borrow)]
    tools: FirstTools<'a>,
}

/// The first tools as raw JSON, and the number of all tools. They are not parsed at once, so that a
/// small text cannot take much memory.
struct FirstTools<'a> {
    first: Vec<&'a RawValue>,
    count: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a tool")]
struct ToolDto<'a> {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(borrow, default)]
    parameters: Option<&'a RawValue>,
    #[serde(default)]
    confirmation_required: Option<bool>,
    #[serde(default)]
    visible_parameters: Option<Vec<String>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for FirstTools<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tools;
        impl<'de> Visitor<'de> for Tools {
            type Value = FirstTools<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of tools")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<FirstTools<'de>, A::Error> {
                let mut first = Vec::new();
                while first.len() < MAX_TOOLS {
                    let Some(tool) = list.next_element()? else { break };
                    first.push(tool);
                }
                let mut count = first.len();
                while list.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(FirstTools { first, count })
            }
        }
        deserializer.deserialize_seq(Tools)
    }
}

/// Parses the list.
pub(crate) fn read(reply: &RemoteReply, prefix: Option<&str>) -> Result<Listing, String> {
    // A list is accepted with any status.
    let ListAnswer { tools: FirstTools { first, count } } =
        serde_json::from_slice(&reply.body).map_err(|_| format!("the list of tools: {}", list_error(reply)))?;
    let (mut tools, mut warnings, mut names) = (Vec::new(), Vec::new(), HashSet::new());
    for (index, tool) in first.into_iter().enumerate() {
        match parse_tool(tool, prefix, &reply.secrets) {
            Ok(tool) if names.insert(tool.name.clone()) => tools.push(tool),
            Ok(tool) => {
                warnings.push(format!("tool {} is left out: there is another tool named `{}`", index + 1, tool.name))
            }
            Err(reason) => warnings.push(format!("tool {} is left out: {reason}", index + 1)),
        }
    }
    if count > MAX_TOOLS {
        warnings.push(format!("{} tools are left out: only the first {MAX_TOOLS} are used", count - MAX_TOOLS));
    }
    Ok(Listing { tools, warnings })
}

fn list_error(reply: &RemoteReply) -> String {
    // An error message is short, and parsing anything larger could take many times its size in
    // memory.
    let is_short = reply.body.len() <= answer::MAX_RESULT;
    let answer = is_short.then(|| serde_json::from_slice(&reply.body).ok()).flatten();
    answer::failure(reply, answer.as_ref()).unwrap_or_else(|| "the answer has no valid list".to_owned())
}

fn parse_tool(tool: &RawValue, prefix: Option<&str>, secrets: &Secrets) -> Result<ParsedTool, String> {
    let quote = |text: &str| truncate(&secrets.redact(&one_line(text)), MAX_QUOTE);
    let tool: ToolDto<'_> = serde_json::from_str(tool.get()).map_err(|error| quote(&without_place(&error)))?;
    let name = prefix.map_or_else(|| tool.name.clone(), |prefix| format!("{prefix}__{}", tool.name));
    let about = |reason: &str| format!("`{}`: {reason}", quote(&tool.name));
    if !is_name(&tool.name) || secrets.redact(&tool.name) != tool.name {
        return Err(about("the name must have 1 to 64 letters, digits, `_` or `-`"));
    }
    if !is_name(&name) {
        return Err(about("the name is too long with its prefix"));
    }
    if RESERVED_NAMES.contains(&name.as_str()) {
        return Err(about("a built-in tool has this name"));
    }
    let input_schema = input_schema(tool.parameters, secrets).map_err(|reason| about(&quote(&reason)))?;
    let is_parameter = |name: &String| input_schema["properties"].get(name).is_some();
    Ok(ParsedTool {
        description: description(tool.description.as_deref().unwrap_or_default(), secrets),
        needs_approval: tool.confirmation_required.unwrap_or(false),
        visible_parameters: tool.visible_parameters.map(|names| names.into_iter().filter(is_parameter).collect()),
        remote_name: tool.name,
        name,
        input_schema,
    })
}

/// Returns the message without line and column, which would be relative to the tool.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
}

fn input_schema(parameters: Option<&RawValue>, secrets: &Secrets) -> Result<Value, String> {
    let text = parameters.map_or("{}", RawValue::get);
    if text.len() > MAX_SCHEMA {
        return Err(format!("the parameters are larger than {} KiB", MAX_SCHEMA >> 10));
    }
    let parameters = serde_json::from_str(text).map_err(|_| "the parameters are nested too deeply".to_owned())?;
    let schema = schema::from_parameters(&parameters, &|text| description(text, secrets))?;
    if secrets.redact_value(schema.clone()) == schema {
        Ok(schema)
    } else {
        Err("the parameters contain a secret".to_owned())
    }
}

/// Removes invisible characters first, since they could hide a secret, then the secrets, and
/// truncates the rest.
fn description(text: &str, secrets: &Secrets) -> String {
    truncate(secrets.redact(&visible(text)).trim(), MAX_DESCRIPTION)
}
