//! The user on whose behalf a request is made.

use contract::{Bearer, RunScope};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use wire::UserError;

/// The user on whose behalf a request is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The owner of all rows that the request may access. Visitors have an id of their own, too.
    pub user_id: String,
    /// The display name, if known.
    pub name: Option<String>,
    /// Whether the user is signed in.
    pub is_authenticated: bool,
    /// Private, so that nobody reads the roles of a visitor: see [`Caller::roles`].
    roles: Vec<String>,
    /// The claims of the embedding site, if it signs tokens.
    pub site_claims: Option<Arc<SiteClaims>>,
    /// The user's token, if it may be passed on to other services.
    pub bearer: Option<Bearer>,
}

/// The claims that an embedding site signs in addition to the user's identity; the browser cannot change them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SiteClaims {
    /// Data about the user that instructions and endpoints may read.
    pub inputs: Map<String, Value>,
    /// The only page that the user may use.
    pub page_id: Option<String>,
    /// The only agent that the user may use.
    pub agent_id: Option<String>,
}

impl Caller {
    /// Returns a signed-in user without a profile.
    pub fn signed_in(user_id: impl Into<String>) -> Self {
        Self::new(user_id, true)
    }

    /// Returns a visitor who is not signed in.
    pub fn visitor(user_id: impl Into<String>) -> Self {
        Self::new(user_id, false)
    }

    /// Returns a user without a profile, who is signed in or a visitor.
    pub fn new(user_id: impl Into<String>, is_authenticated: bool) -> Self {
        let user_id = user_id.into();
        Self { user_id, name: None, is_authenticated, roles: Vec::new(), site_claims: None, bearer: None }
    }

    /// Sets the display name.
    #[must_use]
    pub fn with_name(self, name: Option<String>) -> Self {
        Self { name, ..self }
    }

    /// Sets the roles, as named in the config.
    #[must_use]
    pub fn with_roles(self, roles: Vec<String>) -> Self {
        Self { roles, ..self }
    }

    /// Returns the roles; none for visitors.
    pub fn roles(&self) -> &[String] {
        if self.is_authenticated { &self.roles } else { &[] }
    }

    /// Returns whether the user has a role; visitors have none.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles().iter().any(|own| own == role)
    }

    /// Returns the scope of runs of this user, outside of conversations.
    pub fn scope(&self) -> RunScope {
        RunScope {
            user_id: self.user_id.clone(),
            roles: self.roles().to_vec(),
            is_authenticated: self.is_authenticated,
            token: self.bearer.clone(),
            ..RunScope::default()
        }
    }

    /// Returns what a config may read with `_user`: `id`, `name` and `roles`, and the site's claims
    /// as `inputs`.
    pub fn facts(&self) -> Value {
        let mut facts = json!({ "id": self.user_id, "name": self.name, "roles": self.roles() });
        if let Some(inputs) = self.inputs() {
            facts["inputs"] = Value::Object(inputs.clone());
        }
        facts
    }

    /// Returns the inputs that the embedding site has signed, if any.
    pub fn inputs(&self) -> Option<&Map<String, Value>> {
        self.site_claims.as_ref().map(|vouched| &vouched.inputs).filter(|inputs| !inputs.is_empty())
    }

    /// Checks that the site's claims allow a page.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn check_page(&self, page_id: &str) -> Result<(), UserError> {
        let only = self.site_claims.as_ref().and_then(|vouched| vouched.page_id.as_deref());
        is_meant(only, page_id, "This token is for another page.")
    }

    /// Checks that the site's claims allow an agent.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn check_agent(&self, agent_id: &str) -> Result<(), UserError> {
        let only = self.site_claims.as_ref().and_then(|vouched| vouched.agent_id.as_deref());
        is_meant(only, agent_id, "This token is for another agent.")
    }
}

/// The user of a run.
impl From<&RunScope> for Caller {
    fn from(scope: &RunScope) -> Self {
        Self::new(&scope.user_id, scope.is_authenticated).with_roles(scope.roles.clone())
    }
}

fn is_meant(only: Option<&str>, wanted: &str, refusal: &str) -> Result<(), UserError> {
    match only {
        Some(only) if only != wanted => Err(UserError::new(wire::ErrorCode::Forbidden, refusal)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visitors_have_no_roles() {
        let check = |caller: Caller, expected: &[&str]| {
            let caller = caller.with_roles(vec!["editor".to_owned()]);
            assert_eq!(caller.roles(), expected);
            assert_eq!(caller.scope().roles, expected);
            assert_eq!(caller.facts()["roles"], json!(expected));
            assert_eq!(caller.has_role("editor"), !expected.is_empty());
            assert!(!caller.has_role("admin"));
        };
        check(Caller::signed_in("ada"), &["editor"]);
        check(Caller::visitor("visitor:1"), &[]);
    }
}
