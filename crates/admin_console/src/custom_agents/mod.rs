//! Custom agents: agents that administrators create, with a form or with the API.

pub(crate) mod pages;

use crate::state::ConsoleState;
use ::custom_agents::store::{
    self, CustomAgentRow, CustomAgentVersion, MAX_CUSTOM_AGENTS, SaveAgentOutcome, SaveCustomAgent,
};
use ::custom_agents::{CustomAgent, CustomAgents, PREFIX, selectable_tools};
use ::store::ListCursor;
use auth::password::now_millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use web::admin::lists::{non_empty, paginate};
use web::admin::{Admin, from_store_error};
use wire::{ErrorCode, UserError};

/// The maximum lengths of a name, a description and instructions, in characters.
pub(crate) const MAX_NAME: usize = 60;
pub(crate) const MAX_DESCRIPTION: usize = 500;
pub(crate) const MAX_INSTRUCTIONS: usize = 20_000;
/// The number of random digits in an id, enough to make collisions unlikely.
const ID_DIGITS: usize = 12;

/// The body that creates or changes a custom agent.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CustomAgentBody {
    /// The name.
    pub(crate) name: String,
    /// The purpose.
    #[serde(default)]
    pub(crate) description: String,
    /// The base agent: an agent of the config.
    pub(crate) from: String,
    /// The instructions.
    pub(crate) instructions: String,
    /// The tools of the base agent that it has.
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    /// The version that the change is based on; absent for a new agent.
    #[serde(default)]
    pub(crate) version: Option<i64>,
}

/// A custom agent with its earlier versions.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CustomAgentDetail {
    #[serde(flatten)]
    pub(crate) row: CustomAgentRow,
    /// Whether the config still contains its base agent.
    pub(crate) is_available: bool,
    /// The versions, newest first.
    pub(crate) versions: Vec<CustomAgentVersion>,
}

/// Returns the agents that custom agents may be based on; none if the config does not allow custom
/// agents.
pub(crate) fn allowed_bases(state: &ConsoleState) -> Vec<String> {
    let config = state.host.config();
    config.section::<CustomAgents>().map(|allowed| allowed.from.clone()).unwrap_or_default()
}

/// Returns the tools that a custom agent based on this agent may have.
pub(crate) fn available_tools(state: &ConsoleState, from: &str) -> Vec<String> {
    state.host.config().agents.get(from).map(selectable_tools).unwrap_or_default()
}

pub(crate) async fn load_all(state: &ConsoleState) -> Result<Vec<CustomAgentRow>, UserError> {
    store::list(&state.store).await.map_err(from_store_error)
}

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct CustomAgentQuery {
    /// Part of the name, the purpose or the base agent.
    pub(crate) text: Option<String>,
    /// `name`, `newest` or `oldest`.
    #[serde(default)]
    pub(crate) sort: CustomAgentSortQuery,
    /// `next` of the previous page.
    pub(crate) after: Option<String>,
}

/// The order of the list.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CustomAgentSortQuery {
    /// By name.
    #[default]
    Name,
    /// Last changed first.
    Newest,
    /// Last changed last.
    Oldest,
}

impl CustomAgentSortQuery {
    /// Each order with its name in a URL and its label.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Name, "name", "By name"),
        (Self::Newest, "newest", "Last changed first"),
        (Self::Oldest, "oldest", "Last changed last"),
    ];
}

/// Returns a page of the list.
pub(crate) async fn fetch_page(
    state: &ConsoleState,
    query: &CustomAgentQuery,
) -> Result<Vec<(CustomAgentRow, ListCursor)>, UserError> {
    let text = non_empty(query.text.as_deref()).map(|text| text.to_lowercase());
    let word = |row: &CustomAgentRow, key: &str| row.definition[key].as_str().unwrap_or_default().to_lowercase();
    let fits = |row: &CustomAgentRow| {
        let keys = ["name", "description", "from"];
        text.as_ref().is_none_or(|text| row.id.contains(text) || keys.iter().any(|key| word(row, key).contains(text)))
    };
    let mut rows = load_all(state).await?;
    rows.retain(fits);
    match query.sort {
        CustomAgentSortQuery::Name => rows.sort_by_cached_key(|row| word(row, "name")),
        CustomAgentSortQuery::Newest => rows.sort_by_key(|row| std::cmp::Reverse(row.updated_at)),
        CustomAgentSortQuery::Oldest => rows.sort_by_key(|row| row.updated_at),
    }
    paginate(rows, query.after.as_deref())
}

pub(crate) async fn custom_agent_detail(state: &ConsoleState, id: &str) -> Result<CustomAgentDetail, UserError> {
    let row = load_all(state).await?.into_iter().find(|row| row.id == id).ok_or_else(UserError::not_found)?;
    let versions = store::versions(&state.store, id).await.map_err(from_store_error)?;
    let is_available = state.host.config().agents.contains_key(id);
    Ok(CustomAgentDetail { row, is_available, versions })
}

/// Creates a custom agent (without an id) or changes one, and returns its id. The agent is
/// available at once.
///
/// # Errors
/// 404 for an unknown agent, 409 when somebody else has changed it in the meantime, 422 for invalid
/// fields.
pub(crate) async fn save(
    state: &ConsoleState,
    admin: &Admin,
    id: Option<&str>,
    sent: CustomAgentBody,
) -> Result<String, UserError> {
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
pub(crate) async fn delete(state: &ConsoleState, admin: &Admin, id: &str) -> Result<(), UserError> {
    let entry = admin.audit_entry("delete_agent", "", json!({ "agentId": id }));
    match store::delete(&state.store, id, now_millis(), entry).await.map_err(from_store_error)? {
        true => apply_changes(state).await,
        false => Err(UserError::not_found()),
    }
}

async fn apply_changes(state: &ConsoleState) -> Result<(), UserError> {
    state.host.refresh_additions().await.map_err(|error| {
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

fn validate(state: &ConsoleState, sent: CustomAgentBody) -> Result<CustomAgent, UserError> {
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
