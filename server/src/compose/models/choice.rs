//! The models among which users of an agent choose.

use chat::SelectableModel;
use config::{Config, Model};
use serde_json::{Value, json};
use wire::UserError;
use wire::api::RunOptions;

/// Returns the models of an agent, the default first; none if its users have no choice.
pub(in crate::compose) fn selectable(config: &Config, agent: &config::Agent) -> Vec<SelectableModel> {
    let mut models: Vec<_> = allowed(config, agent)
        .map(|model| SelectableModel { id: model.id.clone(), can_think: model.can_think })
        .collect();
    let default = agent.models.as_ref().map(|allowed| &allowed.default);
    models.sort_by_key(|model| Some(&model.id) != default);
    models
}

/// Returns the model that a request names, or the default one, and whether it thinks. `None` for an
/// agent whose users have no choice.
///
/// # Errors
/// 422 if the agent does not allow it.
pub(in crate::compose) fn chosen<'c>(
    config: &'c Config,
    agent: &config::Agent,
    options: &RunOptions,
) -> Result<Option<(&'c Model, bool)>, UserError> {
    let Some(own) = &agent.models else {
        return match (&options.model, options.thinking) {
            (None, None | Some(false)) => Ok(None),
            (Some(_), _) => Err(refused("/model", "This agent has one model: its config has no `models`.")),
            (None, Some(true)) => {
                Err(refused("/thinking", "Thinking cannot be switched on here: the agent's config has no `models`."))
            }
        };
    };
    let id = options.model.as_ref().unwrap_or(&own.default);
    let model = allowed(config, agent).find(|model| model.id == *id).ok_or_else(|| {
        let ids: Vec<_> = own.ids.iter().map(|id| format!("`{id}`")).collect();
        refused("/model", &format!("This agent does not have this model. It has {}.", ids.join(", ")))
    })?;
    let thinks = options.thinking == Some(true);
    if thinks && !model.can_think {
        return Err(refused("/thinking", &format!("The model `{id}` does not think.")));
    }
    Ok(Some((model, thinks)))
}

/// Returns the choices of the composer; `None` if there is nothing to choose.
pub(in crate::compose) fn composer(config: &Config, agent: &config::Agent) -> Option<Value> {
    let default = &agent.models.as_ref()?.default;
    let models: Vec<_> = allowed(config, agent).collect();
    let has_choice = models.len() > 1 || models.iter().any(|model| model.can_think);
    has_choice.then(|| {
        let entry = |model: &&Model| {
            json!({ "id": model.id, "title": model.title, "thinking": model.can_think, "default": model.id == *default })
        };
        models.iter().map(entry).collect()
    })
}

fn allowed<'c>(config: &'c Config, agent: &config::Agent) -> impl Iterator<Item = &'c Model> {
    let ids = agent.models.clone().map(|allowed| allowed.ids).unwrap_or_default();
    ids.into_iter().filter_map(|id| config.models.get(&id))
}

fn refused(path: &str, message: &str) -> UserError {
    UserError::invalid(path, message)
}
