//! The permissions of users on a collection.

use crate::section::{Collection, Sharing};
use chat::Viewer;
use schemars::JsonSchema;
use serde::Serialize;
use settings::Text;

/// The access of a user to a collection; the second includes the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RecordAccess {
    /// Query records.
    Read,
    /// Insert, update and delete records.
    Write,
}

impl Collection {
    /// Returns the access of a viewer to the records; `None` without access.
    pub(crate) fn access(&self, viewer: &Viewer) -> Option<RecordAccess> {
        let (may_read, may_write) = (self.may_read(viewer), self.may_write(viewer));
        if self.is_writable() && may_write {
            Some(RecordAccess::Write)
        } else {
            (may_read || may_write).then_some(RecordAccess::Read)
        }
    }

    fn may_read(&self, viewer: &Viewer) -> bool {
        match self.readers.as_slice() {
            [] if viewer.is_agent => true,
            [] => viewer.is_authenticated && self.records == Sharing::Own,
            readers => has_one_of(viewer, readers),
        }
    }

    fn may_write(&self, viewer: &Viewer) -> bool {
        match self.writers.as_slice() {
            // The agent's own key says whether it does.
            [] => viewer.is_agent && self.may_read(viewer),
            writers => has_one_of(viewer, writers),
        }
    }
}

/// Administrators have every role that the config names.
fn has_one_of(viewer: &Viewer, roles: &[Text]) -> bool {
    viewer.is_admin() || viewer.has_one_of(roles.iter().map(|role| role.0.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::Caller;
    use serde_json::json;

    #[test]
    fn roles_and_owners_have_access() {
        let collection = |records: &str, readers: &[&str], writers: &[&str]| {
            let value = json!({
                "id": "c", "schema": { "type": "object" }, "records": records, "readers": readers, "writers": writers,
            });
            serde_json::from_value::<Collection>(value).unwrap()
        };
        let user = |roles: &[&str]| {
            let roles = roles.iter().map(|role| (*role).to_owned()).collect();
            Viewer::from(&Caller::signed_in("ada").with_roles(roles))
        };
        let agent = |roles: &[&str]| user(roles).through_agent(true);
        let visitor = Viewer::from(&Caller::visitor("visitor:1"));
        let visitors_agent = visitor.clone().through_agent(true);
        let check = |viewer: &Viewer, collection: &Collection, expected| {
            assert_eq!(collection.access(viewer), expected, "{viewer:?} {collection:?}");
        };
        let (read, write) = (Some(RecordAccess::Read), Some(RecordAccess::Write));
        // Without rules: agents, and each user for their own records.
        let (own, shared) = (collection("own", &[], &[]), collection("shared", &[], &[]));
        check(&user(&[]), &own, read);
        check(&user(&["admin"]), &shared, None);
        check(&visitor, &own, None);
        check(&visitors_agent, &own, write);
        check(&agent(&[]), &shared, write);
        let limited = collection("shared", &["staff"], &["editor"]);
        check(&user(&[]), &limited, None);
        check(&agent(&[]), &limited, None);
        check(&user(&["staff"]), &limited, read);
        check(&agent(&["staff"]), &limited, read);
        check(&user(&["editor"]), &limited, write);
        check(&user(&["admin"]), &limited, write);
        check(&visitors_agent, &limited, None);
        // A user who may only read changes records only through an agent.
        check(&user(&["staff"]), &collection("shared", &["staff"], &[]), read);
        check(&agent(&["staff"]), &collection("shared", &["staff"], &[]), write);
        check(&agent(&[]), &collection("own", &[], &["editor"]), read);
    }
}
