//! The form of a connection.

use super::PATH;
use crate::body::{ConnectionBody, OwnAgentBody};
use crate::catalog::{Answers, Catalog, ConfigAgent};
use crate::current::Current;
use crate::provider::Provider;
use crate::read::{MAX_AGENT_NAME, MAX_KEY, MAX_MODEL, MAX_MODELS, MAX_NAME};
use added_entries::address::MAX_ADDRESS;
use added_entries::console::{FormState, agent_boxes, checkbox, name_field, text_field};
use leptos::prelude::*;
use web::html::{error_message, text_area_content, text_with_code};
use web::query_encoded;

/// Renders the form. `listed` are the models that the provider has named.
pub(super) fn form(current: &Current, shows: FormState<ConnectionBody>, listed: Vec<String>) -> AnyView {
    let FormState { stored, name, body, problem } = shows;
    let (action, act) = match &stored {
        Some((name, _)) => (format!("{PATH}/{}", query_encoded(name)), "Save"),
        None => (PATH.to_owned(), "Add model"),
    };
    let new_name = text_field("name", "Name of the connection (default: that of the provider)", name, MAX_NAME, false);
    let off = (!body.enabled).then(|| view! { <input type="hidden" name="disabled" value="1" /> });
    view! {
        {error_message(problem)}
        <form class="cw-account-form" method="post" action=action>
            {provider_field(body.provider)}
            {text_field("address", "Address (only for another one than the provider's)", body.base_url.clone().unwrap_or_default(), MAX_ADDRESS, false)}
            <p class="cw-account-note">"Ollama: http://localhost:11434/v1. Another server: the address before /chat/completions."</p>
            {key_field(current, &body, stored.is_some())}
            {model_fields(&body, &listed, stored.is_some())}
            {agent_fields(&current.section.catalog, &body)}
            {own_agent_fields(body.agent.as_ref())}
            {name_field(stored.as_ref(), new_name)}
            {off}
            <button class="cw-button cw-primary">{act}</button>
        </form>
    }
    .into_any()
}

fn provider_field(chosen: Provider) -> AnyView {
    let option = |provider: Provider| {
        view! { <option value=provider.name() selected={provider == chosen}>{provider.title()}</option> }
    };
    view! {
        <label class="cw-account-field">
            <span>"Provider"</span>
            <select name="provider">{Provider::ALL.map(option).collect_view()}</select>
        </label>
    }
    .into_any()
}

/// Renders the field of the key, which never shows one. Where none can be stored, it says what to do. Browsers do not
/// fill in the password of the administrator where a new one is expected.
fn key_field(current: &Current, body: &ConnectionBody, is_stored: bool) -> AnyView {
    let has_key = is_stored && body.api_key.is_some();
    let label = if has_key { "New API key (empty: the stored one stays)" } else { "API key" };
    let note = match current.keys.problem() {
        Some(problem) => format!(
            "This server cannot store API keys yet: {problem}. Models without a key, such as those of Ollama, can be added now."
        ),
        None => {
            "The key is encrypted before it is stored, sent to the provider only, and never shown again.".to_owned()
        }
    };
    let stored = has_key.then(|| {
        view! {
            <input type="hidden" name="hasKey" value="1" />
            <label class="cw-admin-check"><input type="checkbox" name="removeKey" value="1" />"Remove the stored key"</label>
        }
    });
    view! {
        <label class="cw-account-field">
            <span>{label}</span>
            <input name="apiKey" type="password" maxlength=MAX_KEY.to_string() autocomplete="new-password" spellcheck="false" />
        </label>
        <p class="cw-account-note">{text_with_code(&note)}</p>
        {stored}
    }
    .into_any()
}

/// Renders the models: boxes for the chosen ones, and a field with the provider's names.
fn model_fields(body: &ConnectionBody, listed: &[String], is_stored: bool) -> AnyView {
    let boxes = body.models.iter().map(|model| checkbox("model", model.clone(), model.clone(), true));
    let boxes: Vec<_> = boxes.collect();
    let boxes = (!boxes.is_empty()).then(|| {
        view! {
            <fieldset class="cw-account-scopes">
                <legend>"Models"</legend>
                {boxes}
            </fieldset>
        }
    });
    let label = match (is_stored, body.models.is_empty()) {
        (false, _) => "Model (empty: choose it in the next step)",
        (true, true) => "Model",
        (true, false) => "Another model",
    };
    let most = format!("A connection has at most {MAX_MODELS} models. Users of an agent choose among them.");
    let options = listed.iter().filter(|model| !body.models.contains(model)).cloned();
    let options = options.map(|model| view! { <option value=model></option> }).collect_view();
    view! {
        {boxes}
        <label class="cw-account-field">
            <span>{label}</span>
            <input name="addModel" maxlength=MAX_MODEL.to_string() autocomplete="off" spellcheck="false" list="models" />
            <datalist id="models">{options}</datalist>
        </label>
        {is_stored.then(|| view! { <p class="cw-account-note">{most}</p> })}
    }
    .into_any()
}

fn agent_fields(catalog: &Catalog, body: &ConnectionBody) -> Option<AnyView> {
    let agents = catalog.agents.iter().map(|agent| (agent.id.clone(), label(agent)));
    let boxes = agent_boxes(agents.collect(), &body.agents);
    (!boxes.is_empty()).then(|| {
        view! {
            <fieldset class="cw-account-scopes">
                <legend>"Agents of the config that use it"</legend>
                {boxes}
            </fieldset>
        }
        .into_any()
    })
}

/// Describes the effect of the choice on an agent.
fn label(agent: &ConfigAgent) -> String {
    let what = match &agent.answers {
        Answers::Model(model) if model.is_empty() => "in place of its own model".to_owned(),
        Answers::Model(model) => format!("in place of {model}"),
        Answers::Choice(ids) => format!("one more choice beside {}", ids.join(", ")),
    };
    let public = if agent.is_public { "; everybody may use it, signed in or not" } else { "" };
    format!("{} ({what}{public})", agent.id)
}

fn own_agent_fields(agent: Option<&OwnAgentBody>) -> AnyView {
    let (name, instructions) = match agent {
        Some(agent) => (agent.name.clone(), agent.instructions.clone()),
        None => ("Assistant".to_owned(), "You are a helpful assistant.".to_owned()),
    };
    view! {
        <fieldset class="cw-account-scopes">
            <legend>"A new agent"</legend>
            <label>
                <input type="checkbox" name="makeAgent" value="1" checked=agent.is_some() />
                "Create an agent with a page, for all signed-in users"
            </label>
        </fieldset>
        {text_field("agentName", "Name of the agent", name, MAX_AGENT_NAME, false)}
        <label class="cw-account-field">
            <span>"Instructions"</span>
            <textarea name="agentInstructions" rows="3" inner_html=text_area_content(&instructions)></textarea>
        </label>
    }
    .into_any()
}
