//! The pages that a run has fetched, so that the next part of a page is not requested again.

use super::page::Page;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use url::Url;

/// The most memory of all pages, in bytes.
const MAX_BYTES: usize = 32 << 20;

/// The pages of all runs, the newest last.
#[derive(Default)]
pub(crate) struct PageCache(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    pages: VecDeque<CachedPage>,
    bytes: usize,
}

struct CachedPage {
    run_id: String,
    url: String,
    page: Arc<Page>,
}

impl PageCache {
    /// Returns a page that the run has fetched.
    pub(crate) fn get(&self, run_id: &str, url: &Url) -> Option<Arc<Page>> {
        let pages = self.0.lock();
        let mut newest = pages.pages.iter().rev();
        newest.find(|cached| cached.run_id == run_id && cached.url == url.as_str()).map(|cached| cached.page.clone())
    }

    /// Remembers a page of a run; the oldest pages are forgotten.
    pub(crate) fn put(&self, run_id: &str, url: &Url, page: Arc<Page>) {
        if run_id.is_empty() {
            return;
        }
        let mut pages = self.0.lock();
        pages.bytes += page.bytes();
        pages.pages.push_back(CachedPage { run_id: run_id.to_owned(), url: url.to_string(), page });
        while pages.bytes > MAX_BYTES {
            let Some(oldest) = pages.pages.pop_front() else { break };
            pages.bytes -= oldest.page.bytes();
        }
    }

    /// Forgets the pages of a run that has ended.
    pub(crate) fn forget(&self, run_id: &str) {
        let mut pages = self.0.lock();
        pages.pages.retain(|cached| cached.run_id != run_id);
        pages.bytes = pages.pages.iter().map(|cached| cached.page.bytes()).sum();
    }
}
