//! New conversations in a project.

use super::{Service, new_id};
use crate::store;
use ::store::PrepareConversation;
use chat::Caller;
use web::admin::from_store_error;
use web::query_encoded;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The title of a conversation until its first message.
const TITLE: &str = "New conversation";

/// A new conversation in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewConversation {
    pub(crate) id: String,
    pub(crate) page_id: String,
    pub(crate) agent_id: String,
    pub(crate) model_id: Option<String>,
}

impl NewConversation {
    /// Returns the path of its page.
    pub(crate) fn path(&self) -> String {
        format!("/{}?conversation={}", query_encoded(&self.page_id), query_encoded(&self.id))
    }
}

/// Begins a conversation in a project of the caller: with an agent that they name, otherwise with
/// that of the project, if they may use it, otherwise with the first that they may use. One that
/// has no message yet is used again.
///
/// # Errors
/// 401 for visitors, 404 for an unknown project, or for an agent that the caller may not use or
/// that is on none of their pages; 422 if they have no room for the folder.
pub(crate) async fn begin(
    service: &Service,
    caller: &Caller,
    project_id: &str,
    agent_id: Option<&str>,
) -> Result<NewConversation, UserError> {
    let project = service.project(caller, project_id).await?;
    let (page_id, agent_id) = match agent_id {
        Some(id) => (service.context.page_of_agent(caller, id)?, id.to_owned()),
        None => agent_for(service, caller, &project.settings.agent_id)
            .ok_or_else(|| UserError::new(ErrorCode::NotFound, "There is no agent here that you may use."))?,
    };
    let now = now_millis();
    let folder = store::ensure_folder(service.store(), &caller.user_id, project_id, new_id(), now);
    let Some(folder_id) = folder.await.map_err(from_store_error)? else {
        let most = ::store::MAX_FOLDERS;
        let message = format!("You have {most} folders, which is the maximum. Delete one first.");
        return Err(UserError::new(ErrorCode::Invalid, message));
    };
    let model_id = project_model(service, &agent_id, &project.settings.model_id);
    let prepare = PrepareConversation {
        id: new_id(),
        page_id: page_id.clone(),
        agent_id: agent_id.clone(),
        title: TITLE.to_owned(),
        folder_id,
        model_id: model_id.clone(),
        now,
    };
    let id = service.store().prepare_conversation(&caller.user_id, prepare).await.map_err(from_store_error)?;
    Ok(NewConversation { id, page_id, agent_id, model_id })
}

/// Returns the agent of a project, or else the first that the caller may use, each with its page.
fn agent_for(service: &Service, caller: &Caller, of_project: &str) -> Option<(String, String)> {
    let current = &service.context.current;
    let with_page = |id: String| Some((current.page_for_agent(caller, &id)?, id));
    let own = Some(of_project.to_owned()).filter(|id| !id.is_empty()).and_then(with_page);
    own.or_else(|| current.usable_agents(caller).into_iter().find_map(with_page))
}

/// Returns the model of a project, if the agent's users may choose it.
fn project_model(service: &Service, agent_id: &str, model_id: &str) -> Option<String> {
    let config = service.context.current.config();
    let allowed = config.agents.get(agent_id)?.models.as_ref()?;
    allowed.ids.iter().any(|id| id == model_id).then(|| model_id.to_owned())
}
