//! A page in a list of pages.

use crate::read::read_struct;
use serde::Serialize;

/// A page that the user may open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageLink {
    /// The page's id, which is its address: `/{id}`.
    pub id: String,
    /// The title of the page.
    pub title: String,
    /// The description of the page in the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The address of an image, or a few characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// Whether the page has a chat.
    pub is_chat: bool,
    /// The agent of the page's first chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

read_struct!(PageLink {
    id: "id",
    title: "title",
    description: "description",
    picture: "picture",
    is_chat: "isChat",
    agent_id: "agentId",
});
