use super::{Cell, Column, List, ListPage, PageRequest, routes};
use crate::admin::filters::{Choice, field, select_field};
use crate::admin::{Menu, MenuEntry, MenuGroup};
use crate::html::link;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::{Extension, Router};
use chat::Caller;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use store::{AuditFilter, Schema, Store};
use tower::ServiceExt;
use wire::UserError;

/// A list of numbers.
struct NumberList;

type NumberColumn = Column<Number>;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Number {
    value: i64,
    english_name: Option<&'static str>,
}

#[derive(Deserialize, JsonSchema)]
struct NumberQuery {
    name: Option<String>,
    #[serde(default)]
    sort: NumberSort,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum NumberSort {
    #[default]
    Up,
    Down,
}

impl Choice for NumberSort {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Up, "up", "Smallest first"), (Self::Down, "down", "Largest first")];
}

impl List for NumberList {
    type State = Store;
    type Query = NumberQuery;
    type Row = Number;

    const PATH: &'static str = "/admin/odd-numbers";
    const SUMMARY: &'static str = "List odd numbers";
    const TITLE: &'static str = "Odd numbers";
    const EMPTY: &'static str = "No numbers match.";
    const NONE_YET: &'static str = "There are no numbers yet.";
    const COLUMNS: &'static [NumberColumn] = &[
        NumberColumn::new("Number", "value", |row| Cell::count(row.value))
            .aligned_right()
            .shown_as(|row| link(format!("/admin/odd-numbers/{}", row.value), row.value.to_string())),
        NumberColumn::new("Name", "englishName", |row| Cell::optional(row.english_name)),
        NumberColumn::in_file("at", |row| Cell::time(row.value * 1_000)),
    ];
    const FILE_ORDER: &'static [&'static str] = &["at", "value", "englishName"];

    fn store(store: &Store) -> &Store {
        store
    }

    async fn fetch(_: &Store, query: &NumberQuery, page: &PageRequest) -> Result<ListPage<Number>, UserError> {
        let mut rows: Vec<_> =
            (0..60).map(|i| Number { value: 2 * i + 1, english_name: (i == 0).then_some("=one") }).collect();
        if query.name.is_some() {
            rows.retain(|row| row.english_name == query.name.as_deref());
        }
        if query.sort == NumberSort::Down {
            rows.reverse();
        }
        page.page_in(rows)
    }

    fn filters(_: &Store, query: &NumberQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("name", "Name", "search", query.name.as_deref())}
                {select_field("sort", "Order", query.sort)}
            }
            .into_any(),
        )
    }
}

/// A list that cannot be filtered.
struct PlainList;

#[derive(Deserialize, JsonSchema)]
struct PlainQuery {}

impl List for PlainList {
    type State = Store;
    type Query = PlainQuery;
    type Row = Number;

    const PATH: &'static str = "/admin/plain-numbers";
    const SUMMARY: &'static str = "List plain numbers";
    const TITLE: &'static str = "Plain numbers";
    const EMPTY: &'static str = "There are no numbers.";
    const NONE_YET: &'static str = "There are no plain numbers yet.";
    const COLUMNS: &'static [NumberColumn] = &[NumberColumn::new("Number", "value", |row| Cell::count(row.value))];

    fn store(store: &Store) -> &Store {
        store
    }

    async fn fetch(_: &Store, _: &PlainQuery, page: &PageRequest) -> Result<ListPage<Number>, UserError> {
        page.page_in(vec![Number { value: 7, english_name: None }])
    }
}

/// A list without rows.
struct EmptyList;

impl List for EmptyList {
    type State = Store;
    type Query = NumberQuery;
    type Row = Number;

    const PATH: &'static str = "/admin/no-numbers";
    const SUMMARY: &'static str = "List no numbers";
    const TITLE: &'static str = "No numbers";
    const EMPTY: &'static str = "No numbers match.";
    const NONE_YET: &'static str = "There are no numbers yet.";
    const COLUMNS: &'static [NumberColumn] = PlainList::COLUMNS;

    fn store(store: &Store) -> &Store {
        store
    }

    async fn fetch(_: &Store, _: &NumberQuery, _: &PageRequest) -> Result<ListPage<Number>, UserError> {
        Ok(ListPage { items: Vec::new(), next: None })
    }

    fn filters(store: &Store, query: &NumberQuery) -> Option<AnyView> {
        NumberList::filters(store, query)
    }
}

async fn get(routes: &Router, role: &str, path: &str) -> (u16, String) {
    let caller = Caller::signed_in("ada").with_roles(vec![role.to_owned()]);
    let request = Request::builder().uri(path).extension(caller).body(Body::empty()).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn columns_make_the_page_the_file_and_the_json() {
    let store = Schema::new(&[]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let menu: Menu =
        [MenuEntry { group: MenuGroup::Work, path: NumberList::PATH, title: NumberList::TITLE }].into_iter().collect();
    let routes = routes::<NumberList>().mount(&mut Vec::new()).layer(Extension(menu)).with_state(store.clone());

    let (status, page) = get(&routes, "admin", "/admin/odd-numbers?sort=down").await;
    assert_eq!(status, 200);
    for expected in [
        r#"<a href="/admin/odd-numbers" aria-current="true">Work</a>"#,
        r#"<option value="down" selected>Largest first</option>"#,
        r#"<a href="/admin/odd-numbers.csv?sort=down">"#,
        r#"<th scope="row"><a href="/admin/odd-numbers/119">119</a></th><td data-label="Name">–</td></tr>"#,
        r#"rel="next" href="/admin/odd-numbers?sort=down&amp;after=50%7E""#,
    ] {
        assert!(page.replace("<!>", "").contains(expected), "{expected} is not in {page}");
    }
    let page = get(&routes, "admin", "/admin/odd-numbers?after=50~").await.1;
    assert!(page.contains(">119</a>") && !page.contains("rel=\"next\""), "{page}");
    assert!(get(&routes, "admin", "/admin/odd-numbers?name=two").await.1.contains("No numbers match."));

    let (status, file) = get(&routes, "admin", "/admin/odd-numbers.csv?after=50~").await;
    let lines: Vec<_> = file.lines().collect();
    assert_eq!((status, lines.len()), (200, 61), "the file has the whole list: {file}");
    assert_eq!(lines[..2], ["at,value,englishName", r#""1970-01-01T00:00:01Z",1,"'=one""#]);
    let exports = AuditFilter { tool: Some("admin:export_odd_numbers".to_owned()), ..AuditFilter::default() };
    assert_eq!(store.audit_list(exports, 9, None).await.unwrap().len(), 1);

    let (status, items) = get(&routes, "admin", "/api/admin/odd-numbers?name=%3Done").await;
    assert_eq!((status, items.as_str()), (200, r#"{"items":[{"value":1,"englishName":"=one"}]}"#));
    assert_eq!(get(&routes, "admin", "/api/admin/odd-numbers?sort=x").await.0, 400);
    assert_eq!(get(&routes, "admin", "/api/admin/odd-numbers?after=x").await.0, 400);

    for path in ["/admin/odd-numbers", "/admin/odd-numbers.csv", "/api/admin/odd-numbers"] {
        assert_eq!(get(&routes, "editor", path).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn list_without_filters_has_no_form() {
    let store = Schema::new(&[]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let check = async |routes: Router<Store>, path: &str, expected: bool| {
        let routes = routes.layer(Extension(Menu::default())).with_state(store.clone());
        let (status, page) = get(&routes, "admin", path).await;
        assert_eq!((status, page.contains("role=\"search\"")), (200, expected), "{page}");
        assert!(page.contains("Download as CSV"), "{page}");
    };
    check(routes::<NumberList>().mount(&mut Vec::new()), "/admin/odd-numbers", true).await;
    check(routes::<PlainList>().mount(&mut Vec::new()), "/admin/plain-numbers", false).await;
}

#[tokio::test]
async fn empty_list_says_whether_filters_hide_rows() {
    let store = Schema::new(&[]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let routes = routes::<EmptyList>().mount(&mut Vec::new()).layer(Extension(Menu::default())).with_state(store);
    let check = async |query: &str, expected: &str| {
        let (status, page) = get(&routes, "admin", &format!("/admin/no-numbers{query}")).await;
        assert!(status == 200 && page.contains(expected), "{query}: {page}");
    };
    for query in ["", "?", "?name=&sort=up", "?sort=down", "?name=&notice=deleted"] {
        check(query, "There are no numbers yet.").await;
    }
    for query in ["?name=two", "?name=two&sort=down", "?after=50~"] {
        check(query, "No numbers match.").await;
    }
}
