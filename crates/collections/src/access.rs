//! Who may do what with a collection.

use crate::section::{Collection, Sharing};
use chat::Caller;
use contract::RunScope;
use schemars::JsonSchema;
use serde::Serialize;
use settings::Text;

/// What somebody may do with a collection; the second includes the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RecordAccess {
    /// Query records.
    Read,
    /// Insert, update and delete records.
    Write,
}

/// Whoever uses collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Viewer {
    pub(crate) user_id: String,
    /// None for visitors.
    roles: Vec<String>,
    is_authenticated: bool,
    /// Whether an agent asks, whose config names the collection.
    is_agent: bool,
}

impl From<&Caller> for Viewer {
    fn from(caller: &Caller) -> Self {
        let roles = if caller.is_authenticated { caller.roles.clone() } else { Vec::new() };
        Self { user_id: caller.user_id.clone(), roles, is_authenticated: caller.is_authenticated, is_agent: false }
    }
}

impl From<&RunScope> for Viewer {
    fn from(scope: &RunScope) -> Self {
        let roles = if scope.is_authenticated { scope.roles.clone() } else { Vec::new() };
        Self { user_id: scope.user_id.clone(), roles, is_authenticated: scope.is_authenticated, is_agent: true }
    }
}

impl Viewer {
    /// Returns what the viewer may do; `None` for nothing.
    pub(crate) fn access(&self, collection: &Collection) -> Option<RecordAccess> {
        let (may_read, may_write) = (self.may_read(collection), self.may_write(collection));
        match collection.is_writable() {
            true if may_write => Some(RecordAccess::Write),
            _ => (may_read || may_write).then_some(RecordAccess::Read),
        }
    }

    fn may_read(&self, collection: &Collection) -> bool {
        match collection.readers.as_slice() {
            [] if self.is_agent => true,
            [] => self.is_authenticated && collection.records == Sharing::Own,
            readers => self.has_one_of(readers),
        }
    }

    fn may_write(&self, collection: &Collection) -> bool {
        match collection.writers.as_slice() {
            // The agent's own key says whether it does.
            [] => self.is_agent && self.may_read(collection),
            writers => self.has_one_of(writers),
        }
    }

    /// Administrators have every role that the config names.
    fn has_one_of(&self, roles: &[Text]) -> bool {
        self.roles.iter().any(|own| own == ::store::ADMIN || roles.iter().any(|role| role.0 == *own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn roles_and_owners_have_access() {
        let collection = |records: &str, readers: &[&str], writers: &[&str]| {
            let value = json!({
                "id": "c", "schema": { "type": "object" }, "records": records, "readers": readers, "writers": writers,
            });
            serde_json::from_value::<Collection>(value).unwrap()
        };
        let user = |roles: &[&str]| Viewer {
            user_id: "ada".to_owned(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            is_authenticated: true,
            is_agent: false,
        };
        let agent = |roles: &[&str]| Viewer { is_agent: true, ..user(roles) };
        let visitor = Viewer { is_authenticated: false, ..user(&[]) };
        let visitors_agent = Viewer { is_agent: true, ..visitor.clone() };
        let check = |viewer: &Viewer, collection: &Collection, expected| {
            assert_eq!(viewer.access(collection), expected, "{viewer:?} {collection:?}");
        };
        let (read, write) = (Some(RecordAccess::Read), Some(RecordAccess::Write));
        // Nothing is said: agents, and each user their own records.
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
        // Whoever may read changes nothing, except with an agent.
        check(&user(&["staff"]), &collection("shared", &["staff"], &[]), read);
        check(&agent(&["staff"]), &collection("shared", &["staff"], &[]), write);
        check(&agent(&[]), &collection("own", &[], &["editor"]), read);
    }
}
