//! The model that the user has chosen for a conversation. Each answer records it in its metadata, so
//! that the next one is written by the same model until the user chooses another. Whether the agent may
//! hand tasks to a copy of itself is recorded as well, for the rest of the same answer.

use crate::errors::Result;
use crate::{Caller, Inner, SelectableModel};
use store::{EncodedMessage, StoredMessage};
use wire::UiMessage;
use wire::api::{MessageMetadata, RunOptions, SendRequest, Submission};

/// The id of a model, and whether it thinks.
type Choice = (String, bool);

impl Inner {
    /// Completes the options of a submission by what was chosen before. An answer that goes on does so
    /// with the model that began it, whatever the client sends.
    pub(super) async fn complete_options(&self, caller: &Caller, request: &mut SendRequest) -> Result<()> {
        let models = self.agents.models(&request.agent_id);
        let offers_delegation = self.agents.offers_delegation(&request.agent_id);
        let goes_on = matches!(request.submission, Submission::Answers { .. } | Submission::Continue);
        let is_complete = request.options.model.is_some() && request.options.thinking.is_some();
        let keeps_delegation = offers_delegation && goes_on;
        if !keeps_delegation && (models.is_empty() || is_complete && !goes_on) {
            return Ok(());
        }
        let (user_id, id) = (&caller.user_id, &request.conversation_id);
        let branch = self.since_choice(user_id, id, &models).await?;
        let first = if request.options.model.is_none() && branch.is_empty() {
            self.store.conversation(user_id, id).await?.and_then(|conversation| conversation.model_id)
        } else {
            None
        };
        complete(&mut request.options, &models, (&branch, first), goes_on);
        if keeps_delegation {
            request.options.delegate = delegates(&branch);
        }
        Ok(())
    }

    /// Returns what [`since_choice`] returns of the active branch, of which older messages are read only if they are needed.
    async fn since_choice(&self, user_id: &str, id: &str, models: &[SelectableModel]) -> Result<Vec<StoredMessage>> {
        if let Some(newest) = self.known_messages.newest(&self.store, user_id, id).await? {
            let since = since_choice(&newest, models);
            if since.first().is_some_and(|first| models.is_empty() || choice(&first.message, models).is_some()) {
                return Ok(since);
            }
        }
        Ok(since_choice(&self.store.encoded_branch(user_id, id).await?, models))
    }
}

/// Completes options by the choice of the newest answer of a branch, by the model that the conversation began with,
/// or by the first of the models.
pub(super) fn complete(
    options: &mut RunOptions,
    models: &[SelectableModel],
    (branch, began_with): (&[StoredMessage], Option<String>),
    goes_on: bool,
) {
    let is_known = |id: &str| models.iter().any(|known| known.id == id);
    let before = branch.iter().rev().find_map(|stored| choice(&stored.message, models));
    if goes_on && before.is_some() {
        (options.model, options.thinking) = (None, None);
    }
    let thought = before.as_ref().is_some_and(|(_, thinks)| *thinks);
    let Some(first) = models.first() else { return };
    let first = || began_with.filter(|id| is_known(id)).unwrap_or_else(|| first.id.clone());
    let model = options.model.get_or_insert_with(|| before.map_or_else(first, |(id, _)| id));
    let can_think = models.iter().any(|known| known.id == *model && known.can_think);
    options.thinking.get_or_insert(thought && can_think);
}

/// Returns the newest messages of a branch, from the newest one that records a choice on; the newest one if the user
/// has no choice.
pub(super) fn since_choice(branch: &[EncodedMessage], models: &[SelectableModel]) -> Vec<StoredMessage> {
    let mut newest = Vec::new();
    for message in branch.iter().rev().map(EncodedMessage::decode) {
        let is_choice = models.is_empty() || choice(&message.message, models).is_some();
        newest.push(message);
        if is_choice {
            break;
        }
    }
    newest.reverse();
    newest
}

/// Returns the choice that a message records, if the agent still allows the model.
fn choice(message: &UiMessage, models: &[SelectableModel]) -> Option<Choice> {
    let metadata = MessageMetadata::from_message(message);
    let id = metadata.model_id.filter(|id| models.iter().any(|known| known.id == *id))?;
    Some((id, metadata.thinking == Some(true)))
}

/// Returns whether the newest message of a branch records that the agent may delegate.
pub(super) fn delegates(branch: &[StoredMessage]) -> Option<bool> {
    MessageMetadata::from_message(&branch.last()?.message).delegate
}

/// Records the choice in the metadata of an answer.
pub(super) fn record(message: &mut UiMessage, options: &RunOptions) {
    let delegate = options.delegate.filter(|delegates| *delegates);
    if options.model.is_some() || delegate.is_some() {
        let known = MessageMetadata::from_message(message);
        let (model_id, thinking) = (options.model.clone(), options.thinking);
        message.metadata = serde_json::to_value(MessageMetadata { model_id, thinking, delegate, ..known }).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Role;

    #[test]
    fn what_is_not_chosen_is_as_before() {
        let models = [("fast", false), ("deep", true)];
        let models = models.map(|(id, can_think)| SelectableModel { id: id.to_owned(), can_think });
        let options = |model: Option<&str>, thinking| RunOptions {
            model: model.map(str::to_owned),
            thinking,
            ..RunOptions::default()
        };
        let answer = |(model, thinking): (Option<&str>, Option<bool>)| {
            let mut message = UiMessage::new("m", Role::Assistant);
            record(&mut message, &options(model, thinking));
            StoredMessage { id: "m".to_owned(), parent_id: None, created_at: 0, message }
        };
        let check = |before: &[(Option<&str>, Option<bool>)], asked, goes_on, expected: (&str, bool)| {
            let branch: Vec<_> = before.iter().copied().map(answer).collect();
            let (model, thinking) = asked;
            let mut completed = options(model, thinking);
            complete(&mut completed, &models, (&branch, None), goes_on);
            assert_eq!(completed, options(Some(expected.0), Some(expected.1)), "{before:?} {asked:?} {goes_on}");
        };
        let deep = (Some("deep"), Some(true));
        check(&[], (None, None), false, ("fast", false));
        check(&[], (Some("deep"), None), false, ("deep", false));
        check(&[deep], (None, None), false, ("deep", true));
        check(&[deep], (None, Some(false)), false, ("deep", false));
        check(&[deep], (Some("fast"), None), false, ("fast", false));
        // A result of a workflow is a message without a choice.
        check(&[deep, (None, None)], (None, None), false, ("deep", true));
        // The config no longer allows it.
        check(&[(Some("old"), Some(true))], (None, None), false, ("fast", false));
        // An approval does not change the model, and nothing is refused because of what a client sends.
        check(&[deep], (Some("fast"), Some(false)), true, ("deep", true));
        check(&[], (Some("deep"), Some(true)), true, ("deep", true));
        // A conversation may begin with a model.
        let check = |began_with: &str, asked: Option<&str>, expected: &str| {
            let mut completed = options(asked, None);
            complete(&mut completed, &models, (&[], Some(began_with.to_owned())), false);
            assert_eq!(completed, options(Some(expected), Some(false)), "{began_with} {asked:?}");
        };
        check("deep", None, "deep");
        check("deep", Some("fast"), "fast");
        check("old", None, "fast");
    }
}
