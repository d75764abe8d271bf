//! Tools that are made of a function.

use crate::tool::{Tool, ToolContext, ToolSpec};
use crate::{Annotations, ToolError};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

/// A tool that is a function. Its arguments are a struct, whose schema and doc comments the model
/// reads.
pub struct FunctionTool<F, I> {
    spec: ToolSpec,
    function: F,
    input: PhantomData<fn(I)>,
}

impl<F, I, R> FunctionTool<F, I>
where
    F: Fn(I, ToolContext) -> R + Send + Sync + 'static,
    I: JsonSchema + DeserializeOwned + 'static,
    R: Future<Output = Result<Value, ToolError>> + Send + 'static,
{
    /// Creates a tool that the server runs without approval. The name matches
    /// `^[a-zA-Z0-9_-]{1,64}$`; the model reads the description.
    pub fn new(name: &str, description: &str, function: F) -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            // Some providers do not resolve references.
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        let mut schema = settings.into_generator().into_root_schema_for::<I>().to_value();
        schema.as_object_mut().and_then(|keywords| keywords.remove("title"));
        Self { spec: ToolSpec::new(name, description, schema), function, input: PhantomData }
    }

    /// Adds annotations.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.spec.annotations = annotations;
        self
    }

    /// Makes every call wait for the user's approval.
    #[must_use]
    pub fn with_approval(mut self) -> Self {
        self.spec.needs_approval = true;
        self
    }
}

/// Reads the arguments of a call.
///
/// # Errors
/// The problem of the arguments, for the model. The loop has checked the schema, but a type may accept less than its
/// schema says.
pub fn read_arguments<I: DeserializeOwned>(input: Value) -> Result<I, ToolError> {
    serde_json::from_value(input).map_err(|error| ToolError::new(format!("The arguments are invalid: {error}.")))
}

impl<F, I, R> Tool for FunctionTool<F, I>
where
    F: Fn(I, ToolContext) -> R + Send + Sync + 'static,
    I: JsonSchema + DeserializeOwned + 'static,
    R: Future<Output = Result<Value, ToolError>> + Send + 'static,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        match read_arguments(input) {
            Ok(input) => Box::pin((self.function)(input, context)),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

/// Formats the declaration.
impl<F, I> fmt::Debug for FunctionTool<F, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FunctionTool").field(&self.spec).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunScope;
    use crate::{CallReports, ModelUse};
    use serde::Deserialize;
    use serde_json::json;
    use std::sync::Arc;
    use tokio_util::sync::CancellationToken;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Lookup {
        /// The name of the part.
        part: String,
        /// How many are needed.
        count: Option<u8>,
    }

    #[tokio::test]
    async fn arguments_have_the_schema_of_their_type_and_errors_name_what_is_wrong() {
        let tool = FunctionTool::new("look-up", "Looks up a part.", async |lookup: Lookup, _| {
            Ok(json!({ "part": lookup.part, "count": lookup.count }))
        });
        let part = json!({ "type": "string", "description": "The name of the part." });
        let count = json!({ "type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255, "description": "How many are needed." });
        let expected = json!({ "type": "object", "additionalProperties": false, "properties": { "part": part, "count": count }, "required": ["part"] });
        assert_eq!(tool.spec().input_schema, expected);
        let context = || ToolContext {
            call_id: "call".to_owned(),
            scope: Arc::new(RunScope::default()),
            cancel: CancellationToken::new(),
            reports: CallReports::default(),
            may_repeat: false,
            models: ModelUse::default(),
        };
        let call = async |input| tool.call(input, context()).await.map_err(|error| error.to_string());
        assert_eq!(call(json!({ "part": "bolt" })).await, Ok(json!({ "part": "bolt", "count": null })));
        let refused = call(json!({ "part": "bolt", "count": 300 })).await.unwrap_err();
        assert!(refused.contains("expected u8"), "{refused}");
    }
}
