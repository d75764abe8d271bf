//! The component that a page shows.

use super::pane::Pane;
use super::session::{ForeignForm, Place, Session};
use super::size::{section_id, sized};
use super::standing::Standing;
use super::{CONVERSATION, FRAMES};
use crate::actions::{BlockEvents, ClientTools};
use crate::api::{ApiError, Loaded, load_conversation};
use crate::chat_context::{ChatContext, use_chat_context};
use crate::chunks::Missing;
use crate::prelude::*;
use crate::scope::Scope;
use crate::texts::{Text, said, speaking, spoken, t};
use leptos::ev::DragEvent;
use serde_json::Value;
use wire::error::ErrorCode;
use wire::page::properties::as_text;
use wire::page::{AgentChatProperties, Display, SharedField};

/// The chat with an agent: the selected conversation, or a new one.
#[component]
pub fn AgentChat(
    /// The block's id, by which actions call its methods.
    #[prop(into)]
    id: String,
    /// The page on which it stands.
    #[prop(into)]
    page_id: String,
    /// Its properties, from the config.
    properties: AgentChatProperties,
    /// The keys of the shared state.
    fields: Vec<SharedField>,
    /// What happens at its events, which begin with `onBeforeSend`.
    #[prop(optional)]
    events: BlockEvents,
    /// What its agent may have the page do.
    #[prop(optional)]
    tools: ClientTools,
) -> AnyView {
    let (open, locale, preset) = (RwSignal::new(false), properties.locale.clone(), StoredValue::new(Vec::new()));
    let chat = chat_of(properties.conversation_id.as_ref());
    let form_of = use_context::<ForeignForm>().is_none().then(|| StoredValue::new(None));
    let place = Place { block_id: id, page_id, properties, fields, events, tools, chat, open, preset, form_of };
    speaking(locale.as_ref(), move || displayed(place))
}

/// The page's chat context, or one of this chat's own where the page names the conversation.
fn chat_of(name: Option<&Value>) -> ChatContext {
    let chat = use_chat_context();
    let Some(name) = name.cloned() else { return chat };
    let scope = Scope::of_page();
    let name = Memo::new(move |_| scope.evaluate(&name).ok().as_ref().and_then(as_text).filter(|id| !id.is_empty()));
    chat.named(name)
}

fn displayed(place: Place) -> AnyView {
    match place.properties.display {
        Display::Inline => inline(place),
        Display::Drawer => FRAMES.view(move |code| (code.drawer)(place.clone())),
        Display::Page => {
            place.chat.fills_page.set(true);
            inline(place)
        }
    }
}

/// The chat as it stands where it is put.
pub(super) fn inline(place: Place) -> AnyView {
    let chat = place.chat;
    // The conversation that is open may be one that was new a moment ago: it has its id now, but need not be loaded.
    let own_id = RwSignal::new(chat.conversation.get_untracked());
    // Counted, because from a new conversation that got its id to the next new one the id to load stays `None`.
    let wanted = Memo::new(move |before: Option<&(u32, Option<String>)>| {
        let selected = chat.conversation.get();
        match before {
            Some(before) if selected.is_some() && selected == own_id.get_untracked() => before.clone(),
            Some((count, _)) => (count + 1, selected),
            None => (0, selected),
        }
    });
    let load = move |id| async move {
        match id {
            Some(id) => {
                // Both come at once.
                let (view, code) = futures::join!(load_conversation(id), CONVERSATION.load());
                code.map_err(|_| ApiError::from(Missing::told()))?;
                match view {
                    // It begins with the first message. No signal is read here: on the server its owner may be gone by now.
                    Err(error) if error.code() == ErrorCode::NotFound && chat.is_named => Ok(None),
                    view => view.map(Some),
                }
            }
            None => Ok(None),
        }
    };
    let loaded = Loaded::new(move || wanted.get(), load, true);
    let (lang, dir) = spoken();
    let (id, frame) = (section_id(&place.block_id), sized(&place.block_id, &place.properties));
    let standing = Standing::new();
    // Whoever comes here is about to write.
    let turn_to = move || {
        CONVERSATION.request();
        standing.want();
    };
    let place = StoredValue::new(place);
    let open = StoredValue::new(None::<Session>);
    let drag = move |event: DragEvent, above: bool| {
        if let Some(session) = open.get_value().filter(|session| !session.is_gone()) {
            session.drag(&event, above);
        }
    };
    let let_go = move |event: DragEvent| {
        if let Some(session) = open.get_value().filter(|session| !session.is_gone()) {
            session.drop_files(&event);
        }
    };
    let pane = loaded.view(move |view| match view {
        Ok(view) => view! { <Pane view place=place.get_value() own_id open standing /> }.into_any(),
        Err(error) => {
            // Nothing is open: the conversation from before has to be loaded again.
            own_id.set(None);
            view! { <LoadFailed error chat retry=move || loaded.refetch() /> }.into_any()
        }
    });
    // For `stopped.js`: the address does not say it.
    let named = move || chat.conversation.get().filter(|_| chat.is_named);
    view! {
        <section
            id=id
            class="cw-chat"
            node_ref=frame
            lang=lang
            dir=dir
            aria-label=t(Text::ChatWithAgent)
            data-conversation=named
            on:pointerenter=move |_| turn_to()
            on:focusin=move |_| turn_to()
            on:dragover=move |event| drag(event, true)
            on:dragleave=move |event| drag(event, false)
            on:drop=let_go
        >
            {pane}
        </section>
    }
    .into_any()
}

/// The conversation could not be loaded.
#[component]
fn LoadFailed(error: ApiError, chat: ChatContext, #[prop(into)] retry: Callback<()>) -> AnyView {
    let is_missing = error.code() == ErrorCode::NotFound;
    let text = if is_missing { t(Text::ConversationNotYours).to_owned() } else { said(&error.0) };
    view! {
        <div class="cw-log-frame cw-log-empty">
            <div class="cw-welcome">
                <h2>{t(Text::ConversationNotShown)}</h2>
                <p>{text}</p>
                {(!is_missing)
                    .then(|| {
                        view! {
                            <button type="button" class="cw-button" on:click=move |_| retry.run(())>
                                {t(Text::TryAgain)}
                            </button>
                        }
                    })}
                // Where the page names the conversation, no link leads to another one.
                {(!chat.is_named)
                    .then(|| {
                        view! {
                            <a class="cw-button" href=move || Some(chat.href(None))>
                                {t(Text::NewConversation)}
                            </a>
                        }
                    })}
            </div>
        </div>
    }
    .into_any()
}
