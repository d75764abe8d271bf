//! What an agent's properties say to one provider only, and how that provider spells it in its requests.

use super::Context;
use super::agent_entry::AgentTypeEntry;
use super::value::Text;
use crate::source::Node;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The keys that only one type of agent has; `Agent` has none of them.
const KEYS: [(&str, AgentTypeEntry); 14] = [
    ("thinking", AgentTypeEntry::ClaudeAgent),
    ("effort", AgentTypeEntry::ClaudeAgent),
    ("api", AgentTypeEntry::OpenAIAgent),
    ("reasoningEffort", AgentTypeEntry::OpenAIAgent),
    ("reasoningSummary", AgentTypeEntry::OpenAIAgent),
    ("thinkingConfig", AgentTypeEntry::GeminiAgent),
    ("safetySettings", AgentTypeEntry::GeminiAgent),
    ("order", AgentTypeEntry::AIGatewayAgent),
    ("only", AgentTypeEntry::AIGatewayAgent),
    ("user", AgentTypeEntry::AIGatewayAgent),
    ("tags", AgentTypeEntry::AIGatewayAgent),
    ("zeroDataRetention", AgentTypeEntry::AIGatewayAgent),
    ("providerTimeouts", AgentTypeEntry::AIGatewayAgent),
    ("byok", AgentTypeEntry::AIGatewayAgent),
];

/// Reports properties of another type of agent.
pub(super) fn check_type(properties: &Node, agent_type: AgentTypeEntry, context: &mut Context<'_, '_>) {
    for entry in properties.entries() {
        let Some((key, owner)) = KEYS.iter().find(|(key, _)| *key == entry.key) else { continue };
        if *owner != agent_type {
            let message =
                format!("`{key}` is for agents of the type {owner:?}; this one is of the type {agent_type:?}");
            let help = (agent_type == AgentTypeEntry::Agent || agent_type == AgentTypeEntry::AISDKAgent)
                .then(|| "write it under `providerOptions`, in the provider's own words".to_owned());
            context.report.error(entry.key_at, message, help);
        }
    }
}

/// What only one provider knows; which one, is in [`KEYS`].
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProviderProperties {
    /// Of a `ClaudeAgent`: whether the model thinks first.
    thinking: Option<ThinkingEntry>,
    /// Of a `ClaudeAgent`: how much work an answer is worth.
    effort: Option<Effort>,
    /// Of an `OpenAIAgent`: how long the model thinks.
    reasoning_effort: Option<ReasoningEffort>,
    /// Of an `OpenAIAgent`: whether its thinking is summed up.
    reasoning_summary: Option<ReasoningSummary>,
    /// Of a `GeminiAgent`: how long the model thinks.
    thinking_config: Option<ThinkingConfig>,
    /// Of a `GeminiAgent`: what it refuses.
    safety_settings: Option<Vec<SafetySetting>>,
    /// Of an `AIGatewayAgent`: providers in the order of preference.
    order: Option<Vec<Text>>,
    /// Of an `AIGatewayAgent`: the only providers to use.
    only: Option<Vec<Text>>,
    /// Of an `AIGatewayAgent`: whose spending it is, best as `{ _user: id }`.
    user: Option<Text>,
    /// Of an `AIGatewayAgent`: labels for its statistics.
    tags: Option<Vec<Text>>,
    /// Of an `AIGatewayAgent`: only providers that keep nothing.
    zero_data_retention: Option<bool>,
    /// Of an `AIGatewayAgent`: time limits by provider.
    provider_timeouts: Option<Map<String, Value>>,
    /// Of an `AIGatewayAgent`: keys of your own by provider, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    byok: Option<Map<String, Value>>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::agent_operators::allow)]
struct ThinkingEntry {
    /// Whether it thinks.
    #[serde(rename = "type")]
    kind: ThinkingKind,
    /// The tokens it may think, at least 1024.
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
#[schemars(transform = super::agent_operators::allow)]
struct ThinkingConfig {
    /// The tokens it may think; 0 for none, -1 for as many as the model finds right.
    #[schemars(range(min = -1))]
    thinking_budget: Option<i32>,
    /// How long it thinks.
    thinking_level: Option<ThinkingLevel>,
    /// Whether its thoughts are part of the answer.
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
    /// Google's name for the kind of content.
    category: Text,
    /// Google's name for the threshold.
    threshold: Text,
}

/// `providerOptions` with these properties in it. `fallbacks` are the gateway's own. Options of the same group are merged; a property goes
/// before an option of the same name.
pub(super) fn options(
    given: IndexMap<String, Map<String, Value>>,
    properties: ProviderProperties,
    fallbacks: &[Text],
    agent_type: AgentTypeEntry,
    chat: bool,
) -> Map<String, Value> {
    let (provider, own) = match agent_type {
        AgentTypeEntry::ClaudeAgent => ("anthropic", properties.anthropic()),
        AgentTypeEntry::OpenAIAgent => ("openai", properties.openai(chat)),
        AgentTypeEntry::GeminiAgent => ("google", properties.google()),
        AgentTypeEntry::AIGatewayAgent => ("gateway", properties.gateway(fallbacks)),
        AgentTypeEntry::Agent | AgentTypeEntry::AISDKAgent => ("", json!({})),
    };
    let mut options: Map<String, Value> =
        given.into_iter().map(|(name, options)| (name, Value::Object(options))).collect();
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
        match chat {
            true => json!({ "reasoning_effort": self.reasoning_effort }),
            false => json!({ "reasoning": { "effort": self.reasoning_effort, "summary": self.reasoning_summary } }),
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

/// Puts a value over another one. Mappings are merged key by key, unless their `type` says that they are two different things; anything
/// else is replaced.
fn merge(known: &mut Value, news: Value) {
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

/// Without what was not set; a mapping that is empty then was not set either.
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
