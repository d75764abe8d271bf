//! Sanitizes user ids, names and roles that come from other systems.

use chat::Caller;

/// The user id of the owner in the mode `local`.
pub const LOCAL_OWNER: &str = "local";

/// The prefix of visitors' user ids; no other user has such an id.
pub(super) const VISITOR_PREFIX: &str = "visitor:";

/// The user id of agent platforms that call this server's endpoints as tools.
pub const SERVICE_USER: &str = "remote-agent";

/// The limit on an id in bytes.
const MAX_ID: usize = 200;
/// The limit on a name in characters.
const MAX_NAME: usize = 200;
/// The limit on roles per user; more are left out.
const MAX_ROLES: usize = 100;
/// The limit on a role in bytes; a longer one is left out.
const MAX_ROLE: usize = 200;

/// Returns whether this is the id of a visitor, who is not signed in.
pub fn is_visitor_id(id: &str) -> bool {
    id.starts_with(VISITOR_PREFIX)
}

/// Returns whether a user of another system may have this id; ids of visitors and of the server's
/// own users are reserved, and two ids must not look the same because of invisible characters.
pub(super) fn is_allowed_id(id: &str) -> bool {
    let is_ours = id == LOCAL_OWNER || id == SERVICE_USER || is_visitor_id(id);
    (1..=MAX_ID).contains(&id.len()) && !is_ours && !id.chars().any(is_hidden)
}

/// Returns a signed-in caller with a sanitized name and roles.
pub(super) fn signed_in<'a>(id: &str, name: Option<&str>, roles: impl Iterator<Item = &'a str>) -> Caller {
    let name = name.and_then(shown_name);
    let roles = roles.map(str::trim).filter(|role| (1..=MAX_ROLE).contains(&role.len()));
    let roles = roles.take(MAX_ROLES).map(str::to_owned).collect();
    Caller::signed_in(id).with_name(name).with_roles(roles)
}

/// Returns a name of another system without invisible characters; `None` if nothing is left.
pub(super) fn shown_name(name: &str) -> Option<String> {
    let name: String = name.trim().chars().filter(|sign| !is_hidden(*sign)).take(MAX_NAME).collect();
    (!name.trim().is_empty()).then_some(name)
}

/// Returns whether a character is invisible and could change how a name is read: control
/// characters, bidirectional marks, tags. Names are shown beside approvals and in the audit log.
fn is_hidden(sign: char) -> bool {
    sign.is_control()
        || matches!(sign, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}')
        || matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_and_invalid_ids_are_rejected() {
        let check = |id: &str, expected: bool| {
            assert_eq!(is_allowed_id(id), expected, "{id}");
            assert_eq!(is_visitor_id(id), id == "visitor:x", "{id}");
        };
        check("ada", true);
        check("auth0|5f7c", true);
        check("ada@example.com", true);
        check("", false);
        check("local", false);
        check("remote-agent", false);
        check("visitor:x", false);
        check("a\nb", false);
        check("ada\u{202e}", false);
        check("a\u{200b}da", false);
        check(&"x".repeat(200), true);
        check(&"x".repeat(201), false);
    }

    #[test]
    fn invisible_characters_are_removed_from_names() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(signed_in("ada", Some(name), std::iter::empty()).name.as_deref(), expected, "{name:?}");
        };
        check(" Ada ", Some("Ada"));
        check("Ada\u{202e}nimda\u{200b}", Some("Adanimda"));
        check("Zoë 东京", Some("Zoë 东京"));
        check(" ", None);
        check("\u{202e}", None);
    }
}
