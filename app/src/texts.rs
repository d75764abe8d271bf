//! What the UI says: English, unless the config or the block around has other words.
//!
//! [`t`] gives a text, [`fill`] one with something filled in. Where nothing but English is spoken, that is a look into a table. The words of
//! the config's locale come with the document, so that they are there before the first component; those of a block are a context.

#[cfg(not(feature = "ssr"))]
mod browser;
#[cfg(all(test, feature = "ssr"))]
mod lint;
#[cfg(feature = "ssr")]
mod server;

#[cfg(not(feature = "ssr"))]
use browser as half;
#[cfg(feature = "ssr")]
use server as half;

pub use wire::locale::{Locale, Text};

use crate::numbers::grouped;
use crate::prelude::*;
use leptos::prelude::{Owner, provide_context, use_context};
use leptos::tachys::reactive_graph::OwnedView;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::error::{ErrorCode, ErrorReason, UserError};
use wire::locale::filled;

/// Whether anything but English was ever given; without it nobody looks for it.
static OTHERS: AtomicBool = AtomicBool::new(false);

/// The words of a locale as they are looked up; a cheap handle.
#[derive(Clone, Debug)]
pub struct Texts(Arc<Table>);

#[derive(Debug)]
struct Table {
    /// Whether they are those of a block, and not of the page.
    of_block: bool,
    language: Option<&'static str>,
    from_the_right: bool,
    /// By number; shorter than the table of texts where the last ones are not there.
    words: Vec<Option<&'static str>>,
}

impl Texts {
    /// Ready to be looked up.
    pub fn new(locale: &Locale) -> Self {
        Self::over(locale, Vec::new(), false)
    }

    /// For a block; what its locale does not say is said as on the page.
    fn of_block(locale: &Locale) -> Self {
        let page = use_context::<Self>().or_else(half::page);
        Self::over(locale, page.map(|page| page.0.words.clone()).unwrap_or_default(), true)
    }

    fn over(locale: &Locale, mut words: Vec<Option<&'static str>>, of_block: bool) -> Self {
        OTHERS.store(true, Ordering::Relaxed);
        for (number, said) in locale.texts() {
            if number >= words.len() {
                words.resize(number + 1, None);
            }
            words[number] = Some(half::kept(said));
        }
        let language = locale.language.as_deref().map(half::kept);
        Self(Arc::new(Table { of_block, language, from_the_right: locale.from_the_right, words }))
    }

    /// The language's code, where it is known.
    pub fn language(&self) -> Option<&'static str> {
        self.0.language
    }

    /// `rtl` or `ltr`, where the language is known.
    pub fn direction(&self) -> Option<&'static str> {
        self.0.language.map(|_| if self.0.from_the_right { "rtl" } else { "ltr" })
    }

    /// For the browser's half, without what it knows anyway.
    #[cfg(feature = "ssr")]
    pub(crate) fn written(&self) -> String {
        let mut locale = self.0.language.map_or_else(Locale::default, Locale::of_language);
        locale.from_the_right = self.0.from_the_right;
        for (text, said) in Text::ALL.iter().zip(&self.0.words) {
            if let Some(said) = said {
                locale.set(*text, *said);
            }
        }
        locale.without_english().to_value().to_string()
    }

    fn find(&self, text: Text) -> Option<&'static str> {
        self.0.words.get(text as usize).copied().flatten()
    }
}

/// A text in the words of the block around, of the config, or in English.
pub fn t(text: Text) -> &'static str {
    if !OTHERS.load(Ordering::Relaxed) && !half::is_other() {
        return text.english();
    }
    let own = use_context::<Texts>().and_then(|texts| texts.find(text));
    own.or_else(|| half::find(text)).unwrap_or_else(|| text.english())
}

/// A text with something filled in.
pub fn fill(text: Text, parts: &[&str]) -> String {
    filled(t(text), parts)
}

/// The same with a number, which is written as the locale writes numbers.
pub(crate) fn count(text: Text, number: usize) -> String {
    fill(text, &[&grouped(number as u64)])
}

/// A view that speaks so, whatever is spoken around.
pub(crate) fn speaking(locale: Option<&Locale>, view: impl FnOnce() -> AnyView) -> AnyView {
    match locale.map(Texts::of_block) {
        None => view(),
        // The words are a context of what is drawn here, and of nothing beside it.
        Some(texts) => {
            let owner = Owner::current().map(|around| around.child()).unwrap_or_default();
            let view = owner.with(|| {
                provide_context(texts);
                view()
            });
            OwnedView::new_with_owner(view, owner).into_any()
        }
    }
}

/// The attributes `lang` and `dir` of a block that has a language of its own.
pub(crate) fn spoken() -> (Option<&'static str>, Option<&'static str>) {
    let own = if OTHERS.load(Ordering::Relaxed) { use_context::<Texts>() } else { None };
    own.filter(|texts| texts.0.of_block).map_or((None, None), |texts| (texts.language(), texts.direction()))
}

/// What the user reads of an error. The server says it in English; a locale may have words for each kind of error instead.
pub(crate) fn said(error: &UserError) -> String {
    let own = error.reason.map_or("", own_words);
    if !own.is_empty() {
        let reference = error.reference().map(|id| fill(Text::ErrorReference, &[id]));
        return reference.map_or_else(|| own.to_owned(), |reference| [own, " ", &reference].concat());
    }
    let text = match error.code {
        ErrorCode::Unauthenticated => Text::ErrorUnauthenticated,
        ErrorCode::Forbidden => Text::ErrorForbidden,
        ErrorCode::NotFound => Text::ErrorNotFound,
        ErrorCode::Busy => Text::ErrorBusy,
        ErrorCode::Conflict => Text::ErrorConflict,
        ErrorCode::OtherAgent => Text::ErrorOtherAgent,
        ErrorCode::TooLarge => Text::ErrorTooLarge,
        ErrorCode::Invalid => Text::ErrorInvalid,
        ErrorCode::RateLimited => Text::ErrorLimit,
        ErrorCode::Malformed | ErrorCode::Internal | ErrorCode::Unavailable => return error.to_string(),
    };
    match (t(text), error.code, error.retry_after) {
        // Of a limit without a time nobody knows when it ends.
        ("", ..) | (_, ErrorCode::RateLimited, None) => error.to_string(),
        (words, _, after) => filled(words, &[&half::time_after(after.unwrap_or_default())]),
    }
}

/// What the locale says of a reason; nothing where it leaves that to the server.
fn own_words(reason: ErrorReason) -> &'static str {
    t(match reason {
        ErrorReason::ModelCredentials => Text::ErrorModelCredentials,
        ErrorReason::ModelLimit => Text::ErrorModelLimit,
        ErrorReason::ModelRefused => Text::ErrorModelRefused,
        ErrorReason::ModelAway => Text::ErrorModelAway,
        ErrorReason::AnswerBroken => Text::ErrorAnswerBroken,
        ErrorReason::NotSaved => Text::ErrorNotSaved,
        ErrorReason::ServerBusy => Text::ErrorServerBusy,
        ErrorReason::ServerFailed => Text::ErrorServerFailed,
        ErrorReason::Other => return "",
    })
}

/// A text that only a locale may have, instead of what was said in English.
pub(crate) fn instead_of(english: String, text: Text) -> String {
    match t(text) {
        "" => english,
        words => words.to_owned(),
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn a_block_speaks_its_own_language() {
        let said = || [t(Text::Send).to_owned(), fill(Text::VersionOf, &["2", "3"]), count(Text::Tokens, 12_345)];
        let english = ["Send", "Version 2 of 3", "12,345 tokens"];
        assert_eq!(Owner::new().with(said), english);
        let own = Locale::of_language("de").with(Text::Send, "Senden").with(Text::GroupMark, ".");
        let spoken = Owner::new().with(|| {
            provide_context(Texts::new(&own));
            said()
        });
        assert_eq!(spoken, ["Senden", "Version 2 of 3", "12.345 tokens"]);
        assert_eq!(Owner::new().with(said), english);
    }

    #[test]
    fn errors_in_the_words_of_the_locale() {
        let check = |error: &UserError, english: &str, hebrew: &str| {
            assert_eq!(Owner::new().with(|| said(error)), english);
            let in_hebrew = Owner::new().with(|| {
                provide_context(Texts::new(&Locale::named("he").unwrap()));
                said(error)
            });
            assert_eq!(in_hebrew, hebrew);
        };
        let missing = UserError::new(ErrorCode::NotFound, "There is nothing here.");
        check(&missing, "There is nothing here.", "זה לא נמצא, או שאין לך גישה אליו.");
        let away = UserError::new(ErrorCode::Unavailable, "It is away.");
        check(&away, "It is away.", "It is away.");
        let away = UserError { trace_id: Some("0a1b".to_owned()), ..away.because(ErrorReason::ModelAway) };
        let hebrew = "ספק המודל אינו זמין כרגע. אפשר לנסות שוב בעוד רגע. מספר לפנייה: 0a1b";
        check(&away, "It is away. Reference: 0a1b", hebrew);
        let limit = UserError::new(ErrorCode::RateLimited, "Wait.").because(ErrorReason::ModelLimit);
        let limit = UserError { retry_after: Some(9), ..limit };
        check(&limit, "Wait.", "ספק המודל מקבל כרגע יותר מדי בקשות. כדאי להמתין רגע ולנסות שוב.");
    }
}
