//! Text and objects from a model: what a routine asks for, and the port through which it is asked.

use contract::ModelUse;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;

/// The longest prompt, in bytes.
const MAX_PROMPT: usize = 1 << 20;

/// A provider's models. Implemented where models are known; this room only knows that there are some.
pub trait TextModels: Send + Sync + 'static {
    /// Asks once, without tools. The answer is a text, or a value that fits the schema. Its requests count for `models`.
    ///
    /// # Errors
    /// For the caller, in one line: no answer, or none that fits.
    fn generate(&self, question: TextQuestion, models: ModelUse) -> BoxFuture<'_, Result<Value, String>>;
}

/// What is asked of a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextQuestion {
    /// The provider's name for the model.
    pub model: String,
    /// What it should do, in general.
    pub instructions: Option<String>,
    /// What it should do now.
    pub prompt: String,
    /// The form of the answer; text without it.
    pub schema: Option<Value>,
    /// Where to stop.
    pub max_output_tokens: Option<u32>,
    /// How free it is.
    pub temperature: Option<f64>,
}

impl TextQuestion {
    /// Reads the evaluated properties of a request.
    pub(crate) fn read(mut properties: Value) -> Result<Self, String> {
        // What an operator found need not be a text: rows are asked about as JSON, nothing is an empty prompt.
        let prompt = match properties.get_mut("prompt").map(Value::take).unwrap_or_default() {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        };
        properties["prompt"] = Value::String(prompt);
        let question: Self = serde_json::from_value(properties).map_err(|error| error.to_string())?;
        if question.prompt.trim().is_empty() {
            return Err("the prompt is empty".to_owned());
        }
        if question.prompt.len() > MAX_PROMPT {
            return Err(format!("the prompt has more than {MAX_PROMPT} bytes"));
        }
        Ok(question)
    }
}
