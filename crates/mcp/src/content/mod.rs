//! The resources and prompts of servers, which agents get as tools.

mod prompt_list;
mod prompts;
mod requests;
mod resources;

pub(crate) use prompt_list::{KnownPrompts, PromptInfo};
pub(crate) use prompts::{PromptTool, context};
pub(crate) use resources::{ListResources, READ_RESOURCE, ReadResource};

use crate::connection::{Connection, RequestError};
use crate::server::McpServer;
use crate::users::UserConnection;
use contract::{ToolContext, ToolError};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;

impl UserConnection {
    /// Makes a request that changes nothing, once more if the connection was lost or the server has forgotten the
    /// session.
    pub(crate) async fn read<T>(
        &self,
        request: impl for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, RequestError>>,
    ) -> Result<T, ToolError> {
        let mut is_first = true;
        loop {
            let connection = self.connection().await?;
            match request(&connection).await {
                Ok(answer) => return Ok(answer),
                Err(RequestError::Answered(error)) => return Err(error),
                Err(failed) => {
                    self.drop_failed(&connection, &failed).await;
                    if !std::mem::take(&mut is_first) {
                        return Err(failed.into_error());
                    }
                }
            }
        }
    }

    pub(crate) async fn drop_failed(&self, connection: &Arc<Connection>, failed: &RequestError) {
        match failed {
            RequestError::Refused(_) => self.forgotten(connection).await,
            RequestError::Unauthorized(_, challenge) => self.unauthorized(connection, challenge).await,
            _ => self.broken(connection).await,
        }
    }
}

impl McpServer {
    /// Returns the prompts that are known. A server is asked for them in the background, see
    /// [`McpServer::find_prompts`].
    pub(crate) fn known_prompts(&self) -> Arc<Vec<PromptInfo>> {
        self.prompts.lock().list.clone().unwrap_or_default()
    }

    /// Has composers told again of prompts that are known, after that has failed.
    pub(crate) fn tell_again(&self) {
        self.prompts.lock().is_new = true;
    }

    /// Lists the prompts if they are not known. Returns whether composers have to be told of new ones.
    pub(crate) async fn find_prompts(&self) -> bool {
        // A server that is authorized for each user has listed them when users have connected.
        let is_for_all = self.service.is_none();
        if is_for_all && self.features().prompts && self.prompts.lock().list.is_none() {
            // Commands are the same for all users. A failure is logged, and tried again.
            let seat = self.user_connection("");
            let found = seat.read(|connection| {
                async move { if connection.offers_prompts() { connection.prompts().await } else { Ok(Arc::default()) } }
                    .boxed()
            });
            if let Ok(prompts) = found.await {
                self.prompts.lock().record(&prompts);
            }
        }
        std::mem::take(&mut self.prompts.lock().is_new)
    }
}

/// Makes a request of a call, until the call is stopped.
async fn in_call<T>(
    context: &ToolContext,
    request: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    let stopped = || ToolError::new("Stopped before it finished.");
    context.cancel.run_until_cancelled(request).await.unwrap_or_else(|| Err(stopped()))
}
