//! Facts, and the topics by which they are summarised.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A day in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1_000;
/// The longest text of a fact, in characters.
pub(crate) const MAX_CONTENT: usize = 300;

/// The category of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Category {
    /// A preference of the user.
    Preference,
    /// A skill or knowledge of the user.
    Knowledge,
    /// The identity of the user: where they live and work, and whom they know.
    Context,
    /// A habit of the user.
    Behavior,
    /// A goal of the user.
    Goal,
}

impl Category {
    const ALL: [Self; 5] = [Self::Preference, Self::Knowledge, Self::Context, Self::Behavior, Self::Goal];

    /// Returns the name in the database, in the API and in prompts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Preference => "preference",
            Self::Knowledge => "knowledge",
            Self::Context => "context",
            Self::Behavior => "behavior",
            Self::Goal => "goal",
        }
    }

    /// Returns the category with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }

    /// Returns all names.
    pub(crate) fn names() -> [&'static str; 5] {
        Self::ALL.map(Self::name)
    }
}

/// A section of the summary of the facts about a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// The user's work: role, employer, projects, tools.
    WorkContext,
    /// The user's life: languages, places, people, interests.
    PersonalContext,
    /// Current subjects.
    TopOfMind,
    /// Recent events.
    RecentMonths,
    /// Earlier events.
    EarlierContext,
    /// Long-term background.
    LongTermBackground,
}

impl Topic {
    /// All topics, in the order of the summary.
    pub(crate) const ALL: [Self; 6] = [
        Self::WorkContext,
        Self::PersonalContext,
        Self::TopOfMind,
        Self::RecentMonths,
        Self::EarlierContext,
        Self::LongTermBackground,
    ];

    /// Returns the name in the database, in the API and in prompts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::WorkContext => "workContext",
            Self::PersonalContext => "personalContext",
            Self::TopOfMind => "topOfMind",
            Self::RecentMonths => "recentMonths",
            Self::EarlierContext => "earlierContext",
            Self::LongTermBackground => "longTermBackground",
        }
    }

    /// Returns the heading in the block that an agent reads.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::WorkContext => "Work",
            Self::PersonalContext => "Personal",
            Self::TopOfMind => "Top of mind",
            Self::RecentMonths => "Recent months",
            Self::EarlierContext => "Earlier",
            Self::LongTermBackground => "Long-term background",
        }
    }

    /// Returns the topic with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.name() == name)
    }

    /// Returns all names.
    pub(crate) fn names() -> [&'static str; 6] {
        Self::ALL.map(Self::name)
    }

    /// Returns the topic of a fact of this age: facts of the topic `TopOfMind` move to later topics
    /// with time.
    fn after(self, age: i64) -> Self {
        match (self, age / DAY) {
            (Self::TopOfMind, 30..120) => Self::RecentMonths,
            (Self::TopOfMind, 120..) | (Self::RecentMonths, 90..) => Self::EarlierContext,
            _ => self,
        }
    }
}

/// A fact about a user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    pub(crate) id: String,
    /// The only agent that may use it; empty for a fact that all agents may use.
    pub(crate) agent_id: String,
    /// One sentence.
    pub(crate) content: String,
    pub(crate) category: Category,
    /// The topic when the fact was stored.
    pub(crate) topic: Topic,
    /// The confidence, from 0 to 1.
    pub(crate) confidence: f64,
    pub(crate) source: Source,
    /// Unix time in milliseconds.
    pub(crate) created_at: i64,
    /// Unix time in milliseconds.
    pub(crate) updated_at: i64,
    /// Whether the user has changed it.
    pub(crate) is_edited: bool,
}

/// The message of the user that a fact comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) conversation_id: String,
    pub(crate) message_id: String,
    /// The title of the conversation.
    pub(crate) title: String,
    /// The page of the conversation.
    pub(crate) page_id: String,
}

impl Fact {
    /// Returns the topic at this time.
    pub(crate) fn topic_at(&self, now: i64) -> Topic {
        self.topic.after(now - self.updated_at)
    }
}

/// Returns a text without line breaks and superfluous spaces.
pub(crate) fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a form of a text that is equal for texts that differ only in case, spaces and
/// punctuation.
pub(crate) fn comparable(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let plain: String = text.replace(['\u{2019}', '\''], "").chars().map(plain).collect();
    single_line(&plain.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_move_on_with_time() {
        let check = |topic: Topic, days: i64, expected: Topic| assert_eq!(topic.after(days * DAY), expected, "{days}");
        check(Topic::TopOfMind, 29, Topic::TopOfMind);
        check(Topic::TopOfMind, 30, Topic::RecentMonths);
        check(Topic::TopOfMind, 200, Topic::EarlierContext);
        check(Topic::RecentMonths, 89, Topic::RecentMonths);
        check(Topic::RecentMonths, 90, Topic::EarlierContext);
        check(Topic::WorkContext, 900, Topic::WorkContext);
    }

    #[test]
    fn texts_that_say_the_same_are_recognized() {
        let check = |one: &str, other: &str| assert_eq!(comparable(one), comparable(other));
        check("The user lives in Rome.", "the user  lives in\nRome");
        check("The user\u{2019}s name is Ada", "The users name is Ada!");
    }
}
