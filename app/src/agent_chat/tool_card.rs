//! A tool call: what it is, how it stands; its input and result on request.

use super::approval_card::ApprovalCard;
use super::question_card::{QuestionCard, is_question};
use super::session::PAGE_STATE_TOOL;
use super::value::value_nodes;
use super::words::{tool_name, tool_state};
use crate::erase::{Erase, attribute, dynamic, text};
use crate::icons::{Icon, Shape};
use crate::node::{Node, drawn, element};
use leptos::prelude::*;
use serde_json::Value;
use wire::question::ASK_USER;
use wire::{ToolPart, ToolState};

/// A tool call. While it waits for the user it is a question.
#[component]
pub(super) fn ToolCard(
    /// The call.
    tool: ArcRwSignal<ToolPart>,
) -> impl IntoView {
    let waits = {
        let tool = tool.clone();
        Memo::new(move |_| tool.with(waits_for))
    };
    dynamic(move || {
        let tool = tool.clone();
        match waits.get() {
            Wait::Decision => view! { <ApprovalCard tool /> }.erase(),
            Wait::Answer => view! { <QuestionCard tool /> }.erase(),
            Wait::Nothing => view! { <CallCard tool /> }.erase(),
        }
    })
}

/// What a call wants of the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Decision,
    Answer,
    Nothing,
}

fn waits_for(tool: &ToolPart) -> Wait {
    match tool.state {
        ToolState::ApprovalRequested => Wait::Decision,
        _ if is_question(tool) => Wait::Answer,
        _ => Wait::Nothing,
    }
}

#[component]
fn CallCard(tool: ArcRwSignal<ToolPart>) -> impl IntoView {
    let tool = ArcMemo::new(move |_| tool.get());
    let words = |what: fn(&ToolPart) -> String| {
        let tool = tool.clone();
        text(move || tool.with(what))
    };
    let (name, detail, state) = (words(tool_name), words(summary), words(|tool| tool_state(tool).into()));
    let shape = {
        let tool = tool.clone();
        // Not drawn anew with each piece of the input: a spinner would begin to turn again.
        let shape = Memo::new(move |_| tool.with(icon));
        dynamic(move || view! { <Icon of=shape.get() /> }.erase())
    };
    let kind = {
        let tool = tool.clone();
        attribute(move || Some(tool.with(kind).to_owned()))
    };
    view! {
        <details class="cw-tool" data-state=kind>
            <summary>
                <span class="cw-tool-icon">{shape}</span>
                <span class="cw-tool-name">{name}</span>
                <span class="cw-tool-summary">{detail}</span>
                <span class="cw-tool-state">{state}</span>
                <span class="cw-chevron"><Icon of=Shape::Chevron /></span>
            </summary>
            <div class="cw-tool-body">{drawn(move || tool.with(body))}</div>
        </details>
    }
    .erase()
}

/// For the style: how loud the card is.
fn kind(tool: &ToolPart) -> &'static str {
    match tool.state {
        ToolState::InputStreaming | ToolState::InputAvailable | ToolState::ApprovalRequested => "running",
        ToolState::ApprovalResponded if tool_state(tool) == "Approved" => "running",
        ToolState::ApprovalResponded | ToolState::OutputDenied => "denied",
        ToolState::OutputAvailable => "done",
        ToolState::OutputError if tool.tool_name == ASK_USER => "denied",
        ToolState::OutputError => "failed",
    }
}

fn icon(tool: &ToolPart) -> Shape {
    match kind(tool) {
        "running" => Shape::Spinner,
        "denied" => Shape::Denied,
        "failed" => Shape::Warning,
        _ if tool.tool_name == PAGE_STATE_TOOL => Shape::Pencil,
        _ => Shape::Check,
    }
}

/// The call in a few words: of the page's fields how many were written, of other calls the first argument, if it is short.
fn summary(tool: &ToolPart) -> String {
    if tool.tool_name == PAGE_STATE_TOOL {
        return fields_written(tool);
    }
    let first = tool.input.as_ref().and_then(|input| {
        if tool.tool_name == ASK_USER { input.get("question") } else { input.as_object()?.values().next() }
    });
    let text = first.and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if text.len() <= 80 && !text.contains('\n') { text.to_owned() } else { String::new() }
}

fn fields_written(tool: &ToolPart) -> String {
    let count = |list: &str| tool.output.as_ref().and_then(|output| output.get(list)?.as_array()).map_or(0, Vec::len);
    if tool.state != ToolState::OutputAvailable {
        return String::new();
    }
    let refused = count("refused") + count("ignored");
    let fields = |count: usize| if count == 1 { "1 field".to_owned() } else { format!("{count} fields") };
    match (count("written"), refused) {
        (written, 0) => fields(written),
        (0, refused) => format!("{} refused", fields(refused)),
        (written, refused) => format!("{}, {refused} refused", fields(written)),
    }
}

fn body(tool: &ToolPart) -> Vec<Node> {
    let section = |title: &'static str, content: Vec<Node>| {
        let heading = std::iter::once(element("h4").text(title));
        element("section").around(heading.chain(content).collect())
    };
    let is_empty = |value: &&Value| value.as_object().is_some_and(serde_json::Map::is_empty);
    let input = tool.input.as_ref().or(tool.raw_input.as_ref());
    let shown_input = match input {
        // The values are what matters, not that they are wrapped.
        Some(input) if tool.tool_name == PAGE_STATE_TOOL => input.get("updates").or(Some(input)),
        input => input,
    };
    let mut sections = Vec::new();
    if let Some(input) = shown_input.filter(|input| !is_empty(input)) {
        sections.push(section("Input", value_nodes(input)));
    }
    if let Some(output) = &tool.output {
        sections.push(section("Result", value_nodes(output)));
    }
    if let Some(error) = &tool.error_text {
        let error = element("p").with("class", "cw-tool-error").with("dir", "auto").text(error.as_str());
        sections.push(section("What went wrong", vec![error]));
    }
    let reason = tool.approval.as_ref().and_then(|approval| approval.reason.clone());
    if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
        sections.push(section("Your note", vec![element("p").with("dir", "auto").text(reason)]));
    }
    if sections.is_empty() {
        sections.push(element("p").with("class", "cw-value-word").text("Nothing to show yet."));
    }
    sections
}
