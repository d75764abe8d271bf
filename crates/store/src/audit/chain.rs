//! The hash chain of the audit log: what a row's hash covers, and the check that finds the first
//! row that breaks the chain.

use crate::{AuditRow, Store, StoreError};
use sha2::{Digest, Sha256};
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// The prefix of the hashed bytes. It names the format, so that a later format cannot be mistaken for this one.
const FORM: &str = "chatwright audit 1";

/// The number of digits of a hash: SHA-256 in hexadecimal.
const HASH_DIGITS: usize = 64;

/// The position and hash of a row in the chain. With a noted head of the newest row it can be
/// checked later whether rows behind it were cut off or the log was rewritten. As text:
/// `NUMBER:HASH`.
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

/// The result of a check of the whole chain that found no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// The number of rows.
    pub rows: u64,
    /// The head: the newest row.
    pub head: AuditHead,
}

/// The first fault in the chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditFault {
    /// A row number is missing.
    #[error("row {0} is missing")]
    Missing(i64),
    /// A row has a number that the log never assigns.
    #[error("row {0} was inserted: the first row is number 1")]
    Inserted(i64),
    /// The row's `previous` hash is not the hash of the row before.
    #[error("row {0} does not follow the row before it: one of the two was replaced")]
    Detached(i64),
    /// The row's hash does not match its content.
    #[error("row {0} was changed: its hash is not that of its content")]
    Changed(i64),
    /// The log ends before the noted head.
    #[error("the log ends with row {last}, and row {noted} was noted: rows were cut off")]
    CutOff {
        /// The number of the last row.
        last: i64,
        /// The number of the noted row.
        noted: i64,
    },
    /// The row is consistent but its hash is not the noted one.
    #[error("row {0} is not the one that was noted: the log was written anew")]
    NotNoted(i64),
}

impl AuditRow {
    /// Returns the row's position in the chain.
    pub fn head(&self) -> AuditHead {
        AuditHead { number: self.number, hash: self.hash.clone() }
    }

    /// Computes the hash of the row's content: SHA-256 over netstrings (`LENGTH:BYTES,`), which
    /// make field boundaries unambiguous. An unknown duration is hashed as an empty field.
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

    /// Checks that the row continues the chain after `before`.
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
    /// Checks the whole chain page by page. Returns its head, or the first row that breaks it.
    /// `noted` is a head that was recorded earlier: without one, rows that were cut off at the end
    /// cannot be detected.
    ///
    /// # Errors
    /// The database failed, or a row is damaged so that it cannot be read.
    pub async fn verify_audit(&self, noted: Option<&AuditHead>) -> Result<Result<AuditReport, AuditFault>, StoreError> {
        let mut report = AuditReport { rows: 0, head: AuditHead::default() };
        // Also reads below the first number: someone may have inserted a row there.
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
