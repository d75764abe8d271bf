//! The access to libraries.

use crate::section::DeclaredLibrary;
use crate::store::LibraryRow;
use chat::Viewer;
use schemars::JsonSchema;
use serde::Serialize;

/// The access of a user to a library; each level includes those before.
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

impl LibraryRow {
    /// Returns what a viewer may do with a library that a user has created; `None` for nothing. Administrators
    /// have no rights of their own here, as with conversations.
    pub(crate) fn access(&self, viewer: &Viewer) -> Option<Access> {
        let is_one_of = |roles: &[String]| viewer.has_one_of(roles.iter().map(String::as_str));
        match self {
            // It changes with the messages of the conversation.
            Self { conversation_id: Some(_), .. } => (self.owner == viewer.user_id).then_some(Access::Read),
            _ if self.owner == viewer.user_id => Some(Access::Manage),
            // Its members are those of the project, and no roles.
            Self { of_project: true, member, .. } => {
                member.map(|may_write| if may_write { Access::Write } else { Access::Read })
            }
            Self { writers, .. } if is_one_of(writers) => Some(Access::Write),
            Self { readers, .. } if is_one_of(readers) => Some(Access::Read),
            _ => None,
        }
    }
}

impl DeclaredLibrary {
    /// Returns what a viewer may do with a library of the config. Only its folder changes it.
    pub(crate) fn access(&self, viewer: &Viewer) -> Option<Access> {
        let may_read = match self.readers.as_slice() {
            [] => viewer.is_authenticated || viewer.is_agent,
            readers => viewer.is_admin() || viewer.has_one_of(readers.iter().map(|role| role.0.as_str())),
        };
        may_read.then_some(Access::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::Caller;
    use settings::{Id, Text};

    fn viewer(user_id: &str, roles: &[&str]) -> Viewer {
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        Viewer::from(&Caller::signed_in(user_id).with_roles(roles))
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
            of_project: false,
            member: None,
            updated_at: 0,
        };
        let check = |user: &str, roles: &[&str], expected| assert_eq!(library.access(&viewer(user, roles)), expected);
        check("ada", &[], Some(Access::Manage));
        check("bob", &["admin"], None);
        check("bob", &["staff", "editor"], Some(Access::Write));
        check("bob", &["staff"], Some(Access::Read));
        check("bob", &["other"], None);
        check("bob", &[], None);
        let of_project = |member| LibraryRow { of_project: true, member, ..library.clone() };
        let check = |user: &str, member, expected| {
            assert_eq!(of_project(member).access(&viewer(user, &["staff", "editor"])), expected, "{user} {member:?}");
        };
        check("ada", None, Some(Access::Manage));
        check("bob", Some(true), Some(Access::Write));
        check("bob", Some(false), Some(Access::Read));
        check("bob", None, None);
        let attached = LibraryRow { conversation_id: Some("c".to_owned()), ..library };
        assert_eq!(attached.access(&viewer("ada", &[])), Some(Access::Read));
        assert_eq!(attached.access(&viewer("bob", &["staff", "editor"])), None);
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
        let visitor = Viewer::from(&Caller::visitor("v"));
        let agent = visitor.clone().through_agent(true);
        let check = |viewer: &Viewer, readers: &[&str], expected| {
            assert_eq!(declared(readers).access(viewer), expected, "{viewer:?}");
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
