//! Form fields.

use leptos::prelude::*;

/// An input field.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) kind: &'static str,
    /// The value of the attribute `autocomplete`, for password managers.
    pub(crate) autocomplete: &'static str,
    pub(crate) hint: Option<&'static str>,
    pub(crate) value: String,
    pub(crate) autofocus: bool,
    /// Whether the value cannot be changed.
    pub(crate) is_fixed: bool,
}

impl Field {
    /// The field for a user's name.
    pub(crate) fn name(value: &str, takes_focus: bool) -> Self {
        Self {
            name: "name",
            label: "Name",
            kind: "text",
            autocomplete: "username",
            hint: None,
            value: value.to_owned(),
            autofocus: takes_focus,
            is_fixed: false,
        }
    }

    /// The field for an existing password.
    pub(crate) fn password(name: &'static str, label: &'static str, takes_focus: bool) -> Self {
        let (kind, autocomplete) = ("password", "current-password");
        Self {
            name,
            label,
            kind,
            autocomplete,
            hint: None,
            value: String::new(),
            autofocus: takes_focus,
            is_fixed: false,
        }
    }

    /// The field for a code of an authenticator app, or a recovery code.
    pub(crate) fn code(takes_focus: bool) -> Self {
        let (label, autocomplete) = ("Code", "one-time-code");
        Self { name: "code", label, autocomplete, ..Self::name("", takes_focus) }
    }

    /// The field for a new password.
    pub(crate) fn new_password(label: &'static str) -> Self {
        let hint = Some("At least 10 characters. Several words are easier to remember than symbols.");
        Self { autocomplete: "new-password", hint, ..Self::password("password", label, false) }
    }

    /// Renders the field with its label and hint.
    pub(crate) fn view(self) -> impl IntoView {
        let Self { name, label, kind, autocomplete, hint, value, autofocus: takes_focus, is_fixed } = self;
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
                    readonly=is_fixed
                    autofocus=takes_focus
                    aria-describedby=described
                />
            </label>
            {hint.map(|hint| view! { <p class="cw-account-hint" id=hint_id>{hint}</p> })}
        }
    }
}

/// The text for a client that must wait.
pub(crate) fn too_many_attempts_text(seconds: u64) -> String {
    let minutes = seconds.div_ceil(60);
    let unit = if minutes == 1 { "minute" } else { "minutes" };
    format!("Too many attempts. Try again in {minutes} {unit}.")
}
