//! Rules for groups of the users of this server, and who acts for the directory that manages them.

use crate::user::shown_name;

/// Who acts in the audit log when a directory manages users and groups over SCIM.
pub const SCIM_USER: &str = "service:scim";

/// The maximum length of a group's name in characters.
const MAX_NAME: usize = 200;
/// The maximum length of a group's description in characters.
const MAX_DESCRIPTION: usize = 500;

/// Returns the normalized form of a group's name, which is unique.
pub fn group_name_key(name: &str) -> String {
    name.to_lowercase()
}

/// Returns why a group cannot have this name, as a message for the user.
pub fn group_name_problem(name: &str) -> Option<&'static str> {
    if !(1..=MAX_NAME).contains(&name.chars().count()) {
        Some("The name of a group has 1 to 200 characters.")
    } else if shown_name(name).as_deref() != Some(name) || name.contains(';') {
        Some("The name of a group has no invisible characters, no semicolons, and no spaces around it.")
    } else {
        None
    }
}

/// Returns why a group cannot have this description, as a message for the user.
pub fn group_description_problem(description: &str) -> Option<&'static str> {
    (description.chars().count() > MAX_DESCRIPTION).then_some("A description has at most 500 characters.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_groups_are_checked() {
        let check = |name: &str, expected: bool| assert_eq!(group_name_problem(name).is_none(), expected, "{name:?}");
        check("Support", true);
        check("Vertrieb & Einkauf (Süd)", true);
        check("", false);
        check(" Support", false);
        check("Support\u{202e}", false);
        check("a\nb", false);
        check("Sales, EMEA", true);
        check("a;b", false);
        check(&"a".repeat(200), true);
        check(&"a".repeat(201), false);
    }
}
