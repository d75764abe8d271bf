//! The parts of the pages on which users make agents.

use super::page::PATH;
use super::store::{AgentSharing, OwnAgentVersion};
use super::views::{OwnAgentBody, OwnAgentItem};
use crate::choices::BaseChoices;
use crate::console::form::{instructions_field, model_options, picture_field, purpose_field, tool_fields};
use crate::definition::CustomAgent;
use crate::validate::{MAX_KEY, MAX_NAME};
use leptos::prelude::*;
use web::html::{account_part, error_message, row_button, text_area_content};
use web::times::minute;

/// Renders a list of agents, which are those of the user if they `are_own`.
pub(super) fn agents_view(
    id: &'static str,
    title: &'static str,
    none: &'static str,
    agents: &[OwnAgentItem],
    are_own: bool,
) -> impl IntoView + use<> {
    let item = |agent: &OwnAgentItem| {
        let picture = Some(agent.picture.clone()).filter(|picture| !picture.is_empty());
        let state = match (agent.available, agent.is_shared) {
            (false, _) => "cannot be used at the moment",
            (true, true) if are_own => "shared",
            (true, true) => "shared with you",
            (true, false) => "only for you",
        };
        let try_it = agent.available.then(|| {
            let label = format!("Chat with {}", agent.title);
            view! { <a class="cw-button" href=format!("/{}", agent.id) aria-label=label>"Chat"</a> }
        });
        let change = are_own.then(|| {
            let label = format!("Change {}", agent.title);
            view! { <a class="cw-button" href=format!("{PATH}/{}", agent.id) aria-label=label>"Change"</a> }
        });
        view! {
            <li class="cw-memory-fact">
                <p dir="auto">
                    {picture.map(|picture| view! { <span aria-hidden="true">{picture} " "</span> })}
                    <strong>{agent.title.clone()}</strong>
                </p>
                <p class="cw-account-note" dir="auto">{agent.description.clone()}</p>
                <p class="cw-account-note">{agent.name.clone()} " · " {state}</p>
                <div class="cw-memory-actions">{try_it}{change}</div>
            </li>
        }
    };
    let items = agents.iter().map(item).collect_view();
    let content = if agents.is_empty() {
        view! { <p class="cw-account-note">{none}</p> }.into_any()
    } else {
        view! { <ul class="cw-memory-list">{items}</ul> }.into_any()
    };
    account_part(id, title, content)
}

/// Renders the form of an agent.
pub(super) fn agent_form(
    action: String,
    sent: OwnAgentBody,
    base: &BaseChoices,
    act: &'static str,
) -> impl IntoView + use<> {
    let models = model_options(base, sent.model.as_deref());
    let tools = tool_fields(base, &sent.tools);
    view! {
        <form class="cw-account-form" method="post" action=action>
            <input type="hidden" name="from" value=sent.from.clone() />
            <input type="hidden" name="version" value=sent.version.map(|version| version.to_string()) />
            <label class="cw-account-field">
                <span>"Title"</span>
                <input name="title" value=sent.title.clone() required maxlength=MAX_NAME.to_string() autocomplete="off" />
            </label>
            <label class="cw-account-field">
                <span>"Name (letters from a to z, digits and hyphens)"</span>
                <input name="name" value=sent.name.clone() required maxlength=MAX_KEY.to_string() pattern="[A-Za-z0-9\\-]+" autocomplete="off" spellcheck="false" />
            </label>
            {picture_field(sent.picture)}
            {purpose_field(sent.description)}
            {instructions_field(&sent.instructions)}
            {models}
            {tools}
            <button class="cw-button cw-primary">{act}</button>
        </form>
    }
}

/// Renders with whom an agent is shared. `own_roles` are the roles of its maker, as suggestions; `wrong` is why
/// this was refused.
pub(super) fn sharing_view(
    path: &str,
    sharing: &AgentSharing,
    own_roles: &[String],
    wrong: Option<String>,
) -> impl IntoView + use<> {
    let choice = match sharing {
        AgentSharing { everybody: true, .. } => "everybody",
        AgentSharing { roles, .. } if roles.is_empty() => "nobody",
        AgentSharing { .. } => "roles",
    };
    let options = [
        ("nobody", "Nobody: only I can use it"),
        ("roles", "Users with these roles"),
        ("everybody", "Everybody who may use custom agents"),
    ];
    let options = options.map(|(value, label)| {
        view! { <label><input type="radio" name="with" value=value checked=value == choice />{label}</label> }
    });
    let roles = sharing.roles.join(", ");
    let hint = (!own_roles.is_empty()).then(|| format!("Your roles: {}", own_roles.join(", ")));
    let content = view! {
        <p class="cw-account-note">
            "Others see its title, purpose and answers. Each of them uses it with their own rights, and has their own conversations."
        </p>
        {error_message(wrong)}
        <form class="cw-account-form" method="post" action=format!("{path}/sharing")>
            <fieldset class="cw-account-scopes">
                <legend>"With whom"</legend>
                {options}
            </fieldset>
            <label class="cw-account-field">
                <span>"Roles, separated by commas"</span>
                <input name="roles" value=roles autocomplete="off" />
            </label>
            {hint.map(|hint| view! { <p class="cw-account-note">{hint}</p> })}
            <button class="cw-button">"Save sharing"</button>
        </form>
    };
    account_part("sharing", "Share", content)
}

/// Renders the versions of an agent; all but the newest can be restored.
pub(super) fn versions_view(path: &str, versions: &[OwnAgentVersion]) -> impl IntoView + use<> {
    let newest = versions.first().map(|version| version.version);
    let item = |version: &OwnAgentVersion| {
        let custom = CustomAgent::from_stored(version.definition.clone());
        let number = version.version;
        let action = format!("{path}/versions/{number}/restore");
        let restore = (Some(number) != newest).then(|| {
            let label = format!("Restore version {number}");
            row_button(action, "Restore", label)
        });
        view! {
            <li class="cw-memory-fact">
                <p>{format!("Version {number}")} " · " {minute(version.created_at)} " UTC"</p>
                <details>
                    <summary>"Instructions"</summary>
                    <label class="cw-account-field">
                        <span>{format!("Instructions of version {number}")}</span>
                        <textarea rows="5" readonly dir="auto" inner_html=text_area_content(&custom.instructions)></textarea>
                    </label>
                </details>
                {restore}
            </li>
        }
    };
    let items = versions.iter().map(item).collect_view();
    account_part("versions", "Versions", view! { <ul class="cw-memory-list">{items}</ul> })
}
