//! One conversation: its log, or the welcome text while it is empty, and the composer.

use super::artifacts::ArtifactState;
use super::cards::standing_state::StandingApprovalState;
use super::composer::view::Composer;
use super::log::welcome::Welcome;
use super::message::notice::Trouble;
use super::session::{ChatBlock, Session};
use crate::agent_chat::chunk_tables::{CONVERSATION, EXTRAS, PLAN, PRESENTED, TOOLS};
use crate::libraries::{CitationState, LIBRARIES};
use crate::prelude::*;
use crate::texts::{Text, t};
use wire::api::ConversationView;

/// An open conversation, or a new one.
#[component]
pub(super) fn Pane(
    /// The loaded conversation; none for a new one.
    view: Option<ConversationView>,
    /// The block of the chat.
    place: ChatBlock,
    /// Receives the id that a new conversation gets.
    own_id: RwSignal<Option<String>>,
    /// Receives the open session.
    open: StoredValue<Option<Session>>,
    /// The user's standing approvals; shared by all conversations of the chat.
    standing: StandingApprovalState,
) -> AnyView {
    let own = place.properties.sender.placeholder.clone().or_else(|| place.properties.placeholder.clone());
    let placeholder = own.unwrap_or_else(|| t(Text::TypeMessage).to_owned());
    let block_id = place.block_id.clone();
    let welcome = place.properties.welcome.clone().unwrap_or_default();
    place.chat.set_title(view.as_ref().map(|view| view.summary.title.as_str()));
    let session = Session::new(view.as_ref(), place);
    provide_context(session);
    provide_context(standing);
    let citations = CitationState::new(block_id.clone());
    provide_context(citations);
    let artifacts = ArtifactState::new(citations);
    provide_context(artifacts);
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
    let plans = session.sender(|sender| sender.plan_mode.is_some());
    let list_id = format!("{block_id}-plan");
    let plan = plans.then(|| PLAN.view(move |code| (code.bar)(session, list_id.clone())));
    let manages = standing.was_opened();
    let standing = move || manages.get().then(|| TOOLS.view(|code| (code.standing_dialog)()));
    let uses_citations = citations.is_used();
    let cited = move || uses_citations.get().then(|| LIBRARIES.view(move |code| (code.citations)(citations)));
    let uses_artifacts = artifacts.is_used();
    let artifact = move || uses_artifacts.get().then(|| PRESENTED.view(move |code| (code.panel)(session, artifacts)));
    view! {
        {content}
        {undo}
        {plan}
        <Composer placeholder block_id />
        {standing}
        {cited}
        {artifact}
    }
    .into_any()
}
