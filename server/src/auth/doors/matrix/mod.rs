//! Every route, with every kind of caller, and everything of somebody else's (A1 to A8). The routes come from the router, the bodies from
//! the document of the API, the columns from the migrations: what is new is in here by itself.

mod bodies;
mod broken;
mod house;
mod smuggled;
mod tables;

use super::{NOWHERE, inventory};
use axum::http::Method;
use bodies::{Sent, body, columns, schema};
use house::{CANARY, House, STRANGERS, owner};
use serde_json::Value;

/// A route as the router writes it.
#[derive(Clone, Debug)]
pub(super) struct Route {
    path: String,
    method: Method,
}

impl Route {
    /// The path with `id` for everything but what the config names.
    fn at(&self, id: &str) -> String {
        let part = |part: &str| match part.trim_matches(['{', '}', '*']) {
            name if name.len() == part.len() => part.to_owned(),
            "page" => "p".to_owned(),
            "agent" => "a".to_owned(),
            "endpoint" => "remove".to_owned(),
            "tool" => "delete_it".to_owned(),
            _ => id.to_owned(),
        };
        self.path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    /// Whether a thing can be named in its path.
    fn names(&self) -> bool {
        self.at("x") != self.at("y")
    }

    /// Whether administrators see everybody's things here.
    fn is_for_admins(&self) -> bool {
        ["/admin", "/api/admin"]
            .iter()
            .any(|of| self.path.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }
}

async fn routes() -> Vec<Route> {
    let found = inventory::inventory().await.into_iter();
    // What fits nothing is a page.
    let pages = ["/", "/p", "/{id}"].map(|path| (path.to_owned(), Method::GET));
    found.chain(pages).map(|(path, method)| Route { path, method }).collect()
}

/// Whether the caller learned that there is nothing for him: 303 is the way to the sign-in page.
fn is_refused(status: u16) -> bool {
    status == 303 || (400..500).contains(&status)
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_at_what_is_somebody_elses() {
    let house = House::open().await;
    let before = house.adas_things().await;
    assert!(before.matches(CANARY).count() > 8, "{before}");
    let things = house.things.clone();
    let routes = routes().await;
    for who in &STRANGERS {
        for route in routes.iter().filter(|route| !(who.is_admin && route.is_for_admins())) {
            let mut known = Vec::new();
            for sent in body(route, NOWHERE) {
                known.push(house.ask(who, route, NOWHERE, sent, "").await.0);
            }
            let names = route.names() || route.method != Method::GET;
            for (what, id) in things.iter().take(if names { things.len() } else { 1 }) {
                let query =
                    format!("?id={id}&conversationId={id}&folder={id}&owner={id}&user={id}&cursor={id}&name=ada");
                for (sent, of_nothing) in body(route, id).into_iter().zip(&known) {
                    let (status, answer) = house.ask(who, route, id, sent, "").await;
                    let case =
                        format!("{} {} with a {what}, {}: {status} {answer}", route.method, route.path, who.name);
                    // A link is for whoever has it.
                    let is_link = *what == "share" && route.path == "/shared/{id}";
                    assert!(is_link || !answer.contains(CANARY), "{case}");
                    assert!(
                        is_link || is_refused(status) || status == *of_nothing,
                        "{case}, and {of_nothing} of nothing"
                    );
                    assert!(status < 500, "{case}");
                    // Who signs in wrongly again and again has to wait; nothing else may hide behind a bound.
                    assert!(status != 429 || route.path.starts_with("/auth/"), "{case}");
                }
                for sent in body(route, id) {
                    let (status, answer) = house.ask(who, route, id, sent, &query).await;
                    let is_link = *what == "share" && route.path == "/shared/{id}";
                    let case = format!("{} {}{query}, {}: {status} {answer}", route.method, route.path, who.name);
                    assert!((is_link || !answer.contains(CANARY)) && status < 500, "{case}");
                }
            }
        }
        assert_eq!(house.adas_things().await, before, "{} changed something", who.name);
        // Whoever is somebody was it to the end, so that it was not his own session that was missing.
        let keys = Route { path: "/api/keys".to_owned(), method: Method::GET };
        let (status, _) = house.ask(who, &keys, "", Sent::Nothing, "").await;
        assert_eq!(status, who.of_keys, "{}", who.name);
    }
}

/// No column of the database can be set by naming it (A7): where a body says all that it takes, another name is refused.
#[tokio::test(flavor = "multi_thread")]
async fn no_body_sets_a_column() {
    let house = House::open().await;
    let mut closed = 0;
    for route in routes().await {
        let Some(schema) = schema(&route).filter(|schema| schema["additionalProperties"] == Value::Bool(false)) else {
            continue;
        };
        closed += 1;
        let own = house.own(&route);
        let taken = schema["properties"].as_object().unwrap();
        for column in columns().iter().filter(|column| !taken.contains_key(*column)) {
            let Some(Sent::Json(mut sent)) = body(&route, &own).pop() else { panic!("{route:?} has no body") };
            sent[column] = own.as_str().into();
            let (status, answer) = house.ask(owner(&route), &route, &own, Sent::Json(sent), "").await;
            assert!(status == 422 && answer.contains("unknown field"), "{route:?}, {column}: {status} {answer}");
        }
    }
    assert!(closed > 8, "{closed} bodies were tried");
}

/// The bodies above are such that server functions read them, or else nothing would be tried there.
#[tokio::test(flavor = "multi_thread")]
async fn every_server_function_reads_the_bodies() {
    let house = House::open().await;
    for route in routes().await.into_iter().filter(|route| route.path.starts_with("/ui/")) {
        for sent in body(&route, NOWHERE) {
            let (_, answer) = house.ask(owner(&route), &route, NOWHERE, sent, "").await;
            // What stands in a file is read after the arguments.
            assert!(!answer.contains("missing field") || answer.contains(r#""path":"/file""#), "{route:?}: {answer}");
        }
    }
}
