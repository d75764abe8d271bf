//! The ids of sessions. They are not stored. An id itself says whether its client shows forms, because clients tell that only when
//! they begin a session. It proves nothing: a client that makes up an id at most gets forms that it cannot show.

use rmcp::model::ElicitationCapability;
use serde::Deserialize;
use serde_json::Value;

/// The header with the id of a session.
pub(crate) const SESSION_ID: &str = "mcp-session-id";

/// The beginning of the ids of clients that show forms.
const SHOWS_FORMS: &str = "forms.";

/// A session that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    /// The whole id.
    pub(crate) id: String,
    /// Whether the client shows forms to its user.
    pub(crate) shows_forms: bool,
}

impl Session {
    /// Begins a session. `params` are those of `initialize`.
    pub(crate) fn begin(params: Option<&Value>) -> Self {
        let capability = params.and_then(|params| params.pointer("/capabilities/elicitation"));
        let capability = capability.and_then(|capability| ElicitationCapability::deserialize(capability).ok());
        let shows_forms = capability.as_ref().is_some_and(has_forms);
        let random = uuid::Uuid::new_v4().simple();
        Self { id: if shows_forms { format!("{SHOWS_FORMS}{random}") } else { random.to_string() }, shows_forms }
    }

    /// Reads an id. `None` if this server cannot have given it.
    pub(crate) fn parse(id: &str) -> Option<Self> {
        let random = id.strip_prefix(SHOWS_FORMS);
        let is_known = |random: &str| random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_known(random.unwrap_or(id)).then(|| Self { id: id.to_owned(), shows_forms: random.is_some() })
    }
}

/// Returns whether the capability includes forms. A client that names no mode has them.
pub(crate) fn has_forms(capability: &ElicitationCapability) -> bool {
    capability.form.is_some() || capability.url.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn id_says_whether_the_client_shows_forms() {
        let check = |capabilities: Value, expected: bool| {
            let session = Session::begin(Some(&json!({ "capabilities": capabilities })));
            assert_eq!(session.shows_forms, expected, "{capabilities}");
            assert_eq!(Session::parse(&session.id), Some(session.clone()));
        };
        check(json!({}), false);
        check(json!({ "elicitation": true }), false);
        check(json!({ "elicitation": {} }), true);
        check(json!({ "elicitation": { "form": {} } }), true);
        check(json!({ "elicitation": { "form": {}, "url": {} } }), true);
        check(json!({ "elicitation": { "url": {} } }), false);
        assert!(!Session::begin(None).shows_forms);
    }

    #[test]
    fn other_ids_are_not_known() {
        let random = "0123456789abcdef0123456789abcdef";
        for id in [
            "",
            "forms.",
            "made up",
            &format!("{random}0"),
            &format!("forms.forms.{random}"),
            &format!("urls.{random}"),
        ] {
            assert_eq!(Session::parse(id), None, "{id}");
        }
    }
}
