//! The languages whose words are stemmed, and how the language of a text is guessed.

use hashbrown::{HashMap, HashSet};
use rust_stemmers::{Algorithm, Stemmer};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// A language whose words are stemmed and whose stop words are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(u8);

struct Data {
    /// The ISO 639-1 code.
    code: &'static str,
    algorithm: Algorithm,
}

const LANGUAGES: [Data; 18] = [
    Data { code: "en", algorithm: Algorithm::English },
    Data { code: "de", algorithm: Algorithm::German },
    Data { code: "fr", algorithm: Algorithm::French },
    Data { code: "es", algorithm: Algorithm::Spanish },
    Data { code: "it", algorithm: Algorithm::Italian },
    Data { code: "pt", algorithm: Algorithm::Portuguese },
    Data { code: "nl", algorithm: Algorithm::Dutch },
    Data { code: "sv", algorithm: Algorithm::Swedish },
    Data { code: "da", algorithm: Algorithm::Danish },
    Data { code: "no", algorithm: Algorithm::Norwegian },
    Data { code: "fi", algorithm: Algorithm::Finnish },
    Data { code: "hu", algorithm: Algorithm::Hungarian },
    Data { code: "ro", algorithm: Algorithm::Romanian },
    Data { code: "ru", algorithm: Algorithm::Russian },
    Data { code: "tr", algorithm: Algorithm::Turkish },
    Data { code: "ar", algorithm: Algorithm::Arabic },
    Data { code: "el", algorithm: Algorithm::Greek },
    Data { code: "ta", algorithm: Algorithm::Tamil },
];

/// The stop words of each language, in the order of [`LANGUAGES`].
static STOP_WORDS: LazyLock<Vec<HashSet<&'static str>>> = LazyLock::new(|| {
    let list = |data: &Data| stop_words::lookup(data.code).unwrap_or_default().iter().copied().collect();
    LANGUAGES.iter().map(list).collect()
});

/// The languages that have a word as a stop word, as one bit each.
static LANGUAGES_OF: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let mut languages = HashMap::<&'static str, u32>::new();
    for (number, words) in STOP_WORDS.iter().enumerate() {
        for word in words {
            *languages.entry(word).or_default() |= 1 << number;
        }
    }
    languages
});

/// The number of words that are looked at to guess a language.
const GUESS_WORDS: usize = 400;
/// The stop words that a text needs so that its language is known.
const LEAST_HITS: u32 = 3;
/// Those that are enough if at least one word of [`FEW`] is one.
const LEAST_HITS_OF_FEW: u32 = 2;
const FEW: u32 = 3;
/// The letters of scripts of which only one language is stemmed.
const SCRIPTS: [(RangeInclusive<char>, &str); 4] = [
    ('\u{400}'..='\u{4ff}', "ru"),
    ('\u{370}'..='\u{3ff}', "el"),
    ('\u{600}'..='\u{6ff}', "ar"),
    ('\u{b80}'..='\u{bff}', "ta"),
];

impl Language {
    /// English, which is also the default.
    pub const ENGLISH: Self = Self(0);

    /// Returns the language with this ISO 639-1 code, if it is known.
    pub fn from_code(code: &str) -> Option<Self> {
        let number = LANGUAGES.iter().position(|data| data.code == code)?;
        u8::try_from(number).ok().map(Self)
    }

    /// Returns the ISO 639-1 code.
    pub fn code(self) -> &'static str {
        LANGUAGES[usize::from(self.0)].code
    }

    /// Guesses the language by the stop words: the one that has most of them. `None` if a text has too few,
    /// such as a table, unless only one language has its script.
    pub fn guess<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Self> {
        let (mut hits, mut count, mut scripts) = ([0_u32; LANGUAGES.len()], 0_u32, [0_u32; SCRIPTS.len()]);
        for word in words.into_iter().take(GUESS_WORDS) {
            count += 1;
            let mut languages = LANGUAGES_OF.get(word).copied().unwrap_or_default();
            while languages != 0 {
                hits[languages.trailing_zeros() as usize] += 1;
                languages &= languages - 1;
            }
            let first = word.chars().next().unwrap_or_default();
            if let Some(script) = SCRIPTS.iter().position(|(range, _)| range.contains(&first)) {
                scripts[script] += 1;
            }
        }
        // The first of several with equally many, so that English wins.
        let best =
            (0..).zip(hits).fold((0, 0), |best, (number, hits)| if hits > best.1 { (number, hits) } else { best });
        // A sentence of a few words has two of them.
        let is_short = best.1 >= LEAST_HITS_OF_FEW && best.1 * FEW >= count;
        if best.1 >= LEAST_HITS || is_short {
            return Some(Self(best.0));
        }
        let script = scripts.iter().position(|words| words * 2 > count)?;
        let code = SCRIPTS[script].1;
        (0..).zip(&LANGUAGES).find(|(_, data)| data.code == code).map(|(number, _)| Self(number))
    }

    /// Returns whether a word of the language says nothing about what a text is about.
    pub(crate) fn is_stop_word(self, word: &str) -> bool {
        STOP_WORDS[usize::from(self.0)].contains(word)
    }

    pub(crate) fn stemmer(self) -> Stemmer {
        Stemmer::create(LANGUAGES[usize::from(self.0)].algorithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_guessed_by_their_stop_words() {
        let check = |text: &str, code: &str| {
            let guessed = Language::guess(text.split_whitespace()).map_or("", Language::code);
            assert_eq!(guessed, code, "{text}");
        };
        check("the pump is on the left of the valve and it must be closed", "en");
        check("die pumpe ist links von dem ventil und sie muss geschlossen werden", "de");
        check("la pompe est à gauche de la vanne et elle doit être fermée", "fr");
        check("la bomba está a la izquierda de la válvula y debe estar cerrada por el operador", "es");
        check("насос находится слева от клапана и он должен быть закрыт на ночь", "ru");
        check("die häuser sind verkauft", "de");
        check("насосы работают", "ru");
        check("οι αντλίες", "el");
        check("4711 4712 4713", "");
        check("pump 4711 насос", "");
        check("die pumpe 4711 4712 4713 4714 4715", "");
        check("", "");
    }
}
