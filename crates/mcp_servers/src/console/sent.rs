//! Reads the form of a server.

use crate::address::is_shown;
use crate::body::{OauthBody, SecretReference, SecretValue, ServerBody};
use crate::definition::TransportKind;
use added_entries::MASK;
use added_entries::console::SentEntry;
use std::collections::BTreeMap;
use web::SentFields;
use wire::UserError;

/// Parses a form.
///
/// # Errors
/// 422 for a line of headers that has no name and value.
pub(super) fn parse(form: &[u8]) -> Result<SentEntry<ServerBody>, UserError> {
    let sent = SentFields::parse(form);
    let transport = match sent.trimmed("type") {
        "sse" => TransportKind::Sse,
        "stdio" => TransportKind::Stdio,
        _ => TransportKind::Http,
    };
    let is_program = transport == TransportKind::Stdio;
    let command = sent.filled("command").filter(|_| is_program).unwrap_or_default();
    let mut words = command.split_whitespace().map(str::to_owned);
    let allow = sent.lines("allow");
    let body = ServerBody {
        enabled: sent.is_checked("enabled"),
        description: sent.trimmed("description").to_owned(),
        transport: Some(transport),
        url: sent.filled("url").filter(|_| !is_program).map(secret),
        headers: if is_program { BTreeMap::new() } else { headers(&sent.lines("headers"))? },
        oauth: sent.filled("tokenUrl").filter(|_| !is_program).map(|token_url| OauthBody {
            token_url: secret(token_url),
            client_id: sent.trimmed("clientId").to_owned(),
            client_secret: secret(sent.trimmed("clientSecret")),
            refresh_token: sent.filled("refreshToken").map(secret),
            scope: sent.filled("scope").map(str::to_owned),
        }),
        command: words.next(),
        args: words.collect(),
        agents: sent.all("agent").map(str::to_owned).collect(),
        // Without a choice, all tools would be offered: that is refused if there was one.
        allow: (!allow.is_empty() || sent.is_checked("limited")).then_some(allow),
        deny: sent.lines("deny"),
        prefix: sent.trimmed("prefix").to_owned(),
        confirm: sent.is_checked("confirm"),
        shared: sent.is_checked("shared"),
        timeout_ms: sent.filled("timeoutMs").map(|text| text.parse().unwrap_or(0)),
        reads_private: Some(sent.is_checked("readsPrivate")),
        returns_untrusted: Some(sent.is_checked("returnsUntrusted")),
        egress: Some(sent.is_checked("egress")),
    };
    Ok(SentEntry { name: sent.trimmed("name").to_owned(), version: sent.trimmed("version").parse().ok(), body })
}

/// Reads lines of the form `Name: value`.
fn headers(lines: &[String]) -> Result<BTreeMap<String, SecretValue>, UserError> {
    let mut headers = BTreeMap::new();
    for line in lines {
        let parts = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
        // The line may hold a secret, so it is not repeated.
        let Some((name, value)) = parts.filter(|(name, value)| !name.is_empty() && !value.is_empty()) else {
            return Err(UserError::invalid("/headers", "Each line of the headers has the form `Name: value`."));
        };
        if headers.insert(name.to_owned(), secret(value)).is_some() {
            return Err(UserError::invalid("/headers", "A header is there twice."));
        }
    }
    Ok(headers)
}

/// Reads a value: `{ _secret: NAME }` is a reference.
fn secret(text: &str) -> SecretValue {
    let inner = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let named = inner.and_then(|inner| inner.trim().strip_prefix("_secret")?.trim_start().strip_prefix(':'));
    match named {
        Some(name) => SecretValue::Reference(SecretReference { secret: name.trim().to_owned() }),
        None => SecretValue::Text(text.to_owned()),
    }
}

/// Returns a value as the form shows it.
pub(super) fn shown(value: &SecretValue) -> String {
    match value {
        SecretValue::Text(text) => text.clone(),
        SecretValue::Reference(reference) => format!("{{ _secret: {} }}", reference.secret),
    }
}

/// Removes what was entered where secrets are entered, so that a page does not repeat it.
pub(super) fn without_secrets(mut body: ServerBody) -> ServerBody {
    let forget = |value: &mut SecretValue| {
        if matches!(value, SecretValue::Text(text) if text != MASK) {
            *value = SecretValue::Text(String::new());
        }
    };
    body.headers.values_mut().for_each(forget);
    body.url.iter_mut().for_each(forget_address);
    if let Some(oauth) = &mut body.oauth {
        forget_address(&mut oauth.token_url);
        forget(&mut oauth.client_secret);
        oauth.refresh_token.iter_mut().for_each(forget);
    }
    body
}

/// Removes an address that may hold a key.
fn forget_address(value: &mut SecretValue) {
    let SecretValue::Text(text) = value else { return };
    if text.contains(MASK) {
        return;
    }
    let is_harmless = url::Url::parse(text).is_ok_and(|url| {
        is_shown(&url) && url.username().is_empty() && url.password().is_none() && url.fragment().is_none()
    });
    if !is_harmless {
        text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        let form = "name=weather&version=3&type=http&url=https%3A%2F%2Fmcp.example.com%2Fmcp&enabled=1&agent=a&agent=b\
            &headers=X-A%3A+***%0D%0AX-B%3A+%7B+_secret%3A+NAME+%7D&allow=get_a&allow=x_*%0Ay_*&command=node+x";
        let sent = parse(form.as_bytes()).unwrap();
        assert_eq!((sent.name.as_str(), sent.version), ("weather", Some(3)));
        let body = sent.body;
        assert!(body.enabled && !body.confirm && body.egress == Some(false) && body.command.is_none());
        assert_eq!(body.agents, ["a", "b"]);
        assert_eq!(body.allow.as_deref().unwrap(), ["get_a", "x_*", "y_*"]);
        let headers: Vec<_> = body.headers.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
        assert_eq!(headers, ["X-A=***", "X-B={ _secret: NAME }"]);
        let problem = parse(b"headers=canary").map(drop).unwrap_err();
        assert!(!problem.message.contains("canary"), "{}", problem.message);
        assert_eq!(parse(b"limited=1&allow=").unwrap().body.allow.as_deref(), Some(&[][..]));
        assert_eq!(parse(b"allow=").unwrap().body.allow, None);
        assert_eq!(parse(b"type=stdio&command=node+a.js+b").unwrap().body.args, ["a.js", "b"]);
    }

    #[test]
    fn entered_secrets_are_not_repeated() {
        let form = "url=https%3A%2F%2Fmcp.example.com%2Fs%2Fcanary-Canary-canary-1&headers=A%3A+canary%0AB%3A+***\
            &tokenUrl=https%3A%2F%2Fcanary%40example.com%2F&clientSecret=canary&refreshToken=canary";
        let body = without_secrets(parse(form.as_bytes()).unwrap().body);
        let text = serde_json::to_string(&body).unwrap();
        assert!(!text.contains("canary") && text.contains("***"), "{text}");
        let body = without_secrets(parse(b"url=https%3A%2F%2Fmcp.example.com%2Fmcp").unwrap().body);
        assert_eq!(body.url.as_ref().map(shown).as_deref(), Some("https://mcp.example.com/mcp"));
    }
}
