//! The checks of each request: the section of the config, its body, and the agent that it names.

use crate::error::ApiError;
use crate::request::history::ReadHistory;
use crate::request::{Parameters, check_length};
use crate::section::OpenAiApi;
use axum::extract::{FromRequest, Request};
use capability::Context;
use chat::CompletionRequest;
use contract::ToolSpec;
use schemars::JsonSchema;
use schemas::{Schema, SchemaError};
use std::marker::PhantomData;
use web::openapi::{Description, RouteInput};
use wire::UserError;

/// The bytes of a body that is a `T`.
pub(super) struct RequestBody<T> {
    bytes: Vec<u8>,
    kind: PhantomData<T>,
}

impl<T: Send> FromRequest<Context> for RequestBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, context: &Context) -> Result<Self, ApiError> {
        let config = context.current.config();
        let section = section(&config)?;
        let bytes = web::read_json_body(request, section.body_bytes, config.limits.body_bytes).await?;
        Ok(Self { bytes: bytes.into(), kind: PhantomData })
    }
}

impl<T: JsonSchema> RouteInput for RequestBody<T> {
    fn describe(description: &mut Description<'_>) {
        description.json_body::<T>();
    }
}

impl<T> RequestBody<T> {
    /// Reads the body, a large one on another thread.
    pub(super) async fn read<R: Send + 'static>(self, read: fn(&[u8]) -> Result<R, ApiError>) -> Result<R, ApiError> {
        let bytes = self.bytes;
        web::offloaded(bytes.len(), move || read(&bytes)).await.map_err(|_| ApiError::busy())?
    }
}

/// Returns the section.
///
/// # Errors
/// 404 if the API is switched off.
pub(super) fn section(config: &config::Config) -> Result<&OpenAiApi, ApiError> {
    config.section::<OpenAiApi>().ok_or_else(|| {
        let message = "The OpenAI API is switched off here. The administrator switches it on with \
                       `openaiApi: {}` in the config.";
        UserError::new(wire::ErrorCode::NotFound, message).into()
    })
}

/// Returns what an agent is asked. `instructions` stand before those of the history.
///
/// # Errors
/// 400 for a schema that cannot be used, 404 for an agent that is not offered.
pub(super) async fn completion(
    context: &Context,
    parameters: &Parameters,
    instructions: Vec<String>,
    history: &ReadHistory,
) -> Result<CompletionRequest, ApiError> {
    let config = context.current.config();
    let section = section(&config)?;
    if !section.offers(&parameters.model) {
        return Err(ApiError::unknown_model(&parameters.model));
    }
    check_schemas(&parameters.tools.offered).await?;
    let instructions: Vec<_> = instructions.into_iter().chain(history.instructions.clone()).collect();
    check_length(instructions.iter().map(String::len).sum(), "instructions")?;
    Ok(CompletionRequest {
        agent_id: parameters.model.clone(),
        messages: history.messages.clone(),
        instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
        tools: parameters.tools.offered.clone(),
        tool_choice: parameters.tools.choice.clone(),
        one_call_at_a_time: !parameters.parallel_tool_calls,
        sampling: parameters.sampling.clone(),
        response_schema: parameters.schema.clone(),
        tier: section.agent_tier,
    })
}

/// Checks that the arguments of all tools can be checked.
async fn check_schemas(tools: &[ToolSpec]) -> Result<(), ApiError> {
    for (at, tool) in tools.iter().enumerate() {
        let param = || format!("tools[{at}].parameters");
        match Schema::compile_cached(&tool.input_schema).await {
            Ok(_) => {}
            Err(SchemaError::Busy) => return Err(ApiError::busy()),
            Err(SchemaError::Invalid { path, message, .. }) => {
                let message = format!("This is not a JSON Schema, at `{path}`: {message}.");
                return Err(ApiError::invalid(param(), message));
            }
            Err(SchemaError::Refused(reason)) => {
                return Err(ApiError::invalid(param(), format!("This schema cannot be used: {reason}.")));
            }
        }
    }
    Ok(())
}

/// Converts the error of a run that could not begin: an unknown agent is an unknown model, and the places
/// in the request have other names.
pub(super) fn not_begun(error: UserError, parameters: &Parameters) -> ApiError {
    if error.code == wire::ErrorCode::NotFound {
        return ApiError::unknown_model(&parameters.model);
    }
    let is_schema = error.path.as_deref().is_some_and(|path| path.starts_with("/response_schema"));
    let error = ApiError::from(error);
    if is_schema { error.at(parameters.schema_param) } else { error }
}
