//! A tool of a remote agent.

use crate::answer::{self, MAX_RESULT};
use crate::client::{RemoteClient, RemoteError, RemoteRequest, Requester};
use crate::listing::ParsedTool;
use capability::MAX_TOKEN_RENEWALS;
use contract::{ApprovalTerms, Tool, ToolContext, ToolError, ToolSpec};
use egress::EgressError;
use futures::future::BoxFuture;
use http::StatusCode;
use serde_json::Value;
use std::sync::Arc;

/// A tool of a remote agent, which its server runs.
pub struct RemoteTool {
    client: Arc<RemoteClient>,
    spec: ToolSpec,
    remote_name: String,
}

impl RemoteTool {
    pub(crate) fn new(client: Arc<RemoteClient>, listed: ParsedTool) -> Self {
        let ParsedTool { remote_name, name, description, input_schema, needs_approval, visible_parameters } = listed;
        let timeout = client.call_time;
        let approval = ApprovalTerms { visible_parameters, ..ApprovalTerms::default() };
        let spec = ToolSpec::new(name, description, input_schema);
        let spec = ToolSpec { needs_approval, approval, timeout, deferrable: true, ..spec };
        Self { client, spec, remote_name }
    }

    /// Returns the parameters that a user who is asked for approval sees first, if the agent names
    /// some. Since the agent chooses them, the others must be accessible, too.
    pub fn visible_parameters(&self) -> Option<&[String]> {
        self.spec.approval.visible_parameters.as_deref()
    }

    /// Returns the server's name for the tool.
    pub(crate) fn remote_name(&self) -> &str {
        &self.remote_name
    }

    /// Returns the tool with these terms of approval requests. `confirm` adds the requirement of an
    /// approval.
    pub(crate) fn with_approval(mut self, confirm: bool, terms: &ApprovalTerms) -> Self {
        self.spec.needs_approval |= confirm;
        let visible_parameters = self.spec.approval.visible_parameters.take();
        self.spec.approval = ApprovalTerms { visible_parameters, ..terms.clone() };
        self
    }

    async fn run(&self, context: &ToolContext, key: Option<&str>, input: Value) -> Result<Value, ToolError> {
        let (path, time) = (["tools", self.remote_name.as_str()], self.client.call_time);
        let mut renewals = 0;
        loop {
            let credentials = self.client.users.credentials_for_call(context).await?;
            let (body, behalf) = (Some(input.clone()), Requester::User(&credentials));
            let question = RemoteRequest { path, body, behalf, idempotency_key: key, time, max_bytes: MAX_RESULT };
            let reply = self.client.ask(question).await.map_err(|error| unanswered(&error))?;
            renewals += 1;
            // A call with a token that is not valid has not run.
            let is_refused = reply.status == StatusCode::UNAUTHORIZED && renewals <= MAX_TOKEN_RENEWALS;
            if is_refused && self.client.users.renew(&credentials, context, &reply.challenge).await {
                continue;
            }
            return answer::result(&reply);
        }
    }
}

impl Tool for RemoteTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Runs one call. The result is one of
    /// - a text;
    /// - `{"type": "html", "html": …}`: foreign markup, to be shown in isolation only;
    /// - `{"type": "media", "media": […], "omitted": 1}`: each medium has those of `type`, `url`,
    ///   `mimeType`, `description` and `metadata` that were sent, with a URL that begins with
    ///   `http://` or `https://`; `omitted` counts the items without such a URL and those beyond
    ///   100;
    /// - `{"type": "mixed", "text": …, "html": …, "media": […], "data": …}`: whichever of these are
    ///   present, anything else in `data`.
    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let key = context.idempotency_key();
            tokio::select! {
                biased;
                () = context.cancel.cancelled() => {
                    Err(ToolError::new("Stopped before it finished. It may or may not have had an effect."))
                }
                result = self.run(&context, key.as_deref(), input) => result,
            }
        })
    }
}

fn unanswered(error: &RemoteError) -> ToolError {
    let effect = match error {
        RemoteError::Egress(EgressError::Unreachable | EgressError::TimedOut(_) | EgressError::TooLarge(_)) => {
            " It may or may not have had an effect."
        }
        _ => "",
    };
    ToolError::new(format!("The tool gave no result: {error}.{effect}"))
}
