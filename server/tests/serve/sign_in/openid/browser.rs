//! A browser without scripts: cookies, redirects and forms.

use crate::process::{self, Server};
use reqwest::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use url::Url;
use url::form_urlencoded::Serializer;

/// The cookies of one user.
pub(crate) struct Browser {
    client: Client,
    /// By origin.
    cookies: Mutex<HashMap<String, BTreeMap<String, String>>>,
}

/// A response, and the way to it.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) url: Url,
    pub(crate) text: String,
    /// The URLs that have redirected.
    pub(crate) way: Vec<Url>,
    /// Where it redirects to.
    pub(crate) location: Option<Url>,
}

impl Browser {
    pub(crate) fn new() -> Self {
        Self { client: process::client(), cookies: Mutex::default() }
    }

    /// Sends one request; a form if there are fields.
    pub(crate) async fn send(&self, url: &Url, fields: Option<&[(&str, &str)]>) -> Page {
        let origin = url.origin().ascii_serialization();
        let method = if fields.is_some() { Method::POST } else { Method::GET };
        let mut request = self.client.request(method, url.clone());
        let cookies = self.cookies.lock().unwrap().get(&origin).cloned().unwrap_or_default();
        if !cookies.is_empty() {
            let pairs: Vec<_> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header(COOKIE, pairs.join("; "));
        }
        if let Some(fields) = fields {
            let body = Serializer::new(String::new()).extend_pairs(fields).finish();
            request =
                request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").header(ORIGIN, &origin).body(body);
        }
        let response = request.send().await.unwrap();
        for set in response.headers().get_all(SET_COOKIE) {
            let (name, value) = set.to_str().unwrap().split(';').next().unwrap().split_once('=').unwrap();
            let mut all = self.cookies.lock().unwrap();
            let jar = all.entry(origin.clone()).or_default();
            match value {
                "" => drop(jar.remove(name)),
                value => drop(jar.insert(name.to_owned(), value.to_owned())),
            }
        }
        let location = response.headers().get(LOCATION).map(|to| url.join(to.to_str().unwrap()).unwrap());
        let status = response.status().as_u16();
        Page { status, url: url.clone(), text: response.text().await.unwrap(), way: Vec::new(), location }
    }

    /// Sends a request and follows redirects.
    pub(crate) async fn open(&self, url: &Url, fields: Option<&[(&str, &str)]>) -> Page {
        let mut page = self.send(url, fields).await;
        let mut way = Vec::new();
        while let Some(to) = page.location.clone() {
            assert!(way.len() < 20, "{way:?}");
            way.push(page.url);
            page = self.send(&to, None).await;
        }
        Page { way, ..page }
    }

    /// Begins a sign-in at a provider and says there who the user is. Returns the page at the end.
    pub(crate) async fn sign_in(&self, server: &Server, id: &str, account: &str) -> Page {
        let question = self.open(&server.url(&format!("/auth/openid-connect/{id}?next=/p?x=1")), None).await;
        self.answer(question, account).await
    }

    /// Says who the user is, unless the provider knows.
    pub(crate) async fn answer(&self, question: Page, account: &str) -> Page {
        if !question.url.path().starts_with("/interaction/") {
            return question;
        }
        let answered = self.open(&question.url, Some(&[("account", account)])).await;
        Page { way: [question.way, answered.way].concat(), ..answered }
    }

    /// Returns a browser with this cookie of the server, and none of others.
    pub(crate) fn with_cookie(server: &Server, cookie: &str) -> Self {
        let (name, value) = cookie.split_once('=').unwrap();
        let jar = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        Self { client: process::client(), cookies: Mutex::new(HashMap::from([(server.origin.clone(), jar)])) }
    }

    /// Returns the cookie of the session at the server.
    pub(crate) fn session_cookie(&self, server: &Server) -> String {
        let cookie = self.cookies.lock().unwrap().get(&server.origin).and_then(|jar| jar.get("cw_session").cloned());
        format!("cw_session={}", cookie.unwrap_or_default())
    }

    /// Returns the user as the server sees them.
    pub(crate) async fn me(&self, server: &Server) -> Value {
        let request = server.request(Method::POST, "/api/endpoints/p/me").json(&json!({}));
        let request = request.header(COOKIE, self.session_cookie(server));
        request.send().await.unwrap().json().await.unwrap()
    }
}

impl Server {
    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&self.origin).unwrap().join(path).unwrap()
    }
}
