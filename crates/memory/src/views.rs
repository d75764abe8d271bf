//! The responses of the routes for programs and pages.

use crate::fact::{Category, Fact, Topic};
use crate::section::MemorySettings;
use crate::service::Switches;
use crate::store::Update;
use schemars::JsonSchema;
use serde::Serialize;

/// The facts about a user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemoryView {
    /// The version of this form.
    version: &'static str,
    /// When the newest fact was stored or changed; Unix time in milliseconds, 0 if there is none.
    last_updated: i64,
    /// Whether facts are stored and read at the moment.
    active: bool,
    /// Whether the user has left memory on.
    enabled: bool,
    /// The sections about the present.
    user: UserSections,
    /// The sections about the past.
    history: HistorySections,
    /// All facts, the most certain ones first.
    facts: Vec<FactItem>,
}

/// The sections about the present.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserSections {
    /// Their work.
    work_context: SectionText,
    /// Their life.
    personal_context: SectionText,
    /// Current subjects.
    top_of_mind: SectionText,
}

/// The sections about the past.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HistorySections {
    /// Recent events.
    recent_months: SectionText,
    /// Earlier events.
    earlier_context: SectionText,
    /// Long-term background.
    long_term_background: SectionText,
}

/// A section with its facts.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SectionText {
    /// The facts, one after the other.
    summary: String,
    /// When the newest of them was stored or changed; Unix time in milliseconds, 0 if there is
    /// none.
    updated_at: i64,
}

/// A fact.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FactItem {
    /// Its id.
    id: String,
    /// One sentence.
    content: String,
    /// The category.
    category: Category,
    /// The section to which it belongs.
    section: &'static str,
    /// The confidence, from 0 to 1.
    confidence: f64,
    /// The only agent that knows it; absent if all agents that remember do.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    /// The message that it comes from.
    source: SourceItem,
    /// Whether the user has changed it.
    edited: bool,
    /// When it was stored; Unix time in milliseconds.
    created_at: i64,
    /// When it was last changed or stated again; Unix time in milliseconds.
    updated_at: i64,
}

/// The message of the user that a fact comes from.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceItem {
    /// The conversation.
    conversation_id: String,
    /// The message.
    message_id: String,
    /// The title of the conversation.
    title: String,
    /// The page of the conversation.
    page_id: String,
}

/// The settings of memory.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigView {
    /// Whether the config and the administrators have memory on.
    enabled: bool,
    /// The most facts.
    max_facts: u32,
    /// The confidence that a fact needs to be stored.
    threshold: f64,
    /// The approximate number of tokens of the facts that an agent gets.
    max_tokens: u64,
    /// The most facts that an agent gets.
    max_told: u32,
    /// The time without a message after which a conversation is read, in seconds.
    rest_seconds: u64,
}

/// The settings, and the facts.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatusView {
    /// The settings.
    pub(crate) config: ConfigView,
    /// The facts.
    pub(crate) data: MemoryView,
}

/// The changes by a conversation, newest first.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdateItems {
    /// The changes.
    pub(crate) items: Vec<UpdateItem>,
    /// Whether there may be changes later. Nothing is remembered for visitors.
    pub(crate) may_change: bool,
}

/// A change of the facts by a conversation.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdateItem {
    /// Its id.
    id: String,
    /// The facts that were added and are still known.
    added: Vec<String>,
    /// The number of facts that they have replaced.
    replaced: i64,
    /// Whether it was undone.
    undone: bool,
    /// When it was stored; Unix time in milliseconds.
    created_at: i64,
}

impl From<Update> for UpdateItem {
    fn from(update: Update) -> Self {
        let Update { id, created_at, added, replaced, is_undone } = update;
        Self { id, added, replaced, undone: is_undone, created_at }
    }
}

impl MemoryView {
    pub(crate) fn new((switches, facts): (Switches, Vec<Fact>), now: i64) -> Self {
        let section = |topic: Topic| {
            let of_topic: Vec<_> = facts.iter().filter(|fact| fact.topic_at(now) == topic).collect();
            let summary = of_topic.iter().map(|fact| fact.content.as_str()).collect::<Vec<_>>().join(" ");
            SectionText { summary, updated_at: of_topic.iter().map(|fact| fact.updated_at).max().unwrap_or_default() }
        };
        Self {
            version: "1.0",
            last_updated: facts.iter().map(|fact| fact.updated_at).max().unwrap_or_default(),
            active: switches.is_on(),
            enabled: switches.user.is_enabled,
            user: UserSections {
                work_context: section(Topic::WorkContext),
                personal_context: section(Topic::PersonalContext),
                top_of_mind: section(Topic::TopOfMind),
            },
            history: HistorySections {
                recent_months: section(Topic::RecentMonths),
                earlier_context: section(Topic::EarlierContext),
                long_term_background: section(Topic::LongTermBackground),
            },
            facts: facts.into_iter().map(|fact| FactItem::new(fact, now)).collect(),
        }
    }
}

impl FactItem {
    pub(crate) fn new(fact: Fact, now: i64) -> Self {
        let section = fact.topic_at(now).name();
        let source = fact.source;
        Self {
            id: fact.id,
            content: fact.content,
            category: fact.category,
            section,
            confidence: fact.confidence,
            agent_id: Some(fact.agent_id).filter(|id| !id.is_empty()),
            source: SourceItem {
                conversation_id: source.conversation_id,
                message_id: source.message_id,
                title: source.title,
                page_id: source.page_id,
            },
            edited: fact.is_edited,
            created_at: fact.created_at,
            updated_at: fact.updated_at,
        }
    }
}

impl ConfigView {
    pub(crate) fn new(settings: &MemorySettings, switches: Switches) -> Self {
        Self {
            enabled: switches.config && switches.all,
            max_facts: settings.max_facts,
            threshold: settings.threshold,
            max_tokens: settings.max_tokens,
            max_told: settings.max_told,
            rest_seconds: settings.rest.as_secs(),
        }
    }
}
