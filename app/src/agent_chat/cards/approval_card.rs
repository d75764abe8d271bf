//! The card that asks the user to approve a tool call.

use super::labels::{call_label, sub_agent_request};
use super::standing_state::StandingApprovalState;
use super::sub_agent_output::SubAgentOutput;
use super::tool_name::tool_label;
use crate::agent_chat::session::Session;
use crate::approval::is_early;
use crate::approval::unseen_arguments::UnseenArguments;
use crate::approval::value::argument_nodes;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::dates::local_time;
use crate::ui::hidden_characters::escaped_json;
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, KeyboardEvent, SubmitEvent};
use serde_json::{Map, Value};
use std::time::Duration;
use wire::api::{Answer, ApprovalScope};
use wire::{Exposure, ToolPart, arguments_hash};

/// The number of rows of the text field for changed arguments.
const MIN_ROWS: usize = 6;
const MAX_ROWS: usize = 40;

/// A request for approval. A second request about the same call is a different value and gets a
/// card of its own, so that a decision always applies to what the user has read.
#[derive(Clone, PartialEq)]
pub(in crate::agent_chat) struct ApprovalQuestion {
    approval_id: Option<String>,
    call_id: String,
    heading: String,
    /// Why the approval is needed.
    pub(in crate::agent_chat) note: String,
    pub(in crate::agent_chat) input: Option<Value>,
    /// The hash of the arguments that are shown. The server compares it with the arguments that
    /// would run.
    input_hash: String,
    /// Arguments that are hidden until the user opens them.
    pub(in crate::agent_chat) hidden_input: Option<Value>,
    /// Whether the arguments are the call's own, which the user may change.
    is_own: bool,
    /// Whether the user may grant a standing approval.
    pub(in crate::agent_chat) may_remember: bool,
    /// When the request expires; Unix time in milliseconds.
    expires_at: Option<i64>,
    /// Whether the user is asked to run an interrupted call again.
    pub(in crate::agent_chat) is_cut_off: bool,
}

impl ApprovalQuestion {
    /// The request of a waiting call: to run it, or to run a call of its sub-agent.
    pub(in crate::agent_chat) fn for_call(tool: &ToolPart) -> Self {
        let waiting = SubAgentOutput::from_output(tool.output.as_ref()).and_then(SubAgentOutput::pending_call);
        let is_own = waiting.is_none();
        let (heading, note, input) = match (sub_agent_request(tool), waiting) {
            (Some(wish), Some((_, input))) => (wish, t(Text::ItAsksApproval), input),
            _ => (call_label(tool), t(Text::AgentAsksApproval), tool.input.as_ref()),
        };
        let is_cut_off = tool.cut_off().is_some();
        let note = if is_cut_off { t(Text::CutOffNote) } else { note };
        let terms = tool.approval.as_ref().and_then(|approval| approval.terms.as_ref());
        let input_hash = arguments_hash(input.unwrap_or(&Value::Null));
        let (input, rest) = split_arguments(input, tool.visible_parameters());
        Self {
            approval_id: tool.approval.as_ref().map(|approval| approval.id.clone()),
            call_id: tool.tool_call_id.clone(),
            heading,
            note: match terms.and_then(|terms| terms.exposed.as_ref()) {
                Some(exposed) if is_cut_off => format!("{note} {}", exposure_warning(exposed)),
                Some(exposed) => exposure_warning(exposed),
                None => note.to_owned(),
            },
            input: input.filter(|input| !is_blank(input)),
            input_hash,
            hidden_input: rest,
            is_own: is_own && !is_cut_off,
            is_cut_off,
            may_remember: terms.is_some_and(|terms| terms.may_remember == Some(true)),
            expires_at: terms.and_then(|terms| terms.expires_at),
        }
    }
}

/// Asks the user for a decision and shows all arguments. Nothing is preselected and the card does
/// not take the focus, so that Enter pressed in the composer cannot approve a call.
#[component]
pub(in crate::agent_chat) fn ApprovalCard(
    /// The request.
    ask: ApprovalQuestion,
) -> AnyView {
    let (session, standing) = (expect_context::<Session>(), expect_context::<StandingApprovalState>());
    let note = RwSignal::new(String::new());
    let ApprovalQuestion {
        approval_id,
        call_id,
        heading,
        note: about,
        input,
        input_hash,
        hidden_input,
        is_own,
        may_remember,
        expires_at,
        is_cut_off,
    } = ask;
    let unseen = UnseenArguments::for_arguments(input.as_ref(), hidden_input.as_ref(), &call_id);
    unseen.watch();
    let [begin, end] = unseen.ends();
    let hidden_view = hidden_input.as_ref().map(|hidden| hidden_input_view(hidden, input.as_ref()));
    let rest = StoredValue::new(hidden_input);
    let (label, no, yes) = if is_cut_off {
        (Text::CutOffLabel, t(Text::Skip), t(Text::RunAgain))
    } else {
        (Text::ApprovalLabel, t(Text::Deny), t(Text::Approve))
    };
    let scope = RwSignal::new(String::new());
    let approval_id = StoredValue::new(approval_id);
    let call_id = StoredValue::new(call_id);
    let input_hash = StoredValue::new(input_hash);
    // The arguments as edited by the user; none while they are unchanged.
    let (draft, fault) = (RwSignal::new(None::<String>), RwSignal::new(""));
    let decide = move |approved: bool| {
        let changed = match draft.get_untracked().filter(|_| approved).map(|text| arguments(&text)) {
            Some(None) => return fault.set(t(Text::NotAnObject)),
            Some(changed) => changed,
            None => None,
        };
        let note = note.get_untracked().trim().to_owned();
        let remember = remember_scope(&scope.get_untracked()).filter(|_| approved);
        if remember.is_some() {
            standing.set_any(true);
        }
        session.decide(Answer::Approval {
            tool_call_id: call_id.get_value(),
            approval_id: approval_id.get_value(),
            approved,
            input_hash: approved.then(|| input_hash.get_value()),
            reason: (!note.is_empty()).then_some(note),
            input: changed,
            remember,
        });
    };
    let no_enter = |event: KeyboardEvent| {
        if event.key() == "Enter" {
            event.prevent_default();
        }
    };
    let busy = || move || session.is_busy();
    let early = is_early();
    let too_early = move || early.get() || session.is_busy() || unseen.are_any();
    let label = fill(label, &[&heading]);
    view! {
        <div role="group" aria-label=label>
        <form class="cw-approval" on:submit=|event: SubmitEvent| event.prevent_default()>
            <div class="cw-approval-head">
                <span class="cw-tool-icon"><Icon of=Shape::SHIELD /></span>
                <p>
                    <strong>{heading}</strong>
                    <span>{about}{expires_at.map(|at| deadline(session, at))}</span>
                </p>
            </div>
            <div class="cw-approval-arguments" node_ref=unseen.area() on:click=move |_| unseen.recount()>
                {begin}
                {input.map(|input| view! { <Arguments input rest is_own draft fault unseen /> })}
                {hidden_view}
                {end}
            </div>
            {unseen.view()}
            <div class="cw-approval-actions">
                <input
                    class="cw-approval-note"
                    type="text"
                    dir="auto"
                    maxlength="500"
                    placeholder=t(Text::NoteForAgent)
                    aria-label=t(Text::NoteForAgent)
                    autocomplete="off"
                    prop:value=move || note.get()
                    on:input=move |event: Event| note.set(event_target_value(&event))
                    on:keydown=no_enter
                />
                <button type="button" class="cw-button" disabled=busy() on:click=move |_| decide(false)>
                    {no}
                </button>
                {may_remember.then(|| scope_select(scope))}
                <button
                    type="button"
                    class="cw-button cw-primary"
                    disabled=too_early
                    aria-describedby=move || unseen.id()
                    on:click=move |_| decide(true)
                >
                    {yes}
                </button>
            </div>
        </form>
        </div>
    }
    .into_any()
}

/// The warning about a tool that can send private data to others, in words for non-experts.
fn exposure_warning(exposed: &Exposure) -> String {
    let from = |tool: &Option<String>| tool_label(tool.as_deref().unwrap_or_default());
    fill(Text::ExposedWarning, &[&from(&exposed.private), &from(&exposed.untrusted)])
}

/// Splits the arguments into those that are shown and those that are hidden.
fn split_arguments(input: Option<&Value>, visible: Option<&[String]>) -> (Option<Value>, Option<Value>) {
    let (Some(Value::Object(all)), Some(visible)) = (input, visible) else { return (input.cloned(), None) };
    let (shown, rest): (Map<_, _>, Map<_, _>) = all.clone().into_iter().partition(|(key, _)| visible.contains(key));
    (Some(shown.into()), (!rest.is_empty()).then(|| rest.into()))
}

/// The hidden arguments, in a section that the user must open before the call can be approved.
fn hidden_input_view(rest: &Value, shown: Option<&Value>) -> AnyView {
    view! {
        <details class="cw-approval-rest">
            <summary>{t(Text::OtherArguments)}</summary>
            <div class="cw-approval-input">{argument_nodes(rest, shown)}</div>
        </details>
    }
    .into_any()
}

/// The choice of how long an approval is valid: once, in this conversation, or always. The default
/// is once.
fn scope_select(scope: RwSignal<String>) -> AnyView {
    let change = move |event: Event| scope.set(event_target_value(&event));
    view! {
        <div class="cw-select">
            <select class="cw-quiet-select" aria-label=t(Text::ApprovalHolds) on:change=change>
                <option value="">{t(Text::Once)}</option>
                <option value="conversation">{t(Text::InThisConversation)}</option>
                <option value="always">{t(Text::Always)}</option>
            </select>
        </div>
    }
    .into_any()
}

fn remember_scope(scope: &str) -> Option<ApprovalScope> {
    match scope {
        "conversation" => Some(ApprovalScope::Conversation),
        "always" => Some(ApprovalScope::Always),
        _ => None,
    }
}

/// The time at which the request expires, in the user's time zone. When it has passed, the
/// conversation is reloaded to show the state on the server.
fn deadline(session: Session, at: i64) -> AnyView {
    let words = RwSignal::new(String::new());
    Effect::new(move |_| {
        words.set(fill(Text::TimeUntil, &[&local_time(at)]));
        // 500 ms later, so that the request has expired on the server as well.
        let left = (at - js_sys::Date::now() as i64).max(0) + 500;
        if let Ok(left) = i32::try_from(left)
            && let Ok(timer) = set_timeout_with_handle(
                move || session.reload_expired(),
                Duration::from_millis(left.unsigned_abs().into()),
            )
        {
            on_cleanup(move || timer.clear());
        }
    });
    (move || words.get()).into_any()
}

/// Parses the arguments that the user has edited; none if they are no JSON object.
fn arguments(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

/// Shows the arguments. They become a text field when the user edits them.
#[component]
fn Arguments(
    /// The arguments of the call that are shown at once.
    input: Value,
    /// The others.
    rest: StoredValue<Option<Value>>,
    /// Whether the user may change them.
    is_own: bool,
    /// The arguments as edited by the user.
    draft: RwSignal<Option<String>>,
    /// The error in the edited arguments.
    fault: RwSignal<&'static str>,
    /// The arguments that the user has not seen yet. Until then they cannot be changed, because a text
    /// field shows only a part of a long text.
    unseen: UnseenArguments,
) -> AnyView {
    let input = StoredValue::new(input);
    let is_edited = Memo::new(move |_| draft.with(Option::is_some));
    let edit = move |_| {
        draft.set(Some(input.with_value(|input| escaped_json(&format!("{input:#}")))));
    };
    let change = move |event: Event| {
        draft.set(Some(event_target_value(&event)));
        fault.set("");
    };
    (move || {
        if !is_edited.get() {
            let button = is_own.then(|| {
                view! {
                    <button
                        type="button"
                        class="cw-button cw-approval-edit"
                        disabled=move || unseen.are_any()
                        aria-describedby=move || unseen.id()
                        on:click=edit
                    >
                        <Icon of=Shape::PENCIL />
                        {t(Text::Change)}
                    </button>
                }
            });
            let shown = input.with_value(|input| rest.with_value(|rest| argument_nodes(input, rest.as_ref())));
            return view! {
                <div class="cw-approval-input">
                    {shown}
                    {button}
                </div>
            }
            .into_any();
        }
        let text = draft.get_untracked().unwrap_or_default();
        let rows = text.lines().count().clamp(MIN_ROWS, MAX_ROWS).to_string();
        view! {
            <div class="cw-approval-input">
                <textarea
                    class="cw-approval-text"
                    dir="ltr"
                    aria-label=t(Text::ArgumentsAsJson)
                    spellcheck="false"
                    rows=rows
                    prop:value=text
                    on:input=change
                ></textarea>
                <p class="cw-approval-fault" role="alert">{move || fault.get().to_owned()}</p>
            </div>
        }
        .into_any()
    })
    .into_any()
}

fn is_blank(input: &Value) -> bool {
    input.is_null() || input.as_object().is_some_and(Map::is_empty)
}
