//! User interfaces of tools (MCP Apps, the extension `io.modelcontextprotocol/ui` in its revision 2026-01-26,
//! <https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx>): which tools have one, what a
//! message keeps of its call, the HTML with its policy, and the calls that it makes.

mod calls;
mod page;
mod requests;
mod resource;
mod routes;
mod shown;

pub(crate) use resource::CachedApp;
#[cfg(feature = "fuzz")]
pub(crate) use resource::declared_sources;
pub(crate) use routes::routes;
pub(crate) use shown::ShownApp;

use rmcp::model::{ExtensionCapabilities, JsonObject, MetaObject};
use serde_json::{Map, Value, json};

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The media type of a user interface.
const MEDIA_TYPE: &str = "text/html;profile=mcp-app";
/// The key in the `_meta` of a tool or of a resource.
const META: &str = "ui";
/// The older key in the `_meta` of a tool for the address of its user interface.
const OLD_ADDRESS: &str = "ui/resourceUri";
/// The maximum size of an address in bytes.
const MAX_ADDRESS: usize = 2000;

/// Returns what a client that shows user interfaces tells servers.
pub(crate) fn capability() -> ExtensionCapabilities {
    let settings = JsonObject::from_iter([("mimeTypes".to_owned(), json!([MEDIA_TYPE]))]);
    ExtensionCapabilities::from([(EXTENSION.to_owned(), settings)])
}

/// The declarations of a tool about user interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolUi {
    /// The address of the user interface that shows the tool's results.
    pub(crate) address: Option<String>,
    /// Whether models can call the tool.
    pub(crate) for_models: bool,
    /// Whether user interfaces of the same server can call the tool.
    pub(crate) for_apps: bool,
}

impl ToolUi {
    /// Reads the declaration of a tool. One that cannot be read does not show the tool to anybody whom it does not name.
    pub(crate) fn read(meta: Option<&MetaObject>) -> Self {
        let own = meta.and_then(|meta| meta.get(META)).and_then(Value::as_object);
        let old = meta.and_then(|meta| meta.get(OLD_ADDRESS));
        let address = own.and_then(|own| own.get("resourceUri")).or(old).and_then(Value::as_str);
        let is_for = |who: &str| match own.and_then(|own: &Map<_, _>| own.get("visibility")) {
            Some(visibility) => visibility.as_array().is_some_and(|list| list.iter().any(|one| one == who)),
            None => true,
        };
        Self {
            address: address.filter(|address| is_address(address)).map(str::to_owned),
            for_models: is_for("model"),
            for_apps: is_for("app"),
        }
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("ui://") && text.len() <= MAX_ADDRESS && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_declare_their_user_interface_and_who_can_call_them() {
        let check = |meta: Value, expected: (Option<&str>, bool, bool)| {
            let tool = json!({ "name": "t", "inputSchema": {}, "_meta": meta });
            let tool: rmcp::model::Tool = serde_json::from_value(tool).unwrap();
            let ToolUi { address, for_models, for_apps } = ToolUi::read(tool.meta.as_ref());
            assert_eq!((address.as_deref(), for_models, for_apps), expected, "{meta}");
        };
        let own = |ui: Value| json!({ "ui": ui });
        check(json!({}), (None, true, true));
        check(own(json!({ "resourceUri": "ui://a/b.html" })), (Some("ui://a/b.html"), true, true));
        check(json!({ "ui/resourceUri": "ui://old" }), (Some("ui://old"), true, true));
        check(
            json!({ "ui/resourceUri": "ui://old", "ui": { "resourceUri": "ui://new" } }),
            (Some("ui://new"), true, true),
        );
        check(own(json!({ "resourceUri": "ui://a", "visibility": ["app"] })), (Some("ui://a"), false, true));
        check(own(json!({ "visibility": ["model"] })), (None, true, false));
        check(own(json!({ "visibility": ["model", "app"] })), (None, true, true));
        check(own(json!({ "visibility": [] })), (None, false, false));
        check(own(json!({ "visibility": "app" })), (None, false, false));
        for refused in ["https://a.example", "ui", "ui://a\nb", &format!("ui://{}", "x".repeat(MAX_ADDRESS))] {
            check(own(json!({ "resourceUri": refused })), (None, true, true));
        }
    }
}
