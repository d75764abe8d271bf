//! One conversation with its whole run: what was said, the calls with what was decided about them, the requests to models.

use super::conversations::Opened;
use super::layout::{Tab, dollars, minute, number, page, seconds};
use super::{Admin, lists};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde_json::Value;
use store::{AuditRow, Step};
use wire::{Role, ToolPart, ToolState, UiMessage, UiPart};

/// Characters of a call's arguments or result that are shown; the export has all of them.
const MAX_SHOWN: usize = 4_000;

pub(super) fn show(admin: &Admin, opened: Opened) -> Response {
    let Opened { conversation, view, usage, calls } = opened;
    let owner = conversation.owner_name.clone().unwrap_or_else(|| conversation.owner.clone());
    let is_others = conversation.owner != admin.0.user_id;
    let of_owner = format!("/admin/conversations?owner={}", crate::routes::accounts::encoded(&conversation.owner));
    let path = format!("/admin/conversations/{}", conversation.id);
    let facts = [
        ("Agent", conversation.agent_id.clone()),
        ("Begun (UTC)", minute(conversation.created_at)),
        ("Changed (UTC)", minute(conversation.updated_at)),
        ("Tokens", number(conversation.tokens)),
        ("Cost", dollars(conversation.cost_usd)),
        ("Errors", conversation.failures.to_string()),
        ("Feedback", super::conversations::judged(conversation.liked, conversation.disliked)),
    ];
    let facts = facts.map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view();
    let (no_steps, no_calls) = (usage.steps.is_empty(), calls.is_empty());
    let content = view! {
        {is_others.then(|| view! { <p class="cw-account-note">"That you read this is entered in the audit log."</p> })}
        <section class="cw-account-part" aria-label="About">
            <dl class="cw-admin-facts"><div><dt>"User"</dt><dd><a href=of_owner>{owner}</a></dd></div>{facts}</dl>
            <div class="cw-admin-acts">
                <a class="cw-button" href=format!("{path}/export")>"Export"</a>
                <form method="post" action=format!("{path}/delete")><button class="cw-button">"Delete the conversation"</button></form>
            </div>
        </section>
        <section class="cw-account-part" aria-labelledby="messages">
            <h2 id="messages">"Messages"</h2>
            {view.messages.iter().map(message).collect_view()}
        </section>
        <section class="cw-account-part" aria-labelledby="calls">
            <h2 id="calls">"Tool calls and who looked"</h2>
            {lists::none(no_calls, "Nothing is in the audit log.")}
            {(!no_calls).then(|| calls_table(calls))}
        </section>
        <section class="cw-account-part" aria-labelledby="steps">
            <h2 id="steps">"Requests to models"</h2>
            {lists::none(no_steps, "No model was asked.")}
            {(!no_steps).then(|| steps_table(usage.steps))}
        </section>
    };
    page(admin, Tab::Conversations, StatusCode::OK, &conversation.title, content)
}

fn message(message: &UiMessage) -> impl IntoView + use<> {
    let who = if message.role == Role::User { "User" } else { "Agent" };
    let parts = message.parts.iter().map(part).collect_view();
    view! {
        <article class="cw-admin-message" aria-label=who id=format!("m-{}", message.id)>
            <h3>{who}</h3>
            {parts}
        </article>
    }
}

fn part(part: &UiPart) -> AnyView {
    match part {
        UiPart::Text(text) => view! { <p class="cw-admin-text" dir="auto">{text.text.clone()}</p> }.into_any(),
        UiPart::Reasoning(text) => view! {
            <details class="cw-admin-call">
                <summary>"Reasoning"</summary>
                <p class="cw-admin-text" dir="auto">{text.text.clone()}</p>
            </details>
        }
        .into_any(),
        UiPart::Tool(tool) => call(tool).into_any(),
        UiPart::File(file) => {
            let name = file.filename.clone().unwrap_or_else(|| file.media_type.clone());
            view! { <p class="cw-account-note">{format!("File: {name}")}</p> }.into_any()
        }
        UiPart::SourceUrl(source) => {
            view! { <p class="cw-account-note">{format!("Source: {}", source.url)}</p> }.into_any()
        }
        _ => ().into_any(),
    }
}

fn call(tool: &ToolPart) -> impl IntoView + use<> {
    let input = tool.input.as_ref().or(tool.raw_input.as_ref()).map(shown);
    let output = tool.output.as_ref().map(shown).or_else(|| tool.error_text.clone());
    view! {
        <details class="cw-admin-call">
            <summary>{format!("{}: {}", tool.tool_name, state(tool.state))}</summary>
            {input.map(|input| view! { <pre tabindex="0" aria-label="Arguments">{input}</pre> })}
            {output.map(|output| view! { <pre tabindex="0" aria-label="Result">{output}</pre> })}
        </details>
    }
}

fn state(state: ToolState) -> &'static str {
    match state {
        ToolState::OutputAvailable => "done",
        ToolState::OutputError => "failed",
        ToolState::OutputDenied => "denied",
        ToolState::ApprovalRequested => "waits for approval",
        _ => "not finished",
    }
}

fn shown(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn calls_table(calls: Vec<AuditRow>) -> impl IntoView {
    let line = |row: AuditRow| {
        view! {
            <tr>
                <th scope="row">{row.tool.clone()}</th>
                <td data-label="By">{row.user_id.clone()}</td>
                <td data-label="Ended">{minute(row.at)}</td>
                <td data-label="Outcome">{row.outcome.clone()}</td>
                <td data-label="Gates">{super::audit::gates(&row.gates)}</td>
                <td class="cw-admin-number" data-label="Time">
                    {row.duration_ms.map_or_else(|| "–".to_owned(), |ms| seconds(ms as f64))}
                </td>
            </tr>
        }
    };
    view! {
        <table class="cw-admin-table">
            <thead>
                <tr>
                    <th scope="col">"Call"</th>
                    <th scope="col">"By"</th>
                    <th scope="col">"Ended (UTC)"</th>
                    <th scope="col">"Outcome"</th>
                    <th scope="col">"Gates"</th>
                    <th scope="col" class="cw-admin-number">"Time"</th>
                </tr>
            </thead>
            <tbody>{calls.into_iter().map(line).collect_view()}</tbody>
        </table>
    }
}

fn steps_table(steps: Vec<Step>) -> impl IntoView {
    let line = |step: Step| {
        let cost = step.cost_usd.map_or_else(|| "–".to_owned(), dollars);
        view! {
            <tr>
                <th scope="row">{step.model.clone()}</th>
                <td data-label="Agent">{step.agent_id.clone()}</td>
                <td data-label="Ended">{minute(step.at)}</td>
                <td data-label="Why it ended">{step.finish_reason.clone()}</td>
                <td class="cw-admin-number" data-label="In">{number(step.usage.input_tokens as f64)}</td>
                <td class="cw-admin-number" data-label="Out">{number(step.usage.output_tokens as f64)}</td>
                <td class="cw-admin-number" data-label="Cost">{cost}</td>
                <td class="cw-admin-number" data-label="Time">{seconds(step.whole_ms as f64)}</td>
            </tr>
        }
    };
    view! {
        <table class="cw-admin-table">
            <thead>
                <tr>
                    <th scope="col">"Model"</th>
                    <th scope="col">"Agent"</th>
                    <th scope="col">"Ended (UTC)"</th>
                    <th scope="col">"Why it ended"</th>
                    <th scope="col" class="cw-admin-number">"Tokens in"</th>
                    <th scope="col" class="cw-admin-number">"Out"</th>
                    <th scope="col" class="cw-admin-number">"Cost"</th>
                    <th scope="col" class="cw-admin-number">"Time"</th>
                </tr>
            </thead>
            <tbody>{steps.into_iter().map(line).collect_view()}</tbody>
        </table>
    }
}
