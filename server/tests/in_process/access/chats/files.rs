//! Uploaded files are private: for other users, they do not exist.

use crate::access::*;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: a, type: Agent, connectionId: demo, auth: public, properties: { model: demo } }]
pages: [{ id: p, auth: public }]
limits: { fileBytes: 2048, userFileBytes: 12288 }
";

/// The start of a PNG, which is all that is looked at.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n0123";

pub(super) async fn upload(routes: &Router, caller: &Caller, name: &str, bytes: impl Into<Vec<u8>>) -> (u16, Value) {
    let bytes = bytes.into();
    let request = Request::post(format!("/api/files?name={name}")).header(header::CONTENT_LENGTH, bytes.len());
    let request = request.extension(caller.clone()).body(Body::from(bytes)).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

fn delete(id: &str) -> TestRequest {
    TestRequest { method: Method::DELETE, path: format!("/api/files/{id}"), body: None }
}

/// Returns a request of our own pages to send a message with a file.
fn send_file(conversation: &str, id: &str, replaces: Option<&str>) -> TestRequest {
    let mut message = message("Hello");
    let lie = json!({ "type": "file", "mediaType": "text/html", "filename": "x", "url": format!("/api/files/{id}") });
    message["parts"].as_array_mut().unwrap().push(lie);
    let submission = json!({ "kind": "message", "message": message, "replaces": replaces });
    let request = json!({ "pageId": "p", "agentId": "a", "conversationId": conversation, "submission": submission });
    post("/ui/send".to_owned(), json!({ "request": request }))
}

/// Returns a request of the AI SDK to send a message with a file.
fn sdk_file(conversation: &str, url: &str) -> TestRequest {
    let mut message = message("Hello");
    let file = json!({ "type": "file", "mediaType": "image/png", "url": url });
    message["parts"].as_array_mut().unwrap().push(file);
    let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message] });
    post(format!("/api/agent/p/a?conversationId={conversation}"), body)
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_private_to_their_user() {
    let routes = serve(CONFIG).await;
    let mut kept = Vec::new();
    for (name, is_authenticated, roles, _) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let (status, file) = upload(&routes, &caller, "../a.html", PICTURE).await;
        assert_eq!((status, &file["mediaType"], &file["filename"]), (201, &json!("image/png"), &json!("a.html")));
        let id = file["id"].as_str().unwrap().to_owned();
        assert_eq!(file["url"], format!("/api/files/{id}"));
        kept.push((caller, id));
    }
    for (caller, own) in &kept {
        let who = &caller.user_id;
        let conversation = |what: &str| format!("{who}-{what}");
        let unknown = [
            get(format!("/api/files/{UNKNOWN_ID}")),
            delete(UNKNOWN_ID),
            send_file(&conversation("n"), UNKNOWN_ID, None),
        ];
        let mut nothing = Vec::new();
        for at in unknown {
            nothing.push(call_route(&routes, caller, at).await);
        }
        assert!(nothing.iter().all(|(status, _)| *status == 404), "{nothing:?}");
        for (_, other) in kept.iter().filter(|(_, other)| other != own) {
            let known = [get(format!("/api/files/{other}")), delete(other), send_file(&conversation("o"), other, None)];
            for (at, nothing) in known.into_iter().zip(&nothing) {
                assert_eq!(call_route(&routes, caller, at).await, *nothing, "{who}");
            }
            let at = sdk_file(&conversation("s"), &format!("/api/files/{other}"));
            assert_eq!(call_route(&routes, caller, at).await.0, 404, "{who}");
        }
        // The client's data about the file are ignored; the server uses its own.
        let (status, stream) = call_route(&routes, caller, send_file(&conversation("c"), own, None)).await;
        assert_eq!(status, 200, "{who}: {stream}");
        let (_, view) = call_route(&routes, caller, get(format!("/api/conversations/{who}-c"))).await;
        let view: Value = serde_json::from_str(&view).unwrap();
        let part = &view["messages"][0]["parts"][1];
        assert_eq!((&part["mediaType"], &part["filename"]), (&json!("image/png"), &json!("a.html")), "{view}");
        // The file belongs to the message now.
        assert_eq!(call_route(&routes, caller, delete(own)).await.0, 404, "{who}");
        let first = view["messages"][0]["id"].as_str().unwrap();
        assert_eq!(
            call_route(&routes, caller, send_file(&conversation("c"), own, Some(first))).await.0,
            200,
            "an edit"
        );
        // Data URLs of other clients still work.
        assert_eq!(
            call_route(&routes, caller, sdk_file(&conversation("d"), "data:image/png;base64,AAAA")).await.0,
            200
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_served_without_active_content() {
    let routes = serve(CONFIG).await;
    let caller = caller(("ada", true, &[]));
    let check = async |name: &str, bytes: &'static [u8], kind: &str, how: &str| {
        let (_, file) = upload(&routes, &caller, name, bytes).await;
        let request = Request::get(file["url"].as_str().unwrap()).extension(caller.clone()).body(Body::empty());
        let response = routes.clone().oneshot(request.unwrap()).await.unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), kind, "{name}");
        assert!(header("content-disposition").starts_with(how), "{name}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert!(header("content-security-policy").ends_with("; sandbox"));
        assert_eq!(to_bytes(response.into_body(), usize::MAX).await.unwrap(), bytes, "{name}");
    };
    check("a.svg", PICTURE, "image/png", "inline;").await;
    check("a.svg", b"<svg onload='alert(1)'/>", "text/plain; charset=utf-8", "attachment;").await;
    check("a.png", b"<html><script>alert(1)</script>", "text/plain; charset=utf-8", "attachment;").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn upload_limits_are_enforced() {
    let routes = serve(CONFIG).await;
    let ada = caller(("ada", true, &[]));
    assert_eq!(upload(&routes, &ada, "a", b"").await.0, 422);
    let (status, error) = upload(&routes, &ada, "a", &[b'x'; 2049]).await;
    assert_eq!((status, error["error"]["message"].as_str().unwrap()), (413, "The file is too large: 2 KB at most."));
    // An upload without a content length.
    let pieces = futures::stream::iter([Ok::<_, std::io::Error>(vec![b'x'; 2000]), Ok(vec![b'x'; 2000])]);
    let request = Request::post("/api/files?name=a").extension(ada.clone()).body(Body::from_stream(pieces)).unwrap();
    assert_eq!(routes.clone().oneshot(request).await.unwrap().status().as_u16(), 413);
    // A refused upload uses no quota: three small files fit, a fourth does not.
    for expected in [201, 201, 201, 413] {
        assert_eq!(upload(&routes, &ada, "a", b"text").await.0, expected);
    }
    assert_eq!(upload(&routes, &caller(("bob", true, &[])), "a", b"text").await.0, 201);
    // A caller who may open no page may not upload files.
    let closed = serve(&CONFIG.replace("{ id: p, auth: public }", "{ id: p, auth: protected }")).await;
    for (name, is_authenticated, expected) in [("nobody", false, 401), ("ada", true, 201)] {
        assert_eq!(upload(&closed, &caller((name, is_authenticated, &[])), "a", b"text").await.0, expected, "{name}");
    }
}
