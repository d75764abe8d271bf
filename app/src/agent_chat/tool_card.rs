//! A tool call: what it is, how it stands; its input and result on request.

use super::approval_card::{ApprovalCard, Ask};
use super::card::{Card, failure, section};
use super::progress::Progress;
use super::question_card::{QuestionCard, is_question};
use super::session::{PAGE_STATE_TOOL, Session};
use super::sub_agent::{self, SubAgent};
use super::tool_result::{is_for_eyes, result_nodes};
use super::value::{json_node, value_nodes};
use super::words::{Standing, first_argument, is_expired, short, tool_name, tool_state};
use crate::icons::Shape;
use crate::markdown::on_click;
use crate::node::{Node, drawn, element};
use crate::prelude::*;
use crate::texts::{self, Text, fill, t};
use crate::visible::{self, Kind};
use serde_json::{Map, Value};
use wire::page::ResultDisplay;
use wire::question::ASK_USER;
use wire::{ToolPart, ToolState};

/// A tool call. While it waits for the user it is a question; an agent's work stays in sight above it.
#[component]
pub(super) fn ToolCard(
    /// The call.
    tool: ArcRwSignal<ToolPart>,
) -> AnyView {
    let memo = |what: fn(&ToolPart) -> Wait| {
        let tool = tool.clone();
        Memo::new(move |_| tool.with(what))
    };
    let waits = memo(waits_for);
    let called = tool.clone();
    let session = expect_context::<Session>();
    let (shows_early, shows_calls) =
        session.display(|display| (display.show_tool_input_streaming, display.show_thought_chain));
    let is_shown = Memo::new(move |_| {
        if !shows_calls && !called.with(|tool| tool.output.as_ref().is_some_and(is_for_eyes)) {
            return false;
        }
        if !shows_early && called.with(|tool| tool.state == ToolState::InputStreaming) {
            return false;
        }
        waits.with(|waits| *waits == Wait::Nothing) || called.with(|tool| SubAgent::of(tool.output.as_ref()).is_some())
    });
    let asked = tool.clone();
    let card = move || {
        let tool = tool.clone();
        is_shown.get().then(|| view! { <CallCard tool /> }.into_any())
    };
    let question = move || {
        let tool = asked.clone();
        match waits.get() {
            Wait::Decision(ask) => Some(view! { <ApprovalCard ask=*ask /> }.into_any()),
            Wait::Answer => Some(view! { <QuestionCard tool /> }.into_any()),
            Wait::Nothing => None,
        }
    };
    (card, question).into_any()
}

/// What a call wants of the user.
#[derive(Clone, PartialEq)]
enum Wait {
    Decision(Box<Ask>),
    Answer,
    Nothing,
}

fn waits_for(tool: &ToolPart) -> Wait {
    match tool.state {
        ToolState::ApprovalRequested => Wait::Decision(Box::new(Ask::of(tool))),
        _ if is_question(tool) => Wait::Answer,
        _ => Wait::Nothing,
    }
}

#[component]
fn CallCard(tool: ArcRwSignal<ToolPart>) -> AnyView {
    let session = expect_context::<Session>();
    let results = tool.with_untracked(|tool| session.display(|display| display.results_of(&tool.tool_name)));
    view! {
        <div class="cw-call" on:click=on_click>
            {drawn(move || vec![tool.with(|tool| card(tool, results).node())])}
        </div>
    }
    .into_any()
}

/// The call as it stands.
pub(super) fn card(tool: &ToolPart, results: ResultDisplay) -> Card {
    let (standing, state) = tool_state(tool);
    let progress = progress(tool);
    let is_page_state = tool.tool_name == PAGE_STATE_TOOL && standing == Standing::Done;
    Card {
        standing,
        icon: if is_page_state { Shape::Pencil } else { standing.shape() },
        name: tool_name(tool),
        detail: summary(tool),
        bar: progress.and_then(Progress::bar),
        state: vec![Node::Text(state.to_owned())],
        open: standing == Standing::Done && tool.output.as_ref().is_some_and(|output| is_open(output, results)),
        body: body(tool, progress, results),
    }
}

/// Whether a result is seen without asking for it.
fn is_open(output: &Value, results: ResultDisplay) -> bool {
    match results {
        ResultDisplay::Summary => is_for_eyes(output),
        ResultDisplay::Full | ResultDisplay::Readable => true,
        ResultDisplay::None => false,
    }
}

/// The call in a few words: of a running one how far it is; of the page's fields how many were written; of other calls the first
/// argument.
fn summary(tool: &ToolPart) -> String {
    if tool.tool_name == PAGE_STATE_TOOL {
        return fields_written(tool);
    }
    let now = SubAgent::of(tool.output.as_ref())
        .map(SubAgent::doing)
        .or_else(|| progress(tool).map(Progress::words))
        .unwrap_or_default();
    if !now.is_empty() {
        return now;
    }
    match &tool.input {
        Some(input) if tool.tool_name == ASK_USER => short(input.get("question")),
        input => first_argument(input.as_ref()),
    }
}

/// What a running call tells of itself, instead of a result.
fn progress(tool: &ToolPart) -> Option<Progress<'_>> {
    let is_running = tool.state == ToolState::OutputAvailable && tool.preliminary == Some(true);
    Progress::of(tool.output.as_ref().filter(|_| is_running))
}

fn fields_written(tool: &ToolPart) -> String {
    let count = |list: &str| tool.output.as_ref().and_then(|output| output.get(list)?.as_array()).map_or(0, Vec::len);
    if tool.state != ToolState::OutputAvailable {
        return String::new();
    }
    let refused = count("refused") + count("ignored");
    let fields =
        |count: usize| if count == 1 { t(Text::FieldOne).to_owned() } else { texts::count(Text::FieldCount, count) };
    match (count("written"), refused) {
        (written, 0) => fields(written),
        (0, refused) => fill(Text::FieldsRefused, &[&fields(refused)]),
        (written, refused) => fields(written) + ", " + &fill(Text::FieldsRefused, &[&refused.to_string()]),
    }
}

fn body(tool: &ToolPart, progress: Option<Progress<'_>>, results: ResultDisplay) -> Vec<Node> {
    let is_empty = |value: &&Value| value.as_object().is_some_and(Map::is_empty);
    let agent = SubAgent::of(tool.output.as_ref());
    let input = tool.input.as_ref().or(tool.raw_input.as_ref());
    let shown_input = match input {
        // The values are what matters, not that they are wrapped.
        Some(input) if tool.tool_name == PAGE_STATE_TOOL => input.get("updates").or(Some(input)),
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
        (Some(output), None) => sections.push(section(t(Text::Result), result_nodes(output, &tool_name(tool)))),
        _ => {}
    }
    let now = progress.map(Progress::words).filter(|now| !now.is_empty());
    sections.extend(now.map(|now| section(t(Text::SoFar), value_nodes(&now.into()))));
    if let Some(error) = &tool.error_text {
        sections.push(failure(error));
    }
    if is_expired(tool) {
        sections.push(element("p").with("class", "cw-value-word").text(t(Text::ExpiredHelp)));
    }
    let is_passed_over = tool.is_passed_over();
    if is_passed_over {
        sections.push(element("p").with("class", "cw-value-word").text(t(Text::PassedOverHelp)));
    }
    let reason = tool.approval.as_ref().and_then(|approval| approval.reason.clone());
    if let Some(reason) = reason.filter(|reason| !reason.is_empty() && !is_expired(tool) && !is_passed_over) {
        sections.push(section(
            t(Text::YourNote),
            vec![element("p").with("dir", "auto").around(visible::nodes(&reason, Kind::Prose))],
        ));
    }
    if sections.is_empty() {
        let words = if results == ResultDisplay::None { t(Text::NothingToShow) } else { t(Text::NothingYet) };
        sections.push(element("p").with("class", "cw-value-word").text(words));
    }
    sections
}
