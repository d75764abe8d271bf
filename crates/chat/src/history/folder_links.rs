//! Links from folders to the pages of a part of the product that knows more about them.

use std::fmt;
use std::sync::{Arc, OnceLock};
use wire::organize::Folder;

/// Returns the path of the page about the folder with this id; `None` while there is none.
pub type FolderPage = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The function that returns the links of folders' pages. It is set once after the chat was opened.
#[derive(Clone, Default)]
pub(crate) struct FolderLinks(Arc<OnceLock<FolderPage>>);

impl FolderLinks {
    /// Sets what returns the page of a folder; one that is already set stays.
    pub(crate) fn set(&self, page: FolderPage) {
        let _ = self.0.set(page);
    }

    /// Returns the folder with its link.
    pub(crate) fn linked(&self, folder: Folder) -> Folder {
        let settings = self.0.get().and_then(|page| page(&folder.id));
        Folder { settings, ..folder }
    }
}

impl fmt::Debug for FolderLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FolderLinks").field("is_set", &self.0.get().is_some()).finish()
    }
}
