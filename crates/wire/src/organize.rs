//! Organizing conversations: changes to list entries, folders, search results and share links.

use crate::api::{ConversationSummary, Outcome};
use crate::read::read_struct;
use serde::{Deserialize, Deserializer, Serialize};

/// The limit on the title of a conversation in characters.
pub const MAX_TITLE: usize = 200;

/// A change to conversations; absent fields stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationChange {
    /// A new title, 1 to 200 characters. Hooks no longer change it afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Pins or unpins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Moves into the archive or out of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Moves into a folder, or out of any folder with `null`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub folder_id: Option<MoveTo>,
    /// Marks as unread or read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<bool>,
    /// Deletes, or restores while that is still possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
    /// Makes temporary (deleted for good after a day, unless the config says otherwise) or
    /// permanent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary: Option<bool>,
}

/// The target of a move: a folder, or no folder (`null`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MoveTo(pub Option<String>);

/// Deserializes `null` as a value of its own, unlike an absent field.
fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<MoveTo>, D::Error> {
    MoveTo::deserialize(d).map(Some)
}

/// A filter for the conversation list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListFilter {
    /// Lists archived conversations instead of the others.
    #[serde(default)]
    pub archived: bool,
    /// Lists only conversations in this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<String>,
}

/// A folder of conversations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Folder {
    /// The folder's id.
    pub id: String,
    /// The name, 1 to 60 characters.
    pub name: String,
    /// The name of the colour of its project; absent for a folder that is no project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// The folder that it is in; absent at the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// How many conversations are in it, without those in the archive and in the folders in it.
    pub count: u32,
    /// When one of these was last used (Unix time, milliseconds); absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<i64>,
    /// The path of the page with its project, or on which it becomes one; absent on servers without projects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
}

impl Folder {
    /// A folder without conversations that is no project.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), color: None, parent_id: None, count: 0, used_at: None, settings: None }
    }
}

read_struct!(Folder {
    id: "id",
    name: "name",
    color: "color",
    parent_id: "parentId",
    count: "count" or default,
    used_at: "usedAt",
    settings: "settings"
});

/// The caller's folders, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FolderList {
    /// All folders.
    pub items: Vec<Folder>,
}

read_struct!(FolderList { items: "items" });

/// A search hit: a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// Its entry in the conversation list.
    pub conversation: ConversationSummary,
    /// The newest matching message; absent if only the title matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The outcome of that message, if it is an incomplete answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The text around the match, as alternating segments: every second one is a match.
    pub passage: Vec<String>,
}

read_struct!(SearchHit {
    conversation: "conversation",
    message_id: "messageId",
    outcome: "outcome",
    passage: "passage"
});

/// One page of search results, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SearchHitList {
    /// At most the requested number of hits.
    pub items: Vec<SearchHit>,
    /// The opaque cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

read_struct!(SearchHitList { items: "items", next: "next" });

/// A link to a snapshot of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// The secret id of the link: the page is `/shared/{id}`.
    pub id: String,
    /// When the snapshot was taken; Unix time in milliseconds.
    pub created_at: i64,
}

read_struct!(Share { id: "id", created_at: "createdAt" });

/// The share links of a conversation, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShareList {
    /// All links.
    pub items: Vec<Share>,
}

read_struct!(ShareList { items: "items" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_folder_differs_from_absent_and_unknown_fields_are_rejected() {
        let check = |json: &str, expected: Result<ConversationChange, &str>| {
            let read = serde_json::from_str::<ConversationChange>(json).map_err(|error| error.to_string());
            assert_eq!(read, expected.map_err(str::to_owned), "{json}");
            if let Ok(change) = read {
                assert_eq!(serde_json::to_string(&change).unwrap(), json);
            }
        };
        let none = ConversationChange::default;
        check("{}", Ok(none()));
        check(r#"{"folderId":null}"#, Ok(ConversationChange { folder_id: Some(MoveTo(None)), ..none() }));
        let change = ConversationChange { pinned: Some(true), folder_id: Some(MoveTo(Some("f".to_owned()))), ..none() };
        check(r#"{"pinned":true,"folderId":"f"}"#, Ok(change));
        let known = "`title`, `pinned`, `archived`, `folderId`, `unread`, `deleted`, `temporary`";
        let refused = format!("unknown field `owner`, expected one of {known} at line 1 column 8");
        check(r#"{"owner":"eve"}"#, Err(&refused));
    }
}
