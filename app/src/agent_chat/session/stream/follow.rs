//! Following an answer: everything received is drawn once per frame.

use super::connect::{Stream, StreamEnd};
use crate::agent_chat::log::announcer::Announcer;
use crate::agent_chat::message::reader::MessageReader;
use crate::agent_chat::message::state::{MessageState, content_length};
use crate::agent_chat::session::{Phase, Problem, Remedy, Session};
use crate::api;
use crate::api::load_conversation;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::browser;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use wire::api::ConversationView;

/// Frames may take at most a ninth of the time, including style, layout and paint in the browser,
/// which cost more than this code. Growing text looks the same at 20 frames per second as at 60,
/// and slightly worse at 12. The rests are in milliseconds.
const REST_FACTOR: f64 = 8.0;
const SHORTEST_REST: f64 = 50.0;
const LONGEST_REST: f64 = 300.0;
/// When a message is received again from its start, it replaces the shown one once it is as long,
/// or after this time in milliseconds.
const CATCH_UP: f64 = 1_500.0;

/// The message that is being followed.
pub(in crate::agent_chat::session) struct FollowedMessage {
    pub(in crate::agent_chat::session) reader: MessageReader,
    /// Set once the message has an id.
    shown: Option<MessageState>,
    /// Set while the shown message is longer than what was received again.
    catching_up: Option<CatchUp>,
    /// Whether a frame is requested or was just drawn.
    frame_pending: bool,
    /// The earliest time of the next frame, by the page's clock.
    next_frame: f64,
    announcer: Announcer,
}

struct CatchUp {
    weight: usize,
    since: f64,
}

impl Session {
    /// Follows the answer that is already being written.
    pub(in crate::agent_chat::session) fn watch_active(self) {
        let Some(id) = self.id.get_untracked() else { return };
        self.phase.set(Phase::Streaming);
        leptos::task::spawn_local(async move {
            match api::watch(id, None).await {
                _ if self.is_disposed() => {}
                Ok(stream) => self.follow(stream, false).await,
                Err(error) => {
                    self.phase.set(Phase::Idle);
                    self.report_error(&error, Some(Remedy::Reload));
                }
            }
        });
    }

    /// Follows a stream until its message is complete. `own` states that this tab started the run.
    pub(in crate::agent_chat::session) async fn follow(self, stream: Stream, own: bool) {
        self.cancel_following();
        let turn = self.inner.with_value(|inner| inner.stream_generation);
        let live = Rc::new(RefCell::new(FollowedMessage::new()));
        match self.read_connections(stream, &live, turn).await {
            StreamEnd::Done => self.finish(&live, own),
            StreamEnd::Gap => {
                self.reload().await;
                // The run ended before it could be followed; it may have left calls for this page.
                if own && !self.is_disposed() {
                    self.run_client_calls();
                }
            }
            StreamEnd::Unreadable => {
                self.phase.set(Phase::Idle);
                let message = t(Text::AnswerUnreadable).to_owned();
                self.problem.set(Some(Problem { message, remedy: Some(Remedy::Reload) }));
            }
            StreamEnd::Disconnected | StreamEnd::Paused | StreamEnd::Replaced => {}
        }
    }

    pub(in crate::agent_chat::session) fn is_replaced(self, turn: u64) -> bool {
        self.is_disposed() || self.inner.with_value(|inner| inner.stream_generation != turn)
    }

    /// Requests a frame that draws everything received until then.
    pub(in crate::agent_chat::session) fn request_frame(self, live: &Rc<RefCell<FollowedMessage>>, turn: u64) {
        if std::mem::replace(&mut live.borrow_mut().frame_pending, true) {
            return;
        }
        let live = live.clone();
        request_animation_frame(move || {
            if self.is_replaced(turn) {
                return;
            }
            let begun = browser::now();
            self.draw(&mut live.borrow_mut(), false);
            // Runs after style, layout and paint of the frame.
            set_timeout(move || self.schedule_next_frame(&live, turn, begun), Duration::ZERO);
        });
    }

    /// Schedules the next frame after a rest, based on the time that this one took.
    fn schedule_next_frame(self, live: &Rc<RefCell<FollowedMessage>>, turn: u64, begun: f64) {
        let now = browser::now();
        let rest = ((now - begun) * REST_FACTOR).clamp(SHORTEST_REST, LONGEST_REST);
        live.borrow_mut().next_frame = now + rest;
        let live = live.clone();
        set_timeout(
            move || {
                let has_news = {
                    let mut live = live.borrow_mut();
                    live.frame_pending = false;
                    !live.reader.changes.is_empty()
                };
                if has_news && !self.is_replaced(turn) {
                    self.request_frame(&live, turn);
                }
            },
            Duration::from_millis(rest as u64),
        );
    }

    /// Waits until the next frame may be drawn, so that the browser buffers data: waking for every
    /// chunk costs more than all other work. Does not wait on a hidden page, which draws nothing
    /// and has slow timers, or while a message is received again.
    pub(in crate::agent_chat::session) async fn wait_for_next_frame(self, live: &Rc<RefCell<FollowedMessage>>) {
        let rest = {
            let live = live.borrow();
            if live.catching_up.is_some() || !browser::is_visible() {
                return;
            }
            let left = live.next_frame - browser::now();
            // The requested frame has not been drawn yet, so the time of the next one is not known.
            Duration::from_millis(if left > 0.0 { left } else { SHORTEST_REST } as u64)
        };
        browser::sleep(rest).await;
    }

    fn draw(self, live: &mut FollowedMessage, complete: bool) {
        if live.reader.changes.is_empty() && !complete {
            return;
        }
        live.reader.parse_partial_inputs();
        self.is_retrying.set(live.reader.is_retrying && !complete);
        let Some(shown) = self.shown_message(live) else { return };
        let message = live.reader.message();
        self.collect_events(message);
        if let Some(catch_up) = &live.catching_up {
            let behind = content_length(message) < catch_up.weight && browser::now() - catch_up.since < CATCH_UP;
            if behind && !complete {
                return;
            }
            live.catching_up = None;
            shown.show_all(message, complete);
        } else {
            shown.show_parts(message, &live.reader.changes.parts);
            shown.show_metadata(message);
        }
        live.reader.changes = Default::default();
        self.frame_count.update(|count| *count += 1);
        if let Some(sentence) = live.announcer.next(live.reader.message(), browser::now(), complete) {
            self.announcement.set(sentence);
        }
    }

    /// The displayed message; created when its id is known.
    fn shown_message(self, live: &mut FollowedMessage) -> Option<MessageState> {
        if live.shown.is_none() {
            let message = live.reader.message();
            if message.id.is_empty() {
                return None;
            }
            let known = self.messages.with_untracked(|all| all.iter().find(|known| known.id == message.id).cloned());
            self.expect_followed(&message.id, known.as_ref().map(MessageState::to_message).as_ref());
            if let Some(known) = &known {
                live.announcer.skip(&known.text());
                live.catching_up = Some(CatchUp { weight: known.content_length(), since: browser::now() });
            }
            let shown = known.unwrap_or_else(|| {
                let new = MessageState::new(&wire::UiMessage::new(message.id.clone(), message.role));
                self.mark_replacement(&new);
                self.messages.update(|all| all.push(new.clone()));
                new
            });
            live.shown = Some(shown);
        }
        live.shown.clone()
    }

    /// Completes the message.
    fn finish(self, live: &Rc<RefCell<FollowedMessage>>, own: bool) {
        let mut live = live.borrow_mut();
        self.draw(&mut live, true);
        if let Some(shown) = live.shown.clone() {
            shown.show_all(live.reader.message(), true);
            let told = shown.metadata.with_untracked(|metadata| metadata.error.is_some());
            if let (Some(error), false) = (live.reader.error.take(), told) {
                if own {
                    self.emit("onError", serde_json::json!({ "message": error }));
                }
                self.problem.set(Some(Problem { message: error, remedy: Some(Remedy::Reload) }));
            }
        }
        self.phase.set(Phase::Idle);
        self.collect_end_events(live.reader.message(), false);
        self.notify_other_tabs();
        self.reload_if_passed_over();
        if !own {
            self.apply_sent_values();
        }
        let is_to_come = if own { self.run_client_calls() } else { self.run_client_calls_later() };
        if !is_to_come {
            self.send_waiting();
        }
    }

    /// Reloads the conversation if the user skipped a question by sending a new message: the server
    /// closes that question in an earlier message, which no stream contains.
    fn reload_if_passed_over(self) {
        let passed_over = |all: &Vec<MessageState>| all.iter().rev().skip(1).any(MessageState::has_open_call);
        if self.messages.with_untracked(passed_over) {
            leptos::task::spawn_local(self.reload());
        }
    }

    /// Loads the conversation and shows its current state; unchanged messages are not redrawn.
    pub(in crate::agent_chat::session) async fn reload(self) {
        let Some(id) = self.id.get_untracked() else { return };
        self.cancel_following();
        let turn = self.inner.with_value(|inner| inner.stream_generation);
        let loaded = load_conversation(id).await;
        if self.is_replaced(turn) {
            return;
        }
        match loaded.and_then(|view| view.read(serde_json::from_value)) {
            Ok(view) => self.show_conversation(&view),
            Err(error) => {
                self.phase.set(Phase::Idle);
                self.report_error(&error, Some(Remedy::Reload));
            }
        }
    }

    fn show_conversation(self, view: &ConversationView) {
        let known = self.messages.get_untracked();
        let shown = |message: &wire::UiMessage| match known.iter().find(|known| known.id == message.id) {
            Some(known) => {
                known.show_all(message, view.active.is_none());
                known.show_versions_and_feedback(view);
                known.clone()
            }
            None => MessageState::from_view(view, message),
        };
        let messages: Vec<_> = view.messages.iter().map(shown).collect();
        let same = messages.len() == known.len() && messages.iter().zip(&known).all(|(a, b)| a.id == b.id);
        if !same {
            self.messages.set(messages);
        }
        self.chat.set_title(Some(&view.summary.title));
        self.phase.set(Phase::Idle);
        if view.active.is_some() {
            self.watch_active();
        } else {
            self.apply_sent_values();
            self.catch_up();
            self.run_client_calls_later();
            self.send_waiting();
        }
    }
}

impl FollowedMessage {
    fn new() -> Self {
        Self {
            reader: MessageReader::new(),
            shown: None,
            catching_up: None,
            frame_pending: false,
            next_frame: 0.0,
            announcer: Announcer::default(),
        }
    }
}
