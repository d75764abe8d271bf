//! Roles of users as an administrator enters them, held against those that the config names: a role that it does not
//! name opens nothing, escapes the quotas of the role that was meant, and is probably misspelt.

use crate::router::AppState;
use leptos::prelude::*;
use wire::UserError;

/// Roles of one user, and the bytes of one.
const MAX_ROLES: usize = 20;
const MAX_ROLE: usize = 100;

/// Roles out of one field.
pub(super) fn roles_of(text: &str) -> Vec<String> {
    let mut roles: Vec<String> = Vec::new();
    for role in text.split(|sign: char| sign == ',' || sign.is_whitespace()).filter(|role| !role.is_empty()) {
        if !roles.iter().any(|known| known == role) {
            roles.push(role.to_owned());
        }
    }
    roles
}

/// Roles out of a form: those that are ticked, and those that are written.
pub(super) fn roles_of_form(form: &[(String, String)]) -> Vec<String> {
    let all = form.iter().filter(|(name, _)| name == "role" || name == "roles");
    roles_of(&all.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(","))
}

/// The roles that the config names.
pub(super) fn named(state: &AppState) -> Vec<String> {
    state.composition.current.config().roles().into_iter().map(str::to_owned).collect()
}

/// Checks the roles that a user is to have.
///
/// # Errors
/// 422 for too many or too long ones, and for one that the config does not name, unless `allow_unknown` or the user had
/// it `before`.
pub(super) fn check(
    state: &AppState,
    roles: &[String],
    before: &[String],
    allow_unknown: bool,
) -> Result<(), UserError> {
    let is_role = |role: &String| {
        (1..=MAX_ROLE).contains(&role.len()) && role.chars().all(|sign| !sign.is_control() && !sign.is_whitespace())
    };
    if roles.len() > MAX_ROLES || !roles.iter().all(is_role) {
        let text = "A user has up to 20 roles, each of up to 100 characters without spaces.";
        return Err(UserError::invalid("/roles", text));
    }
    let config = state.composition.current.config();
    let known = config.roles();
    let unknown = roles.iter().find(|role| !known.contains(role.as_str()) && !before.contains(role));
    match unknown.filter(|_| !allow_unknown) {
        Some(role) => {
            let hint = config.nearest_role(role).map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
            Err(UserError::invalid(UNKNOWN, format!("The config does not name the role `{role}`.{hint}")))
        }
        None => Ok(()),
    }
}

/// The path of an error about a role that the config does not name.
const UNKNOWN: &str = "/allowUnknownRoles";

/// Whether an error is about a role that the config does not name, so that the administrator may insist.
pub(super) fn is_unknown(error: &UserError) -> bool {
    error.path.as_deref() == Some(UNKNOWN)
}

/// The fields for roles: a box for each that the config names, a line for others, and where one is not known, a box to insist.
pub(super) fn fields(named: Vec<String>, chosen: &[String], insist: bool) -> impl IntoView + use<> {
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

/// Roles in a line; those that the config does not name are marked.
pub(super) fn shown(roles: &[String], named: &[String]) -> AnyView {
    if roles.is_empty() {
        return "–".into_any();
    }
    let mark = |role: &String| match named.contains(role) {
        true => role.clone(),
        false => format!("{role} (not in the config)"),
    };
    roles.iter().map(mark).collect::<Vec<_>>().join(", ").into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_in_one_field() {
        let check = |text: &str, expected: &[&str]| assert_eq!(roles_of(text), expected, "{text}");
        check("", &[]);
        check("editor, admin", &["editor", "admin"]);
        check(" editor\nadmin ,editor", &["editor", "admin"]);
    }

    #[test]
    fn roles_out_of_a_form() {
        let form = [("name", "ada"), ("role", "admin"), ("roles", "editor, x"), ("role", "editor")];
        let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(roles_of_form(&form), ["admin", "editor", "x"]);
    }

    #[test]
    fn unnamed_roles_are_marked() {
        let texts = |roles: &[&str]| roles.iter().map(|role| (*role).to_owned()).collect::<Vec<_>>();
        let html = shown(&texts(&["editor", "editr"]), &texts(&["admin", "editor"])).to_html();
        assert_eq!(html, "editor, editr (not in the config)");
    }
}
