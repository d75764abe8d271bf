//! `chatwright audit`: verifies and exports the audit log.

use super::{DatabaseArgument, fail};
use crate::capabilities::database_schema;
use admin_console::AuditLine;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;
use store::{AuditHead, AuditRow, StoreError};

/// The subcommand of `chatwright audit`.
#[derive(clap::Args)]
pub(crate) struct AuditArguments {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(clap::Subcommand)]
enum AuditCommand {
    /// Verify that no row was changed, removed, moved or inserted. Prints the newest row as
    /// NUMBER:HASH; note it elsewhere to detect a truncated log.
    Verify {
        #[command(flatten)]
        database: DatabaseArgument,
        /// NUMBER:HASH noted earlier; this row must still be in the log.
        #[arg(long, value_name = "NUMBER:HASH")]
        head: Option<AuditHead>,
    },
    /// Print all rows, oldest first, as JSON lines.
    Export {
        #[command(flatten)]
        database: DatabaseArgument,
        /// Only rows from this time on, for example 2026-11-21 (UTC) or 2026-11-21T08:30:00Z.
        #[arg(long, value_name = "DATE", value_parser = parse_since)]
        since: Option<Timestamp>,
    },
}

/// Runs the subcommand. The server may run at the same time.
pub(crate) async fn run(arguments: AuditArguments) -> ExitCode {
    let done = match arguments.command {
        AuditCommand::Verify { database, head } => verify(&database.url, head).await,
        AuditCommand::Export { database, since } => export(&database.url, since).await,
    };
    done.unwrap_or_else(|error| fail(&error.to_string()))
}

async fn verify(url: &str, noted: Option<AuditHead>) -> Result<ExitCode, StoreError> {
    let store = database_schema().open_existing(url).await?;
    let (text, code) = match store.verify_audit(noted.as_ref()).await? {
        Ok(report) => (format!("{} row(s), all valid\nhead {}", report.rows, report.head), ExitCode::SUCCESS),
        Err(fault) => (fault.to_string(), ExitCode::FAILURE),
    };
    // An error here means that the reader closed the pipe; the exit code still tells the result.
    let _ = writeln!(stdout(), "{text}");
    Ok(code)
}

async fn export(url: &str, since: Option<Timestamp>) -> Result<ExitCode, StoreError> {
    let store = database_schema().open_existing(url).await?;
    let since = since.map_or(i64::MIN, Timestamp::as_millisecond);
    let mut from = i64::MIN;
    loop {
        let rows = store.audit_rows(from, since).await?;
        let Some(last) = rows.last() else { return Ok(ExitCode::SUCCESS) };
        from = last.number.saturating_add(1);
        if print_rows(&rows).is_err() {
            // The reader closed the pipe, as `export | head` does.
            return Ok(ExitCode::SUCCESS);
        }
    }
}

fn print_rows(rows: &[AuditRow]) -> std::io::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    for row in rows {
        serde_json::to_writer(&mut out, &AuditLine::from(row))?;
        writeln!(out)?;
    }
    out.flush()
}

fn parse_since(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let day = text.parse::<Date>().ok().and_then(|day| day.to_zoned(TimeZone::UTC).ok());
    day.map(|day| day.timestamp())
        .ok_or_else(|| "expected a date such as 2026-11-21 or 2026-11-21T08:30:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_parsed() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse_since(text).ok().map(|time| time.to_string()).as_deref(), expected, "{text}");
        };
        check("2026-11-21", Some("2026-11-21T00:00:00Z"));
        check("2026-11-21T08:30:00Z", Some("2026-11-21T08:30:00Z"));
        check("2026-11-21T08:30:00+02:00", Some("2026-11-21T06:30:00Z"));
        check("2026-02-30", None);
        check("yesterday", None);
    }
}
