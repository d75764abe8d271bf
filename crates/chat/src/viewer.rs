//! The user for whom shared data is read or changed, and whether an agent does it.

use crate::Caller;
use contract::RunScope;

/// The user for whom shared data, such as a collection or a library, is read or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The user's id.
    pub user_id: String,
    /// Private, so that visitors have none.
    roles: Vec<String>,
    /// Whether the user is signed in.
    pub is_authenticated: bool,
    /// Whether an agent asks for the user; the agent's config names what it may use.
    pub is_agent: bool,
}

impl From<&Caller> for Viewer {
    fn from(caller: &Caller) -> Self {
        let (user_id, roles) = (caller.user_id.clone(), caller.roles().to_vec());
        Self { user_id, roles, is_authenticated: caller.is_authenticated, is_agent: false }
    }
}

impl From<&RunScope> for Viewer {
    fn from(scope: &RunScope) -> Self {
        Self { is_agent: true, ..Self::from(&Caller::from(scope)) }
    }
}

impl Viewer {
    /// Sets whether an agent asks for the user.
    #[must_use]
    pub fn through_agent(self, is_agent: bool) -> Self {
        Self { is_agent, ..self }
    }

    /// Returns the user's roles; none for visitors.
    pub fn roles(&self) -> &[String] {
        &self.roles
    }

    /// Returns whether the user has one of these roles.
    pub fn has_one_of<'r>(&self, roles: impl IntoIterator<Item = &'r str>) -> bool {
        roles.into_iter().any(|role| self.roles.iter().any(|own| own == role))
    }

    /// Returns whether the user is an administrator.
    pub fn is_admin(&self) -> bool {
        self.has_one_of([::store::ADMIN])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visitors_and_their_agents_have_no_roles() {
        let check = |is_authenticated: bool, expected: &[&str]| {
            let roles = vec!["admin".to_owned()];
            let caller = Caller::new("u", is_authenticated).with_roles(roles.clone());
            let scope = RunScope { user_id: "u".to_owned(), is_authenticated, roles, ..RunScope::default() };
            let (user, agent) = (Viewer::from(&caller), Viewer::from(&scope));
            for viewer in [&user, &agent] {
                assert_eq!(viewer.roles(), expected);
                assert_eq!(viewer.is_admin(), is_authenticated);
                assert!(!viewer.has_one_of(["editor"]));
            }
            assert_eq!(agent, user.through_agent(true));
        };
        check(true, &["admin"]);
        check(false, &[]);
    }
}
