//! Chooses how many journal rows are read at once. A row holds one batch of a run's events, from a
//! few hundred bytes to a megabyte, so a fixed number of rows would not bound the memory of many
//! slow readers.

use store::JournalRow;

/// The target size of a read in bytes.
const BYTES: usize = 256 * 1024;

/// The first number of rows, while their size is unknown.
const FIRST: u32 = 4;

/// The maximum number of rows.
const MOST: u32 = 256;

/// The number of rows of the next read, adapted to the size of the last rows.
pub(crate) struct PageSize(u32);

impl PageSize {
    /// Returns the size of the first read.
    pub(crate) fn first() -> Self {
        Self(FIRST)
    }

    /// Returns the number of rows to read.
    pub(crate) fn rows(&self) -> u32 {
        self.0
    }

    /// Adapts to the size of the rows that were read.
    pub(crate) fn measure(&mut self, rows: &[JournalRow]) {
        let bytes: usize = rows.iter().map(|row| row.frames.len()).sum();
        if let Some(each) = bytes.checked_div(rows.len()) {
            // At most doubles, because large rows may follow small ones.
            self.0 = u32::try_from(BYTES / each.max(1)).unwrap_or(MOST).clamp(1, MOST.min(self.0 * 2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_size_adapts_to_row_size() {
        let check = |sizes: &[usize], expected: u32| {
            let row = |size: &usize| JournalRow { first_seq: 1, last_seq: 1, frames: vec![0; *size] };
            let rows: Vec<_> = sizes.iter().map(row).collect();
            let mut page = PageSize::first();
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
