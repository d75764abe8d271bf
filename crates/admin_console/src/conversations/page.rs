//! The page of a conversation: its messages, its tool calls with the decisions about them, and its
//! model requests.

use super::ConversationDetail;
use super::feedback::keep_button;
use crate::overview::signed_dollars;
use crate::reasons::reason_text;
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde_json::Value;
use store::{AuditRow, StepRecord};
use web::admin::{Admin, UserNames, page};
use web::html::Heading::{Number, Text};
use web::html::{account_part, dollars, link, number, seconds, table, text};
use web::query_encoded;
use web::times::minute;
use wire::api::ConversationView;
use wire::change::Rating;
use wire::hidden_characters::{TextKind, escaped_json, text_with_code_points};
use wire::text::shortened;
use wire::{
    CONTEXT_EDITS, ContextEdit, EndReason, HANDED_OVER, ProviderOutput, Role, ToolPart, ToolState, UiMessage, UiPart,
    handed_over_line, locale,
};

/// The maximum length of a call's arguments or result, in characters; the export contains them in
/// full.
const MAX_SHOWN: usize = 4_000;

pub(super) fn show(admin: &Admin, opened: ConversationDetail, names: &UserNames) -> Response {
    let ConversationDetail { conversation, view, usage, calls, causes } = opened;
    let owner = conversation.owner_name.clone().unwrap_or_else(|| conversation.owner.clone());
    let is_others = conversation.owner != admin.caller.user_id;
    let of_owner = format!("/admin/conversations?owner={}", query_encoded(&conversation.owner));
    let path = format!("/admin/conversations/{}", conversation.id);
    let facts = [
        ("User", link(of_owner, owner)),
        ("Agent", text(conversation.agent_id)),
        ("Created (UTC)", text(minute(conversation.created_at))),
        ("Changed (UTC)", text(minute(conversation.updated_at))),
        ("Tokens", text(number(conversation.tokens))),
        ("Cost", text(dollars(conversation.cost_usd))),
        ("Saved by caches", text(usage.total.saved_usd.map_or_else(|| "–".to_owned(), signed_dollars))),
        ("Errors", conversation.failures.into_any()),
        ("Feedback", text(super::list::rating_text(conversation.liked, conversation.disliked))),
    ];
    let content = view! {
        {is_others.then(|| view! { <p class="cw-account-note">"The audit log records that you opened this conversation."</p> })}
        <section class="cw-account-part" aria-label="About">
            {web::html::facts(facts)}
            <div class="cw-admin-acts">
                <a class="cw-button" href=format!("{path}/export")>"Export"</a>
                <form method="post" action=format!("{path}/delete")><button class="cw-button">"Delete conversation"</button></form>
            </div>
        </section>
        <section class="cw-account-part" aria-labelledby="messages">
            <h2 id="messages">"Messages"</h2>
            {view.messages.iter().map(|message| message_view(message, &view, causes.get(&message.id))).collect_view()}
        </section>
        {account_part("calls", "Tool calls and access", calls_table(calls, names))}
        {account_part("steps", "Model requests", steps_table(usage.steps))}
    };
    page(admin, "/admin/conversations", StatusCode::OK, &conversation.title, content)
}

/// Renders a message. `cause` is why its newest run failed, or which limit it reached.
fn message_view(message: &UiMessage, view: &ConversationView, cause: Option<&String>) -> impl IntoView + use<> {
    let who = if message.role == Role::User { "User" } else { "Agent" };
    let feedback = view.feedback.get(&message.id).map(|feedback| {
        let rating = if feedback.rating == Rating::Up { "Liked" } else { "Disliked" };
        let reason = feedback.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        view! {
            <div class="cw-admin-acts">
                <p class="cw-account-note" dir="auto">{format!("{rating}{reason}")}</p>
                {keep_button(&view.summary.id, &message.id, &view.summary.title)}
            </div>
        }
    });
    let parts = message.parts.iter().map(part_view).collect_view();
    view! {
        <article class="cw-admin-message" aria-label=who id=format!("m-{}", message.id)>
            <h3>{who}</h3>
            {parts}
            {end_text(message, cause).map(|why| view! { <p class="cw-account-note">{why}</p> })}
            {feedback}
        </article>
    }
}

/// Returns why an answer ended; none if the model just finished.
fn end_text(message: &UiMessage, cause: Option<&String>) -> Option<String> {
    let reason = message.metadata.as_ref()?.get("reason")?.as_str()?;
    let reason = EndReason::named(reason);
    let why = (reason != EndReason::Done).then(|| reason_text(reason))?;
    Some(cause.map_or_else(|| why.to_owned(), |cause| format!("{why} ({})", value(cause))))
}

/// Returns a value in which hidden characters are visible.
fn value(text: &str) -> String {
    text_with_code_points(text, TextKind::Value).into_owned()
}

/// Returns a text of a user or an agent, in which the hidden characters that no script needs are visible.
fn prose(text: &str) -> String {
    text_with_code_points(text, TextKind::Prose).into_owned()
}

fn part_view(part: &UiPart) -> AnyView {
    match part {
        UiPart::Text(text) => view! { <p class="cw-admin-text" dir="auto">{prose(&text.text)}</p> }.into_any(),
        // Signatures and encrypted reasoning have no text.
        UiPart::Reasoning(text) if text.text.trim().is_empty() => ().into_any(),
        UiPart::Reasoning(text) => view! {
            <details class="cw-admin-call">
                <summary>"Reasoning"</summary>
                <p class="cw-admin-text" dir="auto">{prose(&text.text)}</p>
            </details>
        }
        .into_any(),
        UiPart::Tool(tool) => call_view(tool).into_any(),
        UiPart::File(file) => {
            let name = value(file.filename.as_ref().unwrap_or(&file.media_type));
            view! { <p class="cw-account-note">{format!("File: {name}")}</p> }.into_any()
        }
        UiPart::SourceUrl(source) => {
            view! { <p class="cw-account-note">{format!("Source: {}", value(&source.url))}</p> }.into_any()
        }
        UiPart::Data(data) if data.kind == CONTEXT_EDITS => {
            let line = |edit: ContextEdit| edit.said(locale::Text::english, |count| number(count as f64));
            let lines = ContextEdit::all_of(&data.data).into_iter().map(line);
            lines.map(|line| view! { <p class="cw-account-note">{line}</p> }).collect_view().into_any()
        }
        UiPart::Data(data) if data.kind == HANDED_OVER => {
            view! { <p class="cw-account-note">{handed_over_line(data).map(prose)}</p> }.into_any()
        }
        UiPart::Data(data) => ProviderOutput::of(data).map(output_view).into_any(),
        _ => ().into_any(),
    }
}

/// Renders an item of a provider's reply that no other part shows.
fn output_view(output: ProviderOutput<'_>) -> AnyView {
    view! {
        <details class="cw-admin-call">
            <summary>{format!("{} ({})", value(output.name), value(output.provider))}</summary>
            <pre tabindex="0" aria-label="Content">{json_excerpt(output.content)}</pre>
        </details>
    }
    .into_any()
}

fn call_view(tool: &ToolPart) -> impl IntoView + use<> {
    let input = tool.input.as_ref().or(tool.raw_input.as_ref()).map(json_excerpt);
    let output = tool.output.as_ref().map(json_excerpt).or_else(|| tool.error_text.as_deref().map(value));
    view! {
        <details class="cw-admin-call">
            <summary>{format!("{}: {}", value(&tool.tool_name), state_text(tool.state))}</summary>
            {input.map(|input| view! { <pre tabindex="0" aria-label="Arguments">{input}</pre> })}
            {output.map(|output| view! { <pre tabindex="0" aria-label="Result">{output}</pre> })}
        </details>
    }
}

fn state_text(state: ToolState) -> &'static str {
    match state {
        ToolState::OutputAvailable => "done",
        ToolState::OutputError => "failed",
        ToolState::OutputDenied => "denied",
        ToolState::ApprovalRequested => "waiting for approval",
        _ => "not finished",
    }
}

/// Returns the beginning of a value as JSON, with escapes for hidden characters.
fn json_excerpt(value: &Value) -> String {
    let text = escaped_json(&serde_json::to_string_pretty(value).unwrap_or_default());
    shortened(&text, MAX_SHOWN)
}

fn calls_table(calls: Vec<AuditRow>, names: &UserNames) -> AnyView {
    let columns =
        [Text("Tool or action"), Text("User"), Text("Ended (UTC)"), Text("Outcome"), Text("Gates"), Number("Time")];
    let line = |row: AuditRow| {
        [
            text(row.tool),
            names.view(&row.user_id),
            text(minute(row.at)),
            text(row.outcome),
            text(crate::audit::gates_text(&row.gates)),
            text(row.duration_ms.map(|ms| seconds(ms as f64)).unwrap_or_default()),
        ]
    };
    table(columns, calls.into_iter().map(line), "The audit log has no entries for this conversation.")
}

/// Renders the table of model requests.
fn steps_table(steps: Vec<StepRecord>) -> AnyView {
    let columns = [
        Text("Model"),
        Text("Agent"),
        Text("Ended (UTC)"),
        Text("Finish reason"),
        Number("Input tokens"),
        Number("From cache"),
        Number("Output tokens"),
        Number("Cost"),
        Number("Saved"),
        Number("Time"),
    ];
    let line = |step: StepRecord| {
        [
            text(step.model),
            text(step.agent_id),
            text(minute(step.at)),
            text(step.finish_reason),
            text(number(step.usage.input_tokens as f64)),
            text(number(step.usage.cache_read_tokens as f64)),
            text(number(step.usage.output_tokens as f64)),
            text(step.cost_usd.map(dollars).unwrap_or_default()),
            text(step.saved_usd.map(signed_dollars).unwrap_or_default()),
            text(seconds(step.whole_ms as f64)),
        ]
    };
    table(columns, steps.into_iter().map(line), "No model requests.")
}
