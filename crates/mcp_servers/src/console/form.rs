//! The form of a server.

use super::sent::shown;
use super::{PATH, TEST_PATH};
use crate::body::{OauthBody, ServerBody};
use crate::catalog::ConfigAgent;
use crate::definition::TransportKind;
use crate::read::{MAX_DESCRIPTION, MAX_NAME, MAX_PREFIX, MAX_SECRET, MAX_TEXT};
use crate::section::McpServers;
use added_entries::address::MAX_ADDRESS;
use added_entries::console::{FormState, agent_boxes, checkbox, name_field, text_field};
use leptos::prelude::*;
use web::html::{error_message, text_area_content};
use web::query_encoded;

/// Renders the form. `tools` are those that are known of the server.
pub(super) fn form(section: &McpServers, shows: FormState<ServerBody>, tools: Vec<String>) -> AnyView {
    let FormState { stored, name, body, problem } = shows;
    let is_limited = stored.is_some() && body.allow.is_some();
    let (action, act) = match &stored {
        Some((name, _)) => (format!("{PATH}/{}", query_encoded(name)), "Save"),
        None => (PATH.to_owned(), "Add server"),
    };
    let new_name = text_field("name", "Name", name, MAX_NAME, true);
    view! {
        {error_message(problem)}
        <form class="cw-account-form" method="post" action=action>
            {name_field(stored.as_ref(), new_name)}
            {text_field("description", "Description", body.description.clone(), MAX_DESCRIPTION, false)}
            {reached_fields(section, &body)}
            {agent_fields(section, &body)}
            {is_limited.then(|| view! { <input type="hidden" name="limited" value="1" /> })}
            {tool_fields(&body, tools)}
            {other_fields(&body)}
            <button class="cw-button cw-primary">{act}</button>
            <button class="cw-button" formaction=TEST_PATH formtarget="_blank">"Test in a new tab"</button>
        </form>
    }
    .into_any()
}

fn reached_fields(section: &McpServers, body: &ServerBody) -> AnyView {
    let kind = body.kind();
    let mut kinds =
        vec![(TransportKind::Http, "Streamable HTTP"), (TransportKind::Sse, "HTTP with Server-Sent Events")];
    if !section.commands.is_empty() || kind == TransportKind::Stdio {
        kinds.push((TransportKind::Stdio, "A program"));
    }
    let option = |(own, label): (TransportKind, &'static str)| {
        view! { <option value=own.name() selected={own == kind}>{label}</option> }
    };
    let kinds = kinds.into_iter().map(option).collect_view();
    let lines = body.headers.iter().map(|(name, value)| format!("{name}: {}", shown(value)));
    let headers = lines.collect::<Vec<_>>().join("\n");
    let address = body.url.as_ref().map(shown).unwrap_or_default();
    let about = if section.keys.is_empty() {
        "Enter secrets as references, { _secret: NAME }, to environment variables that the config lists in mcpServers.secrets."
    } else {
        "Secrets that you enter are encrypted and not shown again; *** leaves one as it is. { _secret: NAME } sends an environment variable, which the config lists in mcpServers.secrets."
    };
    view! {
        <label class="cw-account-field">
            <span>"Reached by"</span>
            <select name="type">{kinds}</select>
        </label>
        {text_field("url", "Address", address, MAX_ADDRESS, false)}
        <p class="cw-account-note">{about}</p>
        {area_field("headers", "Headers, one a line, as Name: value", &headers)}
        {oauth_fields(body.oauth.as_ref())}
        {command_field(section, body)}
    }
    .into_any()
}

fn oauth_fields(oauth: Option<&OauthBody>) -> AnyView {
    let value = |of: fn(&OauthBody) -> Option<String>| oauth.and_then(of).unwrap_or_default();
    view! {
        <details open=oauth.is_some()>
            <summary>"Access token by OAuth"</summary>
            <div class="cw-account-form">
                {text_field("tokenUrl", "Address of the token endpoint", value(|oauth| Some(shown(&oauth.token_url))), MAX_ADDRESS, false)}
                {text_field("clientId", "Client id", value(|oauth| Some(oauth.client_id.clone())), MAX_TEXT, false)}
                {text_field("clientSecret", "Client secret", value(|oauth| Some(shown(&oauth.client_secret))), MAX_SECRET, false)}
                {text_field("refreshToken", "Refresh token, in place of client credentials", value(|oauth| oauth.refresh_token.as_ref().map(shown)), MAX_SECRET, false)}
                {text_field("scope", "Scope", value(|oauth| oauth.scope.clone()), MAX_TEXT, false)}
            </div>
        </details>
    }
    .into_any()
}

/// Renders the choice of a command line, if the config allows any. That of a server that has one can stay.
fn command_field(section: &McpServers, body: &ServerBody) -> Option<AnyView> {
    let own = body.command.iter().chain(&body.args).cloned().collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = section.command_lines().map(|words| words.join(" ")).collect();
    if !own.is_empty() && !lines.contains(&own) {
        lines.push(own.clone());
    }
    let option = |line: String| {
        let is_chosen = line == own;
        view! { <option value=line.clone() selected=is_chosen>{line.clone()}</option> }
    };
    (!lines.is_empty()).then(|| {
        view! {
            <label class="cw-account-field">
                <span>"Program, out of those that the config allows"</span>
                <select name="command">
                    <option value="">"None"</option>
                    {lines.into_iter().map(option).collect_view()}
                </select>
            </label>
        }
        .into_any()
    })
}

fn agent_fields(section: &McpServers, body: &ServerBody) -> AnyView {
    let label = |agent: &ConfigAgent| {
        if agent.is_public {
            format!("{} (everybody may use it, signed in or not)", agent.id)
        } else {
            agent.id.clone()
        }
    };
    let agents = section.catalog.agents.iter().map(|agent| (agent.id.clone(), label(agent)));
    view! {
        <fieldset class="cw-account-scopes">
            <legend>"Agents that get its tools"</legend>
            <p class="cw-account-note">"Without a choice, no agent gets them. Agents that are made at run time choose among the servers of their base."</p>
            {agent_boxes(agents.collect(), &body.agents)}
        </fieldset>
    }
    .into_any()
}

/// Renders the choice of tools: boxes for those that are known, and a field for patterns.
fn tool_fields(body: &ServerBody, tools: Vec<String>) -> AnyView {
    let allow = body.allow.clone().unwrap_or_default();
    let others = allow.iter().filter(|pattern| !tools.contains(pattern)).cloned().collect::<Vec<_>>().join("\n");
    let boxes = tools.into_iter().map(|tool| {
        let is_chosen = allow.contains(&tool);
        checkbox("allow", tool.clone(), tool, is_chosen)
    });
    let boxes: Vec<_> = boxes.collect();
    let boxes = (!boxes.is_empty()).then(|| {
        view! {
            <fieldset class="cw-account-scopes">
                <legend>"Only these tools"</legend>
                {boxes}
            </fieldset>
        }
    });
    view! {
        <p class="cw-account-note">"Without a choice of tools, all are offered, also those that the server gets later."</p>
        {boxes}
        {area_field("allow", "Only tools with these names, one a line; * stands for anything", &others)}
        {area_field("deny", "No tools with these names", &body.deny.join("\n"))}
    }
    .into_any()
}

fn other_fields(body: &ServerBody) -> AnyView {
    let is_program = body.kind() == TransportKind::Stdio;
    let checks = [
        ("enabled", "Switched on", body.enabled),
        ("confirm", "The user approves each call", body.confirm),
        ("egress", "Its tools can send data to others", body.egress.unwrap_or(!is_program)),
        ("returnsUntrusted", "Its results may hold text by anybody", body.returns_untrusted.unwrap_or(true)),
        ("readsPrivate", "Its results may hold private data", body.reads_private.unwrap_or(is_program)),
        ("shared", "All users share one connection", body.shared),
    ];
    let checks = checks
        .into_iter()
        .map(|(name, label, is_checked)| checkbox(name, "1".to_owned(), label.to_owned(), is_checked));
    let time = body.timeout_ms.map(|time| time.to_string()).unwrap_or_default();
    view! {
        {text_field("prefix", "Prefix of the names of its tools", body.prefix.clone(), MAX_PREFIX, false)}
        {text_field("timeoutMs", "Timeout of a call in milliseconds (default: limits.toolMs)", time, 7, false)}
        <fieldset class="cw-account-scopes">
            <legend>"Settings"</legend>
            {checks.collect_view()}
        </fieldset>
    }
    .into_any()
}

fn area_field(name: &'static str, label: &'static str, value: &str) -> AnyView {
    view! {
        <label class="cw-account-field">
            <span>{label}</span>
            <textarea name=name rows="3" autocomplete="off" inner_html=text_area_content(value)></textarea>
        </label>
    }
    .into_any()
}
