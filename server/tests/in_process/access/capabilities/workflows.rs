//! The workflow of `examples/invoices`, from the request to the database, and who may reach what.

use crate::access::{TestRequest, call_route, caller, get, open, post, send};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use chat::Caller;
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;

const CONFIG: &str = include_str!("../../../../../examples/invoices/chatwright.yaml");
const TABLE: &str = include_str!("../../../../../examples/invoices/invoices.sql");

pub(super) struct Site {
    pub(super) routes: Router,
    pub(super) boss: Caller,
    pub(super) store: store::Store,
}

impl Site {
    async fn open() -> Self {
        let table = serde_json::to_string(TABLE).unwrap();
        Self::open_with(&CONFIG.replace("{ _ref: invoices.sql }", &table)).await
    }

    pub(super) async fn open_with(config: &str) -> Self {
        let server = open(config).await;
        server.start_background_work();
        let boss = caller(("boss", true, &["admin"]));
        Self { routes: server.caller_routes(), boss, store: server.store().clone() }
    }

    pub(super) async fn ask(&self, path: String, body: Option<Value>) -> Value {
        let request = match body {
            Some(body) => post(path, body),
            None => get(path),
        };
        let (status, answer) = call_route(&self.routes, &self.boss, request).await;
        assert!(status < 300, "{status} {answer}");
        serde_json::from_str(&answer).unwrap_or(Value::Null)
    }

    /// Starts a run and returns its id.
    async fn start(&self, text: &str) -> String {
        let run = self.ask("/api/workflows/invoice/runs".to_owned(), Some(json!({ "input": { "text": text } }))).await;
        run["id"].as_str().unwrap().to_owned()
    }

    /// Returns the run once this is true.
    pub(super) async fn run(&self, id: &str, is_there: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..500 {
            let run = self.ask(format!("/api/workflows/runs/{id}"), None).await;
            if is_there(&run) {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the run does not get there");
    }

    async fn posted(&self) -> Value {
        self.ask("/api/endpoints/home/invoices".to_owned(), Some(json!({}))).await
    }
}

pub(super) fn has_ended(run: &Value) -> bool {
    !run["endedAt"].is_null()
}

#[tokio::test(flavor = "multi_thread")]
async fn invoice_is_read_approved_and_posted() {
    let site = Site::open().await;
    let small = site.start("Number: 2026-1, supplier: Acme, total: 300").await;
    let run = site.run(&small, has_ended).await;
    assert_eq!(run["output"], json!({ "posted": true, "number": "2026-1", "total": 300 }), "{run}");
    let large = site.start("Number: 2026-2, supplier: Bolt, total: 6200").await;
    let run = site.run(&large, |run| run["tasks"][0].is_object()).await;
    let task = &run["tasks"][0];
    assert_eq!((&task["title"], &task["state"]), (&json!("Pay 6200 to Bolt?"), &json!("open")));
    assert_eq!(site.ask("/api/workflows/tasks".to_owned(), None).await["items"][0]["id"], task["id"]);
    let path = format!("/api/workflows/tasks/{}", task["id"].as_str().unwrap());
    // A user who was not asked can see neither the question nor the run.
    let eve = caller(("eve", true, &["reader"]));
    let stranger = async |request| call_route(&site.routes, &eve, request).await.0;
    assert_eq!(stranger(post(path.clone(), json!({ "approved": true }))).await, 404);
    assert_eq!(stranger(get(format!("/api/workflows/runs/{large}"))).await, 404);
    assert_eq!(stranger(post(format!("/api/workflows/runs/{large}/stop"), json!({}))).await, 404);
    site.ask(path, Some(json!({ "approved": true, "comment": "As agreed." }))).await;
    let run = site.run(&large, has_ended).await;
    assert_eq!(run["output"], json!({ "posted": true, "number": "2026-2", "total": 6200 }), "{run}");
    // The demo model has no price.
    assert_eq!((&run["used"]["requests"], &run["used"]["unpriced"]), (&json!(1), &json!(1)));
    let (_, page) = call_route(&site.routes, &site.boss, get(format!("/admin/workflows/{large}"))).await;
    assert!(page.contains("<dt>Cost</dt><dd>unknown</dd>"), "{page}");
    let posted = site.posted().await;
    let numbers: Vec<_> = posted.as_array().unwrap().iter().map(|row| (&row["number"], &row["approved_by"])).collect();
    assert_eq!(numbers, [(&json!("2026-1"), &json!("the limit")), (&json!("2026-2"), &json!("a person"))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_and_incomplete_invoices_are_not_posted() {
    let site = Site::open().await;
    let large = site.start("Number: 2026-3, supplier: Bolt, total: 9000").await;
    let run = site.run(&large, |run| run["tasks"][0].is_object()).await;
    let path = format!("/api/workflows/tasks/{}", run["tasks"][0]["id"].as_str().unwrap());
    site.ask(path, Some(json!({ "approved": false, "comment": "Too much." }))).await;
    let run = site.run(&large, has_ended).await;
    assert_eq!(run["output"], json!({ "posted": false, "reason": "Too much." }), "{run}");
    let broken = site.start("Dear Sir or Madam").await;
    let run = site.run(&broken, has_ended).await;
    assert_eq!(
        (&run["state"], &run["error"]["message"]),
        (&json!("failed"), &json!("The invoice has no number or no total."))
    );
    assert_eq!(site.posted().await, json!([]));
    let (status, answer) =
        call_route(&site.routes, &site.boss, post("/api/workflows/invoice/runs".to_owned(), json!({ "input": {} })))
            .await;
    assert_eq!(status, 422, "{answer}");
}

/// Sends a request as a caller, and returns the status with the answer.
pub(super) async fn ask_as(site: &Site, who: &Caller, request: TestRequest) -> (u16, Value) {
    let (status, answer) = call_route(&site.routes, who, request).await;
    (status, serde_json::from_str(&answer).unwrap_or(Value::Null))
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_definition_is_checked_used_and_versioned() {
    let site = Site::open().await;
    const PATH: &str = "/api/workflows/definitions";
    let definition = |id: &str, output: &str| json!({ "id": id, "steps": [{ "id": "pause", "type": "wait", "seconds": 1 }], "output": output });
    // Other users can neither store nor list definitions.
    let eve = caller(("eve", true, &["reader"]));
    assert_eq!(ask_as(&site, &eve, get(PATH.to_owned())).await.0, 404);
    let new = json!({ "definition": definition("greet", "one") });
    assert_eq!(ask_as(&site, &eve, post(PATH.to_owned(), new.clone())).await.0, 404);
    // Problems have their places.
    let wrong = json!({ "id": "greet", "steps": [{ "id": "ask", "type": "agent", "agentId": "raeder", "prompt": "$.nothing" }] });
    let (_, checked) = ask_as(&site, &site.boss, post(format!("{PATH}/check"), json!({ "definition": wrong }))).await;
    let places: Vec<_> = checked["problems"].as_array().unwrap().iter().map(|found| &found["path"]).collect();
    assert_eq!(places, ["/steps/0/agentId", "/steps/0/prompt"], "{checked}");
    let (status, refused) = ask_as(&site, &site.boss, post(PATH.to_owned(), json!({ "definition": wrong }))).await;
    assert_eq!((status, &refused["error"]["path"]), (422, &json!("/definition/steps/0/agentId")), "{refused}");
    // The config's own workflows take precedence.
    let taken = json!({ "definition": definition("invoice", "mine") });
    assert_eq!(ask_as(&site, &site.boss, post(PATH.to_owned(), taken)).await.0, 409);
    let (status, stored) = ask_as(&site, &site.boss, post(PATH.to_owned(), new.clone())).await;
    assert_eq!((status, &stored["version"], &stored["isInUse"]), (201, &json!(1), &json!(true)), "{stored}");
    assert_eq!(ask_as(&site, &site.boss, post(PATH.to_owned(), new)).await.0, 409);
    // A run keeps to its version.
    let run = site.ask("/api/workflows/greet/runs".to_owned(), Some(json!({}))).await;
    let put = |version: i64, output: &str, enabled: bool| {
        let body = json!({ "version": version, "definition": definition("greet", output), "enabled": enabled });
        TestRequest { method: Method::PUT, path: format!("{PATH}/greet"), body: Some(body) }
    };
    let (_, changed) = ask_as(&site, &site.boss, put(1, "two", true)).await;
    assert_eq!(changed["version"], 2, "{changed}");
    assert_eq!(ask_as(&site, &site.boss, put(1, "three", true)).await.0, 409);
    let run = site.run(run["id"].as_str().unwrap(), has_ended).await;
    assert_eq!(run["output"], "one");
    let shown = site.ask(format!("{PATH}/greet"), None).await;
    let outputs: Vec<_> = shown["versions"].as_array().unwrap().iter().map(|it| &it["definition"]["output"]).collect();
    assert_eq!(outputs, ["two", "one"]);
    let run = site.ask("/api/workflows/greet/runs".to_owned(), Some(json!({}))).await;
    assert_eq!(site.run(run["id"].as_str().unwrap(), has_ended).await["output"], "two");
    // Disabled or deleted, it cannot be started.
    assert_eq!(ask_as(&site, &site.boss, put(2, "two", false)).await.1["isInUse"], false);
    assert_eq!(ask_as(&site, &site.boss, post("/api/workflows/greet/runs".to_owned(), json!({}))).await.0, 404);
    let delete = || TestRequest { method: Method::DELETE, path: format!("{PATH}/greet"), body: None };
    assert_eq!(ask_as(&site, &site.boss, delete()).await.0, 204);
    assert_eq!(ask_as(&site, &site.boss, delete()).await.0, 404);
}

/// Sends a form of the console, and returns the status with the page.
pub(super) async fn send_form(site: &Site, who: &Caller, path: &str, fields: &[(&str, &str)]) -> (u16, String) {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = Request::builder().method(Method::POST).uri(path);
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").extension(who.clone());
    let answer = site.routes.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    let status = answer.status().as_u16();
    let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn console_edits_compares_and_rolls_back_stored_definitions() {
    const LIST: &str = "/admin/workflow-definitions";
    const NEW: &str = "/admin/new-workflow-definition";
    let site = Site::open().await;
    let yaml =
        |output: &str| format!("id: greet\nsteps:\n  - id: pause\n    type: wait\n    seconds: 1\noutput: {output}\n");
    let page = async |path: &str| call_route(&site.routes, &site.boss, get(path.to_owned())).await;
    // For administrators only; for other callers it does not exist.
    let eve = caller(("eve", true, &["reader"]));
    for path in [LIST, NEW, "/admin/workflow-definitions/invoice"] {
        assert_eq!(call_route(&site.routes, &eve, get(path.to_owned())).await.0, 404, "{path}");
    }
    let new = yaml("one");
    assert_eq!(send_form(&site, &eve, NEW, &[("definition", &new), ("published", "1")]).await.0, 404);
    // Errors have their lines, and what was written stays.
    let wrong = "id: greet\nsteps:\n  - id: ask\n    type: agent\n    agentId: raeder\n    prompt: Hi\n";
    let (status, refused) = send_form(&site, &site.boss, NEW, &[("definition", wrong)]).await;
    assert_eq!(status, 422);
    for part in ["Line 5, column 14", "there is no agent `raeder`", "agentId: raeder"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let (status, refused) = send_form(&site, &site.boss, NEW, &[("definition", "id: [")]).await;
    assert!(status == 422 && refused.contains("Line 1"), "{refused}");
    assert_eq!(send_form(&site, &site.boss, NEW, &[("definition", &new), ("published", "1")]).await.0, 303);
    let listed = site.ask("/api/admin/workflow-definitions".to_owned(), None).await;
    let seen: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|it| (&it["id"], &it["source"], &it["state"])).collect();
    let (stored, config, in_use) = (json!("stored"), json!("config"), json!("inUse"));
    assert_eq!(seen, [(&json!("greet"), &stored, &in_use), (&json!("invoice"), &config, &in_use)]);
    assert!(listed["items"][1]["place"].as_str().unwrap().starts_with("chatwright.yaml:"), "{listed}");
    // That of the config is read only.
    let (_, of_config) = page("/admin/workflow-definitions/invoice").await;
    assert!(of_config.contains("belongs to the config") && !of_config.contains("<textarea"), "{of_config}");
    let path = format!("{LIST}/greet");
    let changed = yaml("two");
    let change = [("definition", changed.as_str()), ("published", "1"), ("version", "1")];
    assert_eq!(send_form(&site, &site.boss, &path, &change).await.0, 303);
    // Another user has stored a newer version.
    let (status, refused) = send_form(&site, &site.boss, &path, &change).await;
    assert!(status == 422 && refused.contains("newer version"), "{refused}");
    let (_, compared) = page(&format!("{path}/diff?from=1&to=2")).await;
    assert!(
        compared.contains("<del>- output: one</del>") && compared.contains("<ins>+ output: two</ins>"),
        "{compared}"
    );
    let lines = site.ask("/api/workflows/definitions/greet/diff?from=1&to=2".to_owned(), None).await;
    let lines = lines["lines"].as_array().unwrap().iter();
    let changes: Vec<_> = lines.filter(|line| line["change"] == "removed" || line["change"] == "added").collect();
    assert_eq!(
        changes,
        [&json!({ "change": "removed", "text": "output: one" }), &json!({ "change": "added", "text": "output: two" })]
    );
    for missing in ["from=1&to=9", "from=config&to=1", "from=x&to=1"] {
        assert_eq!(page(&format!("{path}/diff?{missing}")).await.0, 404, "{missing}");
    }
    let roll_back = format!("{path}/rollback");
    assert_eq!(send_form(&site, &eve, &roll_back, &[("version", "2"), ("to", "1")]).await.0, 404);
    assert_eq!(send_form(&site, &site.boss, &roll_back, &[("version", "2"), ("to", "1")]).await.0, 303);
    let shown = site.ask("/api/workflows/definitions/greet".to_owned(), None).await;
    assert_eq!((&shown["version"], &shown["definition"]["output"]), (&json!(3), &json!("one")), "{shown}");
    // The export is a part of a config.
    let (_, exported) = page(&format!("{path}/yaml")).await;
    assert_eq!(
        exported,
        format!("workflows:\n  - {}", yaml("one").replace('\n', "\n    ").trim_end().to_owned() + "\n")
    );
    assert_eq!(shown["yaml"], exported.as_str());
    assert_eq!(send_form(&site, &site.boss, &format!("{path}/delete"), &[]).await.0, 303);
    assert_eq!(page(&path).await.0, 404);
    let audit = site.store.audit_list(store::AuditFilter::default(), 20, None).await.unwrap();
    let seen: Vec<_> =
        audit.iter().rev().filter(|row| row.tool.ends_with("_workflow")).map(|row| row.tool.as_str()).collect();
    assert_eq!(seen, ["admin:add_workflow", "admin:change_workflow", "admin:change_workflow", "admin:delete_workflow"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn editors_have_the_definitions_without_being_administrators() {
    let config = "workflowEditors: { roles: [designer] }\npages: [{ id: home }]\n";
    let site = Site::open_with(config).await;
    let (designer, other) = (caller(("dora", true, &["designer"])), caller(("eve", true, &["reader"])));
    const PATH: &str = "/api/workflows/definitions";
    let definition = json!({ "id": "pause", "runAs": { "roles": ["designer"] }, "steps": [{ "id": "wait", "type": "wait", "seconds": 1 }] });
    let check = async |request: fn(String, Value) -> TestRequest, path: &str, body: Value, expected: u16| {
        assert_eq!(ask_as(&site, &other, request(path.to_owned(), body.clone())).await.0, 404, "{path}");
        let (status, answer) = ask_as(&site, &designer, request(path.to_owned(), body)).await;
        assert_eq!(status, expected, "{path}: {answer}");
    };
    let read = |path: String, _: Value| get(path);
    check(post, PATH, json!({ "definition": definition }), 201).await;
    check(read, "/api/workflows/definitions/pause", Value::Null, 200).await;
    check(read, "/api/workflows/definitions/pause/diff?from=1&to=1", Value::Null, 200).await;
    check(post, "/api/workflows/definitions/pause/rollback", json!({ "version": 1, "to": 1 }), 200).await;
    // Triggers on the runs of all users are for administrators.
    let spying = json!({
        "id": "spy",
        "runAs": { "roles": ["designer"] },
        "triggers": [{ "id": "ended", "type": "event", "event": "workflow.ended" }],
        "steps": [{ "id": "asked", "type": "wait", "event": "task.waiting", "timeoutSeconds": 60 }],
    });
    for (who, expected) in [(&designer, &["/triggers/0/event", "/steps/0/event"][..]), (&site.boss, &[])] {
        let (_, checked) = ask_as(&site, who, post(format!("{PATH}/check"), json!({ "definition": spying }))).await;
        let places: Vec<_> = checked["problems"].as_array().unwrap().iter().map(|found| &found["path"]).collect();
        assert_eq!(places, expected, "{checked}");
    }
    assert_eq!(ask_as(&site, &designer, get("/admin/workflow-definitions".to_owned())).await.0, 404);
}

const FROM_CHAT: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo }, workflows: [{ id: look, name: search_orders }] }]
workflows:
  - id: look
    description: Looks up orders.
    input: { type: object, properties: { query: { type: string } }, required: [query] }
    steps: [{ id: ask, type: human, title: Go on?, users: [boss], roles: [reader] }]
pages: [{ id: home, blocks: [{ id: chat, type: AgentChat, properties: { agentId: demo } }] }]
";

/// The card of a run shows the questions of the run; only its owner sees it, not the users who may answer.
#[tokio::test(flavor = "multi_thread")]
async fn progress_of_a_run_in_a_conversation_is_for_its_owner() {
    let site = Site::open_with(FROM_CHAT).await;
    let (status, answer) = call_route(&site.routes, &site.boss, send("home", "demo", "c", "Search for refunds")).await;
    assert_eq!(status, 200, "{answer}");
    let runs = site.ask("/api/workflows/runs".to_owned(), None).await;
    let id = runs["items"][0]["id"].as_str().unwrap();
    let progress = || post("/ui/workflow-progress".to_owned(), json!({ "id": id }));
    site.run(id, |run| run["tasks"][0].is_object()).await;
    let shown = ask_as(&site, &site.boss, progress()).await;
    assert_eq!((shown.0, &shown.1["tasks"][0]["title"]), (200, &json!("Go on?")), "{shown:?}");
    for stranger in [("eve", true, &["reader"][..]), ("root", true, &["admin"]), ("visitor", false, &[])] {
        let (status, answer) = ask_as(&site, &caller(stranger), progress()).await;
        assert_eq!(status, 404, "{stranger:?}: {answer}");
    }
}

/// Returns the request of a command of the composer.
fn command(conversation: &str, message: &str, workflow: &str, input: &Value) -> TestRequest {
    let message = json!({ "id": message, "role": "user", "parts": [{ "type": "text", "text": "x" }] });
    let submission = json!({ "kind": "message", "message": message });
    let request =
        json!({ "pageId": "home", "agentId": "demo", "conversationId": conversation, "submission": submission });
    post("/ui/start-workflow-in-chat".to_owned(), json!({ "request": request, "id": workflow, "input": input }))
}

#[tokio::test(flavor = "multi_thread")]
async fn command_starts_a_workflow_of_the_agent_once_in_the_callers_own_conversation() {
    let site = Site::open_with(&FROM_CHAT.replace("steps:", "roles: [admin]\n    steps:")).await;
    let (input, eve) = (json!({ "query": "refunds" }), caller(("eve", true, &["reader"])));
    let (root, boss) = (caller(("root", true, &["admin"])), site.boss.clone());
    // Started, and repeated.
    for _ in 0..2 {
        assert_eq!(ask_as(&site, &boss, command("c", "m1", "look", &input)).await.0, 200);
    }
    // A wrong input, an unknown workflow, one that the caller may not start, another user's conversation.
    let check = async |who: &Caller, conversation: &str, workflow: &str, input: &Value, expected: (u16, Value)| {
        let (status, answer) = ask_as(&site, who, command(conversation, "m2", workflow, input)).await;
        assert_eq!((status, &answer["path"]), (expected.0, &expected.1), "{answer}");
    };
    check(&boss, "c", "look", &json!({}), (422, json!("/input"))).await;
    check(&boss, "c", "other", &input, (404, Value::Null)).await;
    check(&eve, "d", "look", &input, (404, Value::Null)).await;
    check(&root, "c", "look", &input, (404, Value::Null)).await;
    let runs = site.ask("/api/workflows/runs".to_owned(), None).await;
    assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{runs}");
    assert_eq!(ask_as(&site, &root, get("/api/workflows/runs".to_owned())).await.1["items"], json!([]));
    let conversation = site.ask("/api/conversations/c".to_owned(), None).await;
    let parts: Vec<_> = conversation["messages"].as_array().unwrap().iter().map(|it| &it["parts"]).collect();
    assert_eq!(parts[0][0]["text"], "/search_orders\nquery: refunds");
    assert_eq!((parts.len(), &parts[1][0]["type"], &parts[1][1]), (2, &json!("data-workflow-run"), &Value::Null));
    // The page offers the command to whom it may concern.
    let offers =
        async |who: &Caller| call_route(&site.routes, who, get("/home".to_owned())).await.1.contains("search_orders");
    assert!(offers(&boss).await && !offers(&eve).await);
    let form = || post("/ui/startable-workflow".to_owned(), json!({ "id": "look" }));
    assert_eq!(ask_as(&site, &boss, form()).await.1["input"]["required"], json!(["query"]));
    assert_eq!(ask_as(&site, &eve, form()).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_step_calls_the_tool_of_an_agent_with_its_gates() {
    let site = Site::open_with(
        "
connections: [{ id: demo, type: Demo }]
api:
  - { id: add, type: Api, description: Adds., payloadSchema: { type: object, properties: { n: { type: integer } }, required: [n] }, routine: [{ ':return': { _sum: [{ _payload: n }, 1] } }] }
agents:
  - { id: counter, type: Agent, connectionId: demo, properties: { model: demo }, tools: [add] }
  - { id: careful, type: Agent, connectionId: demo, properties: { model: demo }, tools: [{ endpointId: add, confirm: true }] }
workflows:
  - id: count
    steps:
      - { id: one, type: tool, agentId: counter, toolName: add, arguments: { n: $.input.n } }
      - { id: denied, type: tool, agentId: careful, toolName: add, arguments: { n: $.one }, onError: [{ id: why, type: endpoint, endpointId: add, payload: { n: 0 } }] }
      - { id: two, type: tool, agentId: careful, toolName: add, arguments: { n: $.one }, approved: true }
    output: [$.one, $.denied, $.two]
  - id: wrong
    steps: [{ id: one, type: tool, agentId: counter, toolName: add, arguments: { n: many } }]
pages: [{ id: home }]
",
    )
    .await;
    let run = site.ask("/api/workflows/count/runs".to_owned(), Some(json!({ "input": { "n": 1 } }))).await;
    let run = site.run(run["id"].as_str().unwrap(), has_ended).await;
    assert_eq!((&run["output"], &run["used"]["toolCalls"]), (&json!([2, 1, 3]), &json!(2)), "{run}");
    assert_eq!(run["stepRecords"][1]["error"]["kind"], "invalid", "{run}");
    let run = site.ask("/api/workflows/wrong/runs".to_owned(), Some(json!({}))).await;
    let error = site.run(run["id"].as_str().unwrap(), has_ended).await["error"].to_string();
    assert!(error.contains("do not fit"), "{error}");
    let audit = site.store.audit_list(store::AuditFilter::default(), 50, None).await.unwrap();
    let outcomes: Vec<_> = audit.iter().rev().filter(|row| row.tool == "add").map(|row| &*row.outcome).collect();
    assert_eq!(outcomes, ["ok", "denied", "ok", "refused"]);
}
