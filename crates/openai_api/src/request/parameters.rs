//! The parameters that both APIs have.

use super::{format, tools};
use crate::error::ApiError;
use contract::Sampling;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tools::Tools;
use wire::invoke::ResponseSchema;

/// The most sequences that end a reply, as at OpenAI.
const MAX_STOP: usize = 4;
/// The longest identifier that is not used, in characters.
const MAX_IDENTIFIER: usize = 512;

/// Parameters that both APIs have.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct SharedParameters {
    /// Tools of the caller: `{type: function, …}`. A call of one ends the answer; the result is sent with the
    /// next request. The agent's own tools run on the server.
    pub(crate) tools: Option<Vec<Value>>,
    /// Whether the model must call one of `tools`: `auto`, `none`, `required` or a function.
    pub(crate) tool_choice: Option<Value>,
    /// Whether an answer may have several calls of `tools`.
    pub(crate) parallel_tool_calls: Option<bool>,
    /// The sampling temperature.
    #[schemars(range(min = 0, max = 2))]
    pub(crate) temperature: Option<f64>,
    /// Nucleus sampling.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) top_p: Option<f64>,
    /// Whether the answer is streamed as server-sent events.
    pub(crate) stream: Option<bool>,
    /// Whose end user asks. It is not used: the caller is the user.
    pub(crate) user: Option<String>,
    /// The same.
    pub(crate) safety_identifier: Option<String>,
    /// It is not used: providers cache by themselves.
    pub(crate) prompt_cache_key: Option<String>,
    /// Up to 16 texts that belong to the request.
    pub(crate) metadata: Option<Map<String, Value>>,
    /// `auto` or `default`.
    pub(crate) service_tier: Option<String>,
}

/// The parameters of a request, without the history.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) tools: Tools,
    pub(crate) parallel_tool_calls: bool,
    pub(crate) schema: Option<ResponseSchema>,
    /// The parameter that has the schema.
    pub(crate) schema_param: &'static str,
    pub(crate) sampling: Sampling,
    pub(crate) metadata: Map<String, Value>,
}

impl SharedParameters {
    /// Checks the parameters. `format` is the form of the answer, and where it stands.
    pub(super) fn check(
        &self,
        model: &str,
        (format, schema_param): (Option<&Value>, &'static str),
        sampling: Sampling,
    ) -> Result<Parameters, ApiError> {
        let sampling = Sampling { temperature: self.temperature, top_p: self.top_p, ..sampling };
        check_sampling(&sampling)?;
        if let Some(tier) = self.service_tier.as_deref().filter(|tier| !["auto", "default"].contains(tier)) {
            let tier: String = tier.chars().take(30).collect();
            return Err(ApiError::unsupported("service_tier", format!("There is no service tier `{tier}`.")));
        }
        let unused = [("user", &self.user), ("safety_identifier", &self.safety_identifier)];
        for (name, value) in unused.into_iter().chain([("prompt_cache_key", &self.prompt_cache_key)]) {
            if value.as_ref().is_some_and(|value| value.chars().count() > MAX_IDENTIFIER) {
                return Err(ApiError::invalid(name, format!("It has at most {MAX_IDENTIFIER} characters.")));
            }
        }
        let metadata = self.metadata.clone().unwrap_or_default();
        check_metadata(&metadata)?;
        Ok(Parameters {
            model: model.to_owned(),
            stream: self.stream.unwrap_or_default(),
            tools: tools::read(self.tools.as_deref(), self.tool_choice.as_ref())?,
            parallel_tool_calls: self.parallel_tool_calls.unwrap_or(true),
            schema: format::read(format, schema_param)?,
            schema_param,
            sampling,
            metadata,
        })
    }
}

fn check_sampling(sampling: &Sampling) -> Result<(), ApiError> {
    let within = |name: &str, value: Option<f64>, low: f64, high: f64| match value {
        Some(value) if !(low..=high).contains(&value) => {
            Err(ApiError::invalid(name, format!("A number from {low} to {high} is possible.")))
        }
        _ => Ok(()),
    };
    within("temperature", sampling.temperature, 0.0, 2.0)?;
    within("top_p", sampling.top_p, 0.0, 1.0)?;
    within("frequency_penalty", sampling.frequency_penalty, -2.0, 2.0)?;
    within("presence_penalty", sampling.presence_penalty, -2.0, 2.0)?;
    let stop = &sampling.stop_sequences;
    if stop.len() > MAX_STOP || stop.iter().any(|text| text.is_empty() || text.len() > 1_000) {
        return Err(ApiError::invalid("stop", format!("Up to {MAX_STOP} texts of 1 to 1,000 bytes are possible.")));
    }
    Ok(())
}

fn check_metadata(metadata: &Map<String, Value>) -> Result<(), ApiError> {
    let fits = |(key, value): (&String, &Value)| {
        key.chars().count() <= 64 && value.as_str().is_some_and(|text| text.chars().count() <= 512)
    };
    if metadata.len() <= 16 && metadata.iter().all(fits) {
        Ok(())
    } else {
        let message = "Up to 16 texts of 512 characters are possible, with keys of 64 characters.";
        Err(ApiError::invalid("metadata", message))
    }
}

/// Returns the longest reply in tokens.
pub(super) fn max_tokens(name: &str, value: Option<u32>) -> Result<Option<u32>, ApiError> {
    match value {
        Some(0) => Err(ApiError::invalid(name, "A reply has at least 1 token.")),
        value => Ok(value),
    }
}
