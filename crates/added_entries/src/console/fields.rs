//! The fields of forms.

use leptos::prelude::*;

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
