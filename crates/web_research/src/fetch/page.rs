//! A page or document as it is read.

/// The longest text of a page in characters; the rest is left out.
pub(super) const MAX_TEXT: usize = 400_000;

/// A page as it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) title: Option<String>,
    /// The text, as Markdown if the page is HTML.
    pub(crate) text: String,
    /// The date as the page says it.
    pub(crate) published: Option<String>,
    /// The links of the page, if they are asked for.
    pub(crate) links: Vec<String>,
    /// Whether the text does not end here.
    pub(crate) is_cut: bool,
    /// The places in a document, such as its pages, each with the character at which it begins.
    pub(crate) places: Vec<(usize, String)>,
    /// Warnings about the text, for its reader.
    pub(crate) warnings: Vec<String>,
}

impl Page {
    /// Leaves out what is longer than a page may be.
    pub(super) fn cut(mut self) -> Self {
        if let Some((end, _)) = self.text.char_indices().nth(MAX_TEXT) {
            self.text.truncate(end);
            self.is_cut = true;
        }
        self
    }

    /// Returns about how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.places.iter().map(|(_, place)| size_of::<(usize, String)>() + place.len()).sum::<usize>()
    }

    /// Returns the places of a range of characters: `page 2`, or `page 2 to page 4`.
    pub(super) fn places_of(&self, begin: usize, end: usize) -> Option<String> {
        let started = |at: usize| self.places.iter().take_while(|(begin, _)| *begin <= at).last();
        let (_, first) = started(begin)?;
        let (_, last) = started(end.saturating_sub(1).max(begin))?;
        Some(if first == last { first.clone() } else { format!("{first} to {last}") })
    }
}
