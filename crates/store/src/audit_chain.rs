//! The chain of the audit log: what a row's hash is made of, and the walk that finds the first row that does not fit.

use crate::{AuditRow, Store, StoreError};
use sha2::{Digest, Sha256};
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// Begins what is hashed, so that a later form of it cannot be mistaken for this one.
const FORM: &str = "chatwright audit 1";

/// Digits of a hash: SHA-256 in hexadecimal.
const HASH_DIGITS: usize = 64;

/// A row's place in the chain. Whoever knows the newest one can tell later whether rows were cut off behind it, or the
/// log was written anew. As text: `NUMBER:HASH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditHead {
    /// The row's number; 0 before the first row.
    pub number: i64,
    /// The row's hash; zeros before the first row.
    pub hash: String,
}

impl Default for AuditHead {
    fn default() -> Self {
        Self { number: 0, hash: "0".repeat(HASH_DIGITS) }
    }
}

impl Display for AuditHead {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.number, self.hash)
    }
}

impl FromStr for AuditHead {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, hash) = text.split_once(':').ok_or("a head is NUMBER:HASH")?;
        let number = number.parse().ok().filter(|number| *number >= 0).ok_or("the head's number is not a number")?;
        if hash.len() != HASH_DIGITS || !hash.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err("the head's hash does not have 64 hexadecimal digits");
        }
        Ok(Self { number, hash: hash.to_ascii_lowercase() })
    }
}

/// What a walk over the whole chain found: every row fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// How many rows there are.
    pub rows: u64,
    /// The newest row.
    pub head: AuditHead,
}

/// The first thing about the chain that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditFault {
    /// A number is left out.
    #[error("row {0} is missing")]
    Missing(i64),
    /// A number that no row has when the log is written.
    #[error("row {0} was inserted: the first row is number 1")]
    Inserted(i64),
    /// The row holds another hash than that of the row before.
    #[error("row {0} does not follow the row before it: one of the two was replaced")]
    Detached(i64),
    /// The row's hash is not that of its content.
    #[error("row {0} was changed: its hash is not that of its content")]
    Changed(i64),
    /// The log ends before the head that was noted.
    #[error("the log ends with row {last}, and row {noted} was noted: rows were cut off")]
    CutOff {
        /// The last row there is.
        last: i64,
        /// The row that was noted.
        noted: i64,
    },
    /// The row fits, and is not the one that was noted.
    #[error("row {0} is not the one that was noted: the log was written anew")]
    NotNoted(i64),
}

impl AuditRow {
    /// The row's place in the chain.
    pub fn head(&self) -> AuditHead {
        AuditHead { number: self.number, hash: self.hash.clone() }
    }

    /// The hash that belongs to the content: SHA-256 over netstrings (`LENGTH:BYTES,`), which leave no doubt where a
    /// field ends. A duration that is not known is empty.
    pub fn computed_hash(&self) -> String {
        let (number, at) = (self.number.to_string(), self.at.to_string());
        let duration = self.duration_ms.map(|duration| duration.to_string()).unwrap_or_default();
        let fields = [
            FORM,
            &self.previous,
            &number,
            &at,
            &self.user_id,
            &self.agent_id,
            &self.conversation_id,
            &self.message_id,
            &self.run_id,
            &self.call_id,
            &self.tool,
            &self.arguments,
            &self.gates,
            &self.outcome,
            &duration,
        ];
        let mut hasher = Sha256::new();
        for field in fields {
            hasher.update(format!("{}:", field.len()));
            hasher.update(field);
            hasher.update(",");
        }
        format!("{:x}", hasher.finalize())
    }

    /// Whether the row continues the chain after `before`.
    fn check(&self, before: &AuditHead) -> Result<(), AuditFault> {
        match before.number.checked_add(1) {
            Some(expected) if self.number > expected => return Err(AuditFault::Missing(expected)),
            Some(expected) if self.number == expected => {}
            _ => return Err(AuditFault::Inserted(self.number)),
        }
        if self.hash != self.computed_hash() {
            return Err(AuditFault::Changed(self.number));
        }
        if self.previous == before.hash { Ok(()) } else { Err(AuditFault::Detached(self.number)) }
    }
}

impl Store {
    /// Walks the chain page by page and answers with its head, or with the first row that does not fit. `noted` is a
    /// head that was written down earlier: without one, rows that were cut off at the end cannot be missed.
    ///
    /// # Errors
    /// The database failed, or a row is damaged so that it cannot be read.
    pub async fn verify_audit(&self, noted: Option<&AuditHead>) -> Result<Result<AuditReport, AuditFault>, StoreError> {
        let mut report = AuditReport { rows: 0, head: AuditHead::default() };
        // Before the first number, too: a row may have been put there.
        let mut from = i64::MIN;
        loop {
            let page = self.audit_rows(from, i64::MIN).await?;
            if page.is_empty() {
                return Ok(end(report, noted));
            }
            for row in page {
                if let Err(fault) = row.check(&report.head).and_then(|()| check_noted(&row, noted)) {
                    return Ok(Err(fault));
                }
                report = AuditReport { rows: report.rows + 1, head: row.head() };
            }
            from = report.head.number.saturating_add(1);
        }
    }
}

fn check_noted(row: &AuditRow, noted: Option<&AuditHead>) -> Result<(), AuditFault> {
    match noted {
        Some(noted) if noted.number == row.number && noted.hash != row.hash => Err(AuditFault::NotNoted(row.number)),
        _ => Ok(()),
    }
}

fn end(report: AuditReport, noted: Option<&AuditHead>) -> Result<AuditReport, AuditFault> {
    match noted {
        Some(noted) if noted.number > report.head.number => {
            Err(AuditFault::CutOff { last: report.head.number, noted: noted.number })
        }
        _ => Ok(report),
    }
}
