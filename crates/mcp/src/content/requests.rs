//! The requests of a connection for resources and prompts.

use super::prompt_list::{PromptInfo, read_prompts};
use crate::LIST_TIME;
use crate::connection::{Connection, RequestError};
use rmcp::model::{
    GetPromptRequestParams, JsonObject, PaginatedRequestParams, PromptMessage, ReadResourceRequestParams, Resource,
    ResourceContents, ResourceTemplate,
};
use rmcp::service::ServiceError;
use std::sync::Arc;

/// The maximum number of pages of prompts that are listed.
const MAX_PROMPT_PAGES: usize = 10;

/// A page of the resources, the templates of addresses with the first page, and the cursor of the next page.
type ResourcePage = (Vec<Resource>, Vec<ResourceTemplate>, Option<String>);

impl Connection {
    /// Returns whether the server has resources.
    pub(crate) fn offers_resources(&self) -> bool {
        self.service.peer().peer_info().is_some_and(|info| info.capabilities.resources.is_some())
    }

    /// Returns whether the server has prompts.
    pub(crate) fn offers_prompts(&self) -> bool {
        self.service.peer().peer_info().is_some_and(|info| info.capabilities.prompts.is_some())
    }

    /// Lists a page of the resources.
    pub(crate) async fn resources(&self, cursor: Option<String>) -> Result<ResourcePage, RequestError> {
        let peer = self.service.peer();
        let is_first = cursor.is_none();
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let page = self.in_time("resources/list", peer.list_resources(Some(page))).await?;
        let templates = if is_first {
            match self.in_time("resources/templates/list", peer.list_resource_templates(None)).await {
                Ok(listed) => listed.resource_templates,
                // A server need not have any.
                Err(RequestError::Answered(_)) => Vec::new(),
                Err(failed) => return Err(failed),
            }
        } else {
            Vec::new()
        };
        Ok((page.resources, templates, page.next_cursor))
    }

    /// Returns a resource as the first page of the list has it; `None` if it is not there, or the server lists none.
    pub(crate) async fn listed_resource(&self, uri: &str) -> Result<Option<Resource>, RequestError> {
        match self.in_time("resources/list", self.service.peer().list_resources(None)).await {
            Ok(listed) => Ok(listed.resources.into_iter().find(|resource| resource.uri == uri)),
            Err(RequestError::Answered(_)) => Ok(None),
            Err(failed) => Err(failed),
        }
    }

    /// Reads a resource.
    pub(crate) async fn read_resource(&self, uri: String) -> Result<Vec<ResourceContents>, RequestError> {
        let read = self.service.peer().read_resource(ReadResourceRequestParams::new(uri)).await;
        Ok(read.map_err(|error| self.request_error("resources/read", &error))?.contents)
    }

    /// Reads a resource outside of a call, within a time limit.
    pub(crate) async fn read_resource_in_time(&self, uri: String) -> Result<Vec<ResourceContents>, RequestError> {
        let read = self.service.peer().read_resource(ReadResourceRequestParams::new(uri));
        Ok(self.in_time("resources/read", read).await?.contents)
    }

    /// Returns the prompts. They are listed again after the server has reported a change, as tools are.
    pub(crate) async fn prompts(&self) -> Result<Arc<Vec<PromptInfo>>, RequestError> {
        let mut listed = self.prompts.lock().await;
        let changes = self.events.prompt_changes();
        match &*listed {
            Some((known, prompts)) if *known == changes || !self.may_renew() => return Ok(prompts.clone()),
            _ => {}
        }
        let (mut all, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_PROMPT_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.in_time("prompts/list", self.service.peer().list_prompts(Some(page))).await?;
            all.extend(page.prompts);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        if cursor.is_some() {
            tracing::warn!(server = self.name, pages = MAX_PROMPT_PAGES, "a server has more prompts than are listed");
        }
        let prompts = Arc::new(read_prompts(&self.name, all));
        *listed = Some((changes, prompts.clone()));
        self.events.publish_prompts(&prompts);
        Ok(prompts)
    }

    /// Returns the text of a prompt.
    pub(crate) async fn prompt(&self, name: String, arguments: JsonObject) -> Result<Vec<PromptMessage>, RequestError> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let answer = self.service.peer().get_prompt(params).await;
        Ok(answer.map_err(|error| self.request_error("prompts/get", &error))?.messages)
    }

    async fn in_time<T>(
        &self,
        method: &str,
        request: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, RequestError> {
        let answer = tokio::time::timeout(LIST_TIME, request).await;
        let answer = answer.unwrap_or(Err(ServiceError::Timeout { timeout: LIST_TIME }));
        answer.map_err(|error| self.request_error(method, &error))
    }
}
