//! Every route with every kind of caller and every object of another user. Routes come from the
//! router, bodies from the OpenAPI document, columns from the migrations, so new ones are covered
//! automatically.

mod background;
mod bodies;
mod fixture;
mod malformed;
mod mass_assignment;
mod schemas;
mod tables;

use super::{UNKNOWN_ID, inventory};
use axum::http::Method;
use bodies::{RequestBody, body, columns, schema, templates};
use fixture::{ADA, BOSS, CANARY, EVE, EVES_KEY, NOBODY, TestCaller, TestServer, owner};
use serde_json::Value;

/// A route as written in the router.
#[derive(Clone, Debug)]
pub(super) struct Route {
    path: String,
    method: Method,
}

impl Route {
    /// Returns the path with `id` for every parameter that the config does not define.
    fn at(&self, id: &str) -> String {
        let part = |part: &str| match part.trim_matches(['{', '}', '*']) {
            name if name.len() == part.len() => part.to_owned(),
            "page" => "p".to_owned(),
            "agent" => "a".to_owned(),
            "collection" => "notes".to_owned(),
            "endpoint" => "remove".to_owned(),
            "tool" => "delete_it".to_owned(),
            _ => id.to_owned(),
        };
        self.path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    /// Returns whether the path has an id.
    fn names(&self) -> bool {
        self.at("x") != self.at("y")
    }

    /// Returns whether the route is for administrators, who see all users' data.
    fn is_for_admins(&self) -> bool {
        // Users only read skills.
        let skills = ["/api/skills"].into_iter().filter(|_| self.method != Method::GET);
        ["/admin", "/api/admin", "/api/agents/definitions", "/api/mcp"]
            .into_iter()
            .chain(skills)
            .any(|of| self.path.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }
}

async fn routes() -> Vec<Route> {
    let found = inventory::inventory().await.into_iter();
    // All other paths are pages.
    let pages = ["/", "/p", "/{id}"].map(|path| (path.to_owned(), Method::GET));
    found.chain(pages).map(|(path, method)| Route { path, method }).collect()
}

/// Returns whether a request was refused; 303 redirects to the sign-in page.
fn is_refused(status: u16) -> bool {
    status == 303 || (400..500).contains(&status)
}

/// The tests try one of so many variations with each route, and the thorough tests all of them. Their number grows with
/// the routes times the kinds of objects: one of four took 150 s of two cores.
const SAMPLE: usize = 12;

/// Returns whether a variation is in the sample of a route. Each is in that of one of `every` routes.
fn is_sampled(every: usize, route: usize, variation: usize) -> bool {
    (route + variation).is_multiple_of(every)
}

/// Asks every route for objects of another user: for those of the kinds that the route is about, and for one of
/// `every` others. A test for each caller, so that they run at the same time.
async fn no_route_reveals_or_changes_data(who: &TestCaller, every: usize) {
    let server = TestServer::open().await;
    let before = server.everything_of_ada().await;
    assert!(before.matches(CANARY).count() > 8, "{before}");
    let routes = routes().await.into_iter().filter(|route| !(who.is_admin && route.is_for_admins()));
    for (route_number, route) in routes.enumerate() {
        let route = &route;
        let (templates, mut known) = (templates(route), Vec::new());
        for sent in templates.with(UNKNOWN_ID) {
            known.push(server.ask(who, route, UNKNOWN_ID, sent, "").await.0);
        }
        let names = route.names() || route.method != Method::GET;
        let (own_id, id_of_kind) = (server.own_id(route), schemas::id(&server, route));
        for (number, (what, id)) in server.fixtures.iter().enumerate() {
            let is_of_route = *id == own_id || *id == id_of_kind || route.path.contains(what);
            let is_tried = if names { is_of_route || is_sampled(every, route_number, number) } else { number == 0 };
            if !is_tried {
                continue;
            }
            let query = format!("?id={id}&conversationId={id}&folder={id}&owner={id}&user={id}&cursor={id}&name=ada");
            // A shared link is for everyone who has it.
            let is_link = *what == "share" && route.path == "/shared/{id}"
                || *what == "artifact share" && route.path.starts_with("/shared/files/{id}");
            for (sent, of_nothing) in templates.with(id).into_iter().zip(&known) {
                let (status, answer) = server.ask(who, route, id, sent, "").await;
                let case = || format!("{} {} with a {what}: {status} {answer}", route.method, route.path);
                assert!(is_link || !answer.contains(CANARY), "{}", case());
                let is_right = is_link || is_refused(status) || status == *of_nothing;
                assert!(is_right, "{}, and {of_nothing} of nothing", case());
                assert!(status < 500, "{}", case());
                // Repeated failed sign-ins are throttled; no other check may be hidden by a
                // rate limit.
                assert!(status != 429 || route.path.starts_with("/auth/"), "{}", case());
            }
            for sent in templates.with(id) {
                let (status, answer) = server.ask(who, route, id, sent, &query).await;
                let is_right = (is_link || !answer.contains(CANARY)) && status < 500;
                assert!(is_right, "{} {}{query}: {status} {answer}", route.method, route.path);
            }
        }
    }
    assert_eq!(server.everything_of_ada().await, before, "something changed");
    // The session or key is still valid at the end, so the refusals were not due to an invalid
    // one.
    let keys = Route { path: "/api/keys".to_owned(), method: Method::GET };
    let (status, _) = server.ask(who, &keys, "", RequestBody::Nothing, "").await;
    assert_eq!(status, who.of_keys);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_reads_or_changes_data_of_users() {
    no_route_reveals_or_changes_data(&NOBODY, SAMPLE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn session_of_another_user_reads_and_changes_nothing() {
    no_route_reveals_or_changes_data(&EVE, SAMPLE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn key_of_another_user_reads_and_changes_nothing() {
    no_route_reveals_or_changes_data(&EVES_KEY, SAMPLE).await;
}

/// Beside the routes for administrators, which show everything.
#[tokio::test(flavor = "multi_thread")]
async fn administrator_reads_and_changes_nothing_outside_the_console() {
    no_route_reveals_or_changes_data(&BOSS, SAMPLE).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn no_caller_reads_or_changes_data_of_users_thoroughly() {
    for who in [&NOBODY, &EVE, &EVES_KEY, &BOSS] {
        no_route_reveals_or_changes_data(who, 1).await;
    }
}

/// Returns the names that a body may have, as the error about an unknown one lists them; `None` without a list.
fn listed_names(answer: &str) -> Option<Vec<&str>> {
    let (_, rest) = answer.split_once("unknown field `")?;
    let (_, list) = rest.split_once('`')?;
    (list.starts_with(", expected ") || list.starts_with(", there are no fields"))
        .then(|| list.split('`').skip(1).step_by(2).collect())
}

/// No column of the database can be set by naming it: bodies with a closed schema reject unknown
/// fields. The error about one of them lists what the reader of the body knows. A sample is sent one by one, and so are
/// all where there is no list, or one that lacks a documented name.
#[tokio::test(flavor = "multi_thread")]
async fn closed_bodies_reject_names_of_columns() {
    let server = TestServer::open().await;
    let (mut closed, mut listed) = (0, 0);
    for route in routes().await {
        let Some(schema) = schema(&route).filter(|schema| schema["additionalProperties"] == Value::Bool(false)) else {
            continue;
        };
        closed += 1;
        let own = server.own_id(&route);
        let documented = schema["properties"].as_object().unwrap();
        let Some(RequestBody::Json(good)) = body(&route, &own).pop() else { panic!("{route:?} has no body") };
        let send = async |column: &str| {
            let mut sent = good.clone();
            sent[column] = own.as_str().into();
            let (status, answer) = server.ask(owner(&route), &route, &own, RequestBody::Json(sent), "").await;
            assert!(status == 422 && answer.contains("unknown field"), "{route:?}, {column}: {status} {answer}");
            answer
        };
        let answer = send("a_name_of_nothing").await;
        let names = listed_names(&answer).filter(|names| documented.keys().all(|name| names.contains(&name.as_str())));
        listed += usize::from(names.is_some());
        for (number, column) in columns().iter().filter(|column| !documented.contains_key(*column)).enumerate() {
            match &names {
                Some(names) if number % 20 > 0 => {
                    assert!(!names.contains(&column.as_str()), "{route:?} reads {column}, which is not documented");
                }
                _ => drop(send(column).await),
            }
        }
    }
    assert!(closed > 8 && 2 * listed > closed, "{closed} bodies were tried, {listed} have a list");
}

/// Server functions must be able to read the bodies, or else the tests above would try nothing
/// there.
#[tokio::test(flavor = "multi_thread")]
async fn server_functions_can_read_the_test_bodies() {
    let server = TestServer::open().await;
    for route in routes().await.into_iter().filter(|route| route.path.starts_with("/ui/")) {
        for sent in body(&route, UNKNOWN_ID) {
            let (_, answer) = server.ask(owner(&route), &route, UNKNOWN_ID, sent, "").await;
            // The content of a file is read after the arguments.
            assert!(!answer.contains("missing field") || answer.contains(r#""path":"/file""#), "{route:?}: {answer}");
        }
    }
}

/// A link to a file is for everybody who has it, in whatever way the browser is signed in, until it is revoked.
#[tokio::test(flavor = "multi_thread")]
async fn everybody_with_the_link_reads_a_shared_file_until_it_is_revoked() {
    let server = TestServer::open().await;
    let (_, link) = server.fixtures.iter().find(|(what, _)| *what == "artifact share").unwrap().clone();
    let page = Route { path: "/shared/files/{id}".to_owned(), method: Method::GET };
    let content = Route { path: "/shared/files/{id}/content".to_owned(), method: Method::GET };
    let frame = Route { path: "/shared/frame".to_owned(), method: Method::GET };
    let revoke = Route { path: "/api/artifact-shares/{id}".to_owned(), method: Method::DELETE };
    let ask = async |who, route| server.ask(who, route, &link, RequestBody::Nothing, "").await;
    for who in [&NOBODY, &EVE, &EVES_KEY, &BOSS] {
        for route in [&page, &content] {
            let (status, answer) = ask(who, route).await;
            assert!(status == 200 && answer.contains(CANARY), "{route:?}: {status} {answer}");
        }
        assert_eq!(ask(who, &frame).await.0, 200);
        // A user who may only read it cannot revoke it.
        assert!(is_refused(ask(who, &revoke).await.0));
    }
    assert_eq!(ask(&ADA, &revoke).await.0, 204);
    for route in [&page, &content] {
        let (status, answer) = ask(&NOBODY, route).await;
        assert!(status == 404 && !answer.contains(CANARY), "{route:?}: {status} {answer}");
    }
}
