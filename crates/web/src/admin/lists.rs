//! Shared parts of all lists: filters in the URL, pagination, and the filter form.

use super::errors::invalid_cursor;
use crate::error::HttpError;
use axum::Json;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use store::{ListCursor, MAX_LISTED};
use wire::{ErrorCode, UserError};

/// A page of a list, as the API returns it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub struct ListPage<T> {
    /// The rows.
    pub items: Vec<T>,
    /// The cursor for `after`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Returns rows and the next cursor as the body of a response.
pub fn list_page<T>((items, next): (Vec<T>, Option<String>)) -> Json<ListPage<T>> {
    Json(ListPage { items, next })
}

/// Returns the query of a list.
///
/// # Errors
/// 400 for a query with an invalid value.
pub fn valid_query<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, HttpError> {
    query.map(|Query(query)| query).map_err(|_| HttpError::malformed("A query parameter is not valid."))
}

/// The number of rows per page.
pub const PAGE_SIZE: u32 = MAX_LISTED - 1;

/// The milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// Returns the text of a field; none for an empty one.
pub fn non_empty(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the start of a day in UTC as Unix time in milliseconds.
///
/// # Errors
/// 400 for an invalid date.
pub fn day_start(day: Option<&str>) -> Result<Option<i64>, UserError> {
    let Some(day) = non_empty(day) else { return Ok(None) };
    let begin = day.parse::<Date>().ok().and_then(|date| date.to_zoned(TimeZone::UTC).ok());
    let begin = begin.map(|begin| Some(begin.timestamp().as_millisecond()));
    begin.ok_or_else(|| UserError::new(ErrorCode::Malformed, "A date must have the form 2026-11-21."))
}

/// Returns the end of a day in UTC as Unix time in milliseconds.
///
/// # Errors
/// As [`day_start`].
pub fn day_end(day: Option<&str>) -> Result<Option<i64>, UserError> {
    Ok(day_start(day)?.map(|begin| begin + DAY_MS))
}

/// Parses a cursor from a URL.
///
/// # Errors
/// 400 for an invalid cursor.
pub fn parse_cursor(text: Option<&str>) -> Result<Option<ListCursor>, UserError> {
    let Some(text) = non_empty(text) else { return Ok(None) };
    let parts = text.split_once('~');
    let place = parts.map(|(key, id)| Some(ListCursor { key: key.to_owned(), id: id.to_owned() }));
    place.ok_or_else(invalid_cursor)
}

/// Returns a page of a list that is completely in memory, each row with its number as the cursor.
///
/// # Errors
/// 400 for an invalid cursor.
pub fn paginate<T>(lines: Vec<T>, after: Option<&str>) -> Result<Vec<(T, ListCursor)>, UserError> {
    let begin = match parse_cursor(after)?.map(|place| place.key.parse::<usize>()) {
        Some(Ok(number)) => number,
        Some(Err(_)) => return Err(invalid_cursor()),
        None => 0,
    };
    let lines = lines.into_iter().enumerate().skip(begin).take(PAGE_SIZE as usize + 1);
    Ok(lines.map(|(i, line)| (line, ListCursor { key: (i + 1).to_string(), id: String::new() })).collect())
}

/// Splits the rows of a page from the cursor of the next page; no cursor on the last page.
pub fn split_page<T>(mut found: Vec<(T, ListCursor)>) -> (Vec<T>, Option<String>) {
    let more = found.len() > PAGE_SIZE as usize;
    found.truncate(PAGE_SIZE as usize);
    let next = found.last().filter(|_| more).map(|(_, place)| format!("{}~{}", place.key, place.id));
    (found.into_iter().map(|(line, _)| line).collect(), next)
}

/// Renders the links to the first and the next page, which keep the filters.
pub fn pager(path: &str, query: Option<&str>, next: Option<String>) -> impl IntoView + use<> {
    let kept = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).filter(|(name, _)| name != "after");
    let kept: Vec<_> = kept.collect();
    let address = |more: Option<&str>| {
        let mut made = url::form_urlencoded::Serializer::new(String::new());
        made.extend_pairs(&kept);
        more.map(|more| made.append_pair("after", more).finish()).unwrap_or_else(|| made.finish())
    };
    let is_later = query.is_some_and(|query| query.split('&').any(|pair| pair.starts_with("after=")));
    let first = is_later.then(|| format!("{path}?{}", address(None)));
    let next = next.map(|next| format!("{path}?{}", address(Some(&next))));
    let any = first.is_some() || next.is_some();
    any.then(|| {
        view! {
            <nav class="cw-admin-pager" aria-label="Pages">
                {first.map(|first| view! { <a class="cw-button" href=first>"First page"</a> })}
                {next.map(|next| view! { <a class="cw-button" rel="next" href=next>"Next page"</a> })}
            </nav>
        }
    })
}

/// Renders the link to the list as CSV.
pub fn csv_link(path: &'static str, query: Option<&str>) -> impl IntoView + use<> {
    let path = format!("{path}?{}", query.unwrap_or_default());
    view! { <a href=path>"Download as CSV"</a> }
}

/// Renders an input field of a filter.
pub fn field(
    name: &'static str,
    label: &'static str,
    kind: &'static str,
    value: Option<&str>,
) -> impl IntoView + use<> {
    let value = value.unwrap_or_default().to_owned();
    view! {
        <label class="cw-admin-field">
            <span>{label}</span>
            <input type=kind name=name value=value autocomplete="off" />
        </label>
    }
}

/// Renders an input field of a filter with suggestions.
pub fn field_with_suggestions(
    name: &'static str,
    label: &'static str,
    value: Option<&str>,
    suggestions: Vec<&'static str>,
) -> impl IntoView + use<> {
    let (value, list) = (value.unwrap_or_default().to_owned(), format!("{name}-suggestions"));
    let options = suggestions.into_iter().map(|suggestion| view! { <option value=suggestion></option> }).collect_view();
    view! {
        <label class="cw-admin-field">
            <span>{label}</span>
            <input type="text" name=name value=value autocomplete="off" list=list.clone() />
            <datalist id=list>{options}</datalist>
        </label>
    }
}

/// Returns the options of a sort field (name and label) from `all`, and the name of the `chosen`
/// one.
pub fn sort_options<S: PartialEq, const N: usize>(
    all: &[(S, &'static str, &'static str); N],
    chosen: &S,
) -> ([(&'static str, &'static str); N], &'static str) {
    let name = all.iter().find(|(sort, ..)| sort == chosen).map_or("", |(_, name, _)| *name);
    (all.each_ref().map(|(_, name, text)| (*name, *text)), name)
}

/// Renders a select field of a filter.
pub fn select_field(
    name: &'static str,
    label: &'static str,
    options: &[(&'static str, &'static str)],
    chosen: &str,
) -> impl IntoView + use<> {
    let option = |(value, text): &(&'static str, &'static str)| {
        view! { <option value=*value selected={*value == chosen}>{*text}</option> }
    };
    let options = options.iter().map(option).collect_view();
    view! {
        <label class="cw-admin-field">
            <span>{label}</span>
            <span class="cw-select">
                <select name=name>{options}</select>
            </span>
        </label>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_parsed_as_utc() {
        let check =
            |text: &str, expected: Option<Option<i64>>| assert_eq!(day_start(Some(text)).ok(), expected, "{text}");
        check("1970-01-02", Some(Some(DAY_MS)));
        check(" ", Some(None));
        check("yesterday", None);
        check("2026-02-30", None);
        assert_eq!(day_end(Some("1970-01-01")).unwrap(), Some(DAY_MS));
    }

    #[test]
    fn page_links_keep_filters() {
        let check = |query: Option<&str>, next: Option<&str>, expected: &[&str]| {
            let html = pager("/admin/x", query, next.map(str::to_owned)).to_html();
            let found: Vec<_> = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            assert_eq!(found, expected, "{html}");
        };
        check(None, None, &[]);
        check(Some("text=a%26b"), Some("1~c"), &["/admin/x?text=a%26b&amp;after=1%7Ec"]);
        check(Some("text=a&after=2~d"), None, &["/admin/x?text=a"]);
    }
}
