//! An inverted index of chunks in memory.
//!
//! Chunks are added and removed by document. A removed one leaves a slot without postings that count;
//! [`Index::is_sparse`] says when it is time to build the index anew.

use crate::Language;
use crate::analyzer::{Analyzer, for_each_word};
use hashbrown::{Equivalent, HashMap};
use std::mem::size_of;

/// The number of a chunk in its index.
pub type Slot = u32;

/// The most slots of an index: postings have 24 bits for them.
const MAX_SLOTS: usize = 1 << 24;
/// How often a word of the title or the headings counts. Measured in the README.
const HEADING_WEIGHT: u32 = 3;

/// The texts of a chunk.
#[derive(Clone, Copy, Debug)]
pub struct ChunkText<'t> {
    /// The title of the document and the headings above the chunk.
    pub heading: &'t str,
    /// The text.
    pub body: &'t str,
}

/// A chunk that has a term, and how often, in 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting(u32);

impl Posting {
    fn new(slot: Slot, count: u32) -> Self {
        Self(slot << 8 | count.min(255))
    }

    pub(crate) fn slot(self) -> Slot {
        self.0 >> 8
    }

    pub(crate) fn count(self) -> f32 {
        (self.0 & 255) as f32
    }
}

/// A document of the index.
#[derive(Debug)]
struct IndexedDocument {
    id: Box<str>,
    first: Slot,
    chunks: u32,
    language: Language,
    is_removed: bool,
}

/// A chunk of the index.
#[derive(Debug)]
struct IndexedChunk {
    /// The position of its document.
    document: u32,
    /// The number of its terms, those of the heading with their weight.
    length: u32,
    /// Its terms with their counts.
    terms: Box<[(u32, u8)]>,
}

/// The chunks of a search's filter, by slot.
#[derive(Debug)]
pub struct Mask(Vec<bool>);

impl Mask {
    /// Returns whether a chunk passes.
    pub fn contains(&self, slot: Slot) -> bool {
        self.0.get(slot as usize).copied().unwrap_or_default()
    }
}

/// An inverted index of the chunks of documents.
#[derive(Default)]
pub struct Index {
    documents: Vec<IndexedDocument>,
    chunks: Vec<IndexedChunk>,
    terms: HashMap<Box<str>, u32>,
    postings: Vec<Vec<Posting>>,
    /// The number of chunks that are not removed and have a term.
    frequencies: Vec<u32>,
    /// The terms of words, so that each word is stemmed once.
    words: HashMap<(Language, Box<str>), Option<u32>>,
    /// The number of chunks by language.
    languages: HashMap<Language, u32>,
    live: u32,
    total_length: u64,
    bytes: usize,
}

impl Index {
    /// Adds the chunks of a document; returns false if the index is full. Languages are guessed
    /// once for a document; one that is too short for it counts as most of those before it.
    pub fn add(&mut self, document: &str, chunks: &[ChunkText<'_>]) -> bool {
        if self.chunks.len() + chunks.len() > MAX_SLOTS {
            return false;
        }
        let language = guess(chunks).unwrap_or_else(|| self.usual_language());
        let analyzer = Analyzer::new(language);
        let (position, first) = (self.documents.len() as u32, self.chunks.len() as Slot);
        let mut counts = HashMap::<u32, u32>::new();
        for chunk in chunks {
            counts.clear();
            let mut length = 0;
            for (text, weight) in [(chunk.body, 1), (chunk.heading, HEADING_WEIGHT)] {
                for_each_word(text, |word| {
                    if let Some(term) = self.term(&analyzer, language, word) {
                        *counts.entry(term).or_default() += weight;
                        length += weight;
                    }
                });
            }
            self.add_chunk(position, length, &counts);
        }
        let (id, chunks) = (document.into(), chunks.len() as u32);
        self.documents.push(IndexedDocument { id, first, chunks, language, is_removed: false });
        *self.languages.entry(language).or_default() += chunks;
        true
    }

    /// Returns the language of most chunks.
    fn usual_language(&self) -> Language {
        let known = self.languages.iter().filter(|(_, chunks)| **chunks > 0);
        let most = known.max_by_key(|(language, chunks)| (**chunks, std::cmp::Reverse(**language)));
        most.map_or(Language::ENGLISH, |(language, _)| *language)
    }

    /// Returns the number of a word's term; `None` for a stop word.
    fn term(&mut self, analyzer: &Analyzer, language: Language, word: &str) -> Option<u32> {
        if let Some(known) = self.words.get(&WordKey(language, word)) {
            return *known;
        }
        let term = analyzer.term(word).map(|term| match self.terms.get(term.as_str()) {
            Some(number) => *number,
            None => {
                let number = self.postings.len() as u32;
                self.bytes += term.len() + 96;
                self.terms.insert(term.into(), number);
                self.postings.push(Vec::new());
                self.frequencies.push(0);
                number
            }
        });
        self.bytes += word.len() + 48;
        self.words.insert((language, word.into()), term);
        term
    }

    fn add_chunk(&mut self, document: u32, length: u32, counts: &HashMap<u32, u32>) {
        let slot = self.chunks.len() as Slot;
        let mut terms: Vec<(u32, u8)> =
            counts.iter().map(|(term, count)| (*term, u8::try_from(*count).unwrap_or(u8::MAX))).collect();
        terms.sort_unstable();
        for (term, count) in &terms {
            self.postings[*term as usize].push(Posting::new(slot, u32::from(*count)));
            self.frequencies[*term as usize] += 1;
        }
        self.bytes += terms.len() * (size_of::<Posting>() + size_of::<(u32, u8)>()) + size_of::<IndexedChunk>();
        self.chunks.push(IndexedChunk { document, length, terms: terms.into() });
        self.live += 1;
        self.total_length += u64::from(length);
    }

    /// Removes a document. Its chunks are not found any more.
    pub fn remove(&mut self, document: &str) {
        let found = self.documents.iter_mut().find(|known| !known.is_removed && &*known.id == document);
        let Some(removed) = found else { return };
        removed.is_removed = true;
        if let Some(count) = self.languages.get_mut(&removed.language) {
            *count -= removed.chunks;
        }
        for slot in removed.first..removed.first + removed.chunks {
            let chunk = &mut self.chunks[slot as usize];
            for (term, _) in std::mem::take(&mut chunk.terms) {
                self.frequencies[term as usize] -= 1;
            }
            self.live -= 1;
            self.total_length -= u64::from(chunk.length);
        }
    }

    /// Returns the ids of the documents.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.documents.iter().filter(|document| !document.is_removed).map(|document| &*document.id)
    }

    /// Returns the document of a chunk, and the chunk's number in it, from 0.
    pub fn chunk(&self, slot: Slot) -> Option<(&str, u32)> {
        let document = self.documents.get(self.chunks.get(slot as usize)?.document as usize)?;
        Some((&document.id, slot - document.first))
    }

    /// Returns the slots of a document.
    pub fn slots_of(&self, document: &str) -> Option<std::ops::Range<Slot>> {
        let found = self.documents.iter().rev().find(|known| !known.is_removed && &*known.id == document)?;
        Some(found.first..found.first + found.chunks)
    }

    /// Returns the chunks of the documents that pass a filter.
    pub fn mask(&self, mut passes: impl FnMut(&str) -> bool) -> Mask {
        let mut mask = vec![false; self.chunks.len()];
        for document in self.documents.iter().filter(|document| !document.is_removed) {
            if passes(&document.id) {
                mask[document.first as usize..(document.first + document.chunks) as usize].fill(true);
            }
        }
        Mask(mask)
    }

    /// Returns whether a chunk is there and its document not removed.
    pub fn is_live(&self, slot: Slot) -> bool {
        let document = self.chunks.get(slot as usize).map(|chunk| &self.documents[chunk.document as usize]);
        document.is_some_and(|document| !document.is_removed)
    }

    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        self.live as usize
    }

    /// Returns whether there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Returns the number of slots, those of removed chunks included.
    pub fn slots(&self) -> usize {
        self.chunks.len()
    }

    /// Returns whether more than a third of the slots, and more than a thousand, are of removed
    /// chunks, so that building the index anew is worth it.
    pub fn is_sparse(&self) -> bool {
        let removed = self.chunks.len() - self.live as usize;
        removed > 1_000 && removed * 3 > self.chunks.len()
    }

    /// Returns about how many bytes the index takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn number(&self, term: &str) -> Option<u32> {
        self.terms.get(term).copied()
    }

    pub(crate) fn languages(&self) -> impl Iterator<Item = Language> {
        self.languages.iter().filter(|(_, chunks)| **chunks > 0).map(|(language, _)| *language)
    }

    pub(crate) fn postings(&self, term: u32) -> &[Posting] {
        self.postings.get(term as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn frequency(&self, term: u32) -> u32 {
        self.frequencies.get(term as usize).copied().unwrap_or_default()
    }

    /// Returns the weight of a term: rare ones say more.
    pub(crate) fn rarity(&self, term: u32) -> f32 {
        let (all, having) = (self.live as f32, self.frequency(term) as f32);
        ((all - having + 0.5) / (having + 0.5)).ln_1p()
    }

    /// Returns the length of a chunk relative to the average.
    pub(crate) fn relative_length(&self, slot: Slot) -> f32 {
        let average = self.total_length as f32 / (self.live as f32).max(1.0);
        self.chunks[slot as usize].length as f32 / average.max(1.0)
    }

    /// Returns how much the chunks say on average: 0 for those of 20 terms or fewer, 1 for those of 60
    /// or more.
    pub fn substance(&self) -> f32 {
        let average = self.total_length as f32 / (self.live as f32).max(1.0);
        ((average - 20.0) / 40.0).clamp(0.0, 1.0)
    }

    pub(crate) fn length(&self, slot: Slot) -> u32 {
        self.chunks[slot as usize].length
    }

    /// Returns the terms of a chunk with their counts; none of a removed one.
    pub(crate) fn terms_of(&self, slot: Slot) -> &[(u32, u8)] {
        self.chunks.get(slot as usize).map_or(&[], |chunk| &chunk.terms)
    }

    pub(crate) fn term_count(&self) -> usize {
        self.postings.len()
    }
}

fn guess(chunks: &[ChunkText<'_>]) -> Option<Language> {
    let mut words = Vec::new();
    for chunk in chunks.iter().take(4) {
        for_each_word(chunk.body, |word| words.push(word.to_owned()));
    }
    Language::guess(words.iter().map(String::as_str))
}

/// Looks up a pair of language and word without allocating the word. Its hash is that of the pair.
#[derive(Hash)]
struct WordKey<'w>(Language, &'w str);

impl Equivalent<(Language, Box<str>)> for WordKey<'_> {
    fn equivalent(&self, key: &(Language, Box<str>)) -> bool {
        self.0 == key.0 && self.1 == &*key.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(index: &mut Index, id: &str, bodies: &[&str]) {
        let chunks: Vec<_> = bodies.iter().map(|body| ChunkText { heading: "", body }).collect();
        assert!(index.add(id, &chunks));
    }

    #[test]
    fn documents_are_added_and_removed() {
        let mut index = Index::default();
        add(&mut index, "a", &["pumps and valves", "valves"]);
        add(&mut index, "b", &["a pump"]);
        let frequency = |index: &Index, term| index.number(term).map(|term| index.frequency(term));
        assert_eq!((index.len(), frequency(&index, "pump"), frequency(&index, "valv")), (3, Some(2), Some(2)));
        assert_eq!((index.chunk(1), index.chunk(2), index.chunk(3)), (Some(("a", 1)), Some(("b", 0)), None));
        index.remove("a");
        assert_eq!((index.len(), frequency(&index, "pump"), frequency(&index, "valv")), (1, Some(1), Some(0)));
        assert_eq!(index.documents().collect::<Vec<_>>(), ["b"]);
        add(&mut index, "a", &["other"]);
        assert_eq!(index.slots_of("a"), Some(3..4));
        let mask = index.mask(|id| id == "a");
        assert_eq!((0..5).filter(|slot| mask.contains(*slot)).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn short_documents_count_as_the_language_of_the_others() {
        let mut index = Index::default();
        add(&mut index, "de", &["die Pumpe ist links von dem Ventil und sie muss geschlossen werden"]);
        add(&mut index, "table", &["Pumpen 4711"]);
        add(&mut index, "ru", &["насосы работают"]);
        let mut languages: Vec<_> = index.languages().map(Language::code).collect();
        languages.sort_unstable();
        assert_eq!(languages, ["de", "ru"]);
    }
}
