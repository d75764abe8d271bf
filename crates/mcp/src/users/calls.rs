//! Requests of calls: of a call's tool, or of what it reads. The user can be asked meanwhile.

use super::UserConnection;
use crate::connection::{Connection, RequestError};
use crate::listing::CalledTool;
use capability::MAX_TOKEN_RENEWALS;
use contract::{Bearer, ToolContext, ToolError};
use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::model::{CallToolResult, JsonObject};
use std::sync::Arc;

impl UserConnection {
    /// Calls a tool. If the server is called on behalf of each user, the user is asked to connect their account when
    /// that is needed, and the call goes on afterwards.
    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &CalledTool,
        arguments: JsonObject,
        context: ToolContext,
    ) -> Result<CallToolResult, ToolError> {
        let called = self.with_token(&context, |token| {
            let (arguments, context) = (arguments.clone(), context.clone());
            self.call_with_repetition(token, tool, arguments, context).boxed()
        });
        called.await
    }

    /// Makes a request of a call that changes nothing. It is made once more if the connection was lost or the server has
    /// forgotten the session. The user is asked as in [`UserConnection::call`].
    pub(crate) async fn read_in_call<T: Send>(
        &self,
        context: &ToolContext,
        request: impl for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, RequestError>> + Send + Sync,
    ) -> Result<T, ToolError> {
        self.with_token(context, |token| self.read_with(token, &request).boxed()).await
    }

    /// Makes a request of a call with the token of the user, if the server is called on their behalf. Whenever the server
    /// refuses the token, also while a connection is opened, it is renewed, or the user is asked to connect their account.
    async fn with_token<'a, T>(
        &self,
        context: &ToolContext,
        request: impl Fn(Option<Bearer>) -> BoxFuture<'a, Result<T, RequestError>>,
    ) -> Result<T, ToolError> {
        let Some(access) = &self.access else { return request(None).await.map_err(RequestError::into_error) };
        access.set_scope(&context.scope);
        let mut renewals = 0;
        loop {
            let token = access.token_for_call(context).await?;
            match request(Some(token.clone())).await {
                Err(RequestError::Unauthorized(error, challenge)) => {
                    renewals += 1;
                    let may_retry = renewals <= MAX_TOKEN_RENEWALS && !context.cancel.is_cancelled();
                    if !may_retry || !access.renew_for_call(context, &token, &challenge).await {
                        return Err(error);
                    }
                    self.allow_retry().await;
                }
                answered => return answered.map_err(RequestError::into_error),
            }
        }
    }

    /// Makes a request that changes nothing with a token.
    pub(crate) async fn read_with<T>(
        &self,
        token: Option<Bearer>,
        request: &(impl for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, RequestError>> + Send + Sync),
    ) -> Result<T, RequestError> {
        let mut is_first = true;
        loop {
            let connection = self.connect(token.clone()).await?;
            match request(&connection).await {
                Err(failed @ RequestError::Unauthorized(..)) if self.access.is_some() => {
                    self.forgotten(&connection).await;
                    return Err(failed);
                }
                Err(RequestError::Answered(error)) => return Err(RequestError::Answered(error)),
                Err(failed) => {
                    self.drop_failed(&connection, &failed).await;
                    if !std::mem::take(&mut is_first) {
                        return Err(failed);
                    }
                }
                answered => return answered,
            }
        }
    }

    /// Calls a tool with a token. The call is repeated on a new connection if the server refused it because it
    /// has forgotten the session, or, if the context allows a repetition, when the connection was
    /// lost.
    async fn call_with_repetition(
        self: &Arc<Self>,
        token: Option<Bearer>,
        tool: &CalledTool,
        arguments: JsonObject,
        context: ToolContext,
    ) -> Result<CallToolResult, RequestError> {
        let connection = self.connect(token.clone()).await?;
        let failed = match self.call_on(&connection, tool, arguments.clone(), context.clone()).await {
            Ok(result) => return Ok(result),
            Err(failed) => failed,
        };
        let is_again = match &failed {
            RequestError::Answered(_) => false,
            // Without a user's token, it may be a session that the server has forgotten.
            RequestError::Unauthorized(..) => self.access.is_none(),
            RequestError::Refused(_) => true,
            RequestError::Lost(_) => context.may_repeat,
        };
        if !is_again || context.cancel.is_cancelled() {
            return Err(failed);
        }
        let connection = self.connect(token).await?;
        // The new connection may be to another version of the server.
        let listed = connection.tools().await?;
        if !listed.offered.iter().any(|offered| tool.is(offered)) {
            let changed = "The tool has changed on the server, so the call was not repeated.";
            return Err(RequestError::Answered(ToolError::new(changed)));
        }
        self.call_on(&connection, tool, arguments, context).await
    }

    /// Calls a tool on a connection, which is dropped if it cannot be used any more.
    async fn call_on(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        tool: &CalledTool,
        arguments: JsonObject,
        context: ToolContext,
    ) -> Result<CallToolResult, RequestError> {
        let (seat, used) = (Arc::downgrade(self), Arc::downgrade(connection));
        let gone = async move {
            if let (Some(seat), Some(connection)) = (seat.upgrade(), used.upgrade()) {
                tracing::warn!(server = seat.settings.name, "an MCP server does not respond any more; reconnecting");
                seat.broken(&connection).await;
            }
        };
        let result = connection.call(tool, arguments, context, gone).await;
        match &result {
            Err(RequestError::Refused(_) | RequestError::Unauthorized(..)) => self.forgotten(connection).await,
            Err(RequestError::Lost(_)) => self.broken(connection).await,
            Ok(_) | Err(RequestError::Answered(_)) => {}
        }
        result
    }
}
