//! Form fields and messages.

use leptos::prelude::*;

/// An input field.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) kind: &'static str,
    /// What a password manager fills in.
    pub(super) autocomplete: &'static str,
    pub(super) hint: Option<&'static str>,
    pub(super) value: String,
    pub(super) autofocus: bool,
}

impl Field {
    /// The field for a user's name.
    pub(super) fn name(value: &str, takes_focus: bool) -> Self {
        Self {
            name: "name",
            label: "Name",
            kind: "text",
            autocomplete: "username",
            hint: None,
            value: value.to_owned(),
            autofocus: takes_focus,
        }
    }

    /// The field for an existing password.
    pub(super) fn password(name: &'static str, label: &'static str, takes_focus: bool) -> Self {
        let (kind, autocomplete) = ("password", "current-password");
        Self { name, label, kind, autocomplete, hint: None, value: String::new(), autofocus: takes_focus }
    }

    /// The field for a new password.
    pub(super) fn new_password(label: &'static str) -> Self {
        let hint = Some("At least 10 characters. Several words are easier to remember than symbols.");
        Self { autocomplete: "new-password", hint, ..Self::password("password", label, false) }
    }

    /// Renders the field with its label and hint.
    pub(super) fn view(self) -> impl IntoView {
        let Self { name, label, kind, autocomplete, hint, value, autofocus: takes_focus } = self;
        let hint_id = format!("hint-{name}-{autocomplete}");
        let described = hint.map(|_| hint_id.clone());
        view! {
            <label class="cw-account-field">
                <span>{label}</span>
                <input
                    type=kind
                    name=name
                    value=value
                    autocomplete=autocomplete
                    autocapitalize="none"
                    spellcheck="false"
                    maxlength="512"
                    required=true
                    autofocus=takes_focus
                    aria-describedby=described
                />
            </label>
            {hint.map(|hint| view! { <p class="cw-account-hint" id=hint_id>{hint}</p> })}
        }
    }
}

/// Renders an error, which screen readers announce at once.
pub(in crate::routes) fn error_message(text: Option<String>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-problem" role="alert">{text}</p> })
}

/// Renders a success message.
pub(in crate::routes) fn success_message(text: Option<&'static str>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-done" role="status">{text}</p> })
}

/// The text for a client that must wait.
pub(super) fn too_many_attempts_text(seconds: u64) -> String {
    let minutes = seconds.div_ceil(60);
    let unit = if minutes == 1 { "minute" } else { "minutes" };
    format!("Too many attempts. Try again in {minutes} {unit}.")
}
