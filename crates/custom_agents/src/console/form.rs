//! The form of a custom agent.

use super::CustomAgentBody;
use crate::choices::BaseChoices;
use crate::validate::{MAX_DESCRIPTION, MAX_INSTRUCTIONS, MAX_NAME};
use leptos::prelude::*;
use serde_json::Value;
use web::html::{error_message, text_area_content};

/// The execution modes of the form: their JSON and what they are called.
const EXECUTION_MODES: [(&str, &str); 6] = [
    ("", "As the base agent"),
    (r#""untilDone""#, "Until it is done"),
    (r#""once""#, "Tools once, then it answers"),
    (r#"{"atMost":3}"#, "At most 3 steps with tools"),
    (r#"{"atMost":5}"#, "At most 5 steps with tools"),
    (r#"{"atMost":10}"#, "At most 10 steps with tools"),
];

/// The tool strategies of the form.
const TOOL_STRATEGIES: [(&str, &str); 4] = [
    ("", "As the base agent"),
    (r#""model""#, "The model decides"),
    (r#""sequential""#, "One call after the other"),
    (r#""parallel""#, "Independent calls in one step"),
];

/// Renders the form.
pub(super) fn form(
    action: String,
    sent: CustomAgentBody,
    choices: BaseChoices,
    act: &'static str,
    wrong: Option<String>,
) -> impl IntoView {
    let fallbacks = sent.fallbacks.map(|fallbacks| fallbacks.to_string());
    let models = model_options(&choices, sent.model.as_deref());
    view! {
        {error_message(wrong)}
        <form class="cw-account-form" method="post" action=action>
            <input type="hidden" name="from" value=sent.from.clone() />
            <input type="hidden" name="version" value=sent.version.map(|version| version.to_string()) />
            <input type="hidden" name="fallbacks" value=fallbacks />
            <label class="cw-account-field">
                <span>"Agent name"</span>
                <input name="name" value=sent.name.clone() required maxlength=MAX_NAME.to_string() autocomplete="off" />
            </label>
            {purpose_field(sent.description)}
            {picture_field(sent.picture)}
            {instructions_field(&sent.instructions)}
            {models}
            <label class="cw-account-field">
                <span>"How long it works"</span>
                <select name="executionMode">{json_options(&EXECUTION_MODES, sent.execution_mode.as_ref())}</select>
            </label>
            <label class="cw-account-field">
                <span>"How it uses tools"</span>
                <select name="toolStrategy">{json_options(&TOOL_STRATEGIES, sent.tool_strategy.as_ref())}</select>
            </label>
            {tool_fields(&choices, &sent.tools)}
            <button class="cw-button cw-primary">{act}</button>
        </form>
    }
}

/// Renders the field of an agent's purpose.
pub(crate) fn purpose_field(value: String) -> impl IntoView {
    view! {
        <label class="cw-account-field">
            <span>"Purpose"</span>
            <input name="description" value=value maxlength=MAX_DESCRIPTION.to_string() autocomplete="off" />
        </label>
    }
}

/// Renders the field of an agent's picture.
pub(crate) fn picture_field(value: String) -> impl IntoView {
    view! {
        <label class="cw-account-field">
            <span>"Picture (an emoji, or one or two letters)"</span>
            <input name="picture" value=value maxlength="16" autocomplete="off" />
        </label>
    }
}

/// Renders the field of an agent's instructions.
pub(crate) fn instructions_field(text: &str) -> impl IntoView + use<> {
    view! {
        <label class="cw-account-field">
            <span>"Instructions"</span>
            <textarea name="instructions" rows="8" required maxlength=MAX_INSTRUCTIONS.to_string() inner_html=text_area_content(text)></textarea>
        </label>
    }
}

/// Renders the choice of a model, if there is one.
pub(crate) fn model_options(choices: &BaseChoices, chosen: Option<&str>) -> Option<AnyView> {
    (!choices.models.is_empty()).then(|| {
        let option = |(id, title): (&str, &str)| {
            let is_chosen = chosen.unwrap_or_default() == id;
            view! { <option value=id.to_owned() selected=is_chosen>{title.to_owned()}</option> }
        };
        let models = choices.models.iter().map(|model| (model.id.as_str(), model.title.as_str()));
        let options = [("", "As the base agent")].into_iter().chain(models).map(option).collect_view();
        view! {
            <label class="cw-account-field">
                <span>"Model"</span>
                <select name="model">{options}</select>
            </label>
        }
        .into_any()
    })
}

/// Renders the choice of tools, libraries and skills, each kind in a group.
pub(crate) fn tool_fields(choices: &BaseChoices, chosen: &[String]) -> impl IntoView + use<> {
    let groups = [("Knowledge", "knowledge:"), ("Skills", "skills:"), ("Tools", "")];
    let kind = |tool: &str| groups.iter().position(|(_, prefix)| tool.starts_with(prefix)).unwrap_or_default();
    let group = |(index, (title, prefix)): (usize, &(&'static str, &'static str))| {
        let box_of = |name: &String| {
            // A section with parts may have been chosen as a whole.
            let is_chosen = chosen.iter().any(|tool| tool == name || format!("{tool}:") == *prefix);
            let label = name.strip_prefix(prefix).unwrap_or(name).to_owned();
            view! { <label><input type="checkbox" name="tool" value=name.clone() checked=is_chosen />{label}</label> }
        };
        let boxes: Vec<_> = choices.tools.iter().filter(|tool| kind(tool) == index).map(box_of).collect();
        (!boxes.is_empty()).then(|| {
            view! {
                <fieldset class="cw-account-scopes">
                    <legend>{*title}</legend>
                    {boxes}
                </fieldset>
            }
        })
    };
    groups.iter().enumerate().map(group).collect_view()
}

/// Renders the options of a field whose values are JSON. A value that is none of them is one more.
fn json_options(known: &[(&'static str, &'static str)], value: Option<&Value>) -> impl IntoView + use<> {
    let value = value.map(Value::to_string).unwrap_or_default();
    let is_known = known.iter().any(|(json, _)| *json == value);
    let other = (!is_known).then(|| (value.clone(), value.clone()));
    let known = known.iter().map(|(json, label)| ((*json).to_owned(), (*label).to_owned()));
    let option = |(json, label): (String, String)| {
        let is_chosen = json == value;
        view! { <option value=json selected=is_chosen>{label}</option> }
    };
    known.chain(other).map(option).collect_view()
}
