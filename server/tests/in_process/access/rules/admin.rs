//! The admin console: for callers who are not administrators, none of its routes exist.

use crate::access::*;

/// Returns a request with the id of a conversation. The status beside it is the response to an
/// administrator in the mode `local`, which has no accounts.
type AdminRoute = fn(&str) -> TestRequest;

const NO_ID: &str = "00000000-0000-0000-0000-000000000000";

fn with(method: Method, path: String) -> TestRequest {
    TestRequest { method, path, body: None }
}

fn form(path: String) -> TestRequest {
    TestRequest { method: Method::POST, path, body: None }
}

const ROUTES: [(&str, AdminRoute, u16); 151] = [
    ("overview", |_| get("/admin".to_owned()), 200),
    ("users", |_| get("/admin/users".to_owned()), 200),
    ("users, with an invalid order", |_| get("/admin/users?sort=name;drop".to_owned()), 400),
    ("a user", |_| get(format!("/admin/users/{NO_ID}")), 404),
    ("a new user", |_| form("/admin/users".to_owned()), 415),
    ("a user's roles", |_| form(format!("/admin/users/{NO_ID}/roles")), 415),
    ("deleting a user", |_| form(format!("/admin/users/{NO_ID}/delete")), 415),
    ("conversations", |_| get("/admin/conversations?text=hello&sort=cost".to_owned()), 200),
    ("another user's conversation", |id| get(format!("/admin/conversations/{id}")), 200),
    ("another user's conversation as a file", |id| get(format!("/admin/conversations/{id}/export")), 200),
    ("an unknown conversation", |_| get("/admin/conversations/nothing".to_owned()), 404),
    ("feedback", |_| get("/admin/feedback".to_owned()), 200),
    ("audit log", |_| get("/admin/audit?verify=1".to_owned()), 200),
    ("feedback, the oldest first, as CSV", |_| get("/admin/feedback.csv?sort=oldest".to_owned()), 200),
    ("agents, by cost", |_| get("/admin/agents?sort=cost".to_owned()), 200),
    ("agents, with an invalid order", |_| get("/admin/agents?sort=id;drop".to_owned()), 400),
    ("agents as CSV", |_| get("/admin/agents.csv?sort=errors".to_owned()), 200),
    ("agents, with an invalid cursor", |_| get("/api/admin/agents?after=x~y".to_owned()), 400),
    ("standing approvals by tool", |_| get("/admin/approvals?sort=tool&after=a~b".to_owned()), 200),
    ("invitations", |_| get("/admin/invitations".to_owned()), 404),
    ("a new invitation", |_| form("/admin/invitations".to_owned()), 415),
    ("revoking an invitation", |_| form(format!("/admin/invitations/{NO_ID}/revoke")), 404),
    ("users as CSV", |_| get("/admin/users.csv".to_owned()), 404),
    ("conversations as CSV", |_| get("/admin/conversations.csv?sort=cost".to_owned()), 200),
    ("standing approvals as CSV", |_| get("/admin/approvals.csv".to_owned()), 200),
    ("audit log as CSV", |_| get("/admin/audit.csv".to_owned()), 200),
    ("overview in the API", |_| get("/api/admin/overview?days=30".to_owned()), 200),
    ("users in the API", |_| get("/api/admin/users".to_owned()), 404),
    ("a user in the API", |_| get(format!("/api/admin/users/{NO_ID}")), 404),
    ("a new user in the API", |_| post("/api/admin/users".to_owned(), json!({ "name": "eve" })), 404),
    (
        "changing a user",
        |_| TestRequest {
            method: Method::PATCH,
            ..post(format!("/api/admin/users/{NO_ID}"), json!({ "disabled": true }))
        },
        404,
    ),
    ("invitations in the API", |_| get("/api/admin/invitations".to_owned()), 404),
    ("a new invitation in the API", |_| post("/api/admin/invitations".to_owned(), json!({ "label": "eve" })), 404),
    ("revoking an invitation in the API", |_| with(Method::DELETE, format!("/api/admin/invitations/{NO_ID}")), 404),
    ("a user's password", |_| post(format!("/api/admin/users/{NO_ID}/password"), json!({})), 404),
    ("a user's sessions", |_| with(Method::DELETE, format!("/api/admin/users/{NO_ID}/sessions")), 404),
    ("a user's second factor", |_| with(Method::DELETE, format!("/api/admin/users/{NO_ID}/second-factor")), 404),
    ("a user's company accounts", |_| get(format!("/api/admin/users/{NO_ID}/identities")), 404),
    ("a user's company account", |_| with(Method::DELETE, format!("/api/admin/users/{NO_ID}/identities/{NO_ID}")), 404),
    ("deleting a user in the API", |_| with(Method::DELETE, format!("/api/admin/users/{NO_ID}?name=eve")), 404),
    ("conversations in the API", |_| get("/api/admin/conversations?judged=up&errors=1".to_owned()), 200),
    ("conversations, with an invalid cursor", |_| get("/api/admin/conversations?after=x~y".to_owned()), 400),
    ("another user's conversation in the API", |id| get(format!("/api/admin/conversations/{id}")), 200),
    ("feedback in the API", |_| get("/api/admin/feedback".to_owned()), 200),
    ("audit log in the API", |_| get("/api/admin/audit?outcome=ok".to_owned()), 200),
    ("verifying the audit log in the API", |_| get("/api/admin/audit/verify".to_owned()), 200),
    ("agents", |_| get("/admin/agents?text=a_".to_owned()), 200),
    ("an agent", |_| get("/admin/agents/a_open".to_owned()), 200),
    ("an unknown agent", |_| get("/admin/agents/nothing".to_owned()), 404),
    ("an agent's tools", |_| get("/admin/agents/t_e_open/tools".to_owned()), 200),
    ("a tool of an agent", |_| get("/admin/agents/t_e_open/tools/search_it".to_owned()), 200),
    ("an unknown tool of an agent", |_| get("/admin/agents/t_e_open/tools/nothing".to_owned()), 404),
    ("a call of a tool", |_| form("/admin/agents/t_e_open/tools/search_it".to_owned()), 415),
    ("a question for an agent", |_| form("/admin/agents/a_open/ask".to_owned()), 415),
    ("custom agents", |_| get("/admin/custom-agents".to_owned()), 200),
    ("a new custom agent, not allowed by the config", |_| get("/admin/custom-agents/new?from=a_open".to_owned()), 404),
    ("an unknown custom agent", |_| get(format!("/admin/custom-agents/custom-{NO_ID}")), 404),
    ("deleting an unknown custom agent", |_| form(format!("/admin/custom-agents/custom-{NO_ID}/delete")), 404),
    ("custom agents in the API", |_| get("/api/admin/custom-agents".to_owned()), 200),
    ("an unknown custom agent in the API", |_| get(format!("/api/admin/custom-agents/custom-{NO_ID}")), 404),
    (
        "a new custom agent in the API, not allowed by the config",
        |_| post("/api/admin/custom-agents".to_owned(), json!({ "name": "x", "from": "a_open", "instructions": "x" })),
        422,
    ),
    (
        "deleting an unknown custom agent in the API",
        |_| with(Method::DELETE, format!("/api/admin/custom-agents/custom-{NO_ID}")),
        404,
    ),
    ("tools", |_| get("/admin/tools".to_owned()), 200),
    ("standing approvals", |_| get("/admin/approvals?agent=a_open".to_owned()), 200),
    ("revoking an unknown standing approval", |_| form(format!("/admin/approvals/{NO_ID}/revoke")), 404),
    ("sessions and keys", |_| get("/admin/access?kind=outside&sort=used&after=1~b".to_owned()), 200),
    ("sessions and keys as CSV", |_| get("/admin/access.csv".to_owned()), 200),
    ("revoking an unknown key", |_| form(format!("/admin/access/key/{NO_ID}/revoke")), 404),
    ("sessions and keys in the API", |_| get("/api/admin/access?kind=session".to_owned()), 200),
    ("sessions and keys, of an unknown kind", |_| get("/api/admin/access?kind=all;drop".to_owned()), 400),
    (
        "revoking an unknown session in the API",
        |_| with(Method::DELETE, format!("/api/admin/access/session/{NO_ID}")),
        404,
    ),
    ("tools, the slowest first", |_| get("/admin/tools?sort=slowest&agent=a_open".to_owned()), 200),
    ("tools, with an invalid order", |_| get("/api/admin/tools?sort=id;drop".to_owned()), 400),
    ("tools as CSV", |_| get("/admin/tools.csv?text=search".to_owned()), 200),
    ("shared prompts", |_| get("/admin/prompts?text=a".to_owned()), 200),
    ("shared prompts as CSV", |_| get("/admin/prompts.csv".to_owned()), 200),
    ("an unknown prompt", |_| get(format!("/admin/prompts/{NO_ID}")), 404),
    ("deleting an unknown prompt", |_| form(format!("/admin/prompts/{NO_ID}/delete")), 404),
    ("shared prompts in the API", |_| get("/api/admin/prompts".to_owned()), 200),
    ("deleting an unknown prompt in the API", |_| with(Method::DELETE, format!("/api/admin/prompts/{NO_ID}")), 404),
    ("first steps", |_| get("/admin/start".to_owned()), 200),
    ("connections to models", |_| get("/admin/models?from=added".to_owned()), 200),
    ("connections to models as CSV", |_| get("/admin/models.csv".to_owned()), 200),
    ("connections to models as YAML", |_| get("/admin/models.yaml".to_owned()), 200),
    ("a new connection to models", |_| get("/admin/models/new".to_owned()), 200),
    ("an unknown connection to models", |_| get("/admin/models/nothing".to_owned()), 404),
    ("listing models of an unknown connection", |_| form("/admin/models/nothing/list".to_owned()), 404),
    ("connections to models in the API", |_| get("/api/admin/models".to_owned()), 200),
    ("connections to models as YAML in the API", |_| get("/api/admin/model-connections.yaml".to_owned()), 200),
    ("an unknown connection to models in the API", |_| get("/api/admin/models/nothing".to_owned()), 404),
    (
        "testing an unknown connection to models in the API",
        |_| post("/api/admin/models/nothing/test".to_owned(), json!({})),
        404,
    ),
    (
        "deleting an unknown connection to models in the API",
        |_| with(Method::DELETE, "/api/admin/models/nothing".to_owned()),
        404,
    ),
    (
        "a connection to models without its key in the API",
        |_| post("/api/admin/models".to_owned(), json!({ "name": "x", "connection": { "provider": "openai" } })),
        422,
    ),
    ("MCP servers", |_| get("/admin/mcp-servers?from=added".to_owned()), 200),
    ("MCP servers as CSV", |_| get("/admin/mcp-servers.csv".to_owned()), 200),
    ("MCP servers as YAML", |_| get("/admin/mcp-servers.yaml".to_owned()), 200),
    ("a new MCP server", |_| get("/admin/mcp-servers/new".to_owned()), 200),
    ("an unknown MCP server", |_| get("/admin/mcp-servers/nothing".to_owned()), 404),
    ("testing an unknown MCP server", |_| form("/admin/mcp-servers/nothing/test".to_owned()), 404),
    (
        "switching an unknown MCP server of the config",
        |_| form("/admin/mcp-config-servers/nothing/off".to_owned()),
        404,
    ),
    ("MCP servers in the API", |_| get("/api/admin/mcp-servers".to_owned()), 200),
    ("MCP config", |_| get("/api/mcp/config".to_owned()), 200),
    ("MCP config as YAML", |_| get("/api/mcp/config/export".to_owned()), 200),
    (
        "replacing the MCP config",
        |_| TestRequest {
            method: Method::PUT,
            ..post("/api/mcp/config".to_owned(), json!({ "version": 7, "mcpServers": {} }))
        },
        409,
    ),
    (
        "a private MCP server in the API",
        |_| {
            post("/api/admin/mcp-servers".to_owned(), json!({ "name": "x", "server": { "url": "https://127.0.0.1/" } }))
        },
        422,
    ),
    (
        "a program as an MCP server in the API",
        |_| post("/api/admin/mcp-servers".to_owned(), json!({ "name": "x", "server": { "command": "id" } })),
        422,
    ),
    ("testing an unknown MCP server in the API", |_| form("/api/admin/mcp-servers/nothing/test".to_owned()), 404),
    (
        "deleting an unknown MCP server in the API",
        |_| with(Method::DELETE, "/api/admin/mcp-servers/nothing".to_owned()),
        404,
    ),
    ("custom agents, the newest first", |_| get("/api/admin/custom-agents?sort=newest&text=a".to_owned()), 200),
    ("custom agents as CSV", |_| get("/admin/custom-agents.csv".to_owned()), 200),
    ("retention", |_| get("/admin/retention".to_owned()), 200),
    ("running retention at once", |_| form("/admin/retention".to_owned()), 200),
    ("jobs", |_| get("/admin/jobs?state=failed&kind=chat.title&user=ada".to_owned()), 200),
    ("jobs, in an invalid state", |_| get("/admin/jobs?state=gone;drop".to_owned()), 400),
    ("jobs as CSV", |_| get("/admin/jobs.csv?state=waiting".to_owned()), 200),
    ("retrying an unknown job", |_| form(format!("/admin/jobs/{NO_ID}/retry")), 404),
    ("cancelling an unknown job", |_| form(format!("/admin/jobs/{NO_ID}/cancel")), 404),
    ("jobs in the API", |_| get("/api/admin/jobs?after=x".to_owned()), 200),
    ("jobs in the API, in an invalid state", |_| get("/api/admin/jobs?state=gone;drop".to_owned()), 400),
    ("the number of jobs in the API", |_| get("/api/admin/jobs/status".to_owned()), 200),
    ("retrying an unknown job in the API", |_| post(format!("/api/admin/jobs/{NO_ID}/retry"), json!({})), 404),
    ("cancelling an unknown job in the API", |_| post(format!("/api/admin/jobs/{NO_ID}/cancel"), json!({})), 404),
    ("embedding a chat", |_| get("/admin/embed?chat=p_open/a_open&site=https://shop.test".to_owned()), 200),
    ("the preview of a page without a chat", |_| get("/admin/embed/preview?chat=p_open/a_open".to_owned()), 404),
    ("the config", |_| get("/admin/config".to_owned()), 200),
    ("the files of the config", |_| get("/admin/config/files".to_owned()), 200),
    // The config names no role that may change it.
    ("the draft of the config", |_| get("/admin/config/draft".to_owned()), 403),
    ("saving a draft of the config", |_| form("/admin/config/draft".to_owned()), 403),
    ("basing a draft on the newest config", |_| form("/admin/config/draft/rebase".to_owned()), 403),
    ("trying a draft of the config", |_| form("/admin/config/draft/preview".to_owned()), 403),
    ("ending a trial of the config", |_| form("/admin/config/draft/preview/end".to_owned()), 403),
    ("publishing a draft of the config", |_| form("/admin/config/draft/publish".to_owned()), 403),
    ("discarding a draft of the config", |_| form("/admin/config/draft/discard".to_owned()), 403),
    ("published versions of the config", |_| get("/admin/config/versions".to_owned()), 403),
    ("a published version of the config", |_| get("/admin/config/versions/1".to_owned()), 403),
    ("publishing an earlier config", |_| form("/admin/config/versions/0".to_owned()), 403),
    ("agents in the API", |_| get("/api/admin/agents".to_owned()), 200),
    ("an agent in the API", |_| get("/api/admin/agents/a_open".to_owned()), 200),
    ("an agent's tools in the API", |_| get("/api/admin/agents/t_e_open/tools".to_owned()), 200),
    ("an unknown agent's tools in the API", |_| get("/api/admin/agents/nothing/tools".to_owned()), 404),
    ("tools in the API", |_| get("/api/admin/tools".to_owned()), 200),
    ("agents' runs", |_| get("/admin/agent-runs?state=waiting&user=ada".to_owned()), 200),
    ("agents' runs as CSV", |_| get("/admin/agent-runs.csv".to_owned()), 200),
    ("agents' runs in the API", |_| get("/api/admin/agent-runs?state=failed".to_owned()), 200),
    ("standing approvals in the API", |_| get("/api/admin/approvals".to_owned()), 200),
    (
        "revoking an unknown standing approval in the API",
        |_| with(Method::DELETE, format!("/api/admin/approvals/{NO_ID}")),
        404,
    ),
    ("retention in the API", |_| get("/api/admin/retention".to_owned()), 200),
    ("running retention at once, in the API", |_| post("/api/admin/retention".to_owned(), json!({})), 200),
    ("the config in the API", |_| get("/api/admin/config".to_owned()), 200),
    ("deleting an unknown conversation", |_| with(Method::DELETE, "/api/admin/conversations/nothing".to_owned()), 404),
    ("deleting another user's conversation", |id| with(Method::DELETE, format!("/api/admin/conversations/{id}")), 204),
];

#[tokio::test(flavor = "multi_thread")]
async fn admin_routes_exist_only_for_administrators() {
    let routes = serve(&config()).await;
    let ada = caller(("ada", true, &[]));
    assert_eq!(call_route(&routes, &ada, send("p_open", "a_open", "c", "Hello")).await.0, 200);
    for (name, is_authenticated, roles, _) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        for (case, at, of_admin) in ROUTES {
            let (status, body) = call_route(&routes, &caller, at("c")).await;
            let expected = if name == "admin" { of_admin } else { 404 };
            assert_eq!(status, expected, "{case}, {name}: {body}");
        }
    }
    assert_eq!(call_route(&routes, &ada, get("/api/conversations/c".to_owned())).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_another_users_conversation_is_audited() {
    let routes = serve(&config()).await;
    let (ada, admin) = (caller(("ada", true, &[])), caller(("boss", true, &["admin"])));
    assert_eq!(call_route(&routes, &ada, send("p_open", "a_open", "c", "Hello")).await.0, 200);
    assert_eq!(call_route(&routes, &admin, send("p_open", "a_open", "own", "Hello")).await.0, 200);
    for path in ["/admin/conversations/c", "/admin/conversations/c/export", "/api/admin/conversations/own"] {
        assert_eq!(call_route(&routes, &admin, get(path.to_owned())).await.0, 200, "{path}");
    }
    let rows = call_route(&routes, &admin, get("/api/admin/audit?user=boss".to_owned())).await.1;
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let seen = rows["items"].as_array().unwrap().iter().map(|row| {
        (
            row["tool"].as_str().unwrap(),
            row["conversationId"].as_str().unwrap(),
            row["arguments"]["userId"].as_str().unwrap(),
        )
    });
    let seen: Vec<_> = seen.collect();
    assert_eq!(seen, [("admin:export_conversation", "c", "ada"), ("admin:read_conversation", "c", "ada")]);
    let chain = call_route(&routes, &admin, get("/api/admin/audit/verify".to_owned())).await.1;
    assert_eq!(serde_json::from_str::<Value>(&chain).unwrap()["holds"], true);
}

/// An export contains all pages of a list, and is recorded.
#[tokio::test(flavor = "multi_thread")]
async fn list_export_is_complete_and_audited() {
    let routes = serve(&config()).await;
    let (ada, admin) = (caller(("ada", true, &[])), caller(("boss", true, &["admin"])));
    for number in 0..53 {
        let text = if number == 7 { "=1+1".to_owned() } else { format!("Hello {number}") };
        assert_eq!(call_route(&routes, &ada, send("p_open", "a_open", &format!("c{number}"), &text)).await.0, 200);
    }
    let (status, table) = call_route(&routes, &admin, get("/admin/conversations.csv?agent=a_open".to_owned())).await;
    assert_eq!((status, table.lines().count()), (200, 54));
    assert!(table.contains("\"'=1+1\",\"ada\""), "no spreadsheet reads a formula");
    let few = call_route(&routes, &admin, get("/admin/conversations.csv?text=52".to_owned())).await.1;
    assert_eq!(few.lines().count(), 2, "{few}");
    let rows = call_route(&routes, &admin, get("/api/admin/audit?tool=admin:export_conversations".to_owned())).await.1;
    assert_eq!(serde_json::from_str::<Value>(&rows).unwrap()["items"].as_array().unwrap().len(), 2);
}

/// A tool or agent that an administrator tries runs with their own rights, passes the gates and is
/// recorded.
#[tokio::test(flavor = "multi_thread")]
async fn trying_tools_and_agents_is_audited() {
    let routes = serve(&config()).await;
    let admin = caller(("boss", true, &["admin"]));
    let attempt = async |agent: &str, tool: &str, arguments: Value| {
        let path = format!("/api/admin/agents/{agent}/tools/{tool}");
        let (status, body) = call_route(&routes, &admin, post(path, json!({ "arguments": arguments }))).await;
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let (status, tried) = attempt("t_e_editors", "search_it", json!({ "query": "x" })).await;
    assert_eq!((status, &tried["outcome"], &tried["output"]["done"]), (200, &json!("ok"), &json!("e_editors")));
    let (status, tried) = attempt("t_e_open", "search_it", json!({ "query": 1 })).await;
    assert_eq!((status, &tried["outcome"], &tried["gates"][0]["gate"]), (200, &json!("refused"), &json!("schema")));
    assert_eq!(attempt("nothing", "search_it", json!({})).await.0, 404);
    let body = json!({ "text": "Hello there" });
    let (status, asked) = call_route(&routes, &admin, post("/api/admin/agents/a_members/ask".to_owned(), body)).await;
    let asked: Value = serde_json::from_str(&asked).unwrap();
    assert_eq!((status, &asked["view"]["title"]), (200, &json!("Test: Hello there")), "{asked}");
    assert_eq!(asked["view"]["messages"].as_array().unwrap().len(), 2);
    let rows = call_route(&routes, &admin, get("/api/admin/audit?user=boss".to_owned())).await.1;
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let rows = rows["items"].as_array().unwrap().iter();
    let rows: Vec<_> =
        rows.map(|row| ["tool", "agentId", "outcome"].map(|key| row[key].as_str().unwrap()).join(" ")).collect();
    let expected = [
        "admin:ask_agent  ok",
        "admin:try_tool  ok",
        "search_it t_e_open refused",
        "admin:try_tool  ok",
        "search_it t_e_editors ok",
        "admin:try_tool  ok",
    ];
    assert_eq!(rows, expected);
    // The test conversation is the administrator's own, and is deleted automatically.
    let ada = caller(("ada", true, &[]));
    let id = asked["conversationId"].as_str().unwrap();
    assert_eq!(call_route(&routes, &ada, get(format!("/api/conversations/{id}"))).await.0, 404);
    let plan = call_route(&routes, &admin, get("/api/admin/retention".to_owned())).await.1;
    assert_eq!(serde_json::from_str::<Value>(&plan).unwrap()["next"][0]["id"], json!(id));
}

/// Hidden characters are shown as their code points.
#[tokio::test(flavor = "multi_thread")]
async fn console_shows_hidden_characters() {
    let routes = serve(&config()).await;
    let (ada, admin) = (caller(("ada", true, &[])), caller(("boss", true, &["admin"])));
    assert_eq!(call_route(&routes, &ada, send("p_open", "a_open", "c", "Hello")).await.0, 200);
    let title = json!({ "title": "pay \u{202e}001\u{202c} \u{e0041}EUR" });
    let rename = TestRequest { method: Method::PATCH, ..post("/api/conversations/c".to_owned(), title) };
    assert_eq!(call_route(&routes, &ada, rename).await.0, 204);
    let arguments = json!({ "arguments": { "query": "pay \u{202e}001\u{200b} EUR" } });
    let path = "/api/admin/agents/t_e_editors/tools/search_it".to_owned();
    assert_eq!(call_route(&routes, &admin, post(path, arguments)).await.0, 200);
    for (path, expected) in [
        ("/admin/audit", r"pay \u202e001\u200b EUR"),
        ("/admin/conversations", "pay [U+202E]001[U+202C] [U+E0041]EUR"),
        ("/admin/conversations/c", "pay [U+202E]001[U+202C] [U+E0041]EUR"),
        ("/admin/agents/a_open", "pay [U+202E]001[U+202C] [U+E0041]EUR"),
    ] {
        let (status, page) = call_route(&routes, &admin, get(path.to_owned())).await;
        assert!(status == 200 && page.contains(expected), "{path}: {page}");
        assert!(!page.contains(['\u{202e}', '\u{200b}', '\u{e0041}']), "{path}");
    }
}
