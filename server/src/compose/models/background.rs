//! Questions of capabilities to models, in the background.

use super::model_named;
use crate::compose::retained::RetainedState;
use agent::{Agent, AnswerForm, InvocationInput, InvocationRequest, InvokeError, RunSettings, TurnLimits, invoke};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use capability::{ModelFailure, ModelQuestion, QuestionFile};
use config::{Config, ModelRef, OpenAiApi};
use contract::{FileData, ResponseFormat, Sampling, UserPart};
use serde_json::Value;

/// Asks the model of an agent, or another one that the question names. Of the agent's settings none is
/// used, as with titles: its reasoning or the form of its answers would be out of place.
///
/// # Errors
/// There is no answer.
pub(in crate::compose) async fn ask(
    config: &Config,
    kept: &RetainedState,
    question: ModelQuestion<'_>,
) -> Result<Value, ModelFailure> {
    let ModelQuestion { caller, agent_id, model, instructions, prompt, files, form, max_output_tokens, time, cancel } =
        question;
    let (named, api) = match (model, config.agents.get(agent_id)) {
        (Some(named), _) => (named.clone(), OpenAiApi::default()),
        (None, Some(agent)) => {
            let own = ModelRef { connection_id: agent.connection_id.clone(), model: agent.model.clone() };
            (own, agent.openai_api)
        }
        (None, None) => return Err(ModelFailure::Failed(format!("there is no agent `{agent_id}`"))),
    };
    let model = model_named(config, &named, api, &kept.models).map_err(ModelFailure::Failed)?;
    let no_model = || ModelFailure::Failed(format!("the connection `{}` has no models", named.connection_id));
    let model = model.ok_or_else(no_model)?;
    let prices = config.price_of(&named.model).map(|price| (model.id().model.clone(), price));
    let settings = RunSettings {
        sampling: Sampling { max_output_tokens: Some(max_output_tokens), ..Sampling::default() },
        no_think: Some(providers::supports_no_think(&named.model)),
        prices: prices.into_iter().collect(),
        ..RunSettings::default()
    };
    let agent = Agent { instructions: Some(instructions), settings, ..Agent::new(agent_id, model) };
    let (name, schema) = form;
    let format = ResponseFormat { name: name.to_owned(), strict: false, schema };
    let form = AnswerForm::new(format).await.map_err(|error| ModelFailure::Failed(error.to_string()))?;
    let request = InvocationRequest {
        input: InvocationInput::prompt_with_files(prompt, files.into_iter().map(file_part).collect()),
        form: Some(form),
        tools: None,
        observer: None,
        limits: TurnLimits::default(),
        replaces_limits: false,
        asks: false,
        from: None,
        time,
        scope: caller.scope(),
        models: kept.meters.meter(caller, agent_id),
        cancel,
    };
    invoke(&agent, request).await.output.map_err(|error| match error {
        InvokeError::NotAdmitted(message) => ModelFailure::Refused(message),
        InvokeError::Model(error) => ModelFailure::Failed(format!("the model did not answer: {error}")),
        error => ModelFailure::Failed(error.to_string()),
    })
}

fn file_part(QuestionFile { name, media_type, content }: QuestionFile) -> UserPart {
    UserPart::File { media_type, data: FileData::Base64(STANDARD.encode(content)), filename: Some(name) }
}
