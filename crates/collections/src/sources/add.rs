//! Adds records whose values are from documents.

use super::{QuoteContext, RejectedRecord, SourcedInsertion, SourcedOutcome};
use crate::failure::DataError;
use crate::records::Records;
use crate::store::PreparedRecord;

impl Records<'_> {
    /// Adds the records that fit the schema and whose values are all quoted from documents. Others are
    /// rejected.
    pub(crate) async fn insert_sourced(
        &self,
        insertion: SourcedInsertion,
        context: QuoteContext<'_>,
    ) -> Result<SourcedOutcome, DataError> {
        self.check_insertable(insertion.records.len())?;
        let checked = context.check(&insertion.records).await?;
        let (mut prepared, mut rejected) = (Vec::new(), Vec::new());
        for (index, (record, checked)) in insertion.records.iter().zip(checked).enumerate() {
            let mut problems = checked.problems;
            problems.extend(self.check(&record.data).await.err());
            match PreparedRecord::new(&record.data, None) {
                Ok(record) if problems.is_empty() => prepared.push(record.with_sources(checked.sources)),
                Ok(_) => rejected.push(RejectedRecord { record: index, problems }),
                Err(problem) => rejected.push(RejectedRecord { record: index, problems: vec![problem] }),
            }
        }
        let ids = self.store_own(prepared).await?;
        Ok(SourcedOutcome { ids, rejected })
    }
}
