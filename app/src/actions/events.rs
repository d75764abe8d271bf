//! What a block is given to say that something has happened.

use super::{ACTIONS, Actions, List, Status};
use crate::prelude::*;
use crate::texts::{Text, t};
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use wire::page::Events;

/// The events of a block; a cheap handle. Out of a config they run actions; a page in Rust adds closures with
/// [`BlockEvents::on`].
#[derive(Clone, Default)]
pub struct BlockEvents {
    handlers: Vec<(String, Handler)>,
}

#[derive(Clone)]
enum Handler {
    Actions(List),
    Closure(Arc<dyn Fn(Value) + Send + Sync>),
    Asking(Arc<dyn Fn(Value) -> Asked + Send + Sync>),
}

/// Whether what is about to happen may happen.
type Asked = Pin<Box<dyn Future<Output = bool>>>;

impl BlockEvents {
    /// The events of a block or a page of the config around.
    pub(crate) fn of_config(events: Events) -> Self {
        let Some(actions) = use_context::<Actions>() else { return Self::default() };
        let handlers = events.into_iter().filter(|(_, list)| !list.is_empty());
        let handlers: Vec<_> = handlers.collect();
        if !handlers.is_empty() {
            ACTIONS.request();
        }
        let handlers = handlers.into_iter();
        Self { handlers: handlers.map(|(name, list)| (name, Handler::Actions(Arc::new((actions, list))))).collect() }
    }

    /// Adds what happens at an event, such as `onClick`; it is given what is known of the event.
    #[must_use]
    pub fn on(mut self, event: &str, handler: impl Fn(Value) + Send + Sync + 'static) -> Self {
        self.handlers.push((event.to_owned(), Handler::Closure(Arc::new(handler))));
        self
    }

    /// Adds who is asked at an event that can be forbidden, such as `onBeforeSend`.
    #[must_use]
    pub fn on_asking<F>(mut self, event: &str, handler: impl Fn(Value) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = bool> + 'static,
    {
        let handler = Arc::new(move |about| -> Asked { Box::pin(handler(about)) });
        self.handlers.push((event.to_owned(), Handler::Asking(handler)));
        self
    }

    /// Whether anything happens at an event.
    pub fn has(&self, event: &str) -> bool {
        self.handlers.iter().any(|(name, _)| name == event)
    }

    /// Says that something has happened.
    pub fn emit(&self, event: &'static str, about: Value) {
        if self.has(event) {
            let own = self.clone();
            leptos::task::spawn_local(async move {
                own.ask(event, about).await;
            });
        }
    }

    /// Says that something has happened and waits for all that this leads to. `false`: an action has failed.
    pub async fn ask(&self, event: &str, about: Value) -> bool {
        let mut done = true;
        for (name, handler) in &self.handlers {
            if name == event {
                match handler {
                    Handler::Actions(list) => done &= run(list.clone(), about.clone()).await,
                    Handler::Closure(closure) => closure(about.clone()),
                    Handler::Asking(closure) => done &= closure(about.clone()).await,
                }
            }
        }
        done
    }
}

async fn run(list: List, about: Value) -> bool {
    match ACTIONS.load().await {
        Ok(code) => (code.run)(list, about).await,
        Err(_) => {
            let text = t(Text::ActionsMissing);
            list.0.notify(text.to_owned(), Status::Error, None);
            false
        }
    }
}
