//! What the config lets other agent platforms call.

use secrecy::SecretString;
use serde_json::Value;

/// Endpoints as tools for other agent platforms, by the contract of remote agents.
#[derive(Clone, Debug)]
pub struct ServedAgent {
    /// In the order of the file, each with a name of its own.
    pub tools: Vec<ServedTool>,
    /// What a platform must send as `x-api-key`; visible ASCII.
    pub api_key: SecretString,
    /// The endpoint that answers `POST /resource`; it takes an empty payload.
    pub resource: Option<String>,
}

/// An endpoint as a tool for other agent platforms.
#[derive(Clone, Debug)]
pub struct ServedTool {
    /// What others call it: the endpoint's id with `__` for `/`.
    pub name: String,
    /// The endpoint.
    pub endpoint_id: String,
    /// What it does.
    pub description: String,
    /// The parameters as the contract writes them: a JSON Schema of an object with nothing that the contract does not know.
    pub parameters: Value,
    /// Whether the other platform is told to ask its user before each call.
    pub confirm: bool,
    /// The parameters that its user sees then, if the config says which.
    pub visible_parameters: Option<Vec<String>>,
}
