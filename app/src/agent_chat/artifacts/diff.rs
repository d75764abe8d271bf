//! The lines in which two texts differ, by the algorithm of Myers.

use std::collections::HashMap;

/// The most lines of a text that are compared; a longer text is shown as replaced as a whole.
const MAX_LINES: usize = 50_000;
/// The most changed lines that are looked for. Time and memory grow with the square.
const MAX_CHANGES: usize = 1_500;
/// The lines around a change that are shown.
const CONTEXT: usize = 3;

/// Whether a line was kept, removed or added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Same,
    Removed,
    Added,
}

/// A line of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    pub(super) change: Change,
    /// The number in the old text, from 1 on.
    pub(super) old: Option<usize>,
    /// The number in the new text, from 1 on.
    pub(super) new: Option<usize>,
    pub(super) text: &'t str,
}

/// Compares two texts line by line.
pub(super) fn diff<'t>(old: &'t str, new: &'t str) -> Vec<Line<'t>> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old_rest[..old_rest.len() - end], &new_rest[..new_rest.len() - end]);
    let changes = std::iter::repeat_n(Change::Same, start)
        .chain(changes(old_rest, new_rest))
        .chain(std::iter::repeat_n(Change::Same, end));
    let (mut at_old, mut at_new) = (0, 0);
    let line = |change| {
        let text = if change == Change::Removed { old[at_old] } else { new[at_new] };
        at_old += usize::from(change != Change::Added);
        at_new += usize::from(change != Change::Removed);
        Line {
            change,
            old: (change != Change::Added).then_some(at_old),
            new: (change != Change::Removed).then_some(at_new),
            text,
        }
    };
    changes.map(line).collect()
}

/// Returns the changed lines with some around them, in groups that stand together.
pub(super) fn hunks<'l, 't>(lines: &'l [Line<'t>]) -> Vec<&'l [Line<'t>]> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.change != Change::Same) {
        let (from, to) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(lines.len()));
        match ranges.last_mut() {
            Some(last) if last.1 >= from => last.1 = to,
            _ => ranges.push((from, to)),
        }
    }
    ranges.into_iter().map(|(from, to)| &lines[from..to]).collect()
}

/// Returns the changes that make `new` of `old`.
fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let replaced = || {
        let removed = std::iter::repeat_n(Change::Removed, old.len());
        removed.chain(std::iter::repeat_n(Change::Added, new.len())).collect()
    };
    if old.is_empty() || new.is_empty() || old.len() > MAX_LINES || new.len() > MAX_LINES {
        return replaced();
    }
    // Numbers are compared faster than texts.
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut numbered = Vec::new();
    for line in old.iter().chain(new) {
        let next = numbers.len() as u32;
        numbered.push(*numbers.entry(line).or_insert(next));
    }
    let (old_numbers, new_numbers) = numbered.split_at(old.len());
    shortest(old_numbers, new_numbers).unwrap_or_else(replaced)
}

/// Returns the shortest list of changes; `None` if it has too many.
fn shortest(old: &[u32], new: &[u32]) -> Option<Vec<Change>> {
    let most = (old.len() + new.len()).min(MAX_CHANGES);
    let middle = most + 1;
    // For each diagonal (the number of removed lines less that of added ones), how far the old text is matched.
    let mut reached = vec![0_usize; 2 * middle + 1];
    let mut history: Vec<Vec<usize>> = Vec::new();
    for count in 0..=most {
        history.push(reached[middle - count..=middle + count].to_vec());
        for diagonal in (0..=2 * count).step_by(2).map(|step| middle + step - count) {
            let is_added = diagonal == middle - count
                || (diagonal != middle + count && reached[diagonal - 1] < reached[diagonal + 1]);
            let mut at_old = if is_added { reached[diagonal + 1] } else { reached[diagonal - 1] + 1 };
            let mut at_new = at_old + middle - diagonal;
            while at_old < old.len() && at_new < new.len() && old[at_old] == new[at_new] {
                (at_old, at_new) = (at_old + 1, at_new + 1);
            }
            reached[diagonal] = at_old;
            if at_old >= old.len() && at_new >= new.len() {
                return Some(path(&history, old.len(), new.len()));
            }
        }
    }
    None
}

/// Follows the steps from the end back to the beginning.
fn path(history: &[Vec<usize>], old_len: usize, new_len: usize) -> Vec<Change> {
    let (mut at_old, mut at_new, mut changes) = (old_len, new_len, Vec::new());
    for count in (1..history.len()).rev() {
        // How far the old text is matched with one change less, for the diagonals from `-count` to `count`.
        let reached = &history[count];
        let diagonal = at_old as i64 - at_new as i64;
        let index = (diagonal + count as i64) as usize;
        let is_added =
            diagonal == -(count as i64) || (diagonal != count as i64 && reached[index - 1] < reached[index + 1]);
        let before = if is_added { reached[index + 1] } else { reached[index - 1] };
        let after = if is_added { before } else { before + 1 };
        changes.extend(std::iter::repeat_n(Change::Same, at_old - after));
        changes.push(if is_added { Change::Added } else { Change::Removed });
        (at_old, at_new) = (before, (before as i64 - diagonal + if is_added { -1 } else { 1 }) as usize);
    }
    changes.extend(std::iter::repeat_n(Change::Same, at_old));
    changes.reverse();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(old: &str, new: &str) -> String {
        let sign = |change| match change {
            Change::Same => ' ',
            Change::Removed => '-',
            Change::Added => '+',
        };
        let lines = diff(old, new);
        lines.iter().map(|line| format!("{}{}", sign(line.change), line.text)).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn changed_lines_are_found() {
        let check = |old: &str, new: &str, expected: &str| assert_eq!(shown(old, new), expected);
        check("", "", "");
        check("a\nb", "a\nb", " a| b");
        check("", "a", "+a");
        check("a", "", "-a");
        check("a\nb\nc", "a\nx\nc", " a|-b|+x| c");
        check("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc", "-a|-b| c|+b| a| b|-b| a|+c");
        check("a\nb\nc", "b\nc\nd", "-a| b| c|+d");
    }

    #[test]
    fn lines_far_from_changes_are_left_out() {
        let old: Vec<_> = (1..=30).map(|number| number.to_string()).collect();
        let mut new = old.clone();
        new[4] = "five".to_owned();
        new.remove(24);
        let (old, new) = (old.join("\n"), new.join("\n"));
        let lines = diff(&old, &new);
        let ranges: Vec<_> = hunks(&lines).iter().map(|hunk| (hunk[0].old, hunk[hunk.len() - 1].old)).collect();
        assert_eq!(ranges, [(Some(2), Some(8)), (Some(22), Some(28))]);
        assert_eq!(hunks(&diff(&old, &old)).len(), 0);
    }

    #[test]
    fn texts_without_a_common_line_are_replaced() {
        let text = |from: usize| (from..from + 5_000).map(|number| format!("{number}\n")).collect::<String>();
        let (old, new) = (text(0), text(10_000));
        assert_eq!(diff(&old, &new).len(), 10_000);
    }

    proptest! {
        /// The kept and removed lines are the old text, the kept and added ones the new one.
        #[test]
        fn both_texts_are_in_the_comparison(old in "[ab\n]{0,40}", new in "[ab\n]{0,40}") {
            let lines = diff(&old, &new);
            let of = |other: Change| lines.iter().filter(|line| line.change != other).map(|line| line.text).collect::<Vec<_>>();
            prop_assert_eq!(of(Change::Added), old.lines().collect::<Vec<_>>());
            prop_assert_eq!(of(Change::Removed), new.lines().collect::<Vec<_>>());
        }
    }
}
