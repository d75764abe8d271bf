//! Properties of an agent for single providers, and how they are written in requests to the
//! provider.

use crate::agent::AgentType;
use crate::section::Context;
use crate::section::value::Text;
use config_source::Node;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The properties that only one type of agent has. `Agent` has none of them.
const KEYS: [(&str, AgentType); 14] = [
    ("thinking", AgentType::ClaudeAgent),
    ("effort", AgentType::ClaudeAgent),
    ("api", AgentType::OpenAIAgent),
    ("reasoningEffort", AgentType::OpenAIAgent),
    ("reasoningSummary", AgentType::OpenAIAgent),
    ("thinkingConfig", AgentType::GeminiAgent),
    ("safetySettings", AgentType::GeminiAgent),
    ("order", AgentType::AIGatewayAgent),
    ("only", AgentType::AIGatewayAgent),
    ("user", AgentType::AIGatewayAgent),
    ("tags", AgentType::AIGatewayAgent),
    ("zeroDataRetention", AgentType::AIGatewayAgent),
    ("providerTimeouts", AgentType::AIGatewayAgent),
    ("byok", AgentType::AIGatewayAgent),
];

/// Reports properties of other types of agents.
pub(crate) fn check_type(properties: &Node, agent_type: AgentType, context: &mut Context<'_, '_>) {
    for entry in properties.entries() {
        let Some((key, owner)) = KEYS.iter().find(|(key, _)| *key == entry.key) else { continue };
        if *owner != agent_type {
            let message =
                format!("`{key}` is for agents of the type {owner:?}; this one is of the type {agent_type:?}");
            let help = (agent_type == AgentType::Agent || agent_type == AgentType::AISDKAgent)
                .then(|| "write it under `providerOptions`, in the provider's own words".to_owned());
            context.report.error(entry.key_at, message, help);
        }
    }
}

/// Reports settings of a model that belong to another provider.
pub(crate) fn check_model_settings(settings: &Node, agent_type: AgentType, context: &mut Context<'_, '_>) {
    for entry in settings.entries() {
        let Some((key, owner)) = KEYS.iter().find(|(key, _)| *key == entry.key) else { continue };
        if *owner != agent_type {
            let message = format!("`{key}` is not a setting of the model's provider, but of models of a {owner:?}");
            let help = "write it under `providerOptions`, in the provider's own words".to_owned();
            context.report.error(entry.key_at, message, Some(help));
        }
    }
}

/// Properties of single providers; [`KEYS`] lists the type of agent of each.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProviderProperties {
    /// For a `ClaudeAgent`: extended thinking.
    thinking: Option<ThinkingEntry>,
    /// For a `ClaudeAgent`: how much effort the model puts into a reply.
    effort: Option<Effort>,
    /// For an `OpenAIAgent`: how much the model reasons.
    reasoning_effort: Option<ReasoningEffort>,
    /// For an `OpenAIAgent`: whether the reasoning is summarized.
    reasoning_summary: Option<ReasoningSummary>,
    /// For a `GeminiAgent`: how much the model thinks.
    thinking_config: Option<ThinkingConfig>,
    /// For a `GeminiAgent`: thresholds for blocking content.
    safety_settings: Option<Vec<SafetySetting>>,
    /// For an `AIGatewayAgent`: the providers in order of preference.
    order: Option<Vec<Text>>,
    /// For an `AIGatewayAgent`: the only providers to use.
    only: Option<Vec<Text>>,
    /// For an `AIGatewayAgent`: the user to whom the usage is attributed, for example `{ _user: id
    /// }`.
    user: Option<Text>,
    /// For an `AIGatewayAgent`: labels for the gateway's statistics.
    tags: Option<Vec<Text>>,
    /// For an `AIGatewayAgent`: uses only providers that retain no data.
    zero_data_retention: Option<bool>,
    /// For an `AIGatewayAgent`: timeouts by provider.
    provider_timeouts: Option<Map<String, Value>>,
    /// For an `AIGatewayAgent`: your own API keys by provider, best as `{ _secret:
    /// NAME_OF_A_VARIABLE }`.
    byok: Option<Map<String, Value>>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = settings::allow_operators)]
struct ThinkingEntry {
    /// Whether the model thinks before it replies.
    #[serde(rename = "type")]
    kind: ThinkingKind,
    /// The most tokens for thinking, at least 1024.
    #[schemars(range(min = 1024))]
    budget_tokens: Option<u32>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ThinkingKind {
    Enabled,
    Disabled,
    Adaptive,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Effort {
    Low,
    Medium,
    High,
    Max,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReasoningEffort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReasoningSummary {
    Auto,
    Detailed,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = settings::allow_operators)]
struct ThinkingConfig {
    /// The most tokens for thinking. 0 switches thinking off, -1 lets the model decide.
    #[schemars(range(min = -1))]
    thinking_budget: Option<i32>,
    /// How much the model thinks.
    thinking_level: Option<ThinkingLevel>,
    /// Whether the reply includes the thoughts.
    include_thoughts: Option<bool>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ThinkingLevel {
    Minimal,
    Low,
    Medium,
    High,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct SafetySetting {
    /// Google's name of the category of content.
    category: Text,
    /// Google's name of the threshold.
    threshold: Text,
}

/// Merges these properties into `providerOptions`. `fallbacks` are those of the gateway. Options of
/// the same group are merged; a property takes precedence over an option of the same name.
pub(crate) fn options(
    mut options: Map<String, Value>,
    properties: ProviderProperties,
    fallbacks: &[Text],
    agent_type: AgentType,
    chat: bool,
) -> Map<String, Value> {
    let (provider, own) = match agent_type {
        AgentType::ClaudeAgent => ("anthropic", properties.anthropic()),
        AgentType::OpenAIAgent => ("openai", properties.openai(chat)),
        AgentType::GeminiAgent => ("google", properties.google()),
        AgentType::AIGatewayAgent => ("gateway", properties.gateway(fallbacks)),
        AgentType::Agent | AgentType::AISDKAgent => ("", json!({})),
    };
    if let Value::Object(own) = without_nulls(own)
        && !own.is_empty()
    {
        merge(options.entry(provider).or_insert_with(|| json!({})), Value::Object(own));
    }
    options
}

impl ProviderProperties {
    fn anthropic(self) -> Value {
        let thinking =
            self.thinking.map(|thinking| json!({ "type": thinking.kind, "budget_tokens": thinking.budget_tokens }));
        json!({ "thinking": thinking, "output_config": { "effort": self.effort } })
    }

    fn openai(self, chat: bool) -> Value {
        if chat {
            json!({ "reasoning_effort": self.reasoning_effort })
        } else {
            json!({ "reasoning": { "effort": self.reasoning_effort, "summary": self.reasoning_summary } })
        }
    }

    fn google(self) -> Value {
        json!({ "generationConfig": { "thinkingConfig": self.thinking_config }, "safetySettings": self.safety_settings })
    }

    fn gateway(self, fallbacks: &[Text]) -> Value {
        json!({
            "order": self.order,
            "only": self.only,
            "models": (!fallbacks.is_empty()).then_some(fallbacks),
            "user": self.user,
            "tags": self.tags,
            "zeroDataRetention": self.zero_data_retention,
            "providerTimeouts": self.provider_timeouts,
            "byok": self.byok,
        })
    }
}

/// Merges a value into another one. Mappings are merged key by key, unless they have different
/// `type`s; anything else is replaced.
pub(crate) fn merge(known: &mut Value, news: Value) {
    let is_same_kind = |known: Option<&Value>, news: Option<&Value>| known.zip(news).is_none_or(|(a, b)| a == b);
    match (known, news) {
        (Value::Object(known), Value::Object(news)) if is_same_kind(known.get("type"), news.get("type")) => {
            for (key, value) in news {
                match known.get_mut(&key) {
                    Some(known) => merge(known, value),
                    None => drop(known.insert(key, value)),
                }
            }
        }
        (known, news) => *known = news,
    }
}

/// Removes values that are not set, and mappings that become empty.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, value)| (key, without_nulls(value)))
                .filter(|(_, value)| !value.is_null() && value.as_object().is_none_or(|map| !map.is_empty()))
                .collect(),
        ),
        other => other,
    }
}
