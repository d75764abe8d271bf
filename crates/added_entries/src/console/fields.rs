//! The fields of forms, and what they send.

use leptos::prelude::*;
use url::form_urlencoded;

/// The values with which a form is shown.
pub struct FormState<B> {
    /// The name, and the version that the form is based on; `None` for a new entry.
    pub stored: Option<(String, i64)>,
    /// The name that was entered for a new entry.
    pub name: String,
    /// The fields.
    pub body: B,
    /// Why what was sent was refused.
    pub problem: Option<String>,
}

/// Renders the fields of the name: a stored one cannot be changed, and is sent with the version that the change is based
/// on.
pub fn name_field(stored: Option<&(String, i64)>, new: AnyView) -> AnyView {
    match stored {
        Some((name, version)) => view! {
            <input type="hidden" name="name" value=name.clone() />
            <input type="hidden" name="version" value=version.to_string() />
        }
        .into_any(),
        None => new,
    }
}

/// Renders a field for a text of up to `most` characters.
pub fn text_field(name: &'static str, label: &'static str, value: String, most: usize, is_required: bool) -> AnyView {
    view! {
        <label class="cw-account-field">
            <span>{label}</span>
            <input name=name value=value required=is_required maxlength=most.to_string() autocomplete="off" />
        </label>
    }
    .into_any()
}

/// Renders a checkbox.
pub fn checkbox(name: &'static str, value: String, label: String, is_checked: bool) -> AnyView {
    view! { <label><input type="checkbox" name=name value=value checked=is_checked />{label}</label> }.into_any()
}

/// Renders a checkbox for each agent of the config, which are ids and labels, and for those that were chosen and are not
/// in the config any more.
pub fn agent_boxes(agents: Vec<(String, String)>, chosen: &[String]) -> Vec<AnyView> {
    let missing = chosen.iter().filter(|id| agents.iter().all(|(known, _)| known != *id));
    let missing = missing.map(|id| (id.clone(), format!("{id} (not in the config any more)")));
    let missing: Vec<_> = missing.collect();
    let boxes = agents.into_iter().chain(missing).map(|(id, label)| {
        let is_chosen = chosen.contains(&id);
        checkbox("agent", id, label, is_chosen)
    });
    boxes.collect()
}

// It holds secrets as they were sent, so it has no `Debug`.
/// The fields that a form has sent. A field may occur several times.
pub struct SentFields(Vec<(String, String)>);

impl SentFields {
    /// Parses a form.
    pub fn parse(form: &[u8]) -> Self {
        Self(form_urlencoded::parse(form).into_owned().collect())
    }

    /// Returns all values of a field.
    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// Returns the first value of a field, without spaces around it; empty if there is none.
    pub fn one<'f>(&'f self, name: &'f str) -> &'f str {
        self.all(name).next().unwrap_or_default().trim()
    }

    /// Returns the first value of a field, if it is not empty.
    pub fn filled<'f>(&'f self, name: &'f str) -> Option<&'f str> {
        Some(self.one(name)).filter(|value| !value.is_empty())
    }

    /// Returns whether a field was sent, as a checked checkbox is.
    pub fn is_checked(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// Returns the lines of all values of a field that are not empty.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let lines = self.all(name).flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }
}
