//! Answers the requests of the protocol: the tools of a caller, calls of them, and the prompts and the documents of the
//! caller.

use crate::asking::session::has_forms;
use crate::asking::{Asking, Retry};
use crate::call::{Call, Client};
use crate::progress::Progress;
use crate::running::RunningCalls;
use crate::section::McpApi;
use crate::tools::{self, Offered};
use crate::{agents, documents, endpoints, prompts, resources};
use capability::Context;
use chat::RoutineMeters;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    PromptsCapability, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

/// The state that all requests share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) context: Context,
    pub(crate) running: RunningCalls,
    /// Count the model requests of tools for documents.
    pub(crate) meters: RoutineMeters,
}

/// Answers one request.
#[derive(Clone)]
pub(crate) struct Handler {
    shared: Shared,
    client: Client,
}

impl Handler {
    pub(crate) fn new(shared: Shared, client: Client) -> Self {
        Self { shared, client }
    }

    /// Returns how the user is asked during a call.
    fn asking(&self, context: &RequestContext<RoleServer>, has_rounds: bool) -> Asking {
        if !has_rounds {
            return self.client.asker.clone().map_or(Asking::No, Asking::Stream);
        }
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        if elicitation.as_ref().is_some_and(has_forms) { Asking::Rounds } else { Asking::No }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let config = self.shared.context.current.config();
        let instructions = config.section::<McpApi>().and_then(|section| section.instructions.clone());
        let about = Implementation::new("chatwright", env!("CARGO_PKG_VERSION"));
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if prompts::library(&self.shared.context, &self.client).is_some() {
            capabilities.prompts = Some(PromptsCapability::default());
        }
        if resources::library(&self.shared.context, &self.client).is_some() {
            capabilities.resources = Some(ResourcesCapability::default());
        }
        let info = ServerConfig::new(capabilities).with_server_info(about);
        match instructions {
            Some(text) => info.with_instructions(text.0),
            None => info,
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let config = self.shared.context.current.config();
        let offered = tools::offered(&self.shared.context, &config, &self.client);
        Ok(ListToolsResult::with_all_items(offered.iter().map(Offered::tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let config = self.shared.context.current.config();
        let offered = tools::offered(&self.shared.context, &config, &self.client);
        let found = offered.into_iter().find(|tool| tool.name() == request.name);
        let found = found.ok_or_else(|| ErrorData::invalid_params("There is no tool with this name.", None))?;
        let _running = self.client.call.clone().and_then(|key| self.shared.running.enter(key, context.ct.clone()));
        let has_rounds = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let retry = request.request_state.filter(|_| has_rounds);
        let responses = request.input_responses.unwrap_or_default();
        let call = Call {
            arguments: Value::Object(request.arguments.unwrap_or_default()),
            progress: Progress::new(&context),
            asking: self.asking(&context, has_rounds),
            retry: retry.map(|state| Retry { state, responses }),
            cancel: context.ct,
        };
        Ok(match found {
            Offered::Agent(agent) => agents::ask(&self.shared.context, &self.client, agent, call).await,
            Offered::Endpoint(entry, _) => {
                endpoints::call(&self.shared.context, &self.client, entry, call).await.into()
            }
            Offered::Documents(tool) => documents::call(&self.shared.meters, &self.client, &*tool, call).await.into(),
        })
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        prompts::list(&self.shared.context, &self.client, cursor.as_deref()).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(&self.shared.context, &self.client, request).await?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list(&self.shared.context, &self.client, cursor.as_deref()).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(&self.shared.context, &self.client))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(&self.shared.context, &self.client, &request.uri).await?.into())
    }
}
