//! The access rule of an agent that a user has made.

use super::store::{AgentSharing, OwnAgentRow};
use crate::definition::{self, CustomAgent};
use crate::section::CustomAgents;
use config::{AccessRule, Agent, Config};

/// Adds the agents of users to the config, as far as it still allows them, each with a page.
pub(crate) fn with_own_agents(mut config: Config, rows: &[OwnAgentRow]) -> Config {
    let Some(allowed) = config.section::<CustomAgents>().cloned() else { return config };
    for row in rows.iter().filter(|row| row.disabled_at.is_none()) {
        let Ok(custom) = serde_json::from_value::<CustomAgent>(row.definition.clone()) else { continue };
        let base = config.agents.get(&custom.from).filter(|base| is_allowed(&allowed, base, &custom));
        let Some(auth) = base.and_then(|base| rule(&allowed, &base.auth, &row.owner, &row.sharing)) else { continue };
        definition::add(&mut config, &row.id, Some(custom), &auth);
    }
    config
}

/// Whether the config still lets users make such an agent out of its base.
fn is_allowed(allowed: &CustomAgents, base: &Agent, custom: &CustomAgent) -> bool {
    let Some(users) = &allowed.users else { return false };
    let is_offered = |tool: &String| users.tools.as_ref().is_none_or(|offered| offered.contains(tool));
    let is_model = |model: &String| {
        if users.models.is_empty() {
            base.models.as_ref().is_some_and(|models| models.ids.contains(model))
        } else {
            users.models.contains(model)
        }
    };
    allowed.bases_of_users().contains(&custom.from)
        && custom.tools.iter().all(is_offered)
        && custom.model.as_ref().is_none_or(is_model)
}

/// Returns who may use an agent: its maker as long as they may make agents, and those with whom it is
/// shared if they may use custom agents; all of them only if they may use its base. Its tools, libraries
/// and sub-agents are checked against the rights of whoever uses it.
fn rule(allowed: &CustomAgents, base: &AccessRule, owner: &str, sharing: &AgentSharing) -> Option<AccessRule> {
    let users = allowed.users.as_ref()?;
    let maker = AccessRule::All(vec![AccessRule::User(owner.to_owned()), users.auth.clone()]);
    let shared = match sharing {
        _ if !users.share => None,
        AgentSharing { everybody: true, .. } => Some(allowed.auth.clone()),
        AgentSharing { roles, .. } if roles.is_empty() => None,
        AgentSharing { roles, .. } => {
            Some(AccessRule::All(vec![allowed.auth.clone(), AccessRule::Roles(roles.clone())]))
        }
    };
    let either = AccessRule::Any([maker].into_iter().chain(shared).collect());
    // Visitors have no agents of others, whatever the rules of the config say.
    Some(AccessRule::All(vec![AccessRule::Protected, base.clone(), either]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::OwnAgents;
    use auth::rights::{AccessDecision, check_rule};
    use chat::Caller;
    use config::{Language, SectionType};
    use serde_json::json;

    fn roles(roles: &[&str]) -> AccessRule {
        AccessRule::Roles(roles.iter().map(|role| (*role).to_owned()).collect())
    }

    fn caller(user_id: &str, roles: &[&str]) -> Caller {
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        Caller::new(user_id, user_id != "visitor").with_roles(roles)
    }

    #[test]
    fn nobody_reaches_more_than_their_rights_and_the_sharing() {
        let users = OwnAgents { auth: roles(&["maker"]), ..OwnAgents::default() };
        let allowed =
            CustomAgents { from: vec!["a".to_owned()], auth: roles(&["maker", "reader"]), users: Some(users) };
        let private = AgentSharing::default();
        let with_all = AgentSharing { everybody: true, roles: Vec::new() };
        let with_sales = AgentSharing { everybody: false, roles: vec!["sales".to_owned()] };
        let check = |base: &AccessRule, sharing: &AgentSharing, caller: Caller, expected: bool| {
            let rule = rule(&allowed, base, "ada", sharing).unwrap();
            let decision = check_rule(&caller, &rule);
            assert_eq!(decision == AccessDecision::Allowed, expected, "{sharing:?} {caller:?}");
            assert_eq!(decision == AccessDecision::Unauthenticated, !caller.is_authenticated);
        };
        let open = AccessRule::Public;
        check(&open, &private, caller("ada", &["maker"]), true);
        check(&open, &private, caller("ada", &[]), false);
        check(&open, &private, caller("bob", &["maker", "admin"]), false);
        check(&open, &with_all, caller("bob", &["reader"]), true);
        check(&open, &with_all, caller("bob", &[]), false);
        check(&open, &with_all, caller("visitor", &["reader"]), false);
        check(&open, &with_sales, caller("bob", &["reader", "sales"]), true);
        check(&open, &with_sales, caller("bob", &["sales"]), false);
        check(&open, &with_sales, caller("bob", &["reader"]), false);
        let base = roles(&["staff"]);
        check(&base, &with_all, caller("bob", &["reader"]), false);
        check(&base, &with_all, caller("bob", &["reader", "staff"]), true);
        check(&base, &private, caller("ada", &["maker"]), false);
        check(&base, &private, caller("ada", &["maker", "staff"]), true);
    }

    fn config(models_of_base: &str, users: &str) -> Config {
        let text = format!(
            "
connections: [{{ id: demo, type: Demo }}]
models: [{{ id: quick, connectionId: demo, model: a }}, {{ id: slow, connectionId: demo, model: b }}]
agents: [{{ id: helper, type: Agent, models: [{models_of_base}], properties: {{}}, auth: {{ roles: [staff] }} }}]
customAgents: {{ from: [helper], auth: {{ roles: [reader] }}, users: {users} }}
pages: [{{ id: p }}]
"
        );
        Language::new(&[SectionType::of::<CustomAgents>()], &[]).read_text(&text).unwrap().0
    }

    fn row(model: Option<&str>, sharing: AgentSharing) -> OwnAgentRow {
        OwnAgentRow {
            id: "own-a".to_owned(),
            owner: "ada".to_owned(),
            name: "a".to_owned(),
            version: 1,
            definition: json!({ "name": "Mine", "from": "helper", "instructions": "x", "model": model }),
            sharing,
            created_at: 0,
            updated_at: 0,
            disabled_at: None,
        }
    }

    #[test]
    fn an_agent_has_no_model_that_is_no_longer_offered() {
        let check = |models_of_base: &str, users: &str, model: Option<&str>, expected: bool| {
            let made = with_own_agents(config(models_of_base, users), &[row(model, AgentSharing::default())]);
            assert_eq!(made.agents.contains_key("own-a"), expected, "{models_of_base} {users} {model:?}");
        };
        check("quick, slow", "{}", Some("slow"), true);
        check("quick", "{}", Some("slow"), false);
        check("quick", "{}", None, true);
        check("quick", "{ models: [slow] }", Some("slow"), true);
        check("quick, slow", "{ models: [slow] }", Some("quick"), false);
    }

    #[test]
    fn roles_that_users_type_are_no_roles_of_the_config() {
        let sharing = AgentSharing { everybody: false, roles: vec!["typed".to_owned()] };
        let made = with_own_agents(config("quick", "{}"), &[row(None, sharing)]);
        assert!(made.agents.contains_key("own-a"));
        assert_eq!(made.roles().into_iter().collect::<Vec<_>>(), ["admin", "reader", "staff"]);
    }
}
