//! The pages and the API with which administrators manage custom agents.

mod api;
mod list;
mod pages;

use crate::store::{self, CustomAgentRow, CustomAgentVersion, MAX_CUSTOM_AGENTS, SaveAgentOutcome, SaveCustomAgent};
use crate::{CustomAgent, CustomAgents, PREFIX, selectable_tools};
use capability::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::json;
use web::admin::{Admin, Section, from_store_error};
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// Returns the section of the console. It has no entry in the menu: the page of agents links to it.
pub(crate) fn section(context: Context) -> Section {
    let routes = web::admin::list::routes::<list::CustomAgentList>().merge(api::routes()).with_pages(pages::routes());
    let actions = ["add_agent", "change_agent", "delete_agent", "export_custom_agents"];
    Section {
        menu: Vec::new(),
        actions: actions.map(|action| format!("admin:{action}")).to_vec(),
        routes: routes.map(|router| router.with_state(context)),
    }
}

/// The maximum lengths of a name, a description and instructions, in characters.
const MAX_NAME: usize = 60;
const MAX_DESCRIPTION: usize = 500;
const MAX_INSTRUCTIONS: usize = 20_000;
/// The number of random digits in an id, enough to make collisions unlikely.
const ID_DIGITS: usize = 12;

/// The body that creates or changes a custom agent.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CustomAgentBody {
    /// The name.
    name: String,
    /// The purpose.
    #[serde(default)]
    description: String,
    /// The base agent: an agent of the config.
    from: String,
    /// The instructions.
    instructions: String,
    /// The tools of the base agent that it has.
    #[serde(default)]
    tools: Vec<String>,
    /// The version that the change is based on; absent for a new agent.
    #[serde(default)]
    version: Option<i64>,
}

/// A custom agent with its earlier versions.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CustomAgentDetail {
    #[serde(flatten)]
    row: CustomAgentRow,
    /// Whether the config still contains its base agent.
    is_available: bool,
    /// The versions, newest first.
    versions: Vec<CustomAgentVersion>,
}

/// Returns the agents that custom agents may be based on; none if the config does not allow custom
/// agents.
fn allowed_bases(state: &Context) -> Vec<String> {
    let config = state.current.config();
    config.section::<CustomAgents>().map(|allowed| allowed.from.clone()).unwrap_or_default()
}

/// Returns the tools that a custom agent based on this agent may have.
fn available_tools(state: &Context, from: &str) -> Vec<String> {
    state.current.config().agents.get(from).map(selectable_tools).unwrap_or_default()
}

async fn load_all(state: &Context) -> Result<Vec<CustomAgentRow>, UserError> {
    store::list(&state.store).await.map_err(from_store_error)
}

/// A custom agent in the list.
#[derive(Serialize, JsonSchema)]
struct CustomAgentItem {
    #[serde(flatten)]
    row: CustomAgentRow,
    /// The definition in `row`.
    #[serde(skip)]
    agent: CustomAgent,
    /// The name of its creator.
    #[serde(skip)]
    owner_name: Option<String>,
}

impl From<CustomAgentRow> for CustomAgentItem {
    fn from(row: CustomAgentRow) -> Self {
        Self { agent: parse_definition(row.definition.clone()), row, owner_name: None }
    }
}

/// Parses a stored definition; returns placeholders for an invalid one.
fn parse_definition(value: Value) -> CustomAgent {
    serde_json::from_value(value).unwrap_or(CustomAgent {
        name: "?".to_owned(),
        description: String::new(),
        from: String::new(),
        instructions: String::new(),
        tools: Vec::new(),
    })
}

async fn custom_agent_detail(state: &Context, id: &str) -> Result<CustomAgentDetail, UserError> {
    let row = load_all(state).await?.into_iter().find(|row| row.id == id).ok_or_else(UserError::not_found)?;
    let versions = store::versions(&state.store, id).await.map_err(from_store_error)?;
    let is_available = state.current.config().agents.contains_key(id);
    Ok(CustomAgentDetail { row, is_available, versions })
}

/// Creates a custom agent (without an id) or changes one, and returns its id. The agent is
/// available at once.
///
/// # Errors
/// 404 for an unknown agent, 409 when somebody else has changed it in the meantime, 422 for invalid
/// fields.
async fn save(state: &Context, admin: &Admin, id: Option<&str>, sent: CustomAgentBody) -> Result<String, UserError> {
    let (after, custom) = (sent.version, validate(state, sent)?);
    let after = match (id, after) {
        (None, _) => None,
        (Some(_), None) => {
            return Err(UserError::invalid("/version", "Send the version that your change is based on."));
        }
        (Some(_), after) => after,
    };
    let is_new = id.is_none();
    let id = id.map_or_else(new_id, str::to_owned);
    let what = if is_new { "add_agent" } else { "change_agent" };
    let entry = admin.audit_entry(what, "", json!({ "agentId": id, "version": after.unwrap_or_default() + 1 }));
    let definition =
        serde_json::to_value(&custom).map_err(|_| UserError::invalid("/", "The agent cannot be stored."))?;
    let save =
        SaveCustomAgent { id: id.clone(), after, definition, author: admin.caller.user_id.clone(), now: now_millis() };
    match store::save(&state.store, save, entry).await.map_err(from_store_error)? {
        SaveAgentOutcome::Done(_) => {}
        SaveAgentOutcome::Unknown => return Err(UserError::not_found()),
        SaveAgentOutcome::Changed => {
            let text =
                "Someone else has changed this agent in the meantime. Reload the page and make your change again.";
            return Err(UserError::new(ErrorCode::Busy, text));
        }
        SaveAgentOutcome::Full => {
            let text =
                format!("There are already {MAX_CUSTOM_AGENTS} custom agents, which is the maximum. Delete one first.");
            return Err(UserError::invalid("/name", text));
        }
    }
    apply_changes(state).await?;
    Ok(id)
}

/// Deletes a custom agent. Conversations with it are kept, but cannot be continued.
async fn delete(state: &Context, admin: &Admin, id: &str) -> Result<(), UserError> {
    let entry = admin.audit_entry("delete_agent", "", json!({ "agentId": id }));
    match store::delete(&state.store, id, now_millis(), entry).await.map_err(from_store_error)? {
        true => apply_changes(state).await,
        false => Err(UserError::not_found()),
    }
}

async fn apply_changes(state: &Context) -> Result<(), UserError> {
    state.current.refresh_additions().await.map_err(|error| {
        tracing::error!(%error, "a custom agent was saved, but the config cannot be rebuilt");
        UserError::new(
            ErrorCode::Unavailable,
            "The change was saved, but is not in effect yet: the config cannot be rebuilt right now.",
        )
    })
}

fn new_id() -> String {
    let digits = uuid::Uuid::new_v4().simple().to_string();
    format!("{PREFIX}{}", &digits[..ID_DIGITS])
}

fn validate(state: &Context, sent: CustomAgentBody) -> Result<CustomAgent, UserError> {
    let CustomAgentBody { name, description, from, instructions, tools, version: _ } = sent;
    let (name, description, instructions) =
        (name.trim().to_owned(), description.trim().to_owned(), instructions.trim().to_owned());
    let count = |text: &str| text.chars().count();
    if !(1..=MAX_NAME).contains(&count(&name)) || name.chars().any(char::is_control) {
        return Err(UserError::invalid("/name", format!("A name has 1 to {MAX_NAME} characters.")));
    }
    if count(&description) > MAX_DESCRIPTION {
        return Err(UserError::invalid(
            "/description",
            format!("A description has up to {MAX_DESCRIPTION} characters."),
        ));
    }
    if !(1..=MAX_INSTRUCTIONS).contains(&count(&instructions)) {
        let text = format!("Instructions have 1 to {MAX_INSTRUCTIONS} characters.");
        return Err(UserError::invalid("/instructions", text));
    }
    if !allowed_bases(state).contains(&from) {
        return Err(UserError::invalid("/from", "The config does not allow agents based on this one."));
    }
    let known = available_tools(state, &from);
    if let Some(tool) = tools.iter().find(|tool| !known.contains(tool)) {
        return Err(UserError::invalid("/tools", format!("`{from}` has no tool `{tool}`.")));
    }
    Ok(CustomAgent { name, description, from, instructions, tools })
}
