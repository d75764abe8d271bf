//! The body of a request, and the submission that it becomes.

use crate::section::ChatMessage;
use config::{Agent, SwitchOption};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wire::api::SendRequest;
use wire::{ErrorCode, UserError};

/// The longest title of a new conversation, in characters.
const MAX_TITLE: usize = 50;

/// A message. Each field has a second name, which is in its description. Other fields are ignored.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct MessageRequest {
    /// The text; also `content`.
    #[serde(alias = "content")]
    pub(crate) message: String,
    /// The conversation that it continues; also `conversationId`. Without it, a new one begins.
    #[serde(default, alias = "conversationId")]
    pub(crate) conversation_id: Option<String>,
    /// Whether the agent may search documents; also `enableDocumentSearch`.
    #[serde(default, alias = "enableDocumentSearch", alias = "enable_document_search")]
    pub(crate) enable_doc_search: bool,
    /// Whether the agent may search the web; also `enableWebSearch`.
    #[serde(default, alias = "enableWebSearch")]
    pub(crate) enable_web_search: bool,
    /// The ids of uploaded files; also `attachmentIds`.
    #[serde(default, alias = "attachmentIds")]
    pub(crate) attachment_ids: Option<Vec<String>>,
    /// `auto`, or the model of the agent, alone or as `connection/model`.
    pub(crate) model: Option<String>,
    /// The agent that answers instead of the configured one; at most one.
    #[serde(default, alias = "selectedAgents")]
    pub(crate) selected_agents: Option<Vec<String>>,
    /// The metadata of the application, which the agent reads as its shared state.
    pub(crate) metadata: Option<Map<String, Value>>,
    /// Not supported: the config of the agent sets it.
    pub(crate) temperature: Option<f64>,
    /// Not supported: the config of the agent sets it.
    #[serde(default, alias = "maxTokens")]
    pub(crate) max_tokens: Option<u64>,
}

/// Which agent answers, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RoutingDecision {
    /// The tools that the request switched on: `doc_search`, `web_search`.
    selected_tools: Vec<&'static str>,
    /// The agent; of an agent that decides for each message how it answers, the way that it has chosen.
    pub(crate) selected_agents: Vec<String>,
    /// 1, or 0 if the model was to decide and did not.
    confidence: f64,
    /// Why.
    reasoning: String,
    /// The other ways that were possible.
    alternatives: Vec<String>,
    /// Always false.
    requires_disambiguation: bool,
}

/// The data of the part of an answer that shows how its agent has decided to answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChosenRoute {
    route: String,
    reason: String,
    decided_by: String,
    alternatives: Vec<String>,
}

impl RoutingDecision {
    /// Returns the decision with what the agent has decided itself; `None` if the data is something else.
    pub(crate) fn with_route(&self, data: &Value) -> Option<Self> {
        let ChosenRoute { route, reason, decided_by, alternatives } = serde_json::from_value(data.clone()).ok()?;
        Some(Self {
            selected_agents: vec![route],
            confidence: if decided_by == "fallback" { 0.0 } else { 1.0 },
            reasoning: reason,
            alternatives,
            ..self.clone()
        })
    }
}

impl MessageRequest {
    /// Checks the properties that the chat itself does not check. `model` is that of the agent, as `connection/model`.
    ///
    /// # Errors
    /// 413 and 422.
    pub(crate) fn check(&self, section: &ChatMessage, model: &str) -> Result<(), UserError> {
        if self.message.trim().is_empty() {
            return Err(UserError::invalid("/message", "The message is empty."));
        }
        if self.message.chars().count() > section.max_characters as usize {
            let message = format!("A message has at most {} characters.", section.max_characters);
            return Err(UserError {
                path: Some("/message".to_owned()),
                ..UserError::new(ErrorCode::TooLarge, message)
            });
        }
        if self.selected_agents.as_ref().is_some_and(|agents| agents.len() > 1) {
            return Err(UserError::invalid("/selected_agents", "One agent can be selected."));
        }
        for (path, is_set) in [("/temperature", self.temperature.is_some()), ("/max_tokens", self.max_tokens.is_some())]
        {
            if is_set {
                return Err(UserError::invalid(path, "The agent decides this; leave it out."));
            }
        }
        match self.model.as_deref() {
            None | Some("auto") => Ok(()),
            Some(named) if named == model || model.split_once('/').is_some_and(|(_, name)| named == name) => Ok(()),
            Some(_) => Err(UserError::invalid("/model", format!("The model is `auto` or `{model}`."))),
        }
    }

    /// Returns the id of the agent that answers.
    pub(crate) fn agent<'r>(&'r self, section: &'r ChatMessage) -> &'r str {
        let selected = self.selected_agents.as_ref().and_then(|agents| agents.first());
        selected.map_or(&section.agent_id.0, String::as_str)
    }

    /// Returns how the request is routed.
    pub(crate) fn decision(&self, section: &ChatMessage) -> RoutingDecision {
        let switched = [("doc_search", self.enable_doc_search), ("web_search", self.enable_web_search)];
        let selected_tools: Vec<_> = switched.into_iter().filter(|(_, on)| *on).map(|(tool, _)| tool).collect();
        let mut causes = selected_tools.clone();
        causes.extend(self.has_attachments().then_some("attachments"));
        let reasoning = match causes.as_slice() {
            [] => "The request has neither searches nor attachments.".to_owned(),
            causes => format!("The request has {}.", causes.join(", ")),
        };
        RoutingDecision {
            selected_tools,
            selected_agents: vec![self.agent(section).to_owned()],
            confidence: 1.0,
            reasoning,
            alternatives: Vec::new(),
            requires_disambiguation: false,
        }
    }

    fn has_attachments(&self) -> bool {
        self.attachment_ids.as_ref().is_some_and(|ids| !ids.is_empty())
    }

    /// Returns the title that the conversation has if this message begins it.
    pub(crate) fn title(&self) -> String {
        match self.message.char_indices().nth(MAX_TITLE) {
            Some((end, _)) => format!("{}...", &self.message[..end]),
            None => self.message.clone(),
        }
    }

    /// Returns the submission. It is read as that of a client, so that what it leaves out has its default.
    pub(crate) fn submission(
        &self,
        section: &ChatMessage,
        agent: &Agent,
        page_id: &str,
        conversation_id: &str,
    ) -> Result<SendRequest, UserError> {
        let files = self.attachment_ids.iter().flatten().map(|id| {
            json!({ "type": "file", "mediaType": "application/octet-stream", "url": format!("{}{id}", wire::file::FILES) })
        });
        let parts: Vec<_> = std::iter::once(json!({ "type": "text", "text": self.message })).chain(files).collect();
        let message = json!({ "id": uuid::Uuid::now_v7().simple().to_string(), "role": "user", "parts": parts });
        let request = json!({
            "pageId": page_id,
            "agentId": self.agent(section),
            "conversationId": conversation_id,
            "submission": { "kind": "message", "message": message },
            "sharedState": self.metadata.clone().unwrap_or_default(),
            "switches": {
                "documents": self.enable_doc_search,
                "web": self.enable_web_search,
                "attachments": self.has_attachments(),
            },
        });
        let mut request: SendRequest =
            serde_json::from_value(request).map_err(|error| UserError::invalid("/", format!("{error}.")))?;
        let switched = |option, is_on: bool| agent.sections.has_switch(option).then_some(is_on);
        request.options.documents = switched(SwitchOption::Documents, self.enable_doc_search);
        request.options.web = switched(SwitchOption::Web, self.enable_web_search);
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{Language, Section, SectionPlace, SectionType};

    fn section() -> ChatMessage {
        serde_json::from_value(json!({ "agentId": "helper", "maxCharacters": 10 })).unwrap()
    }

    /// Stands for a part of an agent that the user switches.
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Documents(#[expect(dead_code, reason = "only its key counts")] bool);

    impl Section for Documents {
        const KEY: &'static str = "documents";
        const PLACE: SectionPlace = SectionPlace::Agent;

        fn user_switch(&self) -> Option<SwitchOption> {
            Some(SwitchOption::Documents)
        }
    }

    #[test]
    fn both_names_of_a_field_are_read() {
        let check = |body: Value| {
            let request: MessageRequest = serde_json::from_value(body).unwrap();
            let text = "connections: [{ id: d, type: Demo }]\n\
                agents: [{ id: helper, type: Agent, connectionId: d, properties: { model: m }, documents: true }]\n";
            const SWITCHES: [SectionType; 1] = [SectionType::of::<Documents>()];
            let (config, _) = Language::new(&SWITCHES, &[]).read_text(text).unwrap();
            let sent = request.submission(&section(), &config.agents["helper"], "home", "c").unwrap();
            // The agent has no switch for the web.
            assert_eq!((sent.options.documents, sent.options.web), (Some(true), None));
            (serde_json::to_value(&sent.switches).unwrap(), request.conversation_id.clone(), request.message.clone())
        };
        let expected =
            (json!({ "documents": true, "web": true, "attachments": true }), Some("c1".to_owned()), "Hi".to_owned());
        let seed = json!({ "content": "Hi", "conversationId": "c1", "enableDocumentSearch": true, "enableWebSearch": true, "attachmentIds": ["f"] });
        assert_eq!(check(seed), expected);
        let service = json!({ "message": "Hi", "conversation_id": "c1", "enable_doc_search": true, "enable_web_search": true, "attachment_ids": ["f"], "user": 1 });
        assert_eq!(check(service), expected);
    }

    #[test]
    fn unsupported_options_are_rejected() {
        let check = |body: Value| {
            let request: MessageRequest = serde_json::from_value(body).unwrap();
            request.check(&section(), "local/small").err().and_then(|error| error.path)
        };
        assert_eq!(check(json!({ "message": "Hi", "model": "auto" })), None);
        assert_eq!(check(json!({ "message": "Hi", "model": "small", "selected_agents": ["a"] })), None);
        assert_eq!(check(json!({ "message": "Hi", "model": "local/small" })), None);
        assert_eq!(check(json!({ "message": "Hi", "model": "large" })).as_deref(), Some("/model"));
        assert_eq!(check(json!({ "message": " " })).as_deref(), Some("/message"));
        assert_eq!(check(json!({ "message": "eleven char" })).as_deref(), Some("/message"));
        assert_eq!(
            check(json!({ "message": "Hi", "selected_agents": ["a", "b"] })).as_deref(),
            Some("/selected_agents")
        );
        assert_eq!(check(json!({ "message": "Hi", "temperature": 1.0 })).as_deref(), Some("/temperature"));
    }
}
