//! Endpoints that are served as tools to other agent platforms, protected by an API key.

use super::endpoints;
use ::endpoints::Endpoints;
use auth::SERVICE_USER;
use auth::rights::Rights;
use chat::{Caller, RoutineMeters};
use config::{ServedAgent, ServedTool};
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use wire::UserError;

/// The list of tools in the format of the remote-agent contract.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ToolList {
    tools: Vec<ListedTool>,
}

/// A tool in the format of the remote-agent contract.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedTool {
    name: String,
    /// The description for models.
    description: String,
    /// The parameters as a JSON Schema of an object.
    parameters: Value,
    /// Whether the platform is asked to let its user approve each call.
    confirmation_required: bool,
    /// The parameters that the approval shows, if the config sets them.
    #[serde(skip_serializing_if = "Option::is_none")]
    visible_parameters: Option<Vec<String>>,
}

impl From<&ServedTool> for ListedTool {
    fn from(tool: &ServedTool) -> Self {
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.parameters.clone(),
            confirmation_required: tool.confirm,
            visible_parameters: tool.visible_parameters.clone(),
        }
    }
}

/// The served tools.
pub(crate) struct ServedTools {
    endpoints: Arc<Endpoints>,
    rights: Arc<Rights>,
    counted: RoutineMeters,
    /// The SHA-256 of the API key.
    digest: [u8; 32],
    listing: ToolList,
    /// The endpoint ids by tool name.
    tools: HashMap<String, String>,
    resource: Option<String>,
}

impl ServedTools {
    pub(super) fn new(
        served: &ServedAgent,
        endpoints: Arc<Endpoints>,
        rights: Arc<Rights>,
        counted: RoutineMeters,
    ) -> Self {
        Self {
            endpoints,
            rights,
            counted,
            digest: digest(served.api_key.expose_secret().as_bytes()),
            listing: ToolList { tools: served.tools.iter().map(ListedTool::from).collect() },
            tools: served.tools.iter().map(|tool| (tool.name.clone(), tool.endpoint_id.clone())).collect(),
            resource: served.resource.clone(),
        }
    }

    /// Returns whether this is the API key. Hashes are compared, so that the time reveals nothing
    /// about the key.
    pub(crate) fn accepts(&self, key: &[u8]) -> bool {
        digest(key) == self.digest
    }

    /// The answer to `GET /tools`.
    pub(crate) fn listing(&self) -> &ToolList {
        &self.listing
    }

    /// Runs the endpoint of a tool; `None` if there is no such tool.
    pub(crate) async fn call(&self, tool: &str, payload: Value) -> Option<Result<Value, UserError>> {
        Some(self.run(self.tools.get(tool)?, payload).await)
    }

    /// Returns what agents should know before they call a tool; `None` if the config has no
    /// resource.
    pub(crate) async fn resource(&self) -> Option<Result<Value, UserError>> {
        Some(self.run(self.resource.as_ref()?, json!({})).await)
    }

    async fn run(&self, endpoint_id: &str, payload: Value) -> Result<Value, UserError> {
        // The API key signs the platform in, but gives it no roles.
        let caller = Caller::signed_in(SERVICE_USER);
        self.rights.check_external_call(&caller, endpoint_id)?;
        let models = self.counted.meter(&caller, endpoints::usage_caller(endpoint_id));
        endpoints::call(&self.endpoints, self.rights.gate(&caller), &caller, models, endpoint_id, payload).await
    }
}

fn digest(key: &[u8]) -> [u8; 32] {
    Sha256::digest(key).into()
}
