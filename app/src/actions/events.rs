//! The events of blocks and their handlers.

use super::{ACTIONS, ActionList, Actions, MessageStatus};
use crate::prelude::*;
use crate::texts::{Text, t};
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use wire::page::Events;

/// The handlers of a block's events; cheap to clone. Events of a config run actions; a page in Rust
/// adds closures with [`BlockEvents::on`].
#[derive(Clone, Default)]
pub struct BlockEvents {
    handlers: Vec<(String, EventHandler)>,
}

#[derive(Clone)]
enum EventHandler {
    Actions(ActionList),
    Closure(Arc<dyn Fn(Value) + Send + Sync>),
    Cancelable(Arc<dyn Fn(Value) -> ProceedFuture + Send + Sync>),
}

/// Resolves to whether the event may proceed.
type ProceedFuture = Pin<Box<dyn Future<Output = bool>>>;

impl BlockEvents {
    /// Creates the handlers of a block or a page of the config, on the current page.
    pub(crate) fn from_config(events: Events) -> Self {
        let Some(actions) = use_context::<Actions>() else { return Self::default() };
        let handlers = events.into_iter().filter(|(_, list)| !list.is_empty());
        let handlers: Vec<_> = handlers.collect();
        if !handlers.is_empty() {
            ACTIONS.request();
        }
        let handlers = handlers.into_iter();
        Self {
            handlers: handlers.map(|(name, list)| (name, EventHandler::Actions(Arc::new((actions, list))))).collect(),
        }
    }

    /// Adds a handler of an event, such as `onClick`. It is called with the event's payload.
    #[must_use]
    pub fn on(mut self, event: &str, handler: impl Fn(Value) + Send + Sync + 'static) -> Self {
        self.handlers.push((event.to_owned(), EventHandler::Closure(Arc::new(handler))));
        self
    }

    /// Adds a handler of an event that can be cancelled, such as `onBeforeSend`. It resolves to
    /// `false` to cancel.
    #[must_use]
    pub fn on_cancelable<F>(mut self, event: &str, handler: impl Fn(Value) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = bool> + 'static,
    {
        let handler = Arc::new(move |about| -> ProceedFuture { Box::pin(handler(about)) });
        self.handlers.push((event.to_owned(), EventHandler::Cancelable(handler)));
        self
    }

    /// Returns whether the event has a handler.
    pub fn has(&self, event: &str) -> bool {
        self.handlers.iter().any(|(name, _)| name == event)
    }

    /// Emits an event, without waiting for its handlers.
    pub fn emit(&self, event: &'static str, about: Value) {
        if self.has(event) {
            let own = self.clone();
            leptos::task::spawn_local(async move {
                own.emit_and_wait(event, about).await;
            });
        }
    }

    /// Emits an event and waits for its handlers. Returns `false` if an action failed or a handler
    /// cancelled the event.
    pub async fn emit_and_wait(&self, event: &str, about: Value) -> bool {
        let mut done = true;
        for (name, handler) in &self.handlers {
            if name == event {
                match handler {
                    EventHandler::Actions(list) => done &= run_actions(list.clone(), about.clone()).await,
                    EventHandler::Closure(closure) => closure(about.clone()),
                    EventHandler::Cancelable(closure) => done &= closure(about.clone()).await,
                }
            }
        }
        done
    }
}

async fn run_actions(list: ActionList, about: Value) -> bool {
    match ACTIONS.load().await {
        Ok(code) => (code.run)(list, about).await,
        Err(_) => {
            let text = t(Text::ActionsMissing);
            list.0.notify(text.to_owned(), MessageStatus::Error, None);
            false
        }
    }
}
