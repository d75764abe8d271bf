//! Link references that another block of the text defines.

use pulldown_cmark::{BrokenLink, BrokenLinkCallback, CowStr};

/// The link references of a text.
pub trait FindUrl {
    /// Returns the URL of a label.
    fn find_url(&self, label: &str) -> Option<String>;
}

/// Resolves reference links. One type for all uses of the parser, so that the parser is compiled
/// only once.
pub struct ReferenceLookup<'r>(pub Option<&'r dyn FindUrl>);

impl<'input> BrokenLinkCallback<'input> for ReferenceLookup<'_> {
    fn handle_broken_link(&mut self, link: BrokenLink<'input>) -> Option<(CowStr<'input>, CowStr<'input>)> {
        self.0?.find_url(&link.reference).map(|url| (CowStr::from(url), CowStr::from("")))
    }
}
