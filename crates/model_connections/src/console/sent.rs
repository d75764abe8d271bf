//! Reads the form of a connection.

use crate::body::{ConnectionBody, MASK, OwnAgentBody};
use crate::provider::Provider;
use url::form_urlencoded;

/// What a form has sent.
pub(super) struct SentForm {
    pub(super) name: String,
    /// The version that the change is based on.
    pub(super) version: Option<i64>,
    pub(super) body: ConnectionBody,
}

/// Parses a form in which a field may occur several times. An empty key leaves a stored one as it is.
pub(super) fn parse(form: &[u8]) -> SentForm {
    let pairs: Vec<(String, String)> = form_urlencoded::parse(form).into_owned().collect();
    let all = |name: &'static str| pairs.iter().filter(move |(of, _)| of == name).map(|(_, value)| value.trim());
    let one = |name: &'static str| all(name).next().unwrap_or_default();
    let filled = |name: &'static str| Some(one(name)).filter(|value| !value.is_empty()).map(str::to_owned);
    let is_checked = |name: &'static str| all(name).next().is_some();
    let kept_key = (is_checked("hasKey") && !is_checked("removeKey")).then(|| MASK.to_owned());
    let entered = all("model").chain(all("addModel")).filter(|model| !model.is_empty());
    let body = ConnectionBody {
        enabled: !is_checked("disabled"),
        provider: Provider::from_name(one("provider")).unwrap_or_default(),
        base_url: filled("address"),
        api_key: filled("apiKey").or(kept_key),
        models: entered.map(str::to_owned).collect(),
        agents: all("agent").map(str::to_owned).collect(),
        agent: is_checked("makeAgent").then(|| OwnAgentBody {
            name: one("agentName").to_owned(),
            instructions: one("agentInstructions").to_owned(),
        }),
    };
    SentForm { name: one("name").to_owned(), version: one("version").parse().ok(), body }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        let check = |form: &str, expected: &str| {
            let SentForm { name, version, body } = parse(form.as_bytes());
            let ConnectionBody { enabled, provider, base_url, api_key, models, agents, agent } = body;
            let agent = agent.map(|agent| format!("{}: {}", agent.name, agent.instructions));
            let (models, agents) = (models.join(" "), agents.join(" "));
            let read = format!(
                "{name} {version:?} {enabled} {provider:?} {base_url:?} {api_key:?} [{models}] [{agents}] {agent:?}"
            );
            assert_eq!(read, expected, "{form}");
        };
        check("name=a&provider=gemini&apiKey=+k+&address=", r#"a None true Gemini None Some("k") [] [] None"#);
        let all = "version=3&provider=compatible&address=https%3A%2F%2Fx.test%2Fv1&hasKey=1&apiKey=&model=a&model=b&addModel=c&agent=x&agent=y\
            &makeAgent=1&agentName=N&agentInstructions=I&disabled=1";
        check(all, r#" Some(3) false Compatible Some("https://x.test/v1") Some("***") [a b c] [x y] Some("N: I")"#);
        check("hasKey=1&removeKey=1&agentName=N", " None true OpenAi None None [] [] None");
        check("hasKey=1&removeKey=1&apiKey=new", r#" None true OpenAi None Some("new") [] [] None"#);
    }
}
