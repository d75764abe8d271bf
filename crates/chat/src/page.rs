//! How much of the journal is read at once. A row holds what one group stored of a run, which is a few hundred bytes or a megabyte: a number of rows
//! bounds no memory, and there may be many slow readers.

use store::JournalRow;

/// Bytes to read at once, about.
const BYTES: usize = 256 * 1024;

/// Rows to begin with, while nothing is known of their size.
const FIRST: u32 = 4;

/// Rows at most.
const MOST: u32 = 256;

/// The size of the next page, by what was in the last one.
pub(crate) struct Page(u32);

impl Page {
    /// The first one.
    pub(crate) fn first() -> Self {
        Self(FIRST)
    }

    /// Rows to ask for.
    pub(crate) fn rows(&self) -> u32 {
        self.0
    }

    /// Takes the measure of what was read.
    pub(crate) fn measure(&mut self, rows: &[JournalRow]) {
        let bytes: usize = rows.iter().map(|row| row.frames.len()).sum();
        if let Some(each) = bytes.checked_div(rows.len()) {
            // Step by step: what follows small rows may be large.
            self.0 = u32::try_from(BYTES / each.max(1)).unwrap_or(MOST).clamp(1, MOST.min(self.0 * 2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_rows_are_read_one_by_one_and_small_ones_together() {
        let check = |sizes: &[usize], expected: u32| {
            let row = |size: &usize| JournalRow { first_seq: 1, last_seq: 1, frames: vec![0; *size] };
            let rows: Vec<_> = sizes.iter().map(row).collect();
            let mut page = Page::first();
            page.measure(&rows);
            assert_eq!(page.rows(), expected, "{sizes:?}");
        };
        check(&[], FIRST);
        check(&[0], 2 * FIRST);
        check(&[100, 300], 2 * FIRST);
        check(&[64 * 1024; 4], FIRST);
        check(&[1024 * 1024], 1);
    }
}
