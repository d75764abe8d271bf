//! The pages and the API with which administrators manage custom agents.

mod api;
pub(crate) mod form;
mod list;
mod pages;

use crate::choices::{self, BaseChoices};
use crate::store::{self, CustomAgentRow, CustomAgentVersion, MAX_CUSTOM_AGENTS, SaveAgentOutcome, SaveCustomAgent};
use crate::validate::validate;
use crate::{CustomAgent, PREFIX, definitions};
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
    let routes = web::admin::list::routes::<list::CustomAgentList>()
        .merge(api::routes())
        .merge(definitions::routes())
        .with_pages(pages::routes());
    let actions = ["add_agent", "change_agent", "delete_agent", "export_custom_agents"];
    Section {
        menu: Vec::new(),
        actions: actions.map(|action| format!("admin:{action}")).to_vec(),
        routes: routes.map(|router| router.with_state(context)),
    }
}

/// The number of random digits in an id, enough to make collisions unlikely.
pub(crate) const ID_DIGITS: usize = 12;

/// The body that creates or changes a custom agent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CustomAgentBody {
    /// The name.
    name: String,
    /// The purpose.
    #[serde(default)]
    description: String,
    /// The picture: an emoji, or one or two letters.
    #[serde(default)]
    picture: String,
    /// The base agent: an agent of the config.
    from: String,
    /// The instructions.
    instructions: String,
    /// The tools, libraries and skills of the base agent that it has.
    #[serde(default)]
    tools: Vec<String>,
    /// A model of the section `models`. Default: the models of the base agent.
    #[serde(default)]
    model: Option<String>,
    /// How often it goes on by itself, as in the config: `once`, `untilDone` or `{atMost: 4}`. Default: as the
    /// base agent.
    #[serde(default)]
    execution_mode: Option<Value>,
    /// In which way it uses its tools, as in the config: `model`, `sequential`, `parallel` or
    /// `{pipeline: […]}`. Default: as the base agent.
    #[serde(default)]
    tool_strategy: Option<Value>,
    /// With `false`, it has none of the `fallbackModels` of the base agent.
    #[serde(default)]
    fallbacks: Option<bool>,
    /// The version that the change is based on; absent for a new agent.
    #[serde(default)]
    version: Option<i64>,
}

impl CustomAgentBody {
    /// Returns the body that would store an agent as it is.
    fn from_agent(custom: CustomAgent, version: i64) -> Self {
        Self {
            name: custom.name,
            description: custom.description,
            picture: custom.picture,
            from: custom.from,
            instructions: custom.instructions,
            tools: custom.tools,
            model: custom.model,
            execution_mode: custom.execution_mode,
            tool_strategy: custom.tool_strategy,
            fallbacks: custom.fallbacks,
            version: Some(version),
        }
    }

    fn into_agent(self) -> CustomAgent {
        CustomAgent {
            name: self.name,
            description: self.description,
            picture: self.picture,
            from: self.from,
            instructions: self.instructions,
            tools: self.tools,
            model: self.model,
            execution_mode: self.execution_mode,
            tool_strategy: self.tool_strategy,
            fallbacks: self.fallbacks,
        }
    }
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

/// Returns the agents that custom agents may be based on, with what may be chosen of them; none if the
/// config does not allow custom agents.
fn bases(state: &Context) -> Vec<BaseChoices> {
    choices::for_administrators(&state.current.config())
}

/// Returns the selectable parts of a base agent; none if the agent is no base.
fn choices_of(state: &Context, from: &str) -> BaseChoices {
    let nothing = || BaseChoices { from: from.to_owned(), models: Vec::new(), tools: Vec::new() };
    bases(state).into_iter().find(|base| base.from == from).unwrap_or_else(nothing)
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
        Self { agent: CustomAgent::from_stored(row.definition.clone()), row, owner_name: None }
    }
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
    let after = sent.version;
    let config = state.current.config();
    let custom = validate(&config, &choices::for_administrators(&config), sent.into_agent())?;
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
///
/// # Errors
/// 404 for an unknown agent.
pub(crate) async fn delete(state: &Context, admin: &Admin, id: &str) -> Result<(), UserError> {
    let entry = admin.audit_entry("delete_agent", "", json!({ "agentId": id }));
    if store::delete(&state.store, id, now_millis(), entry).await.map_err(from_store_error)? {
        apply_changes(state).await
    } else {
        Err(UserError::not_found())
    }
}

/// Brings the stored agents into the running config.
///
/// # Errors
/// 503 if that is not possible right now; what was stored stays.
pub(crate) async fn apply_changes(state: &Context) -> Result<(), UserError> {
    state.current.refresh_additions().await.map_err(|error| {
        tracing::error!(%error, "a custom agent was saved, but the config cannot be rebuilt");
        UserError::new(
            ErrorCode::Unavailable,
            "The change was saved, but is not in effect yet: the config cannot be rebuilt right now.",
        )
    })
}

/// Returns an id for a new agent.
pub(crate) fn new_id() -> String {
    let digits = uuid::Uuid::new_v4().simple().to_string();
    format!("{PREFIX}{}", &digits[..ID_DIGITS])
}
