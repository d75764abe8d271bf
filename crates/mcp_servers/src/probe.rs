//! Tests a server: connects to it and lists its tools, within a bounded time.

use crate::store::TestResult;
use config::McpConnection;
use contract::{ApprovalTerms, OmittedTool, RunScope, SourceTools, ToolSource};
use mcp::{McpSelection, McpServer, McpSettings, McpSource};
use settings::ToolSelection;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use web::times::now_millis;
use wire::UserError;

/// The longest test.
const TEST_TIME: Duration = Duration::from_secs(15);
/// The most tests at once on this server.
const MAX_TESTS: usize = 4;
static PERMITS: Semaphore = Semaphore::const_new(MAX_TESTS);

/// Starts a test. It goes on if nobody waits for it.
///
/// # Errors
/// 429 if too many are running.
pub(crate) fn start(
    name: &str,
    connection: McpConnection,
    user_id: &str,
) -> Result<impl Future<Output = TestResult> + Send + use<>, UserError> {
    let permit = added_entries::permit(&PERMITS)?;
    let McpConnection { transport, features, .. } = connection;
    let settings = McpSettings { name: name.to_owned(), transport, shared: true, features };
    let scope = RunScope { user_id: user_id.to_owned(), ..RunScope::default() };
    let test = tokio::spawn(async move {
        let found = tokio::time::timeout(TEST_TIME, list(settings, &scope)).await;
        drop(permit);
        found.unwrap_or_else(|_| failed(format!("It did not answer within {} seconds.", TEST_TIME.as_secs())))
    });
    Ok(async move { test.await.unwrap_or_else(|_| failed("The test was interrupted.".to_owned())) })
}

/// Lists the tools. The connection is closed at the end.
async fn list(settings: McpSettings, scope: &RunScope) -> TestResult {
    let everything = McpSelection {
        tools: ToolSelection::default(),
        prefix: String::new(),
        confirm: false,
        approval: ApprovalTerms::default(),
        timeout: TEST_TIME,
        idempotent_hint: false,
    };
    let source = match McpSource::new(Arc::new(McpServer::new(settings)), everything) {
        Ok(source) => source,
        Err(problem) => return failed(problem),
    };
    match source.tools(scope).await {
        Ok(SourceTools { tools, left_out, .. }) => TestResult {
            at: now_millis(),
            tools: tools.iter().map(|tool| tool.spec().name.clone()).collect(),
            left_out: left_out.iter().map(|OmittedTool { name, reason }| format!("{name}: {reason}")).collect(),
            error: None,
        },
        Err(error) => failed(error.message),
    }
}

fn failed(error: String) -> TestResult {
    TestResult { at: now_millis(), tools: Vec::new(), left_out: Vec::new(), error: Some(error) }
}
