//! Where the user writes.

use super::commands::Commands;
use super::composer_tools::tools;
use super::early;
use super::outgoing::{Attached, Upload};
use super::session::{Act, Phase, Session};
use super::standing::Standing;
use super::{CONVERSATION, EXTRAS};
use crate::agent_chat::browser;
use crate::bidi::direction;
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::ev::{ClipboardEvent, Event, KeyboardEvent, SubmitEvent};
use leptos::html;

/// The composer: Enter sends, Shift+Enter breaks the line (or the other way round), Escape stops the answer, and the up key in an empty
/// composer brings back what was written before.
#[component]
pub(super) fn Composer(
    /// Shown while it is empty.
    placeholder: String,
    /// Unique on the page.
    block_id: String,
) -> AnyView {
    let session = expect_context::<Session>();
    let (form, field) = (NodeRef::<html::Form>::new(), NodeRef::<html::Textarea>::new());
    let by_shift = session.sender(|sender| sender.shift_enter_sends).then_some("");
    let draft = session.draft;
    let commands = Commands::new(session);
    focus_when_asked(session, field);
    early::take_over(session, form, field);
    session.keep_draft();
    let keys = Keys { session, commands, recalled: StoredValue::new(0) };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        session.act(Act::SendDraft);
    };
    let tools = tools(session);
    let has_tools = tools.is_some().then_some("");
    let list_id = format!("{block_id}-commands");
    let (active_of, owned) = (list_id.clone(), list_id.clone());
    let has_files = Memo::new(move |_| session.attached.with(|all| !all.is_empty()));
    let attached = move || has_files.get().then(|| EXTRAS.view(|code| (code.attachments)()));
    let meter = move || {
        let has_begun = Memo::new(move |_| session.messages.with(|all| !all.is_empty()));
        has_begun.get().then(|| CONVERSATION.view(move |code| (code.context_meter)(session)))
    };
    let approvals = expect_context::<Standing>();
    let standing =
        move || approvals.is_wanted().get().then(|| CONVERSATION.view(move |code| (code.standing_button)(approvals)));
    let header = session.sender(|sender| sender.header.clone());
    let header = header.map(|header| view! { <p class="cw-composer-header" dir="auto">{header}</p> });
    let is_waiting = Memo::new(move |_| session.queue.with(|queue| !queue.is_empty()));
    let queue = move || is_waiting.get().then(|| EXTRAS.view(|code| (code.queue)()));
    view! {
        <form class="cw-composer" node_ref=form data-shift-sends=by_shift on:submit=submit>
            {queue}
            {header}
            <div class="cw-composer-box" class:cw-dropping=move || session.dragging.get() data-tools=has_tools>
                {attached}
                {refusal(session)}
                {commands.view(list_id)}
                // The mirror has the text's height, and the field fills it.
                <div class="cw-composer-field" data-text=move || Some(draft.get())>
                    <textarea
                        node_ref=field
                        rows="1"
                        dir=move || draft.with(|draft| direction(draft))
                        aria-label=t(Text::Message)
                        aria-controls=move || commands.active(&owned).map(|_| owned.clone())
                        aria-activedescendant=move || commands.active(&active_of)
                        placeholder=placeholder
                        enterkeyhint="send"
                        prop:value=move || draft.get()
                        on:input=move |event: Event| keys.typed(event_target_value(&event))
                        on:keydown=move |event: KeyboardEvent| keys.down(&event)
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

/// What keys do in the field; a cheap handle.
#[derive(Clone, Copy)]
struct Keys {
    session: Session,
    commands: Commands,
    /// How many messages back the one is that was brought back, counted from 1; 0: none.
    recalled: StoredValue<usize>,
}

impl Keys {
    fn typed(self, text: String) {
        self.recalled.set_value(0);
        self.session.draft.set(text);
    }

    fn down(self, event: &KeyboardEvent) {
        // While an input method composes a word, keys belong to it. Safari ends the composition first, and says 229.
        if event.is_composing() || event.key_code() == 229 {
            return;
        }
        let key = event.key();
        let is_plain = !event.shift_key() && !event.alt_key() && !event.ctrl_key() && !event.meta_key();
        if is_plain && self.commands.key(&key) {
            event.prevent_default();
            return;
        }
        match key.as_str() {
            "Enter" if self.sends(event) => {
                event.prevent_default();
                self.recalled.set_value(0);
                self.session.act(Act::SendDraft);
            }
            // What is around may close with it otherwise.
            "Escape" if untrack(|| self.session.is_busy()) => {
                event.prevent_default();
                self.session.act(Act::Stop);
            }
            "ArrowUp" if is_plain => self.recall(event, 1),
            "ArrowDown" if is_plain => self.recall(event, -1),
            _ => {}
        }
    }

    /// With Control or Command, Enter sends in any case.
    fn sends(self, event: &KeyboardEvent) -> bool {
        let by_shift = self.session.sender(|sender| sender.shift_enter_sends);
        event.ctrl_key() || event.meta_key() || event.shift_key() == by_shift
    }

    /// Goes through what was written before, as long as nothing else stands in the composer.
    fn recall(self, event: &KeyboardEvent, step: isize) {
        let at = self.recalled.get_value();
        if at == 0 && (step < 0 || self.session.draft.with_untracked(|draft| !draft.is_empty())) {
            return;
        }
        let next = at.saturating_add_signed(step).min(self.session.written());
        event.prevent_default();
        if next != at {
            self.recalled.set_value(next);
            self.session.act(Act::Recall(next));
        }
    }
}

/// Files that are pasted are attached. Where there is text as well, as from a table or a document, the text is meant.
fn paste(session: Session, event: &ClipboardEvent) {
    let Some(data) = event.clipboard_data() else { return };
    let files = browser::files(data.files());
    let has_text = data.get_data("text/plain").is_ok_and(|text| !text.is_empty());
    if files.is_empty() || has_text || !session.takes_files() {
        return;
    }
    event.prevent_default();
    session.act(Act::Attach(files, true));
}

/// Why something did not come into the composer, or does not leave it.
fn refusal(session: Session) -> AnyView {
    (move || {
        let why = session.refusal.get()?;
        Some(
            view! {
                <div class="cw-composer-refusal">
                    <p role="alert" dir="auto">{why}</p>
                    <button
                        type="button"
                        class="cw-icon-button"
                        aria-label=t(Text::Dismiss)
                        title=t(Text::Dismiss)
                        on:click=move |_| session.refusal.set(None)
                    >
                        <Icon of=Shape::Close />
                    </button>
                </div>
            }
            .into_any(),
        )
    })
    .into_any()
}

/// While an answer is being written: stop, and beside it the button that sends once there is something to send.
#[component]
fn SendAndStop() -> AnyView {
    let session = expect_context::<Session>();
    let is_empty =
        Memo::new(move |_| session.draft.with(|draft| draft.trim().is_empty()) && session.attached.with(Vec::is_empty));
    let is_sending = |attached: &Attached| attached.upload.with(|upload| matches!(upload, Upload::Running(_)));
    let is_refused = Memo::new(move |_| is_empty.get() || session.attached.with(|all| all.iter().any(is_sending)));
    let is_busy = Memo::new(move |_| session.is_busy());
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
                    on:click=move |_| session.act(Act::Stop)
                >
                    <Icon of=Shape::Stop />
                </button>
            }
            .into_any()
        })
    };
    let interrupts = session.sender(|sender| sender.interrupts);
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
                    disabled=move || is_refused.get()
                >
                    <Icon of=Shape::Send />
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

/// Moves the focus here when the session asks for it: a button that had it is gone.
fn focus_when_asked(session: Session, field: NodeRef<html::Textarea>) {
    let mut before = None;
    Effect::new(move |_| {
        let count = session.focus.get();
        if before.replace(count).is_some_and(|before| before != count)
            && let Some(field) = field.get_untracked()
        {
            // It is in the document, so it can be focused.
            let _ = field.focus();
        }
    });
}
