//! Models for the routines of endpoints.

use super::ModelBuilder;
use agent::{Agent, AnswerForm, InvocationInput, InvocationRequest, InvokeError, RunSettings, TurnLimits, invoke};
use config::{Config, Connection, OpenAiApi};
use contract::{ModelUse, ResponseFormat, RunScope, Sampling};
use endpoints::{GenerateRequest, TextModels};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A connection's models for routines, invoked without tools.
pub(in crate::compose) struct RoutineModels {
    /// For the prices.
    pub(in crate::compose) config: Arc<Config>,
    /// The connection of the models.
    pub(in crate::compose) connection: Connection,
    /// Timeout for one answer.
    pub(in crate::compose) time: Duration,
    pub(in crate::compose) models: ModelBuilder,
}

impl TextModels for RoutineModels {
    fn generate(&self, question: GenerateRequest, models: ModelUse) -> BoxFuture<'_, Result<Value, String>> {
        async move {
            let agent = self.agent(&question)?;
            let form = match question.schema {
                Some(schema) => {
                    let format = ResponseFormat { name: "answer".to_owned(), strict: false, schema };
                    Some(AnswerForm::new(format).await.map_err(|error| error.to_string())?)
                }
                None => None,
            };
            let cancel = CancellationToken::new();
            let _gone = cancel.clone().drop_guard();
            let (prompt, time, scope) = (question.prompt, self.time, RunScope::default());
            let (tools, limits) = (None, TurnLimits::default());
            let observer = None;
            let question = InvocationRequest {
                input: InvocationInput::prompt(prompt),
                form,
                tools,
                observer,
                limits,
                replaces_limits: false,
                asks: false,
                from: None,
                time,
                scope,
                models,
                cancel,
            };
            invoke(&agent, question).await.output.map_err(|error| match error {
                // The provider's message is only logged.
                InvokeError::Model(error) => {
                    tracing::warn!(%error, "a model did not answer a routine");
                    "the model did not answer".to_owned()
                }
                error => error.to_string(),
            })
        }
        .boxed()
    }
}

impl RoutineModels {
    /// Returns an agent without tools for this request.
    fn agent(&self, question: &GenerateRequest) -> Result<Agent, String> {
        let model = self.models.build(&self.connection, &question.model, OpenAiApi::default());
        let model = model.ok_or("the connection has no models")?;
        let sampling = Sampling {
            max_output_tokens: question.max_output_tokens,
            temperature: question.temperature,
            ..Sampling::default()
        };
        let prices = self.config.price_of(&question.model).map(|price| (model.id().model.clone(), price));
        let settings = RunSettings { sampling, prices: prices.into_iter().collect(), ..RunSettings::default() };
        Ok(Agent { instructions: question.instructions.clone(), settings, ..Agent::new("routine", model) })
    }
}
