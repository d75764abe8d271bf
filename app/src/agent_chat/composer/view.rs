//! The composer: the text field and its buttons.

use super::commands::CommandMenu;
use super::early_input;
use super::tools::composer_tools;
use crate::agent_chat::cards::standing_state::StandingApprovalState;
use crate::agent_chat::chunk_tables::{CONVERSATION, EXTRAS, SESSION};
use crate::agent_chat::session::{Phase, Session, SessionAction};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::bidi::direction;
use crate::ui::browser;
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{ClipboardEvent, Event, KeyboardEvent, MouseEvent, SubmitEvent};
use leptos::html;
use wire::page::{SubmitType, WhileRunning};

/// For this long after a click on the send button, the stop button that takes its place ignores
/// clicks: they are the second half of a double click.
const DOUBLE_CLICK_MS: f64 = 500.0;

/// The composer. Enter sends and Shift+Enter inserts a line break (or the other way round), Escape
/// stops the answer, and the up key in an empty field recalls earlier messages.
#[component]
pub(in crate::agent_chat) fn Composer(
    /// The placeholder of the text field.
    placeholder: String,
    /// The id of the block, unique on the page.
    block_id: String,
) -> AnyView {
    let session = expect_context::<Session>();
    let (form, field) = (NodeRef::<html::Form>::new(), NodeRef::<html::Textarea>::new());
    let by_shift = session.sender(|sender| sender.submit_type == SubmitType::ShiftEnter).then_some("");
    let draft = session.draft;
    let commands = CommandMenu::new(session);
    focus_when_asked(session, field);
    early_input::take_over_early_input(session, form, field);
    session.keep_draft();
    let keys = ComposerKeys { session, commands, recalled: StoredValue::new(0) };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        session.dispatch(SessionAction::SendDraft);
    };
    let tools = composer_tools(session);
    let has_tools = tools.is_some().then_some("");
    let list_id = format!("{block_id}-commands");
    let (active_of, owned) = (list_id.clone(), list_id.clone());
    let has_files = Memo::new(move |_| session.attachments.with(|all| !all.is_empty()));
    let attached = move || has_files.get().then(|| EXTRAS.view(|code| (code.attachments)()));
    let meter = move || {
        let has_begun = Memo::new(move |_| session.messages.with(|all| !all.is_empty()));
        has_begun.get().then(|| CONVERSATION.view(move |code| (code.context_meter)(session)))
    };
    let approvals = expect_context::<StandingApprovalState>();
    let standing =
        move || approvals.is_active().get().then(|| SESSION.view(move |code| (code.standing_button)(approvals)));
    let header = session.sender(|sender| sender.header.clone());
    let header = header.map(|header| EXTRAS.view(move |code| (code.header)(session, &header)));
    let is_waiting = Memo::new(move |_| session.queue.with(|queue| !queue.is_empty()));
    let queue = move || is_waiting.get().then(|| EXTRAS.view(|code| (code.queue)()));
    let open_form =
        move || session.open_form.get().map(|form| EXTRAS.view(move |code| (code.open_form)(session, &form)));
    let has_prompts = session.sender(|sender| sender.saved_prompts.is_some());
    let needs_options =
        Memo::new(move |_| draft.with(|draft| has_prompts && draft.starts_with('/') || draft.contains('@')));
    let options = move || needs_options.get().then(|| EXTRAS.view(move |code| (code.options)(session)));
    view! {
        {open_form}
        {options}
        <form class="cw-composer" node_ref=form data-shift-sends=by_shift on:submit=submit>
            {queue}
            {header}
            <div class="cw-composer-box" class:cw-dropping=move || session.dragging.get() data-tools=has_tools>
                {attached}
                {error_view(session)}
                {commands.view(list_id)}
                // A hidden copy of the text sets the height, and the field fills it.
                <div class="cw-composer-field" data-text=move || Some(draft.get())>
                    <textarea
                        node_ref=field
                        rows="1"
                        dir=move || draft.with(|draft| direction(draft))
                        aria-label=t(Text::Message)
                        aria-controls=move || commands.active_option_id(&owned).map(|_| owned.clone())
                        aria-activedescendant=move || commands.active_option_id(&active_of)
                        placeholder=placeholder
                        enterkeyhint="send"
                        prop:value=move || draft.get()
                        on:input=move |event: Event| keys.on_input(event_target_value(&event))
                        on:keydown=move |event: KeyboardEvent| keys.on_keydown(&event)
                        on:paste=move |event: ClipboardEvent| paste(session, &event)
                    ></textarea>
                </div>
                {tools}
                {standing}
                {meter}
                <SendAndStop />
            </div>
            <p class="cw-composer-early" role="status" data-words=t(Text::SendsWhenReady)></p>
        </form>
    }
    .into_any()
}

/// Handles the keys pressed in the text field; a cheap handle.
#[derive(Clone, Copy)]
struct ComposerKeys {
    session: Session,
    commands: CommandMenu,
    /// Which message is recalled, counted back from the last one, from 1; 0 if none.
    recalled: StoredValue<usize>,
}

impl ComposerKeys {
    fn on_input(self, text: String) {
        self.recalled.set_value(0);
        self.session.sends_when_uploaded.set(false);
        self.session.draft.set(text);
    }

    fn on_keydown(self, event: &KeyboardEvent) {
        // Keys belong to an input method while it composes a word. Safari ends the composition
        // before the key event, but still reports the key code 229.
        if event.is_composing() || event.key_code() == 229 {
            return;
        }
        let key = event.key();
        let is_plain = !event.shift_key() && !event.alt_key() && !event.ctrl_key() && !event.meta_key();
        if is_plain && self.commands.handle_key(&key) {
            event.prevent_default();
            return;
        }
        match key.as_str() {
            "Enter" if self.is_send_key(event) => {
                event.prevent_default();
                self.recalled.set_value(0);
                self.session.dispatch(SessionAction::SendDraft);
            }
            // Otherwise Escape could close a surrounding element, such as a drawer.
            "Escape" if untrack(|| self.session.is_busy()) => {
                event.prevent_default();
                self.session.dispatch(SessionAction::Stop);
            }
            "ArrowUp" if is_plain => self.recall(event, 1),
            "ArrowDown" if is_plain => self.recall(event, -1),
            _ => {}
        }
    }

    /// Whether Enter sends the message. With Control or Command it always does.
    fn is_send_key(self, event: &KeyboardEvent) -> bool {
        let by_shift = self.session.sender(|sender| sender.submit_type == SubmitType::ShiftEnter);
        event.ctrl_key() || event.meta_key() || event.shift_key() == by_shift
    }

    /// Goes through the user's earlier messages, unless the composer contains other text.
    fn recall(self, event: &KeyboardEvent, step: isize) {
        let at = self.recalled.get_value();
        if at == 0 && (step < 0 || self.session.draft.with_untracked(|draft| !draft.is_empty())) {
            return;
        }
        let next = at.saturating_add_signed(step).min(self.session.user_message_count());
        event.prevent_default();
        if next != at {
            self.recalled.set_value(next);
            self.session.dispatch(SessionAction::Recall(next));
        }
    }
}

/// Attaches pasted files. If the clipboard contains text as well, as when copying from a
/// spreadsheet, the text is pasted instead.
fn paste(session: Session, event: &ClipboardEvent) {
    let Some(data) = event.clipboard_data() else { return };
    let files = browser::files(data.files());
    let has_text = data.get_data("text/plain").is_ok_and(|text| !text.is_empty());
    if files.is_empty() || has_text || !session.accepts_files() {
        return;
    }
    event.prevent_default();
    session.dispatch(SessionAction::Attach(files, true));
}

/// The error about something that could not be added to the message, or could not be sent.
fn error_view(session: Session) -> AnyView {
    (move || {
        let why = session.composer_error.get()?;
        Some(
            view! {
                <div class="cw-composer-refusal">
                    <p role="alert" dir="auto">{why}</p>
                    <button
                        type="button"
                        class="cw-icon-button"
                        aria-label=t(Text::Dismiss)
                        title=t(Text::Dismiss)
                        on:click=move |_| session.composer_error.set(None)
                    >
                        <Icon of=Shape::CLOSE />
                    </button>
                </div>
            }
            .into_any(),
        )
    })
    .into_any()
}

/// The stop button while an answer is being written, and the send button as soon as there is
/// something to send.
#[component]
fn SendAndStop() -> AnyView {
    let session = expect_context::<Session>();
    let is_empty = Memo::new(move |_| {
        session.draft.with(|draft| draft.trim().is_empty()) && session.attachments.with(Vec::is_empty)
    });
    let is_busy = Memo::new(move |_| session.is_busy());
    // When the send button was clicked last, as the events tell it: they may be handled later.
    let sent = StoredValue::new(f64::NEG_INFINITY);
    let stop = move || {
        is_busy.get().then(|| {
            let stopping = move || session.phase.get() == Phase::Stopping;
            view! {
                <button
                    type="button"
                    class="cw-send cw-send-stop"
                    aria-label=t(Text::Stop)
                    title=t(Text::StopEscape)
                    disabled=stopping
                    on:click=move |event: MouseEvent| {
                        let is_second = event.detail() > 1 || event.time_stamp() - sent.get_value() < DOUBLE_CLICK_MS;
                        if !is_second {
                            session.dispatch(SessionAction::Stop);
                        }
                    }
                >
                    <Icon of=Shape::STOP />
                </button>
            }
            .into_any()
        })
    };
    let interrupts = session.sender(|sender| sender.while_running == WhileRunning::Interrupt);
    let send = move || {
        (!is_busy.get() || !is_empty.get()).then(|| {
            let (label, title) = match (is_busy.get(), interrupts) {
                (false, _) => (t(Text::Send), t(Text::Send)),
                (true, false) => (t(Text::SendAfterAnswer), t(Text::WaitsForAnswer)),
                (true, true) => (t(Text::StopAndSend), t(Text::EndsThenSends)),
            };
            view! {
                <button
                    type="submit"
                    class="cw-send"
                    aria-label=label
                    title=title
                    disabled=move || is_empty.get()
                    on:click=move |event: MouseEvent| sent.set_value(event.time_stamp())
                >
                    <Icon of=Shape::SEND />
                </button>
            }
            .into_any()
        })
    };
    view! {
        {stop}
        {send}
    }
    .into_any()
}

/// Moves the focus to the text field when the session requests it, because the focused button was
/// removed.
fn focus_when_asked(session: Session, field: NodeRef<html::Textarea>) {
    let mut before = None;
    Effect::new(move |_| {
        let count = session.focus_requests.get();
        if before.replace(count).is_some_and(|before| before != count)
            && let Some(field) = field.get_untracked()
        {
            // The field is in the document, so it can be focused.
            let _ = field.focus();
        }
    });
}
