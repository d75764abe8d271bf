//! Pages of a list, and the cursors between them.

use crate::error::invalid_cursor;
use schemars::JsonSchema;
use serde::Serialize;
use store::{ListCursor, MAX_LISTED};
use wire::UserError;

/// The number of rows per page.
pub const PAGE_SIZE: u32 = MAX_LISTED - 1;

/// A page of a list, as the API returns it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub struct ListPage<T> {
    /// The rows.
    pub items: Vec<T>,
    /// The cursor for `after`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl<T> ListPage<T> {
    /// Converts the rows.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> ListPage<U> {
        ListPage { items: self.items.into_iter().map(convert).collect(), next: self.next }
    }
}

/// Which page of a list is wanted.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// The cursor: `next` of the page before. None for the first page.
    pub after: Option<String>,
    /// The number of rows.
    pub size: u32,
}

impl PageRequest {
    /// The page after a cursor from a URL, which may be empty.
    pub fn after(after: Option<String>) -> Self {
        let after = after.filter(|after| !after.trim().is_empty());
        Self { after, size: PAGE_SIZE }
    }

    /// Returns the number of rows to read: one more than the page has, which tells whether there is
    /// a next page.
    pub fn limit(&self) -> u32 {
        self.size.saturating_add(1)
    }

    /// Returns the cursor of a list that the store sorts.
    ///
    /// # Errors
    /// 400 for an invalid cursor.
    pub fn cursor(&self) -> Result<Option<ListCursor>, UserError> {
        let Some(after) = &self.after else { return Ok(None) };
        let (key, id) = after.trim().split_once('~').ok_or_else(invalid_cursor)?;
        Ok(Some(ListCursor { key: key.to_owned(), id: id.to_owned() }))
    }

    /// Returns the cursor of a list that is sorted by a number.
    ///
    /// # Errors
    /// 400 for an invalid cursor.
    pub fn number(&self) -> Result<Option<i64>, UserError> {
        self.after.as_ref().map(|after| after.trim().parse().map_err(|_| invalid_cursor())).transpose()
    }

    /// Returns the page with up to [`PageRequest::limit`] rows that were found, each with its
    /// cursor.
    pub fn page<T>(&self, found: Vec<(T, ListCursor)>) -> ListPage<T> {
        self.page_by(found, |(_, cursor)| format!("{}~{}", cursor.key, cursor.id)).map(|(row, _)| row)
    }

    /// Returns the page with up to [`PageRequest::limit`] rows that were found. `cursor` returns
    /// the cursor of a row.
    pub fn page_by<T>(&self, mut found: Vec<T>, cursor: impl Fn(&T) -> String) -> ListPage<T> {
        let size = self.size as usize;
        let has_more = found.len() > size;
        found.truncate(size);
        let next = found.last().filter(|_| has_more).map(cursor);
        ListPage { items: found, next }
    }

    /// Returns the page of a list that is completely in memory.
    ///
    /// # Errors
    /// 400 for an invalid cursor.
    pub fn page_in<T>(&self, rows: Vec<T>) -> Result<ListPage<T>, UserError> {
        let begin = match self.cursor()? {
            Some(cursor) => cursor.key.parse::<usize>().map_err(|_| invalid_cursor())?,
            None => 0,
        };
        let rows = rows.into_iter().enumerate().skip(begin).take(self.limit() as usize);
        Ok(self.page(rows.map(|(i, row)| (row, ListCursor { key: (i + 1).to_string(), id: String::new() })).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_list_in_memory_follow_each_other() {
        let check = |after: Option<&str>, expected: Result<(&[u8], Option<&str>), ()>| {
            let request = PageRequest { after: after.map(str::to_owned), size: 2 };
            let page = request.page_in(vec![1, 2, 3, 4, 5]).map_err(|_| ());
            let expected =
                expected.map(|(rows, next)| ListPage { items: rows.to_vec(), next: next.map(str::to_owned) });
            assert_eq!(page, expected, "{after:?}");
        };
        check(None, Ok((&[1, 2], Some("2~"))));
        check(Some("2~"), Ok((&[3, 4], Some("4~"))));
        check(Some("4~"), Ok((&[5], None)));
        check(Some("9~"), Ok((&[], None)));
        check(Some("x~"), Err(()));
        check(Some("2"), Err(()));
    }
}
