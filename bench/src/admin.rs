//! Measures every list of the admin console over 100,000 conversations and 2,000,000 messages, in
//! SQLite.

mod fill;

use crate::process::{self, MeasuredServer};
use crate::results::{Goal, Table, figure};
use anyhow::{Result, ensure};
pub(crate) use fill::{fill, insert};
use reqwest::Client;
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum median time of a list.
const BOUND: Duration = Duration::from_millis(100);
/// The number of measured requests per list, after an unmeasured one.
const SAMPLES: usize = 11;
/// The number of lists that are part of the results.
const SHOWN: usize = 8;

const CONFIG: &str = "
auth: { mode: password }
customAgents: { from: [a1] }
store: { retention: { conversationsDays: 90 } }
connections: [{ id: demo, type: Demo }]
agents:
  - { id: a0, type: Agent, connectionId: demo, properties: { model: demo } }
  - { id: a1, type: Agent, connectionId: demo, properties: { model: demo } }
  - { id: a2, type: Agent, connectionId: demo, properties: { model: demo } }
pages: [{ id: p }]
";

const CONVERSATIONS: u32 = 100_000;

/// The lists with their filters and sort orders.
const LISTS: [(&str, &str); 38] = [
    ("overview, 7 days", "/admin"),
    ("overview, 30 days", "/admin?days=30"),
    ("users", "/admin/users"),
    ("users, newest first", "/admin/users?sort=newest"),
    ("users with a role", "/admin/users?role=admin"),
    ("users by name", "/admin/users?text=user+99"),
    ("conversations", "/admin/conversations"),
    ("conversations, oldest first", "/admin/conversations?sort=oldest"),
    ("conversations, by cost", "/admin/conversations?sort=cost"),
    ("conversations of a user", "/admin/conversations?owner=u7"),
    ("a user's, by cost", "/admin/conversations?owner=u7&sort=cost"),
    ("conversations with an agent", "/admin/conversations?agent=a1"),
    ("an agent's, by cost", "/admin/conversations?agent=a1&sort=cost"),
    ("an agent's that failed", "/admin/conversations?agent=a1&errors=1"),
    ("conversations that failed", "/admin/conversations?errors=1&sort=cost"),
    ("conversations that were liked", "/admin/conversations?judged=up"),
    ("conversations that cost much", "/admin/conversations?cost=1000"),
    ("conversations of a day", "/admin/conversations?from=FROM&to=TO"),
    ("a frequent word", "/admin/conversations?text=refund"),
    ("a rare word", "/admin/conversations?text=order+1999999"),
    ("a frequent word, by cost", "/admin/conversations?text=topic&sort=cost"),
    ("a conversation", "/admin/conversations/c777"),
    ("feedback", "/admin/feedback"),
    ("feedback, oldest first", "/admin/feedback?judged=down&sort=oldest"),
    ("agents, by cost", "/admin/agents?sort=cost"),
    ("an agent", "/admin/agents/a1"),
    ("tools", "/admin/tools"),
    ("standing approvals", "/admin/approvals"),
    ("standing approvals by tool", "/admin/approvals?sort=tool"),
    ("standing approvals of an agent", "/admin/approvals?agent=a1&sort=oldest"),
    ("sessions and keys", "/admin/access"),
    ("sessions and keys, used last", "/admin/access?sort=used"),
    ("audit log", "/admin/audit"),
    ("audit log of a tool", "/admin/audit?tool=tool_3&outcome=error"),
    ("audit log of a user", "/admin/audit?user=u7"),
    ("audit log of an agent that is gone", "/admin/audit?agent=nobody"),
    ("audit log of a day", "/admin/audit?from=FROM&to=TO"),
    ("retention", "/admin/retention"),
];

/// Measures how long each list takes.
pub(crate) async fn measure(binary: &Path) -> Result<Vec<Table>> {
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("chatwright.yaml");
    std::fs::write(&config, CONFIG)?;
    // The server creates the tables.
    process::serve(binary, &config, folder.path()).await?.stop().await?;
    fill(&folder.path().join("bench.db"), CONVERSATIONS)?;
    let server = process::serve(binary, &config, folder.path()).await?;
    let client = Client::builder().build()?;
    let mut lists = Table::new("Lists that take longest", &["median", "longest"]);
    let mut all = Vec::new();
    for (name, path) in LISTS {
        let path = with_dates(path);
        all.push(measure_list(&client, &server, name.to_owned(), &path).await?);
        if let Some(next) = next_page(&ask(&client, &server, &path).await?) {
            all.push(measure_list(&client, &server, format!("{name}, next page"), &next).await?);
        }
    }
    all.sort_by_key(|list| std::cmp::Reverse(list.median));
    let ms = |time: Duration| figure(time.as_secs_f64() * 1e3, "ms");
    let mut summary = Table::new("The lists of the console", &["measured"]);
    let slowest = all.first().map(|list| ms(list.median));
    summary.add_with_goal("the slowest list (median)", [slowest.flatten()], Goal::AtMost(BOUND.as_secs_f64() * 1e3));
    summary.add("the list in the middle", [all.get(all.len() / 2).and_then(|list| ms(list.median))]);
    summary.add("lists", [figure(all.len() as f64, "")]);
    for MeasuredList { name, median, longest } in all.iter().take(SHOWN) {
        lists.add(name, [ms(*median), ms(*longest)]);
    }
    Ok(vec![summary, lists])
}

/// How long a list takes.
struct MeasuredList {
    name: String,
    median: Duration,
    longest: Duration,
}

/// Measures one list.
async fn measure_list(client: &Client, server: &MeasuredServer, name: String, path: &str) -> Result<MeasuredList> {
    ask(client, server, path).await?;
    let mut times = Vec::new();
    for _ in 0..SAMPLES {
        let begun = Instant::now();
        ask(client, server, path).await?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let (median, longest) = (times[SAMPLES / 2], times[SAMPLES - 1]);
    eprintln!("{name:<36} {:>6.1} ms {:>6.1} ms", median.as_secs_f64() * 1e3, longest.as_secs_f64() * 1e3);
    Ok(MeasuredList { name, median, longest })
}

async fn ask(client: &Client, server: &MeasuredServer, path: &str) -> Result<String> {
    let request = client.get(format!("{}{path}", server.origin)).header("cookie", fill::COOKIE);
    let answer = request.send().await?;
    ensure!(answer.status().is_success(), "{path}: {}", answer.status());
    Ok(answer.text().await?)
}

/// Returns the link to the next page.
fn next_page(page: &str) -> Option<String> {
    let (_, link) = page.split_once("rel=\"next\"")?;
    let (_, address) = link.split_once("href=\"")?;
    let (address, _) = address.split_once('"')?;
    Some(address.replace("&amp;", "&"))
}

/// Inserts a day some weeks ago.
fn with_dates(path: &str) -> String {
    path.replace("FROM", &day(40)).replace("TO", &day(39))
}

/// Returns the date this many days ago in the format of a form.
pub(crate) fn day(ago: i64) -> String {
    let then = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * ago);
    then.strftime("%Y-%m-%d").to_string()
}
