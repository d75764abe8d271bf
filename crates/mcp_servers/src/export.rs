//! Writes the added servers as a part of a config.

use crate::current::Current;
use crate::definition::{SecretField, ServerDefinition, Slot, TransportKind};
use added_entries::export::comment;
use config::to_yaml;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl Current {
    /// Returns the added servers as YAML: their connections, and what is added to agents. Secrets are
    /// references to environment variables.
    pub(crate) fn yaml(&self) -> String {
        let mut variables = Variables::default();
        let (mut connections, mut off) = (Vec::new(), Vec::new());
        let mut agents: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for server in &self.stored.entries {
            let Some(definition) = &server.definition else { continue };
            let properties = self.properties(&server.name, definition, &mut variables);
            connections.push(json!({ "id": server.name, "type": "Mcp", "properties": properties }));
            if !server.enabled {
                off.push(server.name.as_str());
                continue;
            }
            for id in definition.agents.iter().filter(|id| self.section.catalog.has_agent(id)) {
                agents.entry(id).or_default().push(entry(&server.name, definition));
            }
        }
        let mut text = "# MCP servers that were added at run time. Merge this into the config, and delete them in the admin console.\n".to_owned();
        comment(&mut text, "Set these environment variables to the secrets that were entered", &variables.added);
        comment(&mut text, "Switched off, so that no agent has them", &off);
        let switched: Vec<_> = self.stored.switched_off.iter().map(String::as_str).collect();
        comment(&mut text, "Of the config, but switched off at run time", &switched);
        let agents: Vec<_> = agents.into_iter().map(|(id, mcp)| json!({ "id": id, "mcp": mcp })).collect();
        let mut parts = Map::new();
        if !connections.is_empty() {
            parts.insert("connections".to_owned(), connections.into());
        }
        if !agents.is_empty() {
            parts.insert("agents".to_owned(), agents.into());
        }
        if !parts.is_empty() {
            text.push_str(&to_yaml(&parts.into()));
        }
        text
    }

    fn properties(&self, name: &str, definition: &ServerDefinition, variables: &mut Variables) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut put = |key: &str, value: Value| properties.insert(key.to_owned(), value);
        put("transport", definition.transport.name().into());
        if let Some(url) = &definition.url {
            put("url", variables.value(name, SecretField::URL, url));
        }
        if !definition.headers.is_empty() {
            let headers = definition.headers.iter();
            let headers = headers.map(|(key, slot)| (key.clone(), variables.value(name, key, slot)));
            put("headers", Value::Object(headers.collect()));
        }
        if let Some(oauth) = &definition.oauth {
            let mut own = json!({ "tokenUrl": variables.value(name, "TOKEN_URL", &oauth.token_url),
                "clientId": oauth.client_id });
            own["clientSecret"] = variables.value(name, "CLIENT_SECRET", &oauth.client_secret);
            if let Some(slot) = &oauth.refresh_token {
                own["refreshToken"] = variables.value(name, "REFRESH_TOKEN", slot);
            }
            if let Some(scope) = &oauth.scope {
                own["scope"] = scope.clone().into();
            }
            put("oauth", own);
        }
        if definition.transport == TransportKind::Stdio {
            put("command", definition.command.first().cloned().into());
            put("args", definition.command.get(1..).unwrap_or_default().into());
        } else if self.section.allow_private {
            put("allowPrivate", true.into());
        }
        if definition.shared {
            put("shared", true.into());
        }
        properties
    }
}

/// Returns what an agent's `mcp` has for a server.
fn entry(name: &str, definition: &ServerDefinition) -> Value {
    let mut entry = json!({ "connectionId": name });
    if let Some(allow) = &definition.allow {
        entry["allow"] = json!(allow);
    }
    if !definition.deny.is_empty() {
        entry["deny"] = json!(definition.deny);
    }
    if !definition.prefix.is_empty() {
        entry["prefix"] = definition.prefix.clone().into();
    }
    if definition.confirm {
        entry["confirm"] = true.into();
    }
    if let Some(time) = definition.timeout_ms {
        entry["timeoutMs"] = time.into();
    }
    entry["readsPrivate"] = definition.reads_private.into();
    entry["returnsUntrusted"] = definition.returns_untrusted.into();
    entry["egress"] = definition.egress.into();
    entry
}

/// Environment variables that stand for secrets.
#[derive(Default)]
struct Variables {
    names: added_entries::export::Variables,
    /// Those that stand for secrets that administrators have entered.
    added: Vec<String>,
}

impl Variables {
    /// Returns a value, for a secret a reference.
    fn value(&mut self, server: &str, what: &str, slot: &Slot) -> Value {
        match slot {
            Slot::Plain(text) => text.clone().into(),
            Slot::Reference(name) => json!({ "_secret": name }),
            Slot::Sealed => {
                let name = self.names.name(&format!("MCP_{server}_{what}"));
                self.added.push(name.clone());
                json!({ "_secret": name })
            }
        }
    }
}
