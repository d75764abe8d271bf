//! The tool that a server has in place of its own ones until the user has connected their account: without a token, the
//! server does not list them.

use super::UserConnection;
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

/// Asks the user to connect their account.
pub(crate) struct ConnectAccount {
    spec: ToolSpec,
    seat: Arc<UserConnection>,
}

impl ConnectAccount {
    pub(crate) fn new(name: String, server: &str, seat: Arc<UserConnection>) -> Self {
        let about = format!(
            "Asks the user to connect their account at `{server}`. Its tools can be used afterwards. Call this when the user \
             wants something for which `{server}` is needed."
        );
        let spec = ToolSpec::new(name, about, json!({ "type": "object", "properties": {} }));
        Self { spec, seat }
    }
}

impl Tool for ConnectAccount {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, _: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        async move {
            if let Some(access) = &self.seat.access {
                access.token_for_call(&context).await?;
            }
            context.reports.tools_changed().await;
            Ok(Value::from("The account is connected. The tools can be used now."))
        }
        .boxed()
    }
}
