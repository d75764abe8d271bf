//! Checks that the values of records are quoted from documents.

use super::{FieldSource, MAX_DOCUMENTS, SourcedRecord};
use crate::failure::DataError;
use crate::value::values;
use capability::Quotes;
use contract::RunScope;
use std::collections::{BTreeMap, HashSet};

/// The shortest and the longest quote in characters. A shorter one stands in any text.
pub(crate) const MIN_QUOTE: usize = 4;
pub(crate) const MAX_QUOTE: usize = 300;
/// The most quotes of a call.
const MAX_QUOTES: usize = 1_000;
/// The most documents of a call, each of which may be read as a whole.
const MAX_CALL_DOCUMENTS: usize = 20;
/// The most problems of a record that are told.
const MAX_PROBLEMS: usize = 20;

/// The context in which quotes are looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuoteContext<'a> {
    pub(crate) quotes: &'a Quotes,
    /// The agent of the config whose documents are quoted.
    pub(crate) agent_id: &'a str,
    pub(crate) scope: &'a RunScope,
}

/// The checked quotes of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CheckedSources {
    /// The quotes that were found.
    pub(super) sources: Vec<FieldSource>,
    /// The problems, for the model.
    pub(super) problems: Vec<String>,
}

/// A quote that is to be looked up.
struct Wanted<'r> {
    record: usize,
    field: &'r str,
    quote: &'r str,
}

impl QuoteContext<'_> {
    /// Looks up the quotes of records, document by document.
    ///
    /// # Errors
    /// There are too many.
    pub(super) async fn check(self, records: &[SourcedRecord]) -> Result<Vec<CheckedSources>, DataError> {
        let mut checked = vec![CheckedSources::default(); records.len()];
        for (document_id, wanted) in by_document(records, &mut checked)? {
            let quotes: Vec<_> = wanted.iter().map(|wanted| wanted.quote.to_owned()).collect();
            let document = self.quotes.find(self.agent_id, self.scope, document_id, &quotes).await;
            for (at, Wanted { record, field, quote }) in wanted.into_iter().enumerate() {
                let checked = &mut checked[record];
                let source = document.as_ref().map(|document| (document, document.places.get(at).cloned().flatten()));
                match source {
                    Ok((document, Some(place))) => checked.sources.push(FieldSource {
                        field: field.to_owned(),
                        document_id: document_id.to_owned(),
                        file_name: document.file_name.clone(),
                        place,
                        quote: quote.to_owned(),
                    }),
                    Ok((document, None)) => {
                        checked.problems.push(format!("`{field}`: {} does not have this quote.", document.file_name));
                    }
                    Err(error) => checked.problems.push(format!("`{field}`: {}", error.message)),
                }
            }
        }
        for (record, checked) in records.iter().zip(&mut checked) {
            checked.check_values(record);
            checked.problems.truncate(MAX_PROBLEMS);
        }
        Ok(checked)
    }
}

/// Groups the quotes that can be looked up by their documents.
fn by_document<'r>(
    records: &'r [SourcedRecord],
    checked: &mut [CheckedSources],
) -> Result<BTreeMap<&'r str, Vec<Wanted<'r>>>, DataError> {
    let (mut documents, mut count) = (BTreeMap::<_, Vec<_>>::new(), 0);
    for (record, (input, checked)) in records.iter().zip(checked).enumerate() {
        if input.sources.len() > MAX_DOCUMENTS {
            checked.problems.push(format!("A record is from at most {MAX_DOCUMENTS} documents."));
            continue;
        }
        let mut known = HashSet::new();
        for source in &input.sources {
            for (field, quote) in &source.quotes {
                if !known.insert((&source.document_id, field)) {
                    checked.problems.push(format!("`{field}` has two quotes of one document; keep one of them."));
                    continue;
                }
                if !(MIN_QUOTE..=MAX_QUOTE).contains(&quote.trim().chars().count()) {
                    let lengths = format!("{MIN_QUOTE} to {MAX_QUOTE} characters");
                    checked.problems.push(format!("`{field}`: a quote has {lengths}; quote the words around a value."));
                    continue;
                }
                count += 1;
                let wanted = Wanted { record, field, quote: quote.trim() };
                documents.entry(source.document_id.as_str()).or_default().push(wanted);
            }
        }
    }
    if count > MAX_QUOTES {
        return Err(DataError::Invalid(format!(
            "There are more than {MAX_QUOTES} quotes. Add fewer records at a time."
        )));
    }
    if documents.len() > MAX_CALL_DOCUMENTS {
        let message =
            format!("The quotes are from more than {MAX_CALL_DOCUMENTS} documents. Add fewer records at a time.");
        return Err(DataError::Invalid(message));
    }
    Ok(documents)
}

impl CheckedSources {
    /// Notes values without a quote, and quotes without a value.
    fn check_values(&mut self, record: &SourcedRecord) {
        // Invalid records are reported when the record is prepared.
        let Ok(values) = values(&record.data) else { return };
        let covers = |field: &str, value: &str| {
            value.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let quoted = || record.sources.iter().flat_map(|source| source.quotes.keys());
        for field in quoted().filter(|field| !values.iter().any(|value| covers(field, &value.field))) {
            self.problems.push(format!("`{field}` has a quote, but no value."));
        }
        let mut last = None;
        for value in &values {
            if last != Some(&value.field) && !quoted().any(|field| covers(field, &value.field)) {
                self.problems.push(format!("`{}` has no quote.", value.field));
            }
            last = Some(&value.field);
        }
    }
}
