//! The card of a tool call: its name and status, and its input and result when opened.

use super::approval_card::{ApprovalCard, ApprovalQuestion};
use super::card::{Card, failure, section};
use super::labels::{CallStatus, call_label, call_status, first_argument, is_expired, short_text};
use super::progress::CallProgress;
use super::question_card::{QuestionCard, is_question};
use super::sub_agent;
use super::sub_agent_output::SubAgentOutput;
use super::tool_result::{is_media, result_nodes};
use crate::agent_chat::session::Session;
use crate::approval::value::{json_node, value_nodes};
use crate::markdown::on_click;
use crate::prelude::*;
use crate::texts;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters;
use crate::ui::hidden_characters::TextKind;
use crate::ui::icons::Shape;
use crate::ui::node::{Node, element, reactive_nodes};
use serde_json::{Map, Value};
use wire::page::ResultDisplay;
use wire::page::UPDATE_PAGE_STATE;
use wire::question::ASK_USER;
use wire::{ToolPart, ToolState};

/// A tool call. While it waits for the user, the question is shown; a sub-agent's work stays
/// visible above it.
#[component]
pub(in crate::agent_chat) fn ToolCard(
    /// The call.
    tool: ArcRwSignal<ToolPart>,
) -> AnyView {
    let memo = |what: fn(&ToolPart) -> UserRequest| {
        let tool = tool.clone();
        Memo::new(move |_| tool.with(what))
    };
    let waits = memo(user_request);
    let called = tool.clone();
    let session = expect_context::<Session>();
    let (shows_early, shows_calls) =
        session.display(|display| (display.show_tool_input_streaming, display.show_thought_chain));
    let is_shown = Memo::new(move |_| {
        if !shows_calls && !called.with(|tool| tool.output.as_ref().is_some_and(is_media)) {
            return false;
        }
        if !shows_early && called.with(|tool| tool.state == ToolState::InputStreaming) {
            return false;
        }
        waits.with(|waits| *waits == UserRequest::Nothing)
            || called.with(|tool| SubAgentOutput::from_output(tool.output.as_ref()).is_some())
    });
    let asked = tool.clone();
    let card = move || {
        let tool = tool.clone();
        is_shown.get().then(|| view! { <CallCard tool /> }.into_any())
    };
    let question = move || {
        let tool = asked.clone();
        match waits.get() {
            UserRequest::Decision(ask) => Some(view! { <ApprovalCard ask=*ask /> }.into_any()),
            UserRequest::Answer => Some(view! { <QuestionCard tool /> }.into_any()),
            UserRequest::Nothing => None,
        }
    };
    (card, question).into_any()
}

/// The input that a call waits for.
#[derive(Clone, PartialEq)]
enum UserRequest {
    Decision(Box<ApprovalQuestion>),
    Answer,
    Nothing,
}

fn user_request(tool: &ToolPart) -> UserRequest {
    match tool.state {
        ToolState::ApprovalRequested => UserRequest::Decision(Box::new(ApprovalQuestion::for_call(tool))),
        _ if is_question(tool) => UserRequest::Answer,
        _ => UserRequest::Nothing,
    }
}

#[component]
fn CallCard(tool: ArcRwSignal<ToolPart>) -> AnyView {
    let session = expect_context::<Session>();
    let results = tool.with_untracked(|tool| session.display(|display| display.results_of(&tool.tool_name)));
    view! {
        <div class="cw-call" on:click=on_click>
            {reactive_nodes(move || vec![tool.with(|tool| card(tool, results).node())])}
        </div>
    }
    .into_any()
}

/// The card of a call in its current state.
pub(in crate::agent_chat) fn card(tool: &ToolPart, results: ResultDisplay) -> Card {
    let (standing, state) = call_status(tool);
    let progress = progress(tool);
    let is_page_state = tool.tool_name == UPDATE_PAGE_STATE && standing == CallStatus::Done;
    Card {
        status: standing,
        icon: if is_page_state { Shape::PENCIL } else { standing.shape() },
        name: call_label(tool),
        detail: summary(tool),
        bar: progress.and_then(CallProgress::bar),
        state: vec![Node::Text(state.to_owned())],
        open: standing == CallStatus::Done && tool.output.as_ref().is_some_and(|output| is_open(output, results)),
        body: body(tool, progress, results),
    }
}

/// Whether a result is shown without opening the card.
fn is_open(output: &Value, results: ResultDisplay) -> bool {
    match results {
        ResultDisplay::Summary => is_media(output),
        ResultDisplay::Full | ResultDisplay::Readable => true,
        ResultDisplay::None => false,
    }
}

/// A short description of the call: the progress of a running call, the number of fields written to
/// the page, or else the first argument.
fn summary(tool: &ToolPart) -> String {
    if tool.tool_name == UPDATE_PAGE_STATE {
        return fields_written(tool);
    }
    let now = SubAgentOutput::from_output(tool.output.as_ref())
        .map(SubAgentOutput::activity)
        .or_else(|| progress(tool).map(CallProgress::text))
        .unwrap_or_default();
    if !now.is_empty() {
        return now;
    }
    match &tool.input {
        Some(input) if tool.tool_name == ASK_USER => short_text(input.get("question")),
        input => first_argument(input.as_ref()),
    }
}

/// The progress that a running call reports instead of a result.
fn progress(tool: &ToolPart) -> Option<CallProgress<'_>> {
    let is_running = tool.state == ToolState::OutputAvailable && tool.preliminary == Some(true);
    CallProgress::from_output(tool.output.as_ref().filter(|_| is_running))
}

fn fields_written(tool: &ToolPart) -> String {
    let count = |list: &str| tool.output.as_ref().and_then(|output| output.get(list)?.as_array()).map_or(0, Vec::len);
    if tool.state != ToolState::OutputAvailable {
        return String::new();
    }
    let refused = count("refused") + count("ignored");
    let fields = |count: usize| {
        if count == 1 { t(Text::FieldOne).to_owned() } else { texts::fill_count(Text::FieldCount, count) }
    };
    match (count("written"), refused) {
        (written, 0) => fields(written),
        (0, refused) => fill(Text::FieldsRefused, &[&fields(refused)]),
        (written, refused) => fields(written) + ", " + &fill(Text::FieldsRefused, &[&refused.to_string()]),
    }
}

fn body(tool: &ToolPart, progress: Option<CallProgress<'_>>, results: ResultDisplay) -> Vec<Node> {
    let is_empty = |value: &&Value| value.as_object().is_some_and(Map::is_empty);
    let agent = SubAgentOutput::from_output(tool.output.as_ref());
    let input = tool.input.as_ref().or(tool.raw_input.as_ref());
    let shown_input = match input {
        // Shows the values without the object around them.
        Some(input) if tool.tool_name == UPDATE_PAGE_STATE => input.get("updates").or(Some(input)),
        Some(input) if agent.is_some() => Some(sub_agent::task(input)),
        input => input,
    };
    let mut sections = Vec::new();
    if let Some(input) = shown_input.filter(|input| !is_empty(input)) {
        sections.push(section(if agent.is_some() { t(Text::Task) } else { t(Text::Input) }, value_nodes(input)));
    }
    match (&tool.output, agent) {
        (_, Some(agent)) => sections.extend(agent.nodes(1)),
        (Some(_), None) if progress.is_some() || results == ResultDisplay::None => {}
        (Some(output), None) if results == ResultDisplay::Full => {
            let json = serde_json::to_string_pretty(output).unwrap_or_default();
            sections.push(section(t(Text::Result), vec![json_node(&json)]));
        }
        (Some(output), None) => sections.push(section(t(Text::Result), result_nodes(output, &call_label(tool)))),
        _ => {}
    }
    let now = progress.map(CallProgress::text).filter(|now| !now.is_empty());
    sections.extend(now.map(|now| section(t(Text::SoFar), value_nodes(&now.into()))));
    if let Some(error) = &tool.error_text {
        sections.push(failure(error));
    }
    if is_expired(tool) {
        sections.push(element("p").attr("class", "cw-value-word").text(t(Text::ExpiredHelp)));
    }
    let is_passed_over = tool.is_passed_over();
    if is_passed_over {
        sections.push(element("p").attr("class", "cw-value-word").text(t(Text::PassedOverHelp)));
    }
    let reason = tool.approval.as_ref().and_then(|approval| approval.reason.clone());
    if let Some(reason) = reason.filter(|reason| !reason.is_empty() && !is_expired(tool) && !is_passed_over) {
        sections.push(section(
            t(Text::YourNote),
            vec![element("p").attr("dir", "auto").children(hidden_characters::visible_nodes(&reason, TextKind::Prose))],
        ));
    }
    if sections.is_empty() {
        let words = if results == ResultDisplay::None { t(Text::NothingToShow) } else { t(Text::NothingYet) };
        sections.push(element("p").attr("class", "cw-value-word").text(words));
    }
    sections
}
