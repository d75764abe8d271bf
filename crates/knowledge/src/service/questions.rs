//! The questions that were asked of libraries, for those who may change the documents.

use super::{Access, Knowledge, SearchOutcome, SearchRequest, failed, read_only};
use crate::store::{self, LibraryRow, NewQuestion, QuestionRow};
use ::store::StoreError;
use chat::Viewer;
use contract::{ModelUse, RunScope};
use std::collections::BTreeSet;
use web::times::now_millis;
use wire::UserError;

/// The most questions that are stored at the same time. Further ones are not kept.
pub(super) const PARALLEL_WRITES: usize = 16;
/// The longest text of a question that is kept, in characters.
const MAX_TEXT: usize = 500;
/// The time in which the same question counts as repeated, in milliseconds.
const REPEATED: i64 = 10 * 60 * 1_000;
/// A day, in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1_000;

impl Knowledge {
    /// Searches as [`Knowledge::search`], and keeps the question for those who may change the documents. `scope` is
    /// that of the run if an agent searches.
    ///
    /// # Errors
    /// As [`Knowledge::search`].
    pub(crate) async fn ask(
        &self,
        viewer: &Viewer,
        scope: Option<&RunScope>,
        request: SearchRequest,
        meter: &ModelUse,
    ) -> Result<SearchOutcome, UserError> {
        let (libraries, query) = (request.libraries.clone(), request.query.clone());
        // Known before the search: the user may be deleted while it runs.
        let account = if self.keeps_questions() { self.has_account(viewer).await } else { None };
        let outcome = self.search(viewer, request, meter).await?;
        if let Some(is_account) = account {
            let (agent_id, conversation_id) =
                scope.map(|scope| (scope.agent_id.clone(), scope.conversation_id.clone())).unwrap_or_default();
            let now = now_millis();
            self.keep_question(NewQuestion {
                owner: viewer.user_id.clone(),
                is_account,
                agent_id,
                conversation_id,
                text: query.trim().chars().take(MAX_TEXT).collect(),
                found: found_in(libraries, &outcome),
                now,
                repeated_since: now - REPEATED,
            });
        }
        Ok(outcome)
    }

    /// Returns whether a viewer has an account on this server; `None` if the database fails, so that the question is not kept.
    async fn has_account(&self, viewer: &Viewer) -> Option<bool> {
        let found = store::has_account(self.store(), &viewer.user_id).await;
        found.inspect_err(|error| tracing::warn!(%error, "a question that was asked of libraries is not kept")).ok()
    }

    /// Stores a question in the background: a search neither waits for it nor fails with it.
    fn keep_question(&self, question: NewQuestion) {
        let knowledge = self.clone();
        tokio::spawn(async move {
            let Ok(_permit) = knowledge.0.question_writes.try_acquire() else { return };
            if let Err(error) = store::add_question(knowledge.store(), question).await {
                tracing::warn!(%error, "a question that was asked of libraries is not kept");
            }
        });
    }

    /// Returns whether the config in use keeps questions.
    pub(crate) fn keeps_questions(&self) -> bool {
        self.settings().question_days > 0
    }

    /// Returns whether a viewer may see the questions that were asked of a library that they may read: those who may
    /// change its documents, and administrators if the config declares it.
    pub(crate) fn may_see_questions(&self, viewer: &Viewer, library: &LibraryRow) -> bool {
        let is_administered = library.owner.is_empty() && viewer.is_admin();
        is_administered || self.access(viewer, library) >= Some(Access::Write)
    }

    /// Returns at most `most` questions of a library, the newest first: all of them, or those to which nothing was
    /// found. `after` is the id of the last one of the page before; empty for the first page.
    ///
    /// # Errors
    /// 404 if the viewer may not read the library, 403 if they may not see its questions.
    pub(crate) async fn questions(
        &self,
        viewer: &Viewer,
        library_id: &str,
        after: String,
        only_unanswered: bool,
        most: u32,
    ) -> Result<Vec<QuestionRow>, UserError> {
        let library = self.library(viewer, library_id, Access::Read).await?;
        if !self.may_see_questions(viewer, &library) {
            return Err(read_only());
        }
        store::questions(self.store(), &library.id, after, only_unanswered, most).await.map_err(failed)
    }

    /// Deletes the questions that were asked before the days for which they are kept.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn forget_questions(&self) -> Result<(), StoreError> {
        let days = i64::from(self.settings().question_days);
        store::purge_questions(self.store(), now_millis() - days * DAY).await
    }
}

/// Returns the libraries for which a question is kept, each once with the number of passages that were found in it:
/// those in which something was found, or all if nothing was found at all. That one of several libraries has no answer
/// says nothing about it.
fn found_in(libraries: Vec<String>, outcome: &SearchOutcome) -> Vec<(String, i64)> {
    // A request may name a library twice.
    let libraries: BTreeSet<String> = libraries.into_iter().collect();
    let counted = libraries.into_iter().map(|id| {
        let count = outcome.found.iter().filter(|found| found.library_id == id).count();
        (id, count as i64)
    });
    counted.filter(|(_, count)| *count > 0 || outcome.found.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_named_twice_counts_once() {
        let libraries = ["b", "a", "b"].map(str::to_owned).to_vec();
        let expected = ["a", "b"].map(|id| (id.to_owned(), 0)).to_vec();
        assert_eq!(found_in(libraries, &SearchOutcome::default()), expected);
    }
}
