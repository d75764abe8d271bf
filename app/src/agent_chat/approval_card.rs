//! The question whether a tool may run.

use super::session::Session;
use super::standing::Standing;
use super::sub_agent::SubAgent;
use super::unseen::Unseen;
use super::value::value_nodes;
use super::words::{tool_name, tool_words, wish};
use crate::agent_conversations::when::moment;
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::visible::escaped_json;
use leptos::ev::{Event, KeyboardEvent, SubmitEvent};
use serde_json::{Map, Value};
use std::time::Duration;
use wire::api::{Answer, Remember};
use wire::{Exposure, ToolPart, arguments_hash};

/// A yes is taken so long after the question has come to stand where it stands: a click that was meant for what stood there before decides
/// nothing.
const READABLE_FOR: Duration = Duration::from_millis(500);

/// What is asked. Another question about the same call is another one: it gets a card of its own, so that no decision is about
/// something else than what was read.
#[derive(Clone, PartialEq)]
pub(super) struct Ask {
    approval_id: Option<String>,
    call_id: String,
    heading: String,
    /// Why it is asked.
    pub(super) note: String,
    pub(super) input: Option<Value>,
    /// Names the arguments that are shown, so that the server can tell whether they are those that would run.
    input_hash: String,
    /// Arguments that are shown on request only.
    pub(super) rest: Option<Value>,
    /// Whether they are the call's own arguments, which the user may change.
    is_own: bool,
    /// Whether a yes may hold for further calls.
    pub(super) may_remember: bool,
    /// Until when it can be decided; Unix time, milliseconds.
    expires_at: Option<i64>,
    /// Whether it is asked if a call that was cut off is made once more.
    pub(super) is_cut_off: bool,
}

impl Ask {
    /// The question that a call waits with: whether it may run, or whether a call of the agent that it asked may.
    pub(super) fn of(tool: &ToolPart) -> Self {
        let waiting = SubAgent::of(tool.output.as_ref()).and_then(SubAgent::waiting);
        let is_own = waiting.is_none();
        let (heading, note, input) = match (wish(tool), waiting) {
            (Some(wish), Some((_, input))) => (wish, t(Text::ItAsksApproval), input),
            _ => (tool_name(tool), t(Text::AgentAsksApproval), tool.input.as_ref()),
        };
        let is_cut_off = tool.cut_off().is_some();
        let note = if is_cut_off { t(Text::CutOffNote) } else { note };
        let terms = tool.approval.as_ref().and_then(|approval| approval.terms.as_ref());
        let input_hash = arguments_hash(input.unwrap_or(&Value::Null));
        let (input, rest) = split(input, tool.visible_parameters());
        Self {
            approval_id: tool.approval.as_ref().map(|approval| approval.id.clone()),
            call_id: tool.tool_call_id.clone(),
            heading,
            note: match terms.and_then(|terms| terms.exposed.as_ref()) {
                Some(exposed) if is_cut_off => format!("{note} {}", warning(exposed)),
                Some(exposed) => warning(exposed),
                None => note.to_owned(),
            },
            input: input.filter(|input| !is_blank(input)),
            input_hash,
            rest,
            is_own: is_own && !is_cut_off,
            is_cut_off,
            may_remember: terms.is_some_and(|terms| terms.may_remember == Some(true)),
            expires_at: terms.and_then(|terms| terms.expires_at),
        }
    }
}

/// Asks the user, with the arguments in full. Nothing is preselected, and nothing takes the focus by itself: an Enter that was
/// meant for the composer must not approve anything.
#[component]
pub(super) fn ApprovalCard(
    /// What is asked.
    ask: Ask,
) -> AnyView {
    let (session, standing) = (expect_context::<Session>(), expect_context::<Standing>());
    let note = RwSignal::new(String::new());
    let Ask {
        approval_id,
        call_id,
        heading,
        note: about,
        input,
        input_hash,
        rest,
        is_own,
        may_remember,
        expires_at,
        is_cut_off,
    } = ask;
    let unseen = Unseen::of(input.as_ref(), &call_id);
    let (label, no, yes) = match is_cut_off {
        true => (Text::CutOffLabel, t(Text::Skip), t(Text::RunAgain)),
        false => (Text::ApprovalLabel, t(Text::Deny), t(Text::Approve)),
    };
    let scope = RwSignal::new(String::new());
    let approval_id = StoredValue::new(approval_id);
    let call_id = StoredValue::new(call_id);
    let input_hash = StoredValue::new(input_hash);
    // The arguments as the user changes them; none while they are the agent's.
    let (draft, fault) = (RwSignal::new(None::<String>), RwSignal::new(""));
    let decide = move |approved: bool| {
        let changed = match draft.get_untracked().filter(|_| approved).map(|text| arguments(&text)) {
            Some(None) => return fault.set(t(Text::NotAnObject)),
            Some(changed) => changed,
            None => None,
        };
        let note = note.get_untracked().trim().to_owned();
        let remember = remembered(&scope.get_untracked()).filter(|_| approved);
        if remember.is_some() {
            standing.found(true);
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
    let early = RwSignal::new(true);
    Effect::new(move |_| {
        let end = move || {
            // The card may be gone by then.
            let _ = early.try_set(false);
        };
        set_timeout(end, READABLE_FOR);
    });
    let too_early = move || early.get() || session.is_busy() || unseen.are_any();
    let label = fill(label, &[&heading]);
    view! {
        <div role="group" aria-label=label>
        <form class="cw-approval" on:submit=|event: SubmitEvent| event.prevent_default()>
            <div class="cw-approval-head">
                <span class="cw-tool-icon"><Icon of=Shape::Shield /></span>
                <p>
                    <strong>{heading}</strong>
                    <span>{about}{expires_at.map(|at| deadline(session, at))}</span>
                </p>
            </div>
            {input.map(|input| view! { <Arguments input is_own draft fault unseen /> })}
            {unseen.view()}
            {rest.map(|rest| rest_view(&rest))}
            <div class="cw-approval-actions">
                <input
                    class="cw-approval-note"
                    type="text"
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
                {may_remember.then(|| scope_view(scope))}
                <button
                    type="button"
                    class="cw-button cw-primary"
                    disabled=too_early
                    aria-describedby=unseen.id()
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

/// Why it is asked about a tool that can send something away: in words for somebody who has never heard of it.
fn warning(exposed: &Exposure) -> String {
    let from = |tool: &Option<String>| tool_words(tool.as_deref().unwrap_or_default());
    fill(Text::ExposedWarning, &[&from(&exposed.private), &from(&exposed.untrusted)])
}

/// The arguments that are shown, and those that are shown on request.
fn split(input: Option<&Value>, visible: Option<&[String]>) -> (Option<Value>, Option<Value>) {
    let (Some(Value::Object(all)), Some(visible)) = (input, visible) else { return (input.cloned(), None) };
    let (shown, rest): (Map<_, _>, Map<_, _>) = all.clone().into_iter().partition(|(key, _)| visible.contains(key));
    (Some(shown.into()), (!rest.is_empty()).then(|| rest.into()))
}

/// What is shown on request.
fn rest_view(rest: &Value) -> AnyView {
    view! {
        <details class="cw-approval-rest">
            <summary>{t(Text::OtherArguments)}</summary>
            <div class="cw-approval-input">{value_nodes(rest)}</div>
        </details>
    }
    .into_any()
}

/// How far a yes holds. It stands beside the yes, and says nothing else unless the user chooses it.
fn scope_view(scope: RwSignal<String>) -> AnyView {
    let change = move |event: Event| scope.set(event_target_value(&event));
    view! {
        <div class="cw-select">
            <select class="cw-approval-scope" aria-label=t(Text::ApprovalHolds) on:change=change>
                <option value="">{t(Text::Once)}</option>
                <option value="conversation">{t(Text::InThisConversation)}</option>
                <option value="always">{t(Text::Always)}</option>
            </select>
        </div>
    }
    .into_any()
}

fn remembered(scope: &str) -> Option<Remember> {
    match scope {
        "conversation" => Some(Remember::Conversation),
        "always" => Some(Remember::Always),
        _ => None,
    }
}

/// Until when there is time, by the reader's clock. When the time is up, the server says how the call stands.
fn deadline(session: Session, at: i64) -> AnyView {
    let words = RwSignal::new(String::new());
    Effect::new(move |_| {
        words.set(fill(Text::TimeUntil, &[&moment(at)]));
        // A little later, so that it is up for the server as well.
        let left = (at - js_sys::Date::now() as i64).max(0) + 500;
        if let Ok(left) = i32::try_from(left)
            && let Ok(timer) =
                set_timeout_with_handle(move || session.expired(), Duration::from_millis(left.unsigned_abs().into()))
        {
            on_cleanup(move || timer.clear());
        }
    });
    (move || words.get()).into_any()
}

/// The arguments of a text that the user wrote.
fn arguments(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

/// The arguments, which turn into a text when the user wants to change them.
#[component]
fn Arguments(
    /// The agent's.
    input: Value,
    /// Whether they may be changed.
    is_own: bool,
    /// What the user makes of them.
    draft: RwSignal<Option<String>>,
    /// What is wrong with that.
    fault: RwSignal<&'static str>,
    /// What of them has not been unfolded.
    unseen: Unseen,
) -> AnyView {
    let input = StoredValue::new(input);
    let is_edited = Memo::new(move |_| draft.with(Option::is_some));
    let edit = move |_| {
        // The text has all of them.
        unseen.all_seen();
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
                    <button type="button" class="cw-button cw-approval-edit" on:click=edit>
                        <Icon of=Shape::Pencil />
                        {t(Text::Change)}
                    </button>
                }
            });
            let shown = input.with_value(value_nodes);
            return view! {
                <div class="cw-approval-input" node_ref=unseen.area() on:click=move |_| unseen.look()>
                    {shown}
                    {button}
                </div>
            }
            .into_any();
        }
        view! {
            <div class="cw-approval-input">
                <textarea
                    class="cw-approval-text"
                    aria-label=t(Text::ArgumentsAsJson)
                    spellcheck="false"
                    rows="6"
                    prop:value=draft.get_untracked().unwrap_or_default()
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
