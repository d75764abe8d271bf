//! The text above the composer that a page sets: a line, or a panel with a heading, which the user can
//! close.

use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{Text, fill, t};
use crate::ui::icons::{Icon, Shape};
use serde_json::Value;
use wire::page::SenderHeader;

/// Renders the property `header` of the composer.
pub(in crate::agent_chat) fn header(session: Session, given: &Value) -> AnyView {
    match given {
        Value::Object(own) => panel(session, Properties::from_config(own.clone())),
        line => {
            let line = line.as_str().unwrap_or_default().to_owned();
            view! { <p class="cw-composer-header" dir="auto">{line}</p> }.into_any()
        }
    }
}

fn panel(session: Session, properties: Properties) -> AnyView {
    let own = Memo::new(move |_| properties.get::<SenderHeader>());
    let closed = RwSignal::new(false);
    let is_open = Memo::new(move |_| own.with(|own| own.open));
    Effect::new(move |_| {
        if is_open.get() {
            closed.set(false);
        }
    });
    let close = move |_| {
        closed.set(true);
        // The button is gone.
        session.focus_requests.update(|count| *count += 1);
    };
    let content = move |own: SenderHeader| {
        let title = own.title.filter(|title| !title.is_empty());
        let label = title.clone();
        let button = own.closable.then(|| {
            let name = match &label {
                Some(title) => fill(Text::CloseNamed, &[title]),
                None => t(Text::Close).to_owned(),
            };
            view! {
                <button type="button" class="cw-icon-button" aria-label=name title=t(Text::Close) on:click=close>
                    <Icon of=Shape::CLOSE />
                </button>
            }
            .into_any()
        });
        let text = own.content.filter(|text| !text.is_empty());
        view! {
            <div class="cw-composer-panel" role="group" aria-label=label>
                <div>
                    {title.map(|title| view! { <p class="cw-composer-panel-title" dir="auto">{title}</p> }.into_any())}
                    {text.map(|text| view! { <p dir="auto">{text}</p> }.into_any())}
                </div>
                {button}
            </div>
        }
        .into_any()
    };
    let is_shown = Memo::new(move |_| is_open.get() && !closed.get());
    (move || is_shown.get().then(|| content(own.get()))).into_any()
}
