//! The operations of users on their agents, for routes and pages alike.

use super::PREFIX;
use super::store::{self, AgentSharing, ChangeOutcome, OwnAgentRow, SaveOwnAgent, SaveOwnOutcome};
use super::views::{OwnAgentBody, OwnAgentDetail, OwnAgentItem, OwnAgents};
use crate::choices::{BaseChoices, for_user, is_admitted};
use crate::definition::CustomAgent;
use crate::section::CustomAgents;
use crate::validate::{check_key, validate};
use crate::{console, section};
use ::store::AuditEntry;
use auth::audit_row;
use capability::Context;
use chat::Caller;
use config::Config;
use serde_json::{Value, json};
use web::admin::from_store_error;
use web::signed_in;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The most roles with which an agent is shared, and their longest name.
const MAX_ROLES: usize = 20;
const MAX_ROLE: usize = 64;

/// Returns the settings of users' own agents.
///
/// # Errors
/// 404 if users make no agents here.
fn users(state: &Context) -> Result<section::OwnAgents, UserError> {
    let config = state.current.config();
    let users = config.section::<CustomAgents>().and_then(|allowed| allowed.users.clone());
    users.ok_or_else(UserError::not_found)
}

/// Returns the base agents with what the user may choose of them; none if the user may make no agents.
pub(super) fn choices(state: &Context, caller: &Caller) -> Vec<BaseChoices> {
    for_user(&state.current.config(), caller)
}

/// Whether users may share their agents.
///
/// # Errors
/// 404 if users make no agents here.
pub(super) fn can_share(state: &Context) -> Result<bool, UserError> {
    Ok(users(state)?.share)
}

/// Returns the agents of a user, and those that others share with them.
///
/// # Errors
/// 401 for visitors, 404 if users make no agents here.
pub(super) async fn list(state: &Context, caller: &Caller) -> Result<OwnAgents, UserError> {
    let user_id = signed_in(caller)?;
    let limits = users(state)?;
    let config = state.current.config();
    let own = store::of_owner(&state.store, user_id).await.map_err(from_store_error)?;
    let own = own.iter().map(|row| OwnAgentItem::new(row, config.agents.contains_key(&row.id))).collect();
    let made = config.agents.values().filter(|agent| agent.id.starts_with(PREFIX));
    let admitted = made.filter(|agent| is_admitted(caller, &agent.auth)).map(|agent| agent.id.clone()).collect();
    let shared = store::of_others(&state.store, user_id, admitted).await.map_err(from_store_error)?;
    let shared = shared.iter().map(|row| OwnAgentItem::new(row, true)).collect();
    Ok(OwnAgents { own, shared, choices: choices(state, caller), most: limits.per_user, can_share: limits.share })
}

/// Returns an agent of a user with its versions.
///
/// # Errors
/// 404 if the user has no such agent.
pub(super) async fn detail(state: &Context, caller: &Caller, id: &str) -> Result<OwnAgentDetail, UserError> {
    let row = find(state, caller, id).await?;
    let versions = store::versions(&state.store, &row.owner, id).await.map_err(from_store_error)?;
    let is_available = state.current.config().agents.contains_key(id);
    Ok(OwnAgentDetail::new(row, is_available, versions))
}

async fn find(state: &Context, caller: &Caller, id: &str) -> Result<OwnAgentRow, UserError> {
    let user_id = signed_in(caller)?;
    users(state)?;
    let found = store::find(&state.store, user_id, id).await.map_err(from_store_error)?;
    found.ok_or_else(UserError::not_found)
}

/// Makes an agent (without an id) or changes one, and returns its id.
///
/// # Errors
/// 403 if the user may make no agents, 404 for an unknown agent, 409 if it was changed meanwhile, 422 for
/// invalid fields and for what the user may not choose.
pub(super) async fn save(
    state: &Context,
    caller: &Caller,
    id: Option<&str>,
    sent: OwnAgentBody,
) -> Result<String, UserError> {
    let user_id = signed_in(caller)?.to_owned();
    let limits = users(state)?;
    let after = match (id, sent.version) {
        (None, _) => None,
        (Some(id), None) => {
            find(state, caller, id).await?;
            return Err(UserError::invalid("/version", "Send the version that your change is based on."));
        }
        (Some(id), after) => {
            find(state, caller, id).await?;
            after
        }
    };
    let choices = choices(state, caller);
    if choices.is_empty() {
        return Err(UserError::new(ErrorCode::Forbidden, "You may not make agents here."));
    }
    check_key(&sent.name)?;
    let name = sent.name.clone();
    let custom = validate(&state.current.config(), &choices, sent.into_agent()).map_err(|error| {
        // The display name of an agent of one's own is its title.
        let path = error.path.map(|path| if path == "/name" { "/title".to_owned() } else { path });
        UserError { path, ..error }
    })?;
    let what = if id.is_none() { "make" } else { "change" };
    let id = id.map_or_else(new_id, str::to_owned);
    let audit = audit(&user_id, what, json!({ "agentId": id, "version": after.unwrap_or_default() + 1 }));
    let save = SaveOwnAgent {
        owner: user_id,
        id: id.clone(),
        after,
        name,
        definition: encode(&custom)?,
        now: now_millis(),
        limits: (limits.per_user, limits.total),
    };
    store_version(state, save, audit).await?;
    Ok(id)
}

async fn store_version(state: &Context, save: SaveOwnAgent, audit: AuditEntry) -> Result<(), UserError> {
    let most = save.limits.0;
    match store::save(&state.store, save, audit).await.map_err(from_store_error)? {
        SaveOwnOutcome::Saved => console::apply_changes(state).await,
        SaveOwnOutcome::Unchanged => Ok(()),
        SaveOwnOutcome::Unknown => Err(UserError::not_found()),
        SaveOwnOutcome::Changed => {
            let message = "The agent was changed in the meantime. Reload the page and make your change again.";
            Err(UserError::new(ErrorCode::Busy, message))
        }
        SaveOwnOutcome::NameTaken => Err(UserError::invalid("/name", "You have another agent with this name.")),
        SaveOwnOutcome::Full => {
            let message = format!("You already have {most} agents, which is the maximum. Delete one first.");
            Err(UserError::invalid("/name", message))
        }
        SaveOwnOutcome::ServerFull => {
            let message = "This server has reached its limit of agents. Ask an administrator.";
            Err(UserError::invalid("/name", message))
        }
    }
}

/// Makes an earlier version of an agent its newest one. It is checked like a change: what the user may no
/// longer choose is refused.
///
/// # Errors
/// The errors of [`save`]; 404 for a version that is not kept.
pub(super) async fn restore(state: &Context, caller: &Caller, id: &str, version: i64) -> Result<(), UserError> {
    let row = find(state, caller, id).await?;
    let versions = store::versions(&state.store, &row.owner, id).await.map_err(from_store_error)?;
    let wanted = versions.into_iter().find(|kept| kept.version == version).ok_or_else(UserError::not_found)?;
    let custom: CustomAgent = serde_json::from_value(wanted.definition).unwrap_or_default();
    let custom = validate(&state.current.config(), &choices(state, caller), custom)?;
    let limits = users(state)?;
    let audit = audit(&row.owner, "restore", json!({ "agentId": id, "version": row.version + 1, "restored": version }));
    let save = SaveOwnAgent {
        owner: row.owner,
        id: id.to_owned(),
        after: Some(row.version),
        name: row.name,
        definition: encode(&custom)?,
        now: now_millis(),
        limits: (limits.per_user, limits.total),
    };
    store_version(state, save, audit).await
}

/// Stores with whom an agent is shared.
///
/// # Errors
/// 403 if others are to get it and the user may no longer use its base, 404 for an unknown agent, 422 for invalid roles or if the config does not let users share.
pub(super) async fn share(
    state: &Context,
    caller: &Caller,
    id: &str,
    mut sharing: AgentSharing,
) -> Result<(), UserError> {
    let row = find(state, caller, id).await?;
    if !users(state)?.share && sharing != AgentSharing::default() {
        return Err(UserError::invalid("/", "Agents cannot be shared here."));
    }
    sharing.roles.iter_mut().for_each(|role| *role = role.trim().to_owned());
    sharing.roles.sort_unstable();
    sharing.roles.dedup();
    let is_role = |role: &String| (1..=MAX_ROLE).contains(&role.len()) && !role.chars().any(char::is_control);
    if sharing.roles.len() > MAX_ROLES || !sharing.roles.iter().all(is_role) {
        let message = format!("An agent is shared with up to {MAX_ROLES} roles of 1 to {MAX_ROLE} characters.");
        return Err(UserError::invalid("/roles", message));
    }
    if !may_share(&state.current.config(), caller, &row, &sharing) {
        let message =
            "You may no longer make agents out of what this one is based on, so you cannot share it with more users.";
        return Err(UserError::new(ErrorCode::Forbidden, message));
    }
    let audit = audit(&row.owner, "share", json!({ "agentId": id, "sharing": sharing }));
    let shared = store::share(&state.store, (&row.owner, id), &sharing, now_millis(), audit);
    done(state, shared.await.map_err(from_store_error)?).await
}

/// Whether a user is admitted with the sharing `after` who was not with that `before`.
fn is_wider(before: &AgentSharing, after: &AgentSharing) -> bool {
    !before.everybody && (after.everybody || after.roles.iter().any(|role| !before.roles.contains(role)))
}

/// Whether a maker may share an agent like this: with fewer users always, with more as long as they may make
/// agents out of its base.
fn may_share(config: &Config, maker: &Caller, row: &OwnAgentRow, sharing: &AgentSharing) -> bool {
    let from = CustomAgent::from_stored(row.definition.clone()).from;
    !is_wider(&row.sharing, sharing) || for_user(config, maker).iter().any(|base| base.from == from)
}

/// Deletes an agent. Conversations with it are kept, but cannot be continued.
///
/// # Errors
/// 404 for an unknown agent.
pub(super) async fn delete(state: &Context, caller: &Caller, id: &str) -> Result<(), UserError> {
    let user_id = signed_in(caller)?;
    let audit = audit(user_id, "delete", json!({ "agentId": id }));
    done(state, store::delete(&state.store, user_id, id, audit).await.map_err(from_store_error)?).await
}

/// Brings a change into the running config.
pub(super) async fn done(state: &Context, outcome: ChangeOutcome) -> Result<(), UserError> {
    match outcome {
        ChangeOutcome::Changed => console::apply_changes(state).await,
        ChangeOutcome::Unchanged => Ok(()),
        ChangeOutcome::Unknown => Err(UserError::not_found()),
    }
}

/// Returns a row of the audit log. It has nothing of what the agent is told.
fn audit(user_id: &str, action: &str, about: Value) -> AuditEntry {
    audit_row(user_id, &format!("agents:{action}"), "", about)
}

fn encode(custom: &CustomAgent) -> Result<Value, UserError> {
    serde_json::to_value(custom).map_err(|_| UserError::invalid("/", "The agent cannot be stored."))
}

fn new_id() -> String {
    let digits = uuid::Uuid::new_v4().simple().to_string();
    format!("{PREFIX}{}", &digits[..console::ID_DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Language, SectionType};

    const CONFIG: &str = "
connections: [{ id: demo, type: Demo }]
agents:
  - { id: helper, type: Agent, connectionId: demo, properties: { model: demo }, auth: { roles: [staff] } }
customAgents: { from: [helper], users: { auth: { roles: [maker] } } }
pages: [{ id: p }]
";

    #[test]
    fn author_without_the_right_cannot_share_further() {
        let language = Language::new(&[SectionType::of::<CustomAgents>()], &[]);
        let (config, _) = language.read_text(CONFIG).unwrap();
        let sharing =
            |role: &str| AgentSharing { everybody: false, roles: role.split_whitespace().map(str::to_owned).collect() };
        let check = |roles: &[&str], with: &str, expected: bool| {
            let roles = roles.iter().map(|role| (*role).to_owned()).collect();
            let maker = Caller::signed_in("ada").with_roles(roles);
            let row = OwnAgentRow {
                id: "own-a".to_owned(),
                owner: "ada".to_owned(),
                name: "a".to_owned(),
                version: 1,
                definition: json!({ "from": "helper" }),
                sharing: sharing("sales"),
                created_at: 0,
                updated_at: 0,
                disabled_at: None,
            };
            assert_eq!(may_share(&config, &maker, &row, &sharing(with)), expected, "{with} {maker:?}");
        };
        check(&["maker", "staff"], "sales support", true);
        check(&["maker"], "sales support", false);
        check(&["staff"], "sales support", false);
        check(&["staff"], "sales", true);
        check(&[], "", true);
    }

    #[test]
    fn sharing_is_wider_if_it_admits_a_user_more() {
        let sharing = |with: &str| match with {
            "everybody" => AgentSharing { everybody: true, roles: Vec::new() },
            roles => AgentSharing { everybody: false, roles: roles.split_whitespace().map(str::to_owned).collect() },
        };
        for (before, after, expected) in [
            ("", "", false),
            ("", "everybody", true),
            ("", "a", true),
            ("a", "a b", true),
            ("a b", "b", false),
            ("a", "everybody", true),
            ("everybody", "a", false),
            ("everybody", "everybody", false),
            ("a", "", false),
        ] {
            assert_eq!(is_wider(&sharing(before), &sharing(after)), expected, "{before} {after}");
        }
    }
}
