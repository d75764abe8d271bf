//! Following an answer: one change of the screen per frame for all that has come until then.

use super::connect::{End, Stream};
use super::{Phase, Problem, Remedy, Session};
use crate::agent_chat::announcer::Announcer;
use crate::agent_chat::browser;
use crate::agent_chat::message_state::{MessageState, weight};
use crate::agent_chat::reader::Reader;
use crate::api::{self, load_conversation};
use crate::prelude::*;
use crate::texts::{Text, t};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use wire::api::ConversationView;

/// A frame takes at most a ninth of the time, with what the browser makes of it: style, layout and paint cost more than all of our code. Text
/// that grows looks the same at twenty frames a second as at sixty, hardly otherwise at twelve. In milliseconds.
const REST_FACTOR: f64 = 8.0;
const SHORTEST_REST: f64 = 50.0;
const LONGEST_REST: f64 = 300.0;
/// A message that is told again from its start is shown when it is as long as what is shown, or after this long.
const CATCH_UP: f64 = 1_500.0;

/// The message that is being followed.
pub(super) struct Live {
    pub(super) reader: Reader,
    /// Once it has an id.
    shown: Option<MessageState>,
    /// Until then the message on the screen is longer than what has been told.
    catching_up: Option<CatchUp>,
    /// A frame is on its way, or has just been drawn.
    frame: bool,
    /// When the next one may be drawn, by the page's clock.
    next_frame: f64,
    announcer: Announcer,
}

struct CatchUp {
    weight: usize,
    since: f64,
}

impl Session {
    /// Follows the answer that is being written already.
    pub(super) fn watch_active(self) {
        let Some(id) = self.id.get_untracked() else { return };
        self.phase.set(Phase::Streaming);
        leptos::task::spawn_local(async move {
            match api::watch(id, None).await {
                _ if self.is_gone() => {}
                Ok(stream) => self.follow(stream, false).await,
                Err(error) => {
                    self.phase.set(Phase::Idle);
                    self.fail(&error, Some(Remedy::Reload));
                }
            }
        });
    }

    /// Follows a stream until its message is complete. `own` says that it answers something that was sent from here.
    pub(super) async fn follow(self, stream: Stream, own: bool) {
        self.interrupt();
        let turn = self.inner.with_value(|inner| inner.follower);
        let live = Rc::new(RefCell::new(Live::new()));
        match self.read_on(stream, &live, turn).await {
            End::Done => self.finish(&live, own),
            End::Gap => {
                self.reload().await;
                // It was over before anybody could follow it, and may have left something for this page to do.
                if own && !self.is_gone() {
                    self.run_client_calls();
                }
            }
            End::Broken => {
                self.phase.set(Phase::Idle);
                let message = t(Text::AnswerUnreadable).to_owned();
                self.problem.set(Some(Problem { message, remedy: Some(Remedy::Reload) }));
            }
            End::Cut | End::Left | End::Replaced => {}
        }
    }

    pub(super) fn is_replaced(self, turn: u64) -> bool {
        self.is_gone() || self.inner.with_value(|inner| inner.follower != turn)
    }

    /// Draws with the next frame, once for all that has come until then.
    pub(super) fn ask_for_frame(self, live: &Rc<RefCell<Live>>, turn: u64) {
        if std::mem::replace(&mut live.borrow_mut().frame, true) {
            return;
        }
        let live = live.clone();
        request_animation_frame(move || {
            if self.is_replaced(turn) {
                return;
            }
            let begun = browser::now();
            self.draw(&mut live.borrow_mut(), false);
            // Behind what the browser makes of it.
            set_timeout(move || self.drawn(&live, turn, begun), Duration::ZERO);
        });
    }

    /// A frame is on the screen: the next one comes after a rest.
    fn drawn(self, live: &Rc<RefCell<Live>>, turn: u64, begun: f64) {
        let now = browser::now();
        let rest = ((now - begun) * REST_FACTOR).clamp(SHORTEST_REST, LONGEST_REST);
        live.borrow_mut().next_frame = now + rest;
        let live = live.clone();
        set_timeout(
            move || {
                let has_news = {
                    let mut live = live.borrow_mut();
                    live.frame = false;
                    !live.reader.news.is_empty()
                };
                if has_news && !self.is_replaced(turn) {
                    self.ask_for_frame(&live, turn);
                }
            },
            Duration::from_millis(rest as u64),
        );
    }

    /// Lets the browser collect what comes until the next frame may be drawn: to be woken for every piece costs a page more than all else
    /// that it does with it. A hidden page draws nothing, and its timers are slow; what is told again is only read until it has been.
    pub(super) async fn rest(self, live: &Rc<RefCell<Live>>) {
        let rest = {
            let live = live.borrow();
            if live.catching_up.is_some() || !browser::is_visible() {
                return;
            }
            let left = live.next_frame - browser::now();
            // A frame that is on its way says nothing yet.
            Duration::from_millis(if left > 0.0 { left } else { SHORTEST_REST } as u64)
        };
        browser::sleep(rest).await;
    }

    fn draw(self, live: &mut Live, complete: bool) {
        if live.reader.news.is_empty() && !complete {
            return;
        }
        live.reader.settle();
        let Some(shown) = self.shown(live) else { return };
        let message = live.reader.message();
        self.hear(message);
        if let Some(catch_up) = &live.catching_up {
            let behind = weight(message) < catch_up.weight && browser::now() - catch_up.since < CATCH_UP;
            if behind && !complete {
                return;
            }
            live.catching_up = None;
            shown.show_all(message, complete);
        } else {
            shown.show_parts(message, &live.reader.news.parts);
            shown.show_metadata(message);
        }
        live.reader.news = Default::default();
        self.frames.update(|count| *count += 1);
        if let Some(sentence) = live.announcer.next(live.reader.message(), browser::now(), complete) {
            self.announcement.set(sentence);
        }
    }

    /// The message on the screen; made when its id is known.
    fn shown(self, live: &mut Live) -> Option<MessageState> {
        if live.shown.is_none() {
            let message = live.reader.message();
            if message.id.is_empty() {
                return None;
            }
            let known = self.messages.with_untracked(|all| all.iter().find(|known| known.id == message.id).cloned());
            self.expect_followed(&message.id, known.as_ref().map(MessageState::whole).as_ref());
            if let Some(known) = &known {
                live.announcer.skip(&known.text());
                live.catching_up = Some(CatchUp { weight: known.weight(), since: browser::now() });
            }
            let shown = known.unwrap_or_else(|| {
                let new = MessageState::new(&wire::UiMessage::new(message.id.clone(), message.role));
                self.take_place(&new);
                self.messages.update(|all| all.push(new.clone()));
                new
            });
            live.shown = Some(shown);
        }
        live.shown.clone()
    }

    /// The message is complete.
    fn finish(self, live: &Rc<RefCell<Live>>, own: bool) {
        let mut live = live.borrow_mut();
        self.draw(&mut live, true);
        if let Some(shown) = live.shown.clone() {
            shown.show_all(live.reader.message(), true);
            let told = shown.metadata.with_untracked(|metadata| metadata.error.is_some());
            if let (Some(error), false) = (live.reader.error.take(), told) {
                if own {
                    self.tell("onError", serde_json::json!({ "message": error }));
                }
                self.problem.set(Some(Problem { message: error, remedy: Some(Remedy::Reload) }));
            }
        }
        self.phase.set(Phase::Idle);
        self.hear_end(live.reader.message(), false);
        self.tell_others();
        self.close_passed_over();
        let is_to_come = if own { self.run_client_calls() } else { self.run_client_calls_later() };
        if !is_to_come {
            self.send_waiting();
        }
    }

    /// A question that the user passed over with a new message is closed by the server, in a message that no stream tells again.
    fn close_passed_over(self) {
        let passed_over = |all: &Vec<MessageState>| all.iter().rev().skip(1).any(MessageState::has_open_call);
        if self.messages.with_untracked(passed_over) {
            leptos::task::spawn_local(self.reload());
        }
    }

    /// Loads the conversation and shows it as it stands; what is the same stays as it is.
    pub(super) async fn reload(self) {
        let Some(id) = self.id.get_untracked() else { return };
        self.interrupt();
        let turn = self.inner.with_value(|inner| inner.follower);
        let loaded = load_conversation(id).await;
        if self.is_replaced(turn) {
            return;
        }
        match loaded {
            Ok(view) => self.show(&view),
            Err(error) => {
                self.phase.set(Phase::Idle);
                self.fail(&error, Some(Remedy::Reload));
            }
        }
    }

    fn show(self, view: &ConversationView) {
        let known = self.messages.get_untracked();
        let shown = |message: &wire::UiMessage| match known.iter().find(|known| known.id == message.id) {
            Some(known) => {
                known.show_all(message, view.active.is_none());
                known.show_place(view);
                known.clone()
            }
            None => MessageState::of(view, message),
        };
        let messages: Vec<_> = view.messages.iter().map(shown).collect();
        let same = messages.len() == known.len() && messages.iter().zip(&known).all(|(a, b)| a.id == b.id);
        if !same {
            self.messages.set(messages);
        }
        self.chat.learn_title(Some(&view.summary.title));
        self.phase.set(Phase::Idle);
        if view.active.is_some() {
            self.watch_active();
        } else {
            self.catch_up();
            self.run_client_calls_later();
            self.send_waiting();
        }
    }
}

impl Live {
    fn new() -> Self {
        Self {
            reader: Reader::new(),
            shown: None,
            catching_up: None,
            frame: false,
            next_frame: 0.0,
            announcer: Announcer::default(),
        }
    }
}
