//! Makes a case of an answer, with one click: what the user wrote until then, and what is known of the answer.

mod mask;

use crate::service::{Service, new_id};
use crate::store::{self, Dataset, NewCase, Put};
use ::store::sql::Db;
use ::store::{AuditEntry, StoreError, append_audit};
use chat::Caller;
use mask::Masker;
use serde_json::{Map, Value, json};
use web::admin::{Admin, from_store_error};
use web::times::now_millis;
use wire::change::{Feedback, Rating};
use wire::text::shortened;
use wire::{Role, UiMessage, UserError};

/// The scorers of a new dataset.
pub(crate) const DEFAULT_SCORERS: &str = "\
- id: says
  contains: { all: { _case: expected.says } }
- id: avoids
  contains: { none: { _case: expected.avoids } }
- id: calls
  tools: { called: { _case: expected.tools } }
- id: quick
  time: { maxSeconds: 60 }
# An agent without tools that judges by the rubric of each case:
# - id: judged
#   judge: { agentId: judge, rubric: { _case: expected.rubric } }
";

/// The most messages of the user that a case has: the last ones.
const MAX_MESSAGES: usize = 50;
/// The longest text of a message or an answer, in characters.
const MAX_TEXT: usize = 20_000;

/// A case that was kept: where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptCase {
    pub(crate) dataset_id: String,
    /// The id of its row.
    pub(crate) id: String,
    /// Whether it was a case before.
    pub(crate) was_known: bool,
}

/// Makes a case of an answer, in a dataset, or in that for feedback on the agent. An answer that is a case already stays
/// as it is. Without the consent of the user, personal data is masked.
///
/// # Errors
/// 404 for an unknown answer or dataset; 422 if the answer has no message before it, or the dataset is full.
pub(crate) async fn keep_answer(
    service: &Service,
    admin: &Admin,
    (conversation_id, message_id): (&str, &str),
    dataset_id: Option<String>,
) -> Result<KeptCase, UserError> {
    let store = &service.context.store;
    let conversation = store.any_conversation(conversation_id).await.map_err(from_store_error)?;
    let conversation = conversation.ok_or_else(UserError::not_found)?;
    let owner = Caller::visitor(&conversation.owner);
    let branch = service.context.chat.branch_to(&owner, conversation_id, message_id).await?;
    let feedback = store.feedback(&conversation.owner, conversation_id).await.map_err(from_store_error)?;
    let feedback = feedback.into_iter().find(|(id, _)| id == message_id).map(|(_, feedback)| feedback);
    let as_is = content(&branch, feedback.as_ref(), message_id)?;
    let about = json!({ "userId": conversation.owner, "messageId": message_id });
    let case = NewCase {
        id: new_id(),
        case_id: as_is["id"].as_str().unwrap_or_default().to_owned(),
        owner: conversation.owner.clone(),
        source: Some((conversation_id.to_owned(), message_id.to_owned())),
        is_masked: true,
        created_by: admin.caller.user_id.clone(),
        created_at: now_millis(),
        content: masked(&as_is, conversation.owner_name.as_deref()),
    };
    let audit = admin.audit_entry("keep_case", conversation_id, about);
    store_case(service, (conversation.agent_id, dataset_id), Answer { masked: case, as_is }, audit).await
}

/// The case of an answer in both forms: which one is stored, the user decides.
struct Answer {
    masked: NewCase,
    as_is: Value,
}

impl Answer {
    /// Returns the case as it is stored. The consent of the user is read in the transaction that stores the case.
    async fn into_case(self, db: &mut Db) -> Result<NewCase, StoreError> {
        let is_own = self.masked.owner == self.masked.created_by;
        if is_own || store::hold_consent(db, &self.masked.owner).await? {
            Ok(NewCase { is_masked: false, content: self.as_is, ..self.masked })
        } else {
            Ok(self.masked)
        }
    }
}

/// Stores a case, and the dataset for it if there is none yet.
async fn store_case(
    service: &Service,
    (agent_id, dataset_id): (String, Option<String>),
    answer: Answer,
    mut audit: AuditEntry,
) -> Result<KeptCase, UserError> {
    let write = service.context.store.write(move |db| {
        Box::pin(async move {
            let case = answer.into_case(db).await?;
            let name = format!("Feedback on {agent_id}");
            let known = match dataset_id {
                Some(id) => Some(id),
                None => store::feedback_dataset(db, &agent_id, &name).await?,
            };
            let dataset_id = match known {
                Some(id) => id,
                None => {
                    let dataset = new_dataset(name, agent_id, case.created_by.clone());
                    if !store::insert_dataset(db, &dataset).await? {
                        return Ok(Err(Put::Full));
                    }
                    dataset.id
                }
            };
            let id = case.id.clone();
            audit.arguments["isMasked"] = case.is_masked.into();
            append_audit(db, vec![audit]).await?;
            Ok(match store::add_case(db, &dataset_id, case).await? {
                Put::Stored => Ok(KeptCase { dataset_id, id, was_known: false }),
                Put::Known(id) => Ok(KeptCase { dataset_id, id, was_known: true }),
                refused => Err(refused),
            })
        })
    });
    write.await.map_err(from_store_error)?.map_err(refusal)
}

/// Returns why a case was not stored.
pub(crate) fn refusal(refused: Put) -> UserError {
    match refused {
        Put::Full => {
            UserError::invalid("/", "The limit is reached: a dataset has up to 5,000 cases, and a server 200 datasets.")
        }
        _ => UserError::not_found(),
    }
}

/// Returns a new dataset without cases.
pub(crate) fn new_dataset(name: String, agent_id: String, created_by: String) -> Dataset {
    let now = now_millis();
    Dataset {
        id: new_id(),
        name,
        agent_id,
        scorers: DEFAULT_SCORERS.to_owned(),
        version: 1,
        cases: 0,
        experiments: 0,
        created_by,
        created_at: now,
        updated_at: now,
    }
}

/// Returns the case of an answer: the last message of a branch.
fn content(branch: &[UiMessage], feedback: Option<&Feedback>, message_id: &str) -> Result<Value, UserError> {
    let texts =
        branch.iter().filter(|message| message.role == Role::User).map(|message| shortened(&message.text(), MAX_TEXT));
    let texts: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
    let answer = branch.last().filter(|message| message.role == Role::Assistant).ok_or_else(UserError::not_found)?;
    if texts.is_empty() {
        return Err(UserError::invalid("/", "There is no message of the user before this answer."));
    }
    let text = shortened(&answer.text(), MAX_TEXT);
    let rated = feedback.and_then(|feedback| rated(&answer.text(), feedback.rating));
    let mut expected = Map::new();
    let is_disliked = feedback.is_some_and(|feedback| feedback.rating == Rating::Down);
    if is_disliked {
        let reason = feedback.and_then(|feedback| feedback.reason.clone()).unwrap_or_default();
        let because = if reason.is_empty() { String::new() } else { format!(" They said: {reason}") };
        expected.insert("disliked".to_owned(), text.into());
        let rubric = format!(
            "A user disliked an earlier answer (expected.disliked).{because} A good answer does not have this fault."
        );
        expected.insert("rubric".to_owned(), rubric.into());
    } else {
        let mut tools: Vec<_> = answer.tools().map(|tool| tool.tool_name.clone()).collect();
        tools.dedup();
        if !tools.is_empty() {
            expected.insert("tools".to_owned(), tools.into());
        }
        expected.insert("reference".to_owned(), text.into());
        let rubric = "The answer says the same as the reference answer (expected.reference).";
        expected.insert("rubric".to_owned(), rubric.into());
    }
    let rating = match feedback.map(|feedback| feedback.rating) {
        Some(Rating::Up) => "liked",
        Some(Rating::Down) => "disliked",
        None => "unrated",
    };
    let mut case = json!({
        "id": message_id,
        "input": &texts[texts.len().saturating_sub(MAX_MESSAGES)..],
        "expected": expected,
        "tags": [rating],
    });
    if let Some(rated) = rated {
        case["rated"] = rated;
    }
    Ok(case)
}

/// Returns the answer with the rating of the user, with which judges are compared. Returns `None` for an answer that is
/// longer than a case keeps, since its beginning is not the text that the user has rated.
fn rated(answer: &str, rating: Rating) -> Option<Value> {
    let is_whole = !answer.trim().is_empty() && answer.chars().count() <= MAX_TEXT;
    is_whole.then(|| json!({ "answer": answer, "liked": rating == Rating::Up }))
}

/// Masks personal data in what users and the agent have written. The id, the tags and the names of tools stay.
fn masked(content: &Value, name: Option<&str>) -> Value {
    let masker = Masker::new(name);
    let mut masked = content.clone();
    for key in ["input", "expected", "rated"] {
        if let Some(value) = content.get(key) {
            masked[key] = masker.value(value);
        }
    }
    if let Some(tools) = content.pointer("/expected/tools") {
        masked["expected"]["tools"] = tools.clone();
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_are_not_masked() {
        let content = json!({
            "id": "m-12345678",
            "input": ["I am Ada, ada@shop.test."],
            "expected": { "tools": ["find_order_12345", "Ada"], "reference": "Hello Ada, your order is 4711-0815." },
            "tags": ["liked"],
            "rated": { "answer": "Hello Ada, your order is 4711-0815.", "liked": true },
        });
        let expected = json!({
            "id": "m-12345678",
            "input": ["I am [name], [e-mail]."],
            "expected": { "tools": ["find_order_12345", "Ada"], "reference": "Hello [name], your order is [number]." },
            "tags": ["liked"],
            "rated": { "answer": "Hello [name], your order is [number].", "liked": true },
        });
        assert_eq!(masked(&content, Some("Ada")), expected);
    }

    #[test]
    fn ratings_are_kept_with_the_whole_answer() {
        let check = |answer: &str, rating: Rating, expected: Value| {
            assert_eq!(rated(answer, rating).unwrap_or_default(), expected);
        };
        check("Hello", Rating::Up, json!({ "answer": "Hello", "liked": true }));
        check("Hello", Rating::Down, json!({ "answer": "Hello", "liked": false }));
        check(" ", Rating::Up, Value::Null);
        check(&"x".repeat(MAX_TEXT + 1), Rating::Up, Value::Null);
    }
}
