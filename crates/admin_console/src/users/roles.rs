//! Validates the roles that an administrator assigns. A role that the config does not name grants
//! nothing, is not subject to the quotas of the intended role, and is probably misspelled.

use crate::state::ConsoleState;
use leptos::prelude::*;
use wire::UserError;

/// The maximum number of roles of a user, and the maximum length of a role in bytes.
const MAX_ROLES: usize = 20;
const MAX_ROLE: usize = 100;

/// Parses the roles in a field, which are separated by commas or white space.
pub(crate) fn parse_roles(text: &str) -> Vec<String> {
    let mut roles: Vec<String> = Vec::new();
    for role in text.split(|sign: char| sign == ',' || sign.is_whitespace()).filter(|role| !role.is_empty()) {
        if !roles.iter().any(|known| known == role) {
            roles.push(role.to_owned());
        }
    }
    roles
}

/// Parses the roles of a form: the checked ones and those in the text field.
pub(crate) fn parse_role_fields(form: &[(String, String)]) -> Vec<String> {
    let all = form.iter().filter(|(name, _)| name == "role" || name == "roles");
    parse_roles(&all.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(","))
}

/// Returns the roles that the config names.
pub(crate) fn config_roles(state: &ConsoleState) -> Vec<String> {
    state.host.config().roles().into_iter().map(str::to_owned).collect()
}

/// Validates the roles for a user.
///
/// # Errors
/// 422 for too many or too long roles, and for a role that the config does not name, unless
/// `allow_unknown` is set or the user had it `before`.
pub(crate) fn check_roles(
    state: &ConsoleState,
    roles: &[String],
    before: &[String],
    allow_unknown: bool,
) -> Result<(), UserError> {
    let is_role = |role: &String| {
        (1..=MAX_ROLE).contains(&role.len()) && role.chars().all(|sign| !sign.is_control() && !sign.is_whitespace())
    };
    if roles.len() > MAX_ROLES || !roles.iter().all(is_role) {
        let text = "Up to 20 roles can be given, each of up to 100 characters without spaces.";
        return Err(UserError::invalid("/roles", text));
    }
    let config = state.host.config();
    let known = config.roles();
    let unknown = roles.iter().find(|role| !known.contains(role.as_str()) && !before.contains(role));
    match unknown.filter(|_| !allow_unknown) {
        Some(role) => {
            let hint = config.nearest_role(role).map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
            Err(UserError::invalid(UNKNOWN_ROLE_PATH, format!("The config does not name the role `{role}`.{hint}")))
        }
        None => Ok(()),
    }
}

/// The path of the error about a role that the config does not name.
const UNKNOWN_ROLE_PATH: &str = "/allowUnknownRoles";

/// Returns whether an error is about a role that the config does not name, which the administrator
/// may then confirm.
pub(crate) fn is_unknown_role(error: &UserError) -> bool {
    error.path.as_deref() == Some(UNKNOWN_ROLE_PATH)
}

/// Renders the fields for roles: a checkbox for each role of the config, a text field for others,
/// and after an unknown role a checkbox to confirm it.
pub(crate) fn fields(named: Vec<String>, chosen: &[String], insist: bool) -> impl IntoView + use<> {
    let others: Vec<_> = chosen.iter().filter(|role| !named.contains(role)).cloned().collect();
    let choice = |role: String| {
        let is_chosen = chosen.contains(&role);
        view! { <label><input type="checkbox" name="role" value=role.clone() checked=is_chosen />{role}</label> }
    };
    let choices = named.into_iter().map(choice).collect_view();
    view! {
        <fieldset class="cw-account-scopes">
            <legend>"Roles"</legend>
            {choices}
        </fieldset>
        <label class="cw-account-field">
            <span>"Other roles, separated by commas"</span>
            <input name="roles" value=others.join(", ") maxlength="2000" autocomplete="off" autocapitalize="none" spellcheck="false" />
        </label>
        {insist.then(|| view! {
            <label class="cw-admin-check">
                <input type="checkbox" name="allowUnknownRoles" value="1" />
                "Save roles that the config does not name"
            </label>
        })}
    }
}

/// Formats roles in one line; roles that the config does not name are marked.
pub(crate) fn roles_text(roles: &[String], named: &[String]) -> AnyView {
    if roles.is_empty() {
        return "–".into_any();
    }
    let mark = |role: &String| if named.contains(role) { role.clone() } else { format!("{role} (not in the config)") };
    roles.iter().map(mark).collect::<Vec<_>>().join(", ").into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_in_a_field_are_parsed() {
        let check = |text: &str, expected: &[&str]| assert_eq!(parse_roles(text), expected, "{text}");
        check("", &[]);
        check("editor, admin", &["editor", "admin"]);
        check(" editor\nadmin ,editor", &["editor", "admin"]);
    }

    #[test]
    fn roles_of_a_form_are_merged() {
        let form = [("name", "ada"), ("role", "admin"), ("roles", "editor, x"), ("role", "editor")];
        let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse_role_fields(&form), ["admin", "editor", "x"]);
    }

    #[test]
    fn roles_missing_in_the_config_are_marked() {
        let texts = |roles: &[&str]| roles.iter().map(|role| (*role).to_owned()).collect::<Vec<_>>();
        let html = roles_text(&texts(&["editor", "editr"]), &texts(&["admin", "editor"])).to_html();
        assert_eq!(html, "editor, editr (not in the config)");
    }
}
