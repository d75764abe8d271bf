//! What other agent platforms may call: endpoints as tools, behind a key.

use super::endpoints;
use crate::auth::rights::Rights;
use ::endpoints::Endpoints;
use chat::{Caller, RoutineUse};
use config::{ServedAgent, ServedTool};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use wire::UserError;

/// On whose behalf endpoints run for other platforms: what `_user` reads there.
pub(crate) const SERVICE_USER: &str = "remote-agent";

/// The tools with what runs them.
pub(crate) struct Served {
    endpoints: Arc<Endpoints>,
    rights: Arc<Rights>,
    counted: RoutineUse,
    /// Of the key.
    digest: [u8; 32],
    listing: Value,
    /// Ids of endpoints by the names of tools.
    tools: HashMap<String, String>,
    resource: Option<String>,
}

impl Served {
    pub(super) fn new(
        served: &ServedAgent,
        endpoints: Arc<Endpoints>,
        rights: Arc<Rights>,
        counted: RoutineUse,
    ) -> Self {
        Self {
            endpoints,
            rights,
            counted,
            digest: digest(served.api_key.expose_secret().as_bytes()),
            listing: json!({ "tools": served.tools.iter().map(listed).collect::<Value>() }),
            tools: served.tools.iter().map(|tool| (tool.name.clone(), tool.endpoint_id.clone())).collect(),
            resource: served.resource.clone(),
        }
    }

    /// Whether this is the key. Digests are compared, so the time that it takes tells nothing about the key.
    pub(crate) fn accepts(&self, key: &[u8]) -> bool {
        digest(key) == self.digest
    }

    /// The answer to `GET /tools`.
    pub(crate) fn listing(&self) -> &Value {
        &self.listing
    }

    /// Runs the endpoint behind a tool; none if there is no such tool.
    pub(crate) async fn call(&self, tool: &str, payload: Value) -> Option<Result<Value, UserError>> {
        Some(self.run(self.tools.get(tool)?, payload).await)
    }

    /// What is good to know before a tool is called; none if the config says nothing.
    pub(crate) async fn resource(&self) -> Option<Result<Value, UserError>> {
        Some(self.run(self.resource.as_ref()?, json!({})).await)
    }

    async fn run(&self, endpoint_id: &str, payload: Value) -> Result<Value, UserError> {
        // The key signs in; a role it does not give.
        let caller = Caller::signed_in(SERVICE_USER);
        self.rights.call_from_outside(&caller, endpoint_id)?;
        let models = self.counted.of(&caller, endpoints::caller_of(endpoint_id));
        endpoints::call(&self.endpoints, self.rights.gate(&caller), &caller, models, endpoint_id, payload).await
    }
}

fn digest(key: &[u8]) -> [u8; 32] {
    Sha256::digest(key).into()
}

/// A tool as the contract writes it.
fn listed(tool: &ServedTool) -> Value {
    let mut listed = json!({
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "confirmationRequired": tool.confirm,
    });
    if let Some(shown) = &tool.visible_parameters {
        listed["visibleParameters"] = shown.as_slice().into();
    }
    listed
}
