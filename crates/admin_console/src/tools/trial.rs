//! A tool of an agent, and test runs of it.

use crate::agents::{self, LiveTool};
use crate::audit::gates_text;
use crate::state::ConsoleState;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Form, Json, Router};
use chat::{TrialRequest, TrialResult};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use web::admin::{ADMINISTRATION, Admin, PageError, folded_text, page};
use web::html::{error_message, facts, link, seconds, text, text_area_content};
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, query_encoded, status_of, valid_json};
use wire::{ErrorCode, UserError};

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    ApiRouter::new(&ADMINISTRATION)
        .post("/api/admin/agents/{id}/tools/{tool}", try_tool, "Run a tool as a test")
        .with_pages(Router::new().route("/admin/agents/{id}/tools/{tool}", get(show).post(call)))
}

/// Runs a tool as a test. The administrator's action and the call each have a row in the audit log.
async fn run_trial(state: &ConsoleState, admin: &Admin, request: TrialRequest) -> Result<TrialResult, UserError> {
    let about = json!({ "agentId": request.agent_id, "tool": request.tool });
    admin.record(&state.store, "try_tool", "", about).await?;
    state.chat.try_tool(&admin.caller, request).await
}

/// The form of a test run.
#[derive(Default, Deserialize)]
struct TrialForm {
    #[serde(default)]
    arguments: String,
    approved: Option<String>,
}

/// `GET /admin/agents/{id}/tools/{tool}`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((agent_id, tool)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let tool = find_tool(&state, &admin, &agent_id, &tool).await?;
    let form = TrialForm { arguments: example_arguments(&tool.input_schema), approved: None };
    Ok(render(&admin, &agent_id, tool, form, None))
}

/// `POST /admin/agents/{id}/tools/{tool}`
async fn call(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((agent_id, tool)): Path<(String, String)>,
    Form(sent): Form<TrialForm>,
) -> Result<Response, PageError> {
    let tool = find_tool(&state, &admin, &agent_id, &tool).await?;
    let request = TrialRequest {
        agent_id: agent_id.clone(),
        tool: tool.name.clone(),
        arguments: sent.arguments.clone(),
        approved: sent.approved.is_some(),
    };
    let came = run_trial(&state, &admin, request).await;
    if let Err(error) = &came
        && matches!(error.code, ErrorCode::NotFound | ErrorCode::Unavailable)
    {
        return Err(error.clone().into());
    }
    Ok(render(&admin, &agent_id, tool, sent, Some(came)))
}

/// The body of a tool's test run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolTrialBody {
    /// The arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Whether the administrator approves the call if it needs approval.
    #[serde(default)]
    approved: bool,
}

/// `POST /api/admin/agents/{id}/tools/{tool}`
async fn try_tool(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((agent_id, tool)): Path<(String, String)>,
    sent: SentJson<ToolTrialBody>,
) -> Result<Json<TrialResult>, HttpError> {
    let ToolTrialBody { arguments, approved } = valid_json(sent)?;
    let arguments = Value::Object(arguments).to_string();
    Ok(Json(run_trial(&state, &admin, TrialRequest { agent_id, tool, arguments, approved }).await?))
}

async fn find_tool(state: &ConsoleState, admin: &Admin, agent_id: &str, name: &str) -> Result<LiveTool, UserError> {
    let (tools, problems) = agents::tools(state, admin, agent_id).await?;
    let found = tools.into_iter().find(|tool| tool.name == name);
    found.ok_or_else(|| match problems.into_iter().next() {
        Some(problem) => UserError::new(ErrorCode::Unavailable, problem),
        None => UserError::not_found(),
    })
}

/// Returns initial arguments for the form: the required properties, empty.
fn example_arguments(schema: &Value) -> String {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!(""),
    };
    let arguments: Map<_, _> = required.map(|name| (name.to_owned(), value(name))).collect();
    serde_json::to_string_pretty(&arguments).unwrap_or_default()
}

fn render(
    admin: &Admin,
    agent_id: &str,
    tool: LiveTool,
    sent: TrialForm,
    came: Option<Result<TrialResult, UserError>>,
) -> Response {
    let status = match &came {
        Some(Err(error)) => status_of(error),
        _ => StatusCode::OK,
    };
    let asks = if tool.asks { "yes" } else { "only if the policy says so" };
    let about = [
        ("Agent", link(format!("/admin/agents/{}", query_encoded(agent_id)), agent_id)),
        ("Source", text(tool.source.unwrap_or_else(|| "config".to_owned()))),
        ("Asks for approval", text(asks)),
    ];
    let path = format!("/admin/agents/{}/tools/{}", query_encoded(agent_id), query_encoded(&tool.name));
    let schema = serde_json::to_string_pretty(&tool.input_schema).unwrap_or_default();
    let content = view! {
        {came.map(result_view)}
        <section class="cw-account-part" aria-label="About">
            {facts(about)}
            <p class="cw-admin-text">{tool.description}</p>
            {folded_text("Input schema", schema)}
        </section>
        <section class="cw-account-part" aria-labelledby="try">
            <h2 id="try">"Test the tool"</h2>
            <p class="cw-account-note">
                "The call runs for real, with your rights and under the agent's policy, and is recorded in the audit log."
            </p>
            <form class="cw-account-form" method="post" action=path>
                <label class="cw-account-field">
                    <span>"Arguments (JSON)"</span>
                    <textarea class="cw-admin-code" name="arguments" rows="6" spellcheck="false" autocomplete="off" inner_html=text_area_content(&sent.arguments)></textarea>
                </label>
                <label class="cw-admin-check">
                    <input type="checkbox" name="approved" value="1" checked=sent.approved.is_some() />
                    "I approve the call if it needs approval"
                </label>
                <button class="cw-button cw-primary">"Run the tool"</button>
            </form>
        </section>
    };
    page(admin, "/admin/tools", status, &tool.name, content)
}

fn result_view(came: Result<TrialResult, UserError>) -> AnyView {
    let trial = match came {
        Ok(trial) => trial,
        Err(error) => return error_message(Some(error.message)).into_any(),
    };
    let gates = serde_json::to_string(&trial.gates).unwrap_or_default();
    let about = [
        ("Outcome", text(trial.outcome.name())),
        ("Gates", text(gates_text(&gates))),
        ("Time", text(trial.duration_ms.map(|ms| seconds(ms as f64)).unwrap_or_default())),
    ];
    let output = trial.output.map(|output| serde_json::to_string_pretty(&output).unwrap_or_default());
    view! {
        <section class="cw-account-part" aria-labelledby="came">
            <h2 id="came">"Result"</h2>
            <div role="status">{facts(about)}</div>
            <pre class="cw-admin-pre" tabindex="0" aria-label="Result">{output.or(trial.error)}</pre>
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_arguments_contain_required_properties() {
        let schema = json!({
            "properties": { "n": { "type": "integer" }, "text": { "type": "string" }, "more": {} },
            "required": ["n", "text"],
        });
        assert_eq!(example_arguments(&schema), "{\n  \"n\": 0,\n  \"text\": \"\"\n}");
        assert_eq!(example_arguments(&json!({ "type": "object" })), "{}");
    }
}
