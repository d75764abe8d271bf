//! Order in many conversations: what can be changed about one in the list, folders, and what a search finds.

use crate::api::{ConversationSummary, Outcome};
use crate::read::read_struct;
use serde::{Deserialize, Deserializer, Serialize};

/// What is changed about conversations; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConversationChange {
    /// Another title, 1 to 200 characters. No hook changes it from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Above the others, or not any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Into the archive, or back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Into a folder; `null`: into none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub folder_id: Option<MoveTo>,
    /// Whether the owner has yet to see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<bool>,
    /// Away, or back while there is time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
    /// Gone for good in a while (a day, unless the config says otherwise), or kept like others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary: Option<bool>,
}

/// Where conversations go: into a folder, or (`null`) into none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MoveTo(pub Option<String>);

/// `null` is a value here, other than nothing.
fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<MoveTo>, D::Error> {
    MoveTo::deserialize(d).map(Some)
}

/// Which conversations are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListFilter {
    /// Those in the archive instead of the others.
    #[serde(default)]
    pub archived: bool,
    /// Those in this folder only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<String>,
}

/// A folder of conversations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Folder {
    /// The folder.
    pub id: String,
    /// 1 to 60 characters.
    pub name: String,
}

read_struct!(Folder { id: "id", name: "name" });

/// The caller's folders, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FolderList {
    /// All of them.
    pub items: Vec<Folder>,
}

read_struct!(FolderList { items: "items" });

/// A conversation that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// Its line in the list.
    pub conversation: ConversationSummary,
    /// The newest message that fits; absent when only the title does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// How that message ended, if it is an answer that did not come to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The passage around what was found: texts in turn, the second, the fourth and so on are what was searched for.
    pub passage: Vec<String>,
}

read_struct!(Found { conversation: "conversation", message_id: "messageId", outcome: "outcome", passage: "passage" });

/// One page of what a search found, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundList {
    /// At most the asked number.
    pub items: Vec<Found>,
    /// Opaque; asks for the next page. Absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

read_struct!(FoundList { items: "items", next: "next" });

/// A link to a frozen copy of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// What lets in: the page is `/shared/{id}`.
    pub id: String,
    /// When the copy was made; Unix time, milliseconds.
    pub created_at: i64,
}

read_struct!(Share { id: "id", created_at: "createdAt" });

/// The links to copies of a conversation, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShareList {
    /// All of them.
    pub items: Vec<Share>,
}

read_struct!(ShareList { items: "items" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_tells_null_from_nothing_and_knows_its_fields() {
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
