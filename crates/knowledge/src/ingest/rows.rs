//! The rows of a version, in the transactions that store them.

use crate::store::{self, NewPart, ReadPage};
use ::store::StoreError;
use ::store::sql::Db;

/// The most rows that a transaction stores.
pub(super) const BATCH: usize = 100;

/// Rows to store.
pub(super) enum Rows {
    Parts(Vec<NewPart>),
    Chunks(Vec<NewPart>),
    /// Pages that a model has read.
    Pages(Vec<ReadPage>),
}

impl Rows {
    /// Returns the number of rows.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Parts(rows) | Self::Chunks(rows) => rows.len(),
            Self::Pages(rows) => rows.len(),
        }
    }

    /// Stores rows of a version, in a transaction.
    pub(super) async fn insert(all: Vec<Self>, db: &mut Db, version: &str) -> Result<(), StoreError> {
        for rows in all {
            match rows {
                Self::Parts(parts) => store::insert_parts(db, version, parts).await?,
                Self::Chunks(chunks) => store::insert_chunks(db, version, chunks).await?,
                Self::Pages(pages) => store::insert_read_pages(db, version, pages).await?,
            }
        }
        Ok(())
    }

    /// Divides the text of a version into the rows of each transaction.
    pub(super) fn batches(parts: Vec<NewPart>, chunks: Vec<NewPart>) -> Vec<Vec<Self>> {
        let (mut batches, mut room) = (Vec::<Vec<Self>>::new(), 0);
        for rows in divided(parts, Self::Parts).into_iter().chain(divided(chunks, Self::Chunks)) {
            let count = rows.count();
            match batches.last_mut().filter(|_| count <= room) {
                Some(batch) => batch.push(rows),
                None => {
                    batches.push(vec![rows]);
                    room = BATCH;
                }
            }
            room -= count;
        }
        batches
    }
}

/// Divides rows so that none of the groups has too many.
fn divided(rows: Vec<NewPart>, of: fn(Vec<NewPart>) -> Rows) -> Vec<Rows> {
    let (groups, mut rows) = (rows.len().div_ceil(BATCH), rows.into_iter());
    (0..groups).map(|_| of(rows.by_ref().take(BATCH).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_one_batch_and_no_batch_is_too_large() {
        let check = |parts: u32, chunks: u32, expected: &[&[usize]]| {
            let rows = |count: u32| {
                let row = |no| NewPart { no, place: String::new(), heading: String::new(), text: format!("text {no}") };
                (0..count).map(row).collect::<Vec<_>>()
            };
            let batches = Rows::batches(rows(parts), rows(chunks));
            let counts: Vec<Vec<_>> = batches.iter().map(|batch| batch.iter().map(Rows::count).collect()).collect();
            assert_eq!(counts, expected, "{parts} {chunks}");
            let numbers = |is_chunk: bool| -> Vec<u32> {
                let of_kind = batches.iter().flatten().flat_map(|rows| match rows {
                    Rows::Chunks(rows) if is_chunk => &rows[..],
                    Rows::Parts(rows) if !is_chunk => &rows[..],
                    _ => &[],
                });
                of_kind.map(|row| row.no).collect()
            };
            assert_eq!((numbers(false).len(), numbers(true).len()), (parts as usize, chunks as usize));
            assert!(numbers(true).is_sorted() && numbers(false).is_sorted());
        };
        check(0, 0, &[]);
        check(1, 2, &[&[1, 2]]);
        check(60, 40, &[&[60, 40]]);
        check(60, 41, &[&[60], &[41]]);
        check(100, 1, &[&[100], &[1]]);
        check(150, 30, &[&[100], &[50, 30]]);
        check(0, 201, &[&[100], &[100], &[1]]);
    }
}
