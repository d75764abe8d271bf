//! The chat component that pages use.

use super::cards::standing_state::StandingApprovalState;
use super::pane::Pane;
use super::session::{ChatBlock, HostForm, Session};
use super::size::{section_id, sized_section};
use crate::actions::{BlockEvents, ClientTools};
use crate::agent_chat::chunk_tables::{CONVERSATION, FRAMES, SESSION};
use crate::api::{ApiError, LoadedConversation, ServerData, load_conversation};
use crate::chat_context::{ChatContext, use_chat_context};
use crate::chunks::ChunkError;
use crate::prelude::*;
use crate::scope::OperatorScope;
use crate::texts::{Text, block_language, error_text, t, with_locale};
use leptos::ev::DragEvent;
use serde_json::Value;
use wire::api::ConversationView;
use wire::error::ErrorCode;
use wire::page::as_text;
use wire::page::{AgentChatProperties, Display, SharedField};

/// The chat with an agent: the selected conversation, or a new one.
#[component]
pub fn AgentChat(
    /// The id of the block, which actions use to call its methods.
    #[prop(into)]
    id: String,
    /// The id of the page.
    #[prop(into)]
    page_id: String,
    /// The properties from the config.
    properties: AgentChatProperties,
    /// The fields of the shared state.
    fields: Vec<SharedField>,
    /// The event handlers of the block, including `onBeforeSend`.
    #[prop(optional)]
    events: BlockEvents,
    /// The client tools, which the agent can call on the page.
    #[prop(optional)]
    tools: ClientTools,
) -> AnyView {
    let (open, locale, preset) = (RwSignal::new(false), properties.locale.clone(), StoredValue::new(Vec::new()));
    let chat = chat_context(properties.conversation_id.as_ref());
    let mut properties = properties;
    // The chat cannot show a copy of a conversation: the page must select it.
    properties.actions.branch &= !chat.is_bound_to_state() || events.has("onConversationStart");
    let form_of = use_context::<HostForm>().is_none().then(|| StoredValue::new(None));
    let place = ChatBlock {
        block_id: id,
        page_id,
        properties,
        fields,
        events,
        tools,
        chat,
        drawer_open: open,
        preset_messages: preset,
        given_messages: StoredValue::new(None),
        form_conversation: form_of,
    };
    with_locale(locale.as_ref(), move || chat_view(place))
}

/// Returns the page's chat context, or a separate one if the page sets the conversation's id.
fn chat_context(name: Option<&Value>) -> ChatContext {
    let chat = use_chat_context();
    let Some(name) = name.cloned() else { return chat };
    let scope = OperatorScope::for_page();
    let name = Memo::new(move |_| scope.evaluate(&name).ok().as_ref().and_then(as_text).filter(|id| !id.is_empty()));
    chat.bound_to_state(name)
}

fn chat_view(place: ChatBlock) -> AnyView {
    match place.properties.display {
        Display::Inline => inline_chat(place),
        Display::Drawer => FRAMES.view(move |code| (code.drawer)(place.clone())),
        Display::Page => {
            place.chat.fills_page.set(true);
            inline_chat(place)
        }
    }
}

/// The chat as a part of the page, without a drawer.
pub(super) fn inline_chat(place: ChatBlock) -> AnyView {
    let chat = place.chat;
    // The open conversation may have been created in this chat: it then has an id already, but must
    // not be loaded.
    let own_id = RwSignal::new(chat.conversation.get_untracked());
    // The counter makes two new conversations in a row different values: for both, the id to load
    // is `None`.
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
                // Loads the conversation and the code at the same time.
                let (view, code) = futures::join!(load_conversation(id), CONVERSATION.load());
                code.map_err(|_| ApiError::from(ChunkError::user_error()))?;
                match view {
                    // The conversation is created with its first message. No signal is read here,
                    // because on the server it may have been disposed by now.
                    Err(error) if error.code() == ErrorCode::NotFound && chat.is_bound_to_state() => Ok(None),
                    view => view.map(Some),
                }
            }
            None => Ok(None),
        }
    };
    let loaded = ServerData::new(move || wanted.get(), load, true);
    let (lang, dir) = block_language();
    let (id, frame) = (section_id(&place.block_id), sized_section(&place.block_id, &place.properties));
    let standing = StandingApprovalState::new();
    // The user is likely to write next, so the code is requested early.
    let request_code = move || {
        CONVERSATION.request();
        SESSION.request();
        standing.activate();
    };
    let place = StoredValue::new(place);
    let open = StoredValue::new(None::<Session>);
    let drag = move |event: DragEvent, above: bool| {
        if let Some(session) = open.get_value().filter(|session| !session.is_disposed()) {
            session.drag(&event, above);
        }
    };
    let drop_files = move |event: DragEvent| {
        if let Some(session) = open.get_value().filter(|session| !session.is_disposed()) {
            session.drop_files(&event);
        }
    };
    let pane = loaded.view(move |view| match view.and_then(|view| view.map(read).transpose()) {
        Ok(view) => view! { <Pane view place=place.get_value() own_id open standing /> }.into_any(),
        Err(error) => {
            // No conversation is open any more, so the previous one must be loaded again.
            own_id.set(None);
            view! { <LoadFailed error chat retry=move || loaded.refetch() /> }.into_any()
        }
    });
    // For `stopped.js`: the page's address does not contain the id.
    let named = move || chat.conversation.get().filter(|_| chat.is_bound_to_state());
    view! {
        <section
            id=id
            class="cw-chat"
            node_ref=frame
            lang=lang
            dir=dir
            aria-label=t(Text::ChatWithAgent)
            data-conversation=named
            on:pointerenter=move |_| request_code()
            on:focusin=move |_| request_code()
            on:dragover=move |event| drag(event, true)
            on:dragleave=move |event| drag(event, false)
            on:drop=drop_files
        >
            {pane}
        </section>
    }
    .into_any()
}

/// Reads a loaded conversation with the code that was loaded with it.
fn read(view: LoadedConversation) -> Result<ConversationView, ApiError> {
    let code = untrack(|| CONVERSATION.get()).ok_or_else(ChunkError::user_error)?;
    view.read(code.read)
}

/// The message that the conversation could not be loaded.
#[component]
fn LoadFailed(error: ApiError, chat: ChatContext, #[prop(into)] retry: Callback<()>) -> AnyView {
    let is_missing = error.code() == ErrorCode::NotFound;
    let text = if is_missing { t(Text::ConversationNotYours).to_owned() } else { error_text(&error.0) };
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
                // If the page sets the conversation's id, no link can lead to a new one.
                {(!chat.is_bound_to_state())
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
