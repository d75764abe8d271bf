//! A tool that the agent's server runs.

use super::answer::{self, MAX_RESULT};
use super::client::{Behalf, Client, Question, Unanswered};
use super::listing::Listed;
use contract::{ApprovalTerms, Tool, ToolContext, ToolError, ToolSpec};
use egress::EgressError;
use futures::future::BoxFuture;
use secrecy::SecretString;
use serde_json::Value;
use std::sync::Arc;

/// A tool that the agent's server runs.
pub struct RemoteTool {
    client: Arc<Client>,
    spec: ToolSpec,
    remote_name: String,
}

impl RemoteTool {
    pub(super) fn new(client: Arc<Client>, listed: Listed) -> Self {
        let Listed { remote_name, name, description, input_schema, needs_approval, visible_parameters } = listed;
        let timeout = client.call_time;
        let approval = ApprovalTerms { visible_parameters, ..ApprovalTerms::default() };
        let spec = ToolSpec { needs_approval, approval, timeout, ..ToolSpec::new(name, description, input_schema) };
        Self { client, spec, remote_name }
    }

    /// The parameters that a person who is asked for approval sees first, if the agent names some. It is the agent that
    /// chooses, so the others must be within reach as well.
    pub fn visible_parameters(&self) -> Option<&[String]> {
        self.spec.approval.visible_parameters.as_deref()
    }

    /// The server's name for it.
    pub(super) fn remote_name(&self) -> &str {
        &self.remote_name
    }

    /// The same, asking the user before each call if `confirm` says so, and as the terms say.
    pub(super) fn asking(mut self, confirm: bool, terms: &ApprovalTerms) -> Self {
        self.spec.needs_approval |= confirm;
        let visible_parameters = self.spec.approval.visible_parameters.take();
        self.spec.approval = ApprovalTerms { visible_parameters, ..terms.clone() };
        self
    }

    /// One call, for a user who came with this token.
    async fn call_with(
        &self,
        token: Option<&SecretString>,
        input: Value,
        context: &ToolContext,
    ) -> Result<Value, ToolError> {
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                Err(ToolError::new("Stopped before it finished. It may or may not have had an effect."))
            }
            result = self.run(token, input) => result,
        }
    }

    async fn run(&self, token: Option<&SecretString>, input: Value) -> Result<Value, ToolError> {
        let (path, time) = (["tools", self.remote_name.as_str()], self.client.call_time);
        let behalf = Behalf::User(token);
        let question = Question { path, body: Some(input), behalf, time, max_bytes: MAX_RESULT };
        answer::result(&self.client.ask(question).await.map_err(|error| unanswered(&error))?)
    }
}

/// The tool for one user: its calls carry what he came with.
pub(super) struct PersonalTool {
    pub(super) tool: Arc<RemoteTool>,
    pub(super) token: SecretString,
}

impl Tool for PersonalTool {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.tool.call_with(Some(&self.token), input, &context).await })
    }
}

impl Tool for RemoteTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The result is one of
    /// - a text;
    /// - `{"type": "html", "html": …}`: foreign markup, to be shown in isolation only;
    /// - `{"type": "media", "media": [{type, url, mimeType, description, metadata}], "omitted": 1}`: of each only what was sent, with an
    ///   address that begins with `http://` or `https://`; `omitted` counts the items without one and those beyond 100;
    /// - `{"type": "mixed", "text": …, "html": …, "media": […], "data": …}`: of these what there is, anything else in `data`.
    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move { self.call_with(None, input, &context).await })
    }
}

fn unanswered(error: &Unanswered) -> ToolError {
    let effect = match error {
        Unanswered::Egress(EgressError::Unreachable | EgressError::TimedOut(_) | EgressError::TooLarge(_)) => {
            " It may or may not have had an effect."
        }
        _ => "",
    };
    ToolError::new(format!("The tool gave no result: {error}.{effect}"))
}
