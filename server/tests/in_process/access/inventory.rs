//! Lists all routes of the router, so that tests of all routes cover new ones, too.

use super::{Body, Method, Router, Value, header, local_request, open, to_bytes};
use leptos::server_fn::axum::server_fn_paths;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use tower::ServiceExt;

/// The OpenAPI document of the router.
static DOCUMENT: OnceLock<Value> = OnceLock::new();

/// Returns the OpenAPI document; [`inventory`] must have been called before.
pub(crate) fn document() -> &'static Value {
    DOCUMENT.get().unwrap()
}

/// The catch-all route of server functions.
const SERVER_FUNCTIONS: &str = "/ui/{*function}";

/// Returns the path of each route as written in the router, with each of its methods. Server
/// functions are listed with their own paths.
pub(crate) async fn inventory() -> BTreeSet<(String, Method)> {
    let router = open("pages: [{ id: p }]\n").await.routes();
    if DOCUMENT.get().is_none() {
        let _ = DOCUMENT.set(fetch_document(&router).await);
    }
    let shown = format!("{router:?}");
    let paths = shown.split('"').filter(|part| part.starts_with('/') && part.len() > 1);
    // Internal routes of the router for its fallback.
    let paths: BTreeSet<_> = paths.filter(|path| !path.contains("__private__")).collect();
    let mut routes: BTreeSet<_> = server_fn_paths().map(|(path, method)| (path.to_owned(), method)).collect();
    assert!(routes.len() > 10, "the server functions are not found: {routes:?}");
    for path in paths {
        if path == SERVER_FUNCTIONS {
            continue;
        }
        let concrete = path.replace(['{', '}', '*'], "");
        // From this machine, since `/metrics` is for it only.
        let request = local_request(Method::TRACE, &concrete).body(Body::empty()).unwrap();
        let answer = router.clone().oneshot(request).await.unwrap();
        let allowed = answer.headers().get(header::ALLOW).unwrap_or_else(|| panic!("{path}: {}", answer.status()));
        let allowed = allowed.to_str().unwrap().split(',').map(|method| method.parse::<Method>().unwrap());
        routes.extend(allowed.filter(|method| *method != Method::HEAD).map(|method| (path.to_owned(), method)));
    }
    assert!(routes.len() > 100, "the router's routes are not found: {routes:?}");
    routes
}

async fn fetch_document(router: &Router) -> Value {
    let request = local_request(Method::GET, "/api/openapi.json").body(Body::empty()).unwrap();
    let answer = router.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    serde_json::from_slice(&to_bytes(answer.into_body(), usize::MAX).await.unwrap()).unwrap()
}
