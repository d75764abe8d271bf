//! The groups of the list: Today, Yesterday, Previous 7 days, Previous 30 days, Older. The row that
//! begins a group shows its name; see `style/agent_conversations.css`.
//!
//! The server does not know the user's time zone and counts the days of UTC, from the time at which
//! it made the list. The browser does the same during hydration, and then by its own clock, so that
//! little changes. Pinned conversations come first and belong to no group.

use super::list::{ConversationEntry, ConversationListState};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::dates::local_midnight;

/// A day in milliseconds. Days before a change to or from daylight saving time begin an hour later or sooner.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Each group, with the number of days between today and the day with which it begins; more than there were for the
/// last one.
const GROUPS: [(Text, i64); 5] = [
    (Text::Today, 0),
    (Text::Yesterday, 1),
    (Text::PreviousWeek, 7),
    (Text::PreviousMonth, 30),
    (Text::Older, 1_000_000),
];

/// Keeps the groups up to date. `listed_at` is the time at which the server made the list.
pub(super) fn follow(list: ConversationListState, listed_at: i64) {
    let find = move || {
        let midnight = list.now.get().map_or(listed_at - listed_at % DAY, local_midnight);
        let starts = GROUPS.map(|(_, days)| midnight - days * DAY);
        list.items.with(|items| first_rows(items, starts))
    };
    list.group_starts.set(untrack(find));
    Effect::new(move |_| list.group_starts.set(find()));
}

/// Returns the name of the group that begins with a conversation. Tracked.
pub(super) fn heading(list: ConversationListState, id: &str) -> Option<String> {
    let group = list.group_starts.with(|ids| ids.iter().position(|first| first == id))?;
    GROUPS.get(group).map(|(name, _)| t(*name).to_owned())
}

/// Returns how many groups begin above the row at `first`, and how many at the row `end` or below.
/// Tracked.
pub(super) fn headings_around(list: ConversationListState, first: usize, end: usize) -> (usize, usize) {
    let (mut above, mut below) = (0, 0);
    list.group_starts.with(|ids| {
        for at in ids.iter().filter_map(|id| list.position(id)) {
            above += usize::from(at < first);
            below += usize::from(at >= end);
        }
    });
    (above, below)
}

/// Returns the id of the first conversation of each group; empty for a group without one.
fn first_rows(items: &[ConversationEntry], starts: [i64; GROUPS.len()]) -> Vec<String> {
    let mut ids = vec![String::new(); GROUPS.len()];
    for item in items {
        let updated_at = item.summary.with_untracked(|summary| (!summary.pinned).then_some(summary.updated_at));
        let group = updated_at.and_then(|at| starts.iter().position(|start| at >= *start));
        if let Some(first) = group.and_then(|group| ids.get_mut(group))
            && first.is_empty()
        {
            first.clone_from(&item.id);
        }
    }
    ids
}
