//! Custom agents: agents that administrators create, by a form or by a program.

use super::lists::{filled, numbered};
use super::{Admin, of_store};
use crate::auth::password::now;
use crate::compose::{CUSTOM_PREFIX, CustomAgent, choices};
use crate::router::AppState;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{CustomAgentRow, CustomAgentSaved, CustomAgentVersion, MAX_CUSTOM_AGENTS, Place, SaveCustomAgent};
use wire::{ErrorCode, UserError};

/// Characters of a name, of a description, of instructions.
pub(super) const MAX_NAME: usize = 60;
pub(super) const MAX_DESCRIPTION: usize = 500;
pub(super) const MAX_INSTRUCTIONS: usize = 20_000;
/// Digits of an id after its prefix: enough that none is made twice.
const DIGITS: usize = 12;

/// What a program sends.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CustomAgentBody {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    pub(super) from: String,
    pub(super) instructions: String,
    #[serde(default)]
    pub(super) tools: Vec<String>,
    /// The version that is changed; none of a new one.
    #[serde(default)]
    pub(super) version: Option<i64>,
}

/// A custom agent with what it was before.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CustomAgentDetail {
    #[serde(flatten)]
    pub(super) row: CustomAgentRow,
    /// Whether the config still has what it is made from.
    pub(super) is_available: bool,
    pub(super) versions: Vec<CustomAgentVersion>,
}

/// The agents that custom ones may be made from; none where the config allows no custom ones.
pub(super) fn bases(state: &AppState) -> Vec<String> {
    let config = state.composition.current.config();
    config.custom_agents.as_ref().map(|allowed| allowed.from.clone()).unwrap_or_default()
}

/// The tools that one made from this agent may have.
pub(super) fn tools_of(state: &AppState, from: &str) -> Vec<String> {
    state.composition.current.config().agents.get(from).map(choices).unwrap_or_default()
}

pub(super) async fn all(state: &AppState) -> Result<Vec<CustomAgentRow>, UserError> {
    state.composition.store.custom_agents().await.map_err(of_store)
}

/// Which of them, in an address.
#[derive(Default, Deserialize)]
pub(crate) struct CustomQuery {
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) sort: CustomSort,
    pub(super) after: Option<String>,
}

/// The order of the list.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CustomSort {
    /// By name.
    #[default]
    Name,
    /// The last changed first.
    Newest,
    /// The last changed last.
    Oldest,
}

impl CustomSort {
    /// Each with its name, in an address and on a page.
    pub(super) const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Name, "name", "By name"),
        (Self::Newest, "newest", "Last changed first"),
        (Self::Oldest, "oldest", "Last changed last"),
    ];
}

/// A page of the list.
pub(super) async fn found(state: &AppState, query: &CustomQuery) -> Result<Vec<(CustomAgentRow, Place)>, UserError> {
    let text = filled(query.text.as_deref()).map(|text| text.to_lowercase());
    let word = |row: &CustomAgentRow, key: &str| row.definition[key].as_str().unwrap_or_default().to_lowercase();
    let fits = |row: &CustomAgentRow| {
        let keys = ["name", "description", "from"];
        text.as_ref().is_none_or(|text| row.id.contains(text) || keys.iter().any(|key| word(row, key).contains(text)))
    };
    let mut rows = all(state).await?;
    rows.retain(fits);
    match query.sort {
        CustomSort::Name => rows.sort_by_cached_key(|row| word(row, "name")),
        CustomSort::Newest => rows.sort_by_key(|row| std::cmp::Reverse(row.updated_at)),
        CustomSort::Oldest => rows.sort_by_key(|row| row.updated_at),
    }
    numbered(rows, query.after.as_deref())
}

pub(super) async fn one(state: &AppState, id: &str) -> Result<CustomAgentDetail, UserError> {
    let row = all(state).await?.into_iter().find(|row| row.id == id).ok_or_else(UserError::not_found)?;
    let versions = state.composition.store.custom_agent_versions(id).await.map_err(of_store)?;
    let is_available = state.composition.current.config().agents.contains_key(id);
    Ok(CustomAgentDetail { row, is_available, versions })
}

/// Makes one (without an id) or changes one; gives its id. It can be asked at once.
///
/// # Errors
/// 404 for one that is not there, 409 when somebody else has changed it meanwhile, 422 for what is wrong with it.
pub(super) async fn save(
    state: &AppState,
    admin: &Admin,
    id: Option<&str>,
    sent: CustomAgentBody,
) -> Result<String, UserError> {
    let (after, custom) = (sent.version, checked(state, sent)?);
    let after = match (id, after) {
        (None, _) => None,
        (Some(_), None) => return Err(UserError::invalid("/version", "Send the version that you have changed.")),
        (Some(_), after) => after,
    };
    let is_new = id.is_none();
    let id = id.map_or_else(new_id, str::to_owned);
    let what = if is_new { "add_agent" } else { "change_agent" };
    let entry = admin.entry(what, "", json!({ "agentId": id, "version": after.unwrap_or_default() + 1 }));
    let definition = serde_json::to_value(&custom).map_err(|_| UserError::invalid("/", "This cannot be stored."))?;
    let save = SaveCustomAgent { id: id.clone(), after, definition, author: admin.0.user_id.clone(), now: now() };
    match state.composition.store.save_custom_agent(save, entry).await.map_err(of_store)? {
        CustomAgentSaved::Done(_) => {}
        CustomAgentSaved::Unknown => return Err(UserError::not_found()),
        CustomAgentSaved::Changed => {
            let text =
                "Someone else has changed this agent in the meantime. Reload the page and make your change again.";
            return Err(UserError::new(ErrorCode::Busy, text));
        }
        CustomAgentSaved::Full => {
            let text =
                format!("There are already {MAX_CUSTOM_AGENTS} custom agents, which is the maximum. Delete one first.");
            return Err(UserError::invalid("/name", text));
        }
    }
    take_over(state).await?;
    Ok(id)
}

/// Deletes one. Conversations with it stay, and cannot be gone on with.
pub(super) async fn delete(state: &AppState, admin: &Admin, id: &str) -> Result<(), UserError> {
    let entry = admin.entry("delete_agent", "", json!({ "agentId": id }));
    match state.composition.store.delete_custom_agent(id, now(), entry).await.map_err(of_store)? {
        true => take_over(state).await,
        false => Err(UserError::not_found()),
    }
}

async fn take_over(state: &AppState) -> Result<(), UserError> {
    state.composition.current.refresh().await.map_err(|error| {
        tracing::error!(%error, "a custom agent was saved and cannot be taken over yet");
        UserError::new(
            ErrorCode::Unavailable,
            "It was saved, but cannot be used yet: the config cannot be built right now.",
        )
    })
}

fn new_id() -> String {
    let digits = uuid::Uuid::new_v4().simple().to_string();
    format!("{CUSTOM_PREFIX}{}", &digits[..DIGITS])
}

fn checked(state: &AppState, sent: CustomAgentBody) -> Result<CustomAgent, UserError> {
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
    if !bases(state).contains(&from) {
        return Err(UserError::invalid("/from", "The config does not allow agents based on this one."));
    }
    let known = tools_of(state, &from);
    if let Some(tool) = tools.iter().find(|tool| !known.contains(tool)) {
        return Err(UserError::invalid("/tools", format!("`{from}` has no tool `{tool}`.")));
    }
    Ok(CustomAgent { name, description, from, instructions, tools })
}
