//! Agents that are made from one of the config, with a model or properties of their own.

use super::entry::AgentProperties;
use super::models::default_of;
use super::{operators, provider};
use crate::agent::{Agent, AgentType, DynamicProperties};
use crate::model::{AllowedModels, Model};
use crate::shape::check_value;
use config_source::{Node, Report, Span};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::sync::Arc;

impl Agent {
    /// Returns the agent with a model of the section `models` as its only one.
    ///
    /// # Errors
    /// The model is not of the provider of the agent's type, or its settings do not fit to the agent's
    /// properties.
    pub fn with_model(&self, model: &Model) -> Result<Self, String> {
        let is_any = matches!(self.agent_type, AgentType::Agent | AgentType::AISDKAgent);
        if !is_any && self.agent_type != model.agent_type {
            return Err(format!("the model `{}` is not of the provider of a {:?}", model.id, self.agent_type));
        }
        let models = Some(AllowedModels { ids: vec![model.id.clone()], default: model.id.clone() });
        // With operators among the properties, what does not fit is known only when these have values.
        if self.dynamic_properties.is_some() {
            let (connection_id, name) = (model.connection_id.clone(), model.model.clone());
            let unread_files = model.unread_files();
            return Ok(Self { models, connection_id, model: name, unread_files, ..self.clone() });
        }
        if model.can_think {
            self.for_turn(Vec::new(), Some((model, true)))?;
        }
        Ok(Self { models, ..self.for_turn(Vec::new(), Some((model, false)))? })
    }

    /// Returns the agent with further properties, as the config would write them. They take precedence
    /// over its own ones and hold no operators. `models` are those of the config.
    ///
    /// # Errors
    /// The first property that is not allowed.
    pub fn with_properties(
        &self,
        properties: &Map<String, Value>,
        models: &IndexMap<String, Model>,
    ) -> Result<Self, String> {
        let shape = AgentProperties::shape();
        let mut entry = Value::clone(&self.static_entry);
        for (name, value) in properties {
            let mut report = Report::default();
            let node = Node::from_value(value, Span::default());
            let checked = shape.property(name).and_then(|shape| check_value(&node, shape, &mut report));
            let checked = checked.filter(|value| !::operators::is_dynamic(value));
            let checked = checked.ok_or_else(|| format!("`{name}`: {}", operators::first_problem(report)))?;
            provider::merge(&mut entry["properties"][name], checked);
        }
        let known = self.dynamic_properties.iter().flat_map(|dynamic| &dynamic.properties);
        let later: Vec<_> = known.filter(|property| !properties.contains_key(&property.name)).cloned().collect();
        let dynamic_properties = (!later.is_empty()).then(|| Arc::new(DynamicProperties { properties: later }));
        let changed = Self { static_entry: Arc::new(entry), dynamic_properties, ..self.clone() };
        if changed.dynamic_properties.is_some() {
            return Ok(changed);
        }
        let default = default_of(self.models.as_ref(), models);
        changed.settle(Value::clone(&changed.static_entry), default.map(|model| (model, false)))
    }
}
