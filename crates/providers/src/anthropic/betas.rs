//! Finds the beta features of a request for the header `anthropic-beta`. Source: Anthropic's pages
//! on its tools, and the requests of the AI SDK.

use contract::Request;
use serde_json::{Map, Value};

/// The provider option with additional betas, in the AI SDK's spelling.
pub(super) const BETA_OPTION: &str = "anthropicBeta";

/// The betas by tool type.
const TOOL_BETAS: [(&str, &str); 14] = [
    ("code_execution_20250522", "code-execution-2025-05-22"),
    ("code_execution_20250825", "code-execution-2025-08-25"),
    ("web_fetch_20250910", "web-fetch-2025-09-10"),
    ("web_fetch_20260209", "code-execution-web-tools-2026-02-09"),
    ("web_search_20260209", "code-execution-web-tools-2026-02-09"),
    ("memory_20250818", "context-management-2025-06-27"),
    ("computer_20251124", "computer-use-2025-11-24"),
    ("computer_20250124", "computer-use-2025-01-24"),
    ("computer_20241022", "computer-use-2024-10-22"),
    ("bash_20250124", "computer-use-2025-01-24"),
    ("text_editor_20250124", "computer-use-2025-01-24"),
    ("text_editor_20250429", "computer-use-2025-01-24"),
    ("mcp_toolset", "mcp-client-2025-11-20"),
    ("advisor_20260301", "advisor-tool-2026-03-01"),
];

/// Returns the header's value for a request with this body; `None` without betas.
pub(super) fn header(request: &Request, body: &Value) -> Option<String> {
    let named = request.provider_options.get(super::PROVIDER).and_then(|options| options.get(BETA_OPTION));
    let betas = beta_names(body.as_object()?, named);
    (!betas.is_empty()).then(|| betas.join(","))
}

/// Returns the betas of a body without duplicates; `named` are additional ones from the config.
fn beta_names<'a>(body: &'a Map<String, Value>, named: Option<&'a Value>) -> Vec<&'a str> {
    let types = entries(body.get("tools")).filter_map(|tool| tool.get("type")?.as_str());
    let tools = types.filter_map(|kind| TOOL_BETAS.iter().find(|(start, _)| kind == *start)).map(|(_, beta)| *beta);
    let mut betas: Vec<&str> = tools.collect();
    if entries(body.get("mcp_servers")).next().is_some() && !betas.contains(&"mcp-client-2025-11-20") {
        betas.push("mcp-client-2025-04-04");
    }
    if entries(body.get("container").and_then(|container| container.get("skills"))).next().is_some() {
        betas.extend(["code-execution-2025-08-25", "skills-2025-10-02", "files-api-2025-04-14"]);
    }
    if let Some(edits) = body.get("context_management").map(|management| entries(management.get("edits"))) {
        betas.push("context-management-2025-06-27");
        let compacts = edits.filter(|edit| edit.get("type").is_some_and(|kind| kind == "compact_20260112")).count();
        betas.extend((compacts > 0).then_some("compact-2026-01-12"));
    }
    if body.get("output_config").is_some_and(|output| output.get("task_budget").is_some()) {
        betas.push("task-budgets-2026-03-13");
    }
    if body.get("speed").is_some_and(|speed| speed == "fast") {
        betas.push("fast-mode-2026-02-01");
    }
    match body.get("fallbacks") {
        Some(Value::Array(_)) => betas.push("server-side-fallback-2026-06-01"),
        Some(_) => betas.push("server-side-fallback-2026-07-01"),
        None => {}
    }
    betas.extend(entries(named).filter_map(Value::as_str));
    let mut seen = std::collections::HashSet::new();
    betas.retain(|beta| seen.insert(*beta));
    betas
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::beta_names;
    use serde_json::{Value, json};

    #[test]
    fn beta_features_are_found() {
        let check = |body: Value, named: Value, expected: &str| {
            let map = body.as_object().unwrap();
            assert_eq!(beta_names(map, Some(&named)).join(","), expected, "{body}");
        };
        check(json!({ "tools": [{ "name": "own" }, { "type": "web_search_20250305" }] }), Value::Null, "");
        check(
            json!({ "tools": [{ "type": "web_search_20260209" }, { "type": "web_fetch_20260209" }] }),
            json!(["mine-1", "code-execution-web-tools-2026-02-09"]),
            "code-execution-web-tools-2026-02-09,mine-1",
        );
        check(json!({ "mcp_servers": [{ "url": "https://a.example" }] }), Value::Null, "mcp-client-2025-04-04");
        check(
            json!({ "mcp_servers": [{}], "tools": [{ "type": "mcp_toolset" }] }),
            Value::Null,
            "mcp-client-2025-11-20",
        );
        check(
            json!({ "container": { "skills": [{ "skill_id": "pdf" }] }, "tools": [{ "type": "code_execution_20250825" }] }),
            Value::Null,
            "code-execution-2025-08-25,skills-2025-10-02,files-api-2025-04-14",
        );
        check(
            json!({ "context_management": { "edits": [{ "type": "clear_tool_uses_20250919" }, { "type": "clear_thinking_20251015" }] } }),
            Value::Null,
            "context-management-2025-06-27",
        );
        check(
            json!({ "context_management": { "edits": [{ "type": "compact_20260112" }] } }),
            Value::Null,
            "context-management-2025-06-27,compact-2026-01-12",
        );
    }
}
