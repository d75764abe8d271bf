//! Who may do what with a library.

use crate::section::DeclaredLibrary;
use crate::store::LibraryRow;
use chat::Caller;
use contract::RunScope;
use schemars::JsonSchema;
use serde::Serialize;

/// What somebody may do with a library; each includes those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Access {
    /// Search it and read its documents.
    Read,
    /// Add and delete documents.
    Write,
    /// Change and delete it.
    Manage,
}

/// Whoever uses libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Viewer {
    pub(crate) user_id: String,
    /// None for visitors.
    pub(crate) roles: Vec<String>,
    pub(crate) is_authenticated: bool,
    /// Whether an agent asks, whose config names the library.
    pub(crate) is_agent: bool,
}

impl From<&Caller> for Viewer {
    fn from(caller: &Caller) -> Self {
        let roles = if caller.is_authenticated { caller.roles.clone() } else { Vec::new() };
        Self { user_id: caller.user_id.clone(), roles, is_authenticated: caller.is_authenticated, is_agent: false }
    }
}

impl From<&RunScope> for Viewer {
    fn from(scope: &RunScope) -> Self {
        let roles = scope.roles.clone();
        Self { user_id: scope.user_id.clone(), roles, is_authenticated: scope.is_authenticated, is_agent: true }
    }
}

impl Viewer {
    fn has_one_of<'r>(&self, mut roles: impl Iterator<Item = &'r str>) -> bool {
        roles.any(|role| self.roles.iter().any(|own| own == role))
    }

    pub(super) fn is_admin(&self) -> bool {
        self.has_one_of([::store::ADMIN].into_iter())
    }

    /// Returns what the viewer may do with a library that a user has created; `None` for nothing. Administrators
    /// have no rights of their own here, as with conversations.
    pub(crate) fn access(&self, library: &LibraryRow) -> Option<Access> {
        let is_one_of = |roles: &[String]| self.has_one_of(roles.iter().map(String::as_str));
        match library {
            // It changes with the messages of the conversation.
            LibraryRow { conversation_id: Some(_), .. } => (library.owner == self.user_id).then_some(Access::Read),
            _ if library.owner == self.user_id => Some(Access::Manage),
            LibraryRow { writers, .. } if is_one_of(writers) => Some(Access::Write),
            LibraryRow { readers, .. } if is_one_of(readers) => Some(Access::Read),
            _ => None,
        }
    }

    /// Returns what the viewer may do with a library of the config. Nobody changes it but its folder.
    pub(crate) fn access_to_declared(&self, library: &DeclaredLibrary) -> Option<Access> {
        let may_read = match library.readers.as_slice() {
            [] => self.is_authenticated || self.is_agent,
            readers => self.is_admin() || self.has_one_of(readers.iter().map(|role| role.0.as_str())),
        };
        may_read.then_some(Access::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::{Id, Text};

    fn viewer(user_id: &str, roles: &[&str]) -> Viewer {
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        Viewer { user_id: user_id.to_owned(), roles, is_authenticated: true, is_agent: false }
    }

    #[test]
    fn owners_and_roles_have_access() {
        let library = LibraryRow {
            id: "l".to_owned(),
            owner: "ada".to_owned(),
            name: "L".to_owned(),
            description: None,
            readers: vec!["staff".to_owned()],
            writers: vec!["editor".to_owned()],
            conversation_id: None,
            generation: 0,
            embedding: None,
            has_graph: false,
            updated_at: 0,
        };
        let check = |user: &str, roles: &[&str], expected| assert_eq!(viewer(user, roles).access(&library), expected);
        check("ada", &[], Some(Access::Manage));
        check("bob", &["admin"], None);
        check("bob", &["staff", "editor"], Some(Access::Write));
        check("bob", &["staff"], Some(Access::Read));
        check("bob", &["other"], None);
        check("bob", &[], None);
        let attached = LibraryRow { conversation_id: Some("c".to_owned()), ..library };
        assert_eq!(viewer("ada", &[]).access(&attached), Some(Access::Read));
        assert_eq!(viewer("bob", &["staff", "editor"]).access(&attached), None);
    }

    #[test]
    fn declared_libraries_are_read_only() {
        let declared = |readers: &[&str]| DeclaredLibrary {
            id: Id("l".to_owned()),
            title: None,
            description: None,
            folder: Some(Text("f".to_owned())),
            documents: Vec::new(),
            readers: readers.iter().map(|role| Text((*role).to_owned())).collect(),
            graph: None,
        };
        let visitor = Viewer { is_authenticated: false, ..viewer("v", &[]) };
        let agent = Viewer { is_agent: true, ..visitor.clone() };
        let check = |viewer: &Viewer, readers: &[&str], expected| {
            assert_eq!(viewer.access_to_declared(&declared(readers)), expected, "{viewer:?}");
        };
        check(&viewer("bob", &[]), &[], Some(Access::Read));
        check(&visitor, &[], None);
        check(&agent, &[], Some(Access::Read));
        check(&agent, &["staff"], None);
        check(&viewer("bob", &["staff"]), &["staff"], Some(Access::Read));
        check(&viewer("bob", &["admin"]), &["staff"], Some(Access::Read));
        check(&viewer("bob", &[]), &["staff"], None);
    }
}
