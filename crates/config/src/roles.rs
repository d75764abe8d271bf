//! The roles that a config names. A role that it does not name gives no access and is probably
//! misspelt.

use crate::auth::AuthMode;
use crate::config::Config;
use crate::rule::{AccessRule, OWNER_ROLES};
use config_source::suggest;
use std::collections::BTreeSet;

impl Config {
    /// Returns the roles that access rules, policies, quotas and `signUpRoles` name, and the
    /// administrator's, in alphabetical order.
    pub fn roles(&self) -> BTreeSet<&str> {
        let mut roles = self.roles_outside_sections();
        roles.extend(self.sections.roles());
        roles
    }

    /// Returns [`Config::roles`] without those that only [`Section::roles`](crate::Section::roles)
    /// names. The rules of what a user has made do not count: their roles are what this user has typed.
    pub fn roles_outside_sections(&self) -> BTreeSet<&str> {
        let rules = self.pages.iter().map(|page| &page.auth);
        let rules = rules.chain(self.agents.values().map(|agent| &agent.auth));
        let rules = rules.chain(self.endpoints.values().map(|endpoint| &endpoint.auth));
        let rules = rules.chain(self.sections.access_rules());
        let named = rules.filter(|rule| !is_of_a_user(rule)).flat_map(AccessRule::roles);
        let policies = self.agents.values().filter_map(|agent| agent.policy.as_ref()).chain(&self.policy);
        let policies = policies.flat_map(|policy| &policy.rules).filter_map(|rule| rule.roles.as_ref()).flatten();
        let quotas = self.quotas.iter().flat_map(|quota| &quota.roles);
        let sign_up = match &self.auth.mode {
            AuthMode::Accounts(accounts) => accounts.sign_up_roles.as_slice(),
            _ => &[],
        };
        let others = sign_up.iter().chain(policies).chain(quotas).map(String::as_str);
        named.chain(others).chain(OWNER_ROLES).collect()
    }

    /// Returns the named role that is most similar to a misspelt one.
    pub fn nearest_role(&self, role: &str) -> Option<&str> {
        suggest::nearest(role, self.roles())
    }
}

/// Whether a rule names a user, as only the rule of what that user has made does.
fn is_of_a_user(rule: &AccessRule) -> bool {
    match rule {
        AccessRule::User(_) => true,
        AccessRule::Any(rules) | AccessRule::All(rules) => rules.iter().any(is_of_a_user),
        AccessRule::Public | AccessRule::Protected | AccessRule::Roles(_) => false,
    }
}
