//! Examines a remote agent's server: what it offers, and whether it complies with the contract. No
//! tool is called.

use crate::client::{RemoteClient, RemoteReply, RemoteRequest, Requester};
use crate::compliance;
use crate::listing::{self, ParsedTool};
use crate::settings::RemoteAgentSettings;
use http::StatusCode;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tools::text::{one_line, truncate};

/// The time limit of one request.
const TIME: Duration = Duration::from_secs(10);
/// The maximum size of one answer in bytes.
const MAX_ANSWER: usize = 4 << 20;
/// The maximum size of one line in bytes.
const MAX_LINE: usize = 300;
/// The maximum number of findings about the list of tools.
const MAX_FINDINGS: usize = 200;
/// The contract's form of an error.
const ERROR_SHAPE: &str = "{success: false, error: {message, code, details}}";

/// The results of an examination. Each text is one visible line, without the secrets that were
/// sent.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The tools that can be used.
    pub tools: Vec<ExaminedTool>,
    /// The findings, positive and negative.
    pub findings: Vec<Finding>,
}

/// A tool, for display.
#[derive(Clone, Debug)]
pub struct ExaminedTool {
    /// The tool's name and description.
    pub title: String,
    /// One line for each parameter.
    pub parameters: Vec<String>,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// The check and its result.
    pub text: String,
}

/// The verdict on one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It complies with the contract.
    Good,
    /// It is allowed, but worth knowing.
    Note,
    /// It violates the contract.
    Wrong,
}

impl Finding {
    pub(crate) fn new(verdict: Verdict, text: impl Into<String>) -> Self {
        Self { verdict, text: text.into() }
    }
}

/// Examines a server without running a tool, with a time limit of 10 s for each request. `nonce` is
/// a random word, from which a wrong key and the name of an unknown tool are made.
///
/// # Errors
/// The base URL or the key cannot be used, or the server cannot be reached. One line, without
/// secrets.
pub async fn examine(settings: RemoteAgentSettings, nonce: &str) -> Result<Examination, String> {
    let stranger = RemoteAgentSettings { api_key: format!("wrong-{nonce}").into(), ..settings.clone() };
    let examiner = Examiner {
        known: RemoteClient::new(settings)?,
        stranger: RemoteClient::new(stranger)?,
        tool: format!("no-such-tool-{nonce}"),
    };
    let reply = ask(&examiner.known, ExamineRequest::List).await?;
    let (tools, mut findings) = listed(&reply);
    match reply.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            findings.push(Finding::new(Verdict::Note, "the checks that need a valid key were skipped"));
        }
        _ => findings.extend(examiner.with_the_key().await),
    }
    findings.extend(examiner.without_the_key().await);
    Ok(Examination { tools, findings })
}

/// A request of the examination.
#[derive(Clone, Copy)]
enum ExamineRequest<'a> {
    List,
    Tool(&'a str),
    Resource,
}

struct Examiner {
    known: RemoteClient,
    stranger: RemoteClient,
    /// The name of a tool that does not exist.
    tool: String,
}

impl Examiner {
    async fn with_the_key(&self) -> Vec<Finding> {
        let unknown = match ask(&self.known, ExamineRequest::Tool(&self.tool)).await {
            Ok(reply) => check_refusal("an unknown tool", &reply, 404, Verdict::Wrong),
            Err(error) => Finding::new(Verdict::Wrong, format!("an unknown tool: {error}")),
        };
        vec![unknown, resource(ask(&self.known, ExamineRequest::Resource).await)]
    }

    async fn without_the_key(&self) -> Vec<Finding> {
        let requests = [
            ("GET /tools with a wrong key", ExamineRequest::List),
            ("POST /tools/{name} with a wrong key", ExamineRequest::Tool(self.tool.as_str())),
            ("POST /resource with a wrong key", ExamineRequest::Resource),
        ];
        let mut findings = Vec::new();
        for (what, request) in requests {
            findings.push(match ask(&self.stranger, request).await {
                // A server without a resource has nothing to protect there.
                Ok(reply) if matches!(request, ExamineRequest::Resource) && reply.status == StatusCode::NOT_FOUND => {
                    continue;
                }
                Ok(reply) => check_refusal(what, &reply, 401, Verdict::Note),
                Err(error) => Finding::new(Verdict::Wrong, format!("{what}: {error}")),
            });
        }
        findings
    }
}

async fn ask(client: &RemoteClient, request: ExamineRequest<'_>) -> Result<RemoteReply, String> {
    let (path, body) = match request {
        ExamineRequest::List => (["tools", ""], None),
        ExamineRequest::Tool(name) => (["tools", name], Some(json!({}))),
        ExamineRequest::Resource => (["resource", ""], Some(json!({}))),
    };
    let behalf = Requester::Nobody;
    let question = RemoteRequest { path, body, behalf, idempotency_key: None, time: TIME, max_bytes: MAX_ANSWER };
    client.ask(question).await.map_err(|error| error.to_string())
}

/// Returns the listed tools and the findings about the list.
fn listed(reply: &RemoteReply) -> (Vec<ExaminedTool>, Vec<Finding>) {
    let listing = match listing::read(reply, None) {
        Ok(listing) => listing,
        Err(reason) => return (Vec::new(), vec![Finding::new(Verdict::Wrong, reason)]),
    };
    let clean = |text: &str| truncate(&reply.secrets.redact(&one_line(text)), MAX_LINE);
    let count = listing.tools.len();
    let first = match (reply.status.is_success(), count) {
        (false, _) => Finding::new(Verdict::Wrong, format!("GET /tools has the status {}", reply.status.as_u16())),
        (true, 0) => Finding::new(Verdict::Wrong, "GET /tools lists no tool that can be used"),
        (true, 1) => Finding::new(Verdict::Good, "GET /tools lists 1 tool"),
        (true, _) => Finding::new(Verdict::Good, format!("GET /tools lists {count} tools")),
    };
    let left_out = listing.warnings.iter().map(|warning| Finding::new(Verdict::Wrong, warning.as_str()));
    let mut found: Vec<_> = left_out.chain(compliance::faults(&reply.body, &listing.tools)).collect();
    let hidden = found.len().saturating_sub(MAX_FINDINGS);
    found.truncate(MAX_FINDINGS);
    if hidden > 0 {
        found.push(Finding::new(Verdict::Wrong, format!("{hidden} more findings are not shown")));
    }
    let findings = std::iter::once(first).chain(found);
    let findings = findings.map(|finding| Finding { text: clean(&finding.text), ..finding }).collect();
    (listing.tools.iter().map(|tool| describe_tool(tool, &clean)).collect(), findings)
}

fn describe_tool(tool: &ParsedTool, clean: &dyn Fn(&str) -> String) -> ExaminedTool {
    let shown = tool.visible_parameters.as_deref().map(|names| format!(" and shows {}", names.join(", ")));
    let asks = if tool.needs_approval { format!(" (asks first{})", shown.unwrap_or_default()) } else { String::new() };
    let required = |name: &str| {
        tool.input_schema["required"].as_array().is_some_and(|required| required.iter().any(|known| known == name))
    };
    let parameters = tool.input_schema["properties"].as_object().into_iter().flatten();
    let line = |(name, schema): (&String, &Value)| {
        let required = if required(name) { ", required" } else { "" };
        clean(&format!("{name}: {}{required} — {}", kind(schema), schema["description"].as_str().unwrap_or("?")))
    };
    let about = if tool.description.is_empty() { "?" } else { &tool.description };
    ExaminedTool {
        title: clean(&format!("{}{asks} — {about}", tool.name)), parameters: parameters.map(line).collect()
    }
}

fn kind(schema: &Value) -> String {
    let of = schema["items"]["type"].as_str().map(|of| format!(" of {of}")).unwrap_or_default();
    let values = schema["enum"].as_array().map(|values| values.iter().map(Value::to_string).collect::<Vec<_>>());
    let values = values.map(|values| format!(", one of {}", values.join(" "))).unwrap_or_default();
    format!("{}{of}{values}", schema["type"].as_str().unwrap_or_default())
}

/// Returns the finding about a request that must be refused. `misshaped` is the verdict if the body
/// does not have the contract's form.
fn check_refusal(what: &str, reply: &RemoteReply, expected: u16, misshaped: Verdict) -> Finding {
    let status = reply.status.as_u16();
    if status != expected {
        return Finding::new(Verdict::Wrong, format!("{what} has the status {status} instead of {expected}"));
    }
    if is_error(&reply.body) {
        Finding::new(Verdict::Good, format!("{what} has the status {status}"))
    } else {
        Finding::new(misshaped, format!("{what} has the status {status}, but its body is not {ERROR_SHAPE}"))
    }
}

fn is_error(body: &[u8]) -> bool {
    let answer: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let error = &answer.get("error").unwrap_or(&Value::Null);
    answer.get("success") == Some(&Value::Bool(false))
        && error["message"].is_string()
        && (error["code"].is_number() || error["code"].is_string())
        && error["details"].is_string()
}

fn resource(answer: Result<RemoteReply, String>) -> Finding {
    let what = "POST /resource";
    let reply = match answer {
        Ok(reply) if reply.status == StatusCode::NOT_FOUND => {
            return Finding::new(Verdict::Note, format!("there is no {what}, which is optional"));
        }
        Ok(reply) if !reply.status.is_success() => {
            return Finding::new(Verdict::Wrong, format!("{what} has the status {}", reply.status.as_u16()));
        }
        Ok(reply) => reply,
        Err(error) => return Finding::new(Verdict::Wrong, format!("{what}: {error}")),
    };
    match serde_json::from_slice::<Value>(&reply.body) {
        Ok(answer) if answer.get("success") == Some(&Value::Bool(false)) => {
            Finding::new(Verdict::Wrong, format!("{what} reports a failure with the status {}", reply.status.as_u16()))
        }
        Ok(_) => Finding::new(Verdict::Good, format!("{what} answers")),
        Err(_) => Finding::new(Verdict::Wrong, format!("{what} answers with something that is not JSON")),
    }
}
