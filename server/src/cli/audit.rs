//! `chatwright audit`: verifies and exports the audit log.

use super::{DatabaseArgument, fail};
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Value, json};
use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;
use store::{AuditHead, AuditRow, Store, StoreError};

/// What to do with the log.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Verify that no row was changed, removed, moved or inserted. Prints the newest row as NUMBER:HASH, to be noted elsewhere.
    Verify {
        #[command(flatten)]
        database: DatabaseArgument,
        /// A head noted earlier, which must still be in the log.
        #[arg(long, value_name = "NUMBER:HASH")]
        head: Option<AuditHead>,
    },
    /// Print all rows, oldest first, as lines of JSON.
    Export {
        #[command(flatten)]
        database: DatabaseArgument,
        /// Only rows from this time on: 2026-11-21 (UTC) or 2026-11-21T08:30:00Z.
        #[arg(long, value_name = "DATE", value_parser = since)]
        since: Option<Timestamp>,
    },
}

/// Does it. The server may run meanwhile.
pub(crate) async fn run(arguments: Arguments) -> ExitCode {
    let done = match arguments.command {
        Command::Verify { database, head } => verify(&database.url, head).await,
        Command::Export { database, since } => export(&database.url, since).await,
    };
    done.unwrap_or_else(|error| fail(&error.to_string()))
}

async fn verify(url: &str, noted: Option<AuditHead>) -> Result<ExitCode, StoreError> {
    let store = Store::open_existing(url).await?;
    let (text, code) = match store.verify_audit(noted.as_ref()).await? {
        Ok(report) => (format!("{} row(s), and each fits\nhead {}", report.rows, report.head), ExitCode::SUCCESS),
        Err(fault) => (fault.to_string(), ExitCode::FAILURE),
    };
    // Whoever closed the output reads the exit code.
    let _ = writeln!(stdout(), "{text}");
    Ok(code)
}

async fn export(url: &str, since: Option<Timestamp>) -> Result<ExitCode, StoreError> {
    let store = Store::open_existing(url).await?;
    let since = since.map_or(i64::MIN, Timestamp::as_millisecond);
    let mut from = i64::MIN;
    loop {
        let rows = store.audit_rows(from, since).await?;
        let Some(last) = rows.last() else { return Ok(ExitCode::SUCCESS) };
        from = last.number.saturating_add(1);
        if print(&rows).is_err() {
            // `export | head` has seen enough.
            return Ok(ExitCode::SUCCESS);
        }
    }
}

fn print(rows: &[AuditRow]) -> std::io::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    rows.iter().try_for_each(|row| writeln!(out, "{}", line(row)))?;
    out.flush()
}

/// A row as JSON.
pub(crate) fn line(row: &AuditRow) -> Value {
    // What is no JSON any more was changed, and is shown as it is.
    let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    json!({
        "number": row.number,
        "time": Timestamp::from_millisecond(row.at).map_or_else(|_| row.at.into(), |time| Value::from(time.to_string())),
        "userId": row.user_id,
        "agentId": row.agent_id,
        "conversationId": row.conversation_id,
        "messageId": row.message_id,
        "runId": row.run_id,
        "callId": row.call_id,
        "tool": row.tool,
        "arguments": read(&row.arguments),
        "gates": read(&row.gates),
        "outcome": row.outcome,
        "durationMs": row.duration_ms,
        "previous": row.previous,
        "hash": row.hash,
    })
}

fn since(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let day = text.parse::<Date>().ok().and_then(|day| day.to_zoned(TimeZone::UTC).ok());
    day.map(|day| day.timestamp()).ok_or_else(|| "a date is 2026-11-21 or 2026-11-21T08:30:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(since(text).ok().map(|time| time.to_string()).as_deref(), expected, "{text}");
        };
        check("2026-11-21", Some("2026-11-21T00:00:00Z"));
        check("2026-11-21T08:30:00Z", Some("2026-11-21T08:30:00Z"));
        check("2026-11-21T08:30:00+02:00", Some("2026-11-21T06:30:00Z"));
        check("2026-02-30", None);
        check("yesterday", None);
    }
}
