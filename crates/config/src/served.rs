//! The section `serveAsRemoteAgent`, checked: endpoints that other agent platforms may call.

use secrecy::SecretString;
use serde_json::Value;

/// The endpoints that this server offers to other agent platforms as a remote agent.
#[derive(Clone, Debug)]
pub struct ServedAgent {
    /// The tools in the order of the file. Their names are unique.
    pub tools: Vec<ServedTool>,
    /// The API key that a platform must send as `x-api-key`: visible ASCII characters.
    pub api_key: SecretString,
    /// The endpoint that answers `POST /resource`. It accepts an empty payload.
    pub resource: Option<String>,
}

/// An endpoint as a tool of the remote agent.
#[derive(Clone, Debug)]
pub struct ServedTool {
    /// The tool's name: the endpoint's id with `__` for `/`.
    pub name: String,
    /// The id of the endpoint.
    pub endpoint_id: String,
    /// The description for models.
    pub description: String,
    /// The parameters as a JSON Schema of an object, limited to the keywords of the remote agent
    /// protocol.
    pub parameters: Value,
    /// Whether the other platform is asked to let its user approve each call.
    pub confirm: bool,
    /// The parameters that the approval shows, if the config sets them.
    pub visible_parameters: Option<Vec<String>>,
}
