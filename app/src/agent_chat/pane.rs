//! One conversation: its log, or the welcome while it is empty, and the composer.

use super::composer::Composer;
use super::notice::Trouble;
use super::session::{Place, Session};
use super::standing::Standing;
use super::welcome::Welcome;
use super::{CONVERSATION, EXTRAS, TOOLS};
use crate::prelude::*;
use crate::texts::{Text, t};
use wire::api::ConversationView;

/// An open conversation, or a new one.
#[component]
pub(super) fn Pane(
    /// As it was loaded; absent: a new one.
    view: Option<ConversationView>,
    /// Where the chat stands.
    place: Place,
    /// Learns the id that a new conversation gets.
    own_id: RwSignal<Option<String>>,
    /// Learns which session is open.
    open: StoredValue<Option<Session>>,
    /// What is known of the user's standing approvals; the chat's, whichever conversation it shows.
    standing: Standing,
) -> AnyView {
    let own = place.properties.sender.placeholder.clone().or_else(|| place.properties.placeholder.clone());
    let placeholder = own.unwrap_or_else(|| t(Text::TypeMessage).to_owned());
    let block_id = place.block_id.clone();
    let welcome = place.properties.welcome.clone().unwrap_or_default();
    place.chat.learn_title(view.as_ref().map(|view| view.summary.title.as_str()));
    let session = Session::new(view.as_ref(), place);
    provide_context(session);
    provide_context(standing);
    open.set_value(Some(session));
    Effect::new(move |_| own_id.set(session.id.get()));
    let view = StoredValue::new(view);
    Effect::new(move |_| view.with_value(|view| session.start(view.as_ref())));
    let is_empty = Memo::new(move |_| session.messages.with(Vec::is_empty));
    let content = move || {
        if is_empty.get() {
            view! {
                <div class="cw-log-frame cw-log-empty">
                    <Welcome text=welcome.clone() />
                    <Trouble />
                </div>
            }
            .into_any()
        } else {
            CONVERSATION.view(|code| (code.log)())
        }
    };
    let undo = move || session.deleted.get().map(|_| EXTRAS.view(|code| (code.undo)()));
    let manages = standing.is_asked_for();
    let standing = move || manages.get().then(|| TOOLS.view(|code| (code.standing)()));
    view! {
        {content}
        {undo}
        <Composer placeholder block_id />
        {standing}
    }
    .into_any()
}
