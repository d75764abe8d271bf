//! Keys are written, kept and never shown.

use super::*;
use insta::assert_snapshot;
use serde_json::json;

fn sent() -> Value {
    json!({ "provider": "compatible", "baseURL": "https://llm.example.com/v1", "apiKey": CANARY, "models": ["m"],
        "agents": ["helper"] })
}

/// Returns the key with which an agent answers.
fn key(bench: &Bench) -> String {
    use secrecy::ExposeSecret;
    let config = bench.config();
    let config::ConnectionKind::OpenAiCompatible(model) = &config.connections["llm"].kind else { panic!() };
    model.api_key.as_ref().map(|key| key.expose_secret().to_owned()).unwrap_or_default()
}

#[test]
fn keys_are_used_and_shown_nowhere() {
    let mut bench = Bench::new(CONFIG);
    let planned = bench.current().save("llm", &body(sent())).unwrap().unwrap();
    assert_snapshot!(planned.about, @r#"{"connection":"llm","provider":"compatible","host":"llm.example.com","models":["m"],"agents":["helper"],"agent":null,"enabled":true}"#);
    let texts = [format!("{planned:?}"), format!("{:?}", body(sent()))];
    bench.keep(planned);
    assert_eq!(key(&bench), CANARY);
    let current = bench.current();
    let detail = detail(&bench, "llm");
    assert_eq!(detail.connection.api_key.as_deref(), Some("***"));
    let shown = [
        serde_json::to_string(&detail).unwrap(),
        serde_json::to_string(&current.items()).unwrap(),
        current.yaml(),
        format!("{:?}", bench.stored),
        format!("{:?}", bench.config().connections),
    ];
    for text in texts.iter().chain(&shown) {
        assert!(!text.contains("canary"), "{text}");
    }
}

#[test]
fn a_masked_key_stays_for_the_same_server_only() {
    let mut bench = Bench::new(CONFIG);
    bench.save("llm", sent()).unwrap();
    let mut masked = sent();
    masked["apiKey"] = "***".into();
    assert_eq!(bench.save("llm", masked.clone()).unwrap_err(), "unchanged");
    masked["models"] = json!(["m", "n"]);
    masked["baseURL"] = "https://llm.example.com/v2".into();
    bench.save("llm", masked.clone()).unwrap();
    assert_eq!(key(&bench), CANARY);
    for elsewhere in
        [json!({ "baseURL": "https://evil.example.com/v1" }), json!({ "provider": "openai", "baseURL": null })]
    {
        let mut moved = masked.clone();
        moved.as_object_mut().unwrap().extend(elsewhere.as_object().unwrap().clone());
        let refused = bench.save("llm", moved).unwrap_err();
        assert!(refused.starts_with("/apiKey: The address is on another server"), "{refused}");
    }
    // A key is replaced and removed.
    masked["apiKey"] = "another".into();
    bench.save("llm", masked.clone()).unwrap();
    assert_eq!(key(&bench), "another");
    masked.as_object_mut().unwrap().remove("apiKey");
    bench.save("llm", masked).unwrap();
    assert_eq!((key(&bench).as_str(), bench.stored.entries[0].secret.as_str()), ("", ""));
}

#[test]
fn a_test_says_nothing_about_another_address_or_key() {
    let mut bench = Bench::new(CONFIG);
    bench.save("llm", sent()).unwrap();
    let keeps = |change: Value| {
        let mut changed = sent();
        changed.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let planned = bench.current().save("llm", &body(changed)).unwrap().unwrap();
        let Change::Update(write, 1) = planned.change else { panic!() };
        write.keeps_found
    };
    assert!(keeps(json!({ "models": ["other"] })));
    assert!(!keeps(json!({ "apiKey": "another" })));
    assert!(!keeps(json!({ "baseURL": "https://llm.example.com/v2" })));
}
