//! Secrets are written, kept and never shown.

use super::*;
use added_entries::MASK;
use insta::assert_snapshot;
use secrecy::ExposeSecret;
use serde_json::json;
use settings::mcp::{ClientProof, HttpServerSettings, McpTransport};

/// Returns how the server of the agent `helper` is reached.
fn http(bench: &Bench) -> HttpServerSettings {
    match bench.config().agents["helper"].mcp.last().unwrap().server.transport.clone() {
        McpTransport::Http(http) => http,
        other => panic!("{other:?}"),
    }
}

fn secret() -> Value {
    json!({
        "url": format!("https://mcp.example.com/s/{CANARY}-url/mcp"),
        "headers": { "X-Api-Key": format!("Bearer {CANARY}"), "X-Token": { "_secret": "TOKEN" } },
        "oauth": { "tokenUrl": "https://auth.example.com/token", "clientId": "me", "clientSecret": CANARY, "refreshToken": CANARY },
        "agents": ["helper"],
    })
}

fn shown(bench: &Bench) -> Value {
    serde_json::to_value(bench.current().mcp_config()).unwrap()["mcpServers"]["weather"].clone()
}

#[test]
fn secrets_are_sent_to_the_server_and_shown_nowhere() {
    let mut bench = Bench::new(CONFIG);
    let planned = bench.current().save("weather", &body(secret())).unwrap().unwrap();
    assert_snapshot!(planned.about, @r#"{"server":"weather","type":"http","place":"mcp.example.com","agents":["helper"],"enabled":true}"#);
    let Change::Add(write) = &planned.change else { panic!() };
    let stored = format!("{} {}", serde_json::to_string(&write.definition).unwrap(), write.secret);
    assert!(!stored.contains("canary"), "{stored}");
    assert!(!format!("{planned:?} {:?}", body(secret())).contains("canary"));
    bench.keep(planned);
    let reached = http(&bench);
    assert_eq!(reached.url.as_str(), format!("https://mcp.example.com/s/{CANARY}-url/mcp"));
    let headers: Vec<_> = reached.headers.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
    assert_eq!(headers, [("X-Api-Key", format!("Bearer {CANARY}").as_str()), ("X-Token", "the-token")]);
    let ClientProof::Secret(secret) = &reached.oauth.as_ref().unwrap().proof else { panic!() };
    assert_eq!(secret.expose_secret(), CANARY);
    let all = format!("{} {} {:?} {:?}", shown(&bench), bench.current().yaml(), bench.config(), bench.stored);
    assert!(!all.contains("canary"), "{all}");
    assert_snapshot!(shown(&bench), @r#"{"enabled":true,"type":"http","url":"https://mcp.example.com/s/***/mcp","headers":{"X-Api-Key":"***","X-Token":{"_secret":"TOKEN"}},"oauth":{"tokenUrl":"https://auth.example.com/token","clientId":"me","clientSecret":"***","refreshToken":"***"},"agents":["helper"],"confirm":false,"shared":false,"readsPrivate":false,"returnsUntrusted":true,"egress":true}"#);
}

#[test]
fn masked_values_stay_as_they_are() {
    let mut bench = Bench::new(CONFIG);
    bench.save("weather", secret()).unwrap();
    let before = http(&bench);
    let shown = shown(&bench);
    assert_eq!(bench.save("weather", shown.clone()).unwrap_err(), "unchanged");
    let with = |path: &str, value: Value| {
        let mut changed = shown.clone();
        *changed.pointer_mut(path).unwrap() = value;
        changed
    };
    let keeps_test = |bench: &Bench, changed: Value| {
        let planned = bench.current().save("weather", &body(changed)).unwrap().unwrap();
        let Change::Update(write, _) = planned.change else { panic!() };
        write.keeps_found
    };
    assert!(keeps_test(&bench, with("/confirm", true.into())));
    assert!(!keeps_test(&bench, with("/headers/X-Api-Key", "Bearer new".into())));
    assert!(!keeps_test(&bench, with("/type", "sse".into())));
    bench.save("weather", with("/confirm", true.into())).unwrap();
    let after = http(&bench);
    assert_eq!(after.url, before.url);
    assert_eq!(after.headers[0].1.expose_secret(), before.headers[0].1.expose_secret());
    bench.save("weather", with("/headers/X-Api-Key", "Bearer new".into())).unwrap();
    assert_eq!(http(&bench).headers[0].1.expose_secret(), "Bearer new");
    let ClientProof::Secret(secret) = http(&bench).oauth.unwrap().proof else { panic!() };
    assert_eq!(secret.expose_secret(), CANARY);

    // A mask needs something that it stands for.
    let mut other = shown.clone();
    other["headers"] = json!({ "X-New": MASK });
    let refused = bench.save("weather", other).unwrap_err();
    assert_snapshot!(refused, @"/headers/X-New: There is no stored value that could be kept: enter one.");
    let refused = bench.save("second", shown.clone()).unwrap_err();
    assert_snapshot!(refused, @"/url: Enter the whole address, or leave it as it was.");
    let refused = bench.save("weather", with("/headers/X-Token", MASK.into())).unwrap_err();
    assert_snapshot!(refused, @"/headers/X-Token: There is no stored value that could be kept: enter one.");
    // Nor is it lost without a word when the key is.
    bench.written = load(&CONFIG.replace("keys: [KEY], ", ""));
    let refused = bench.save("weather", with("/confirm", true.into())).unwrap_err();
    assert!(refused.contains("cannot be read with the keys of this server"), "{refused}");
}

/// Without their key, stored secrets can be entered again, but not kept.
#[test]
fn secrets_that_cannot_be_read_are_entered_again() {
    let mut bench = Bench::new(CONFIG);
    bench.save("weather", secret()).unwrap();
    bench.written = load(&CONFIG.replace("keys: [KEY]", "keys: [NEW_KEY]"));
    let masked = shown(&bench);
    assert_eq!(masked["url"], MASK);
    let refused = bench.save("weather", masked).unwrap_err();
    assert!(refused.starts_with("/url: "), "{refused}");
    assert!(refused.contains("cannot be read with the keys of this server"), "{refused}");
    let mut entered = secret();
    entered["url"] = format!("https://new.example.com/s/{CANARY}-new/mcp").into();
    entered["headers"]["X-Api-Key"] = "Bearer new".into();
    bench.save("weather", entered).unwrap();
    let reached = http(&bench);
    assert_eq!(reached.url.as_str(), format!("https://new.example.com/s/{CANARY}-new/mcp"));
    assert_eq!(reached.headers[0].1.expose_secret(), "Bearer new");
}

/// A stricter config does not keep administrators from switching off what it no longer allows.
#[test]
fn an_address_that_is_not_allowed_any_more_may_stay() {
    let private = CONFIG.replace("mcpServers: {", "mcpServers: { allowPrivate: true,");
    let mut bench = Bench::new(&private);
    let local = json!({ "url": "http://127.0.0.1:9/mcp", "headers": { "X-Key": CANARY }, "agents": ["helper"] });
    bench.save("weather", local).unwrap();
    bench.written = load(CONFIG);
    let mut off = shown(&bench);
    off["enabled"] = false.into();
    bench.save("weather", off.clone()).unwrap();
    off["url"] = "http://127.0.0.1:9/other".into();
    assert!(bench.save("weather", off).unwrap_err().starts_with("/url: The address is not public"));
    // Nor does a server that stays as it is keep them from changing others.
    let mut update = serde_json::to_value(bench.current().mcp_config()).unwrap();
    update["mcpServers"]["news"] = json!({ "url": "https://news.example.com/mcp" });
    let planned = bench.current().replacement(serde_json::from_value(update).unwrap()).unwrap();
    assert_eq!(planned.iter().map(|planned| planned.action.as_str()).collect::<Vec<_>>(), ["add_mcp_server"]);
}

/// Who may change addresses must not get the secrets sent to one of their own.
#[test]
fn kept_secrets_are_sent_to_their_own_servers_only() {
    let mut bench = Bench::new(CONFIG);
    bench.save("weather", secret()).unwrap();
    let shown = shown(&bench);
    let check = |path: &str, value: &str, expected: Option<&str>| {
        let mut changed = shown.clone();
        *changed.pointer_mut(path).unwrap() = value.into();
        let refused = bench.current().save("weather", &body(changed)).err();
        assert_eq!(refused.as_ref().and_then(|error| error.path.as_deref()), expected, "{path} {value}");
        if let Some(error) = refused {
            assert!(error.message.contains("enter it again"), "{}", error.message);
        }
    };
    check("/url", "https://mcp.example.com/other", None);
    for url in
        ["https://evil.example.com/mcp", "https://mcp.example.com:8443/mcp", "https://mcp.example.com.evil.example/"]
    {
        check("/url", url, Some("/headers/X-Api-Key"));
    }
    check("/oauth/tokenUrl", "https://evil.example.com/token", Some("/headers/X-Api-Key"));
    // Entered again, they may be sent there.
    let mut moved = secret();
    moved["url"] = "https://new.example.com/mcp".into();
    bench.save("weather", moved).unwrap();
}

#[test]
fn submitted_servers_are_checked() {
    let mut bench = Bench::new(CONFIG);
    let mut check = |change: Value, expected: &str| {
        let mut value = json!({ "url": "https://mcp.example.com/mcp" });
        value.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let refused = bench.save("weather", value).err().unwrap_or_default();
        assert!(refused.starts_with(expected), "{change}: {refused}");
        assert!(!refused.contains("canary"), "{refused}");
    };
    check(json!({ "url": "http://mcp.example.com/" }), "/url: The address must start with `https://`");
    check(
        json!({ "url": "https://127.0.0.1/" }),
        "/url: The address is not public: to allow addresses of this machine",
    );
    check(json!({ "url": format!("https://ada:{CANARY}@example.com/") }), "/url: The address holds a user name");
    check(json!({ "url": null }), "/url: Enter the address.");
    check(json!({ "type": "stdio" }), "/url: A server of the type `stdio` does not have this.");
    check(json!({ "command": "x" }), "/url: A server of the type `stdio` does not have this.");
    check(json!({ "type": "http", "command": "x" }), "/command: A server of the type `http` does not have this.");
    check(
        json!({ "headers": { "X": { "_secret": "OTHER" } } }),
        "/headers/X: Added servers may not send the environment variable `OTHER`",
    );
    check(json!({ "headers": { "Host": "x" } }), "/headers/Host: This is not the name of a header");
    check(json!({ "headers": { "X": format!("{CANARY}\n") } }), "/headers/X: The value has characters");
    check(json!({ "headers": { "X-A": "1", "x-a": "2" } }), "/headers/x-a: This header is there twice.");
    check(json!({ "headers": { "X": "" } }), "/headers/X: Enter a value.");
    check(
        json!({
            "headers": { "Authorization": "Bearer x" },
            "oauth": { "tokenUrl": "https://auth.example.com/token", "clientId": "me", "clientSecret": "x" },
        }),
        "/headers/Authorization: This header would be replaced by the access token",
    );
    check(json!({ "headers": { "X": "x".repeat(9000) } }), "/headers/X: A value has at most");
    let many: serde_json::Map<_, _> = (0..21).map(|n| (format!("X-{n}"), "1".into())).collect();
    check(json!({ "headers": many }), "/headers: A server has at most 20");
    check(json!({ "allow": ["{"] }), "/allow: A pattern of tools is wrong");
    check(json!({ "allow": [] }), "/allow: Name at least one tool, or `*` for all.");
    check(json!({ "prefix": "a b" }), "/prefix:");
    check(json!({ "timeoutMs": 0 }), "/timeoutMs:");
    check(json!({ "description": "x".repeat(501) }), "/description:");
    check(json!({ "agents": [""] }), "/agents:");
    check(json!({ "url": { "_secret": "TOKEN" } }), "/: The server cannot be used: `url`: this is not a web address.");
    check(json!({}), "");
    assert_eq!(bench.stored.entries.len(), 1);
    // Without a key nothing can be entered.
    bench.written = load(&CONFIG.replace("keys: [KEY], ", ""));
    let refused = bench.save("second", json!({ "url": "https://mcp.example.com/?key=1" })).unwrap_err();
    assert!(
        refused
            .starts_with("/: This server cannot store secrets yet: name an environment variable in `mcpServers.keys`"),
        "{refused}"
    );
}

#[test]
fn the_whole_catalog_is_replaced_or_nothing() {
    let mut bench = Bench::new(CONFIG);
    bench.save("weather", secret()).unwrap();
    bench.save("news", json!({ "url": "https://news.example.com/mcp" })).unwrap();
    let plan = |bench: &Bench, update: Value| {
        let planned = bench.current().replacement(serde_json::from_value(update).unwrap());
        planned
            .map(|planned| planned.iter().map(|planned| planned.action.clone()).collect::<Vec<_>>().join(" "))
            .unwrap_or_else(|error| format!("{}: {}", error.path.unwrap_or_default(), error.message))
    };
    let mut update = serde_json::to_value(bench.current().mcp_config()).unwrap();
    assert_snapshot!(plan(&bench, update.clone()), @"");
    update["configServers"]["files"] = false.into();
    update["mcpServers"]["news"]["enabled"] = false.into();
    assert_snapshot!(plan(&bench, update.clone()), @"change_mcp_server disable_mcp_server");
    update["mcpServers"].as_object_mut().unwrap().remove("weather");
    update["mcpServers"]["more"] = json!({ "url": "https://more.example.com/" });
    assert_snapshot!(plan(&bench, update.clone()), @"delete_mcp_server change_mcp_server add_mcp_server disable_mcp_server");
    let with = |key: &str, name: &str, value: Value| json!({ "version": 1, "mcpServers": {}, key: { name: value } });
    assert_snapshot!(plan(&bench, json!({ "version": 1, "mcpServers": { "x": { "url": "x" } } })), @"/mcpServers/x/url: This is not a web address.");
    assert_snapshot!(plan(&bench, json!({ "version": 1, "mcpServers": { "files": { "url": "https://a.example.com" } } })), @"/mcpServers/files/name: The config has a server or a connection with the name `files`. Choose another one.");
    assert_snapshot!(plan(&bench, json!({ "version": 1, "mcpServers": { "x": { "env": 1 } } })), @"/mcpServers/x: unknown field `env`, expected one of `enabled`, `description`, `type`, `url`, `headers`, `oauth`, `command`, `args`, `agents`, `allow`, `deny`, `prefix`, `confirm`, `shared`, `timeoutMs`, `readsPrivate`, `returnsUntrusted`, `egress`");
    let wrong = json!({ "version": 1, "mcpServers": { "x": { "enabled": CANARY } } });
    assert_snapshot!(plan(&bench, wrong), @"/mcpServers/x: A field has another type than it should have.");
    assert_snapshot!(plan(&bench, with("configServers", "nothing", true.into())), @"/configServers/nothing: The config has no such server.");
    assert_snapshot!(plan(&bench, with("configServers", "nothing", false.into())), @"/configServers/nothing: The config has no such server.");
    assert_snapshot!(plan(&bench, with("configServers", "files", 1.into())), @"/configServers/files: This must be true or false.");
    let many: serde_json::Map<_, _> = (0..51).map(|n| (format!("s{n}"), json!({}))).collect();
    assert_snapshot!(plan(&bench, json!({ "version": 1, "mcpServers": many })), @"/mcpServers: There are at most 50 added servers. Delete one first.");
}
