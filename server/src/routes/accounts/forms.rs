//! The parts of forms.

use leptos::prelude::*;

/// A line of text that is asked for.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) kind: &'static str,
    /// What a password manager fills in.
    pub(super) autocomplete: &'static str,
    pub(super) hint: Option<&'static str>,
    pub(super) value: String,
    pub(super) takes_focus: bool,
}

impl Field {
    /// A user's name.
    pub(super) fn name(value: &str, takes_focus: bool) -> Self {
        Self {
            name: "name",
            label: "Name",
            kind: "text",
            autocomplete: "username",
            hint: None,
            value: value.to_owned(),
            takes_focus,
        }
    }

    /// A password that there is already.
    pub(super) fn password(name: &'static str, label: &'static str, takes_focus: bool) -> Self {
        let (kind, autocomplete) = ("password", "current-password");
        Self { name, label, kind, autocomplete, hint: None, value: String::new(), takes_focus }
    }

    /// A password that is chosen now.
    pub(super) fn new_password(label: &'static str) -> Self {
        let hint = Some("At least 10 characters. Several words are easier to remember than symbols.");
        Self { autocomplete: "new-password", hint, ..Self::password("password", label, false) }
    }

    /// The field with its label and its hint.
    pub(super) fn view(self) -> impl IntoView {
        let Self { name, label, kind, autocomplete, hint, value, takes_focus } = self;
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

/// What went wrong, read out at once.
pub(in crate::routes) fn problem(text: Option<String>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-problem" role="alert">{text}</p> })
}

/// What went well.
pub(in crate::routes) fn done(text: Option<&'static str>) -> impl IntoView {
    text.map(|text| view! { <p class="cw-account-done" role="status">{text}</p> })
}

/// After how long to try again, in words.
pub(super) fn wait(seconds: u64) -> String {
    let minutes = seconds.div_ceil(60);
    let unit = if minutes == 1 { "minute" } else { "minutes" };
    format!("Too many attempts. Try again in {minutes} {unit}.")
}
