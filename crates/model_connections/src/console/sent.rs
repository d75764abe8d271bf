//! Reads the form of a connection.

use crate::body::{ConnectionBody, OwnAgentBody};
use crate::provider::Provider;
use added_entries::MASK;
use added_entries::console::SentEntry;
use web::SentFields;

/// Parses a form. An empty key leaves a stored one as it is.
pub(super) fn parse(form: &[u8]) -> SentEntry<ConnectionBody> {
    let sent = SentFields::parse(form);
    let kept_key = (sent.is_checked("hasKey") && !sent.is_checked("removeKey")).then(|| MASK.to_owned());
    let models = sent.all("model").chain(sent.all("addModel")).map(str::trim).filter(|model| !model.is_empty());
    let body = ConnectionBody {
        enabled: !sent.is_checked("disabled"),
        provider: Provider::from_name(sent.trimmed("provider")).unwrap_or_default(),
        base_url: sent.filled("address").map(str::to_owned),
        api_key: sent.filled("apiKey").map(str::to_owned).or(kept_key),
        models: models.map(str::to_owned).collect(),
        agents: sent.all("agent").map(|agent| agent.trim().to_owned()).collect(),
        agent: sent.is_checked("makeAgent").then(|| OwnAgentBody {
            name: sent.trimmed("agentName").to_owned(),
            instructions: sent.trimmed("agentInstructions").to_owned(),
        }),
    };
    SentEntry { name: sent.trimmed("name").to_owned(), version: sent.trimmed("version").parse().ok(), body }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        let check = |form: &str, expected: &str| {
            let SentEntry { name, version, body } = parse(form.as_bytes());
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
