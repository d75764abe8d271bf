//! The texts of the UI: English, unless the config or the block has a locale.
//!
//! [`t`] returns a text, [`fill`] one with its placeholders filled in. Without a locale that is a
//! lookup in a table. The texts of the config's locale come with the document, so that they are
//! there before the first component is created; those of a block are a Leptos context.

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

use crate::prelude::*;
use leptos::prelude::{Owner, provide_context, use_context};
use leptos::tachys::reactive_graph::OwnedView;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::error::{ErrorCode, ErrorReason, UserError};
use wire::locale::fill_placeholders;

/// Whether any locale was ever created; without one, texts are not looked up in contexts.
static HAS_LOCALES: AtomicBool = AtomicBool::new(false);

/// The texts of a locale, ready for lookups; a cheap handle.
#[derive(Clone, Debug)]
pub struct Texts(Arc<TextTable>);

#[derive(Debug)]
struct TextTable {
    /// Whether they belong to a block, and not to the page.
    is_block: bool,
    language: Option<&'static str>,
    is_rtl: bool,
    /// By the number of the text; may be shorter than the table of texts.
    texts: Vec<Option<&'static str>>,
}

impl Texts {
    /// Creates the texts of a locale.
    pub fn new(locale: &Locale) -> Self {
        Self::with_defaults(locale, Vec::new(), false)
    }

    /// Creates the texts of a block; those that its locale does not have are the page's.
    fn for_block(locale: &Locale) -> Self {
        let page = use_context::<Self>().or_else(half::page_texts);
        Self::with_defaults(locale, page.map(|page| page.0.texts.clone()).unwrap_or_default(), true)
    }

    fn with_defaults(locale: &Locale, mut words: Vec<Option<&'static str>>, of_block: bool) -> Self {
        HAS_LOCALES.store(true, Ordering::Relaxed);
        for (number, said) in locale.texts() {
            if number >= words.len() {
                words.resize(number + 1, None);
            }
            words[number] = Some(half::intern(said));
        }
        let language = locale.language.as_deref().map(half::intern);
        Self(Arc::new(TextTable { is_block: of_block, language, is_rtl: locale.is_rtl, texts: words }))
    }

    /// Returns the code of the language, if it is known.
    pub fn language(&self) -> Option<&'static str> {
        self.0.language
    }

    /// Returns `rtl` or `ltr`, if the language is known.
    pub fn direction(&self) -> Option<&'static str> {
        self.0.language.map(|_| if self.0.is_rtl { "rtl" } else { "ltr" })
    }

    /// Serializes the locale for the browser, without the English texts that the browser has
    /// anyway.
    #[cfg(feature = "ssr")]
    pub(crate) fn to_meta_content(&self) -> String {
        let mut locale = self.0.language.map_or_else(Locale::default, Locale::for_language);
        locale.is_rtl = self.0.is_rtl;
        for (text, said) in Text::ALL.iter().zip(&self.0.texts) {
            if let Some(said) = said {
                locale.set(*text, *said);
            }
        }
        locale.without_english().to_value().to_string()
    }

    /// Returns a text with its placeholders filled in, for what is stored and not shown in a view.
    #[cfg(feature = "ssr")]
    pub fn filled(&self, text: Text, parts: &[&str]) -> String {
        fill_placeholders(self.find(text).unwrap_or_else(|| text.english()), parts)
    }

    fn find(&self, text: Text) -> Option<&'static str> {
        self.0.texts.get(text.number()).copied().flatten()
    }
}

/// Returns a text in the locale of the block, else in that of the config, else in English.
pub fn t(text: Text) -> &'static str {
    if !HAS_LOCALES.load(Ordering::Relaxed) && !half::has_page_texts() {
        return text.english();
    }
    let own = use_context::<Texts>().and_then(|texts| texts.find(text));
    own.or_else(|| half::page_text(text)).unwrap_or_else(|| text.english())
}

/// Returns a text with its placeholders filled in.
pub fn fill(text: Text, parts: &[&str]) -> String {
    fill_placeholders(t(text), parts)
}

/// Returns a text with a number, formatted for the locale, filled in.
pub(crate) fn fill_count(text: Text, number: usize) -> String {
    fill(text, &[&group_digits(number as u64)])
}

/// Creates a view with the texts of a locale, without one with those around it.
pub(crate) fn with_locale(locale: Option<&Locale>, view: impl FnOnce() -> AnyView) -> AnyView {
    match locale.map(Texts::for_block) {
        None => view(),
        // The texts are a context of this view, and not of its siblings.
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

/// Returns the attributes `lang` and `dir` of a block with its own locale.
pub(crate) fn block_language() -> (Option<&'static str>, Option<&'static str>) {
    let own = if HAS_LOCALES.load(Ordering::Relaxed) { use_context::<Texts>() } else { None };
    own.filter(|texts| texts.0.is_block).map_or((None, None), |texts| (texts.language(), texts.direction()))
}

/// Returns the message of an error for the user. The server's message is in English; a locale may
/// have its own text for each reason or code.
pub(crate) fn error_text(error: &UserError) -> String {
    let own = error.reason.map_or("", reason_text);
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
        // Without `retry_after` there is no time to show.
        ("", ..) | (_, ErrorCode::RateLimited, None) => error.to_string(),
        (words, _, after) => fill_placeholders(words, &[&half::local_time_after(after.unwrap_or_default())]),
    }
}

/// Returns the locale's text for a reason; empty if the server's message is to be shown.
fn reason_text(reason: ErrorReason) -> &'static str {
    t(match reason {
        ErrorReason::ModelCredentials => Text::ErrorModelCredentials,
        ErrorReason::ModelLimit => Text::ErrorModelLimit,
        ErrorReason::QuotaDay => Text::ErrorQuotaDay,
        ErrorReason::QuotaMonth => Text::ErrorQuotaMonth,
        ErrorReason::ModelRefused => Text::ErrorModelRefused,
        ErrorReason::ModelAway => Text::ErrorModelAway,
        ErrorReason::AnswerBroken => Text::ErrorAnswerBroken,
        ErrorReason::NotSaved => Text::ErrorNotSaved,
        ErrorReason::ServerBusy => Text::ErrorServerBusy,
        ErrorReason::ServerFailed => Text::ErrorServerFailed,
        ErrorReason::Other => return "",
    })
}

/// Returns a text that only a locale may have, else the English message.
pub(crate) fn text_or_english(english: String, text: Text) -> String {
    match t(text) {
        "" => english,
        words => words.to_owned(),
    }
}

/// Formats a whole number with the locale's separators: `12,345`.
pub(crate) fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push_str(t(Text::GroupMark));
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn provided_locale_replaces_english() {
        let said = || [t(Text::Send).to_owned(), fill(Text::VersionOf, &["2", "3"]), fill_count(Text::Tokens, 12_345)];
        let english = ["Send", "Version 2 of 3", "12,345 tokens"];
        assert_eq!(Owner::new().with(said), english);
        let own = Locale::for_language("de").with(Text::Send, "Senden").with(Text::GroupMark, ".");
        let spoken = Owner::new().with(|| {
            provide_context(Texts::new(&own));
            said()
        });
        assert_eq!(spoken, ["Senden", "Version 2 of 3", "12.345 tokens"]);
        assert_eq!(Owner::new().with(said), english);
    }

    #[test]
    fn errors_use_the_texts_of_the_locale() {
        let check = |error: &UserError, english: &str, hebrew: &str| {
            assert_eq!(Owner::new().with(|| error_text(error)), english);
            let in_hebrew = Owner::new().with(|| {
                provide_context(Texts::new(&Locale::shipped("he").unwrap()));
                error_text(error)
            });
            assert_eq!(in_hebrew, hebrew);
        };
        let missing = UserError::new(ErrorCode::NotFound, "There is nothing here.");
        check(&missing, "There is nothing here.", "זה לא נמצא, או שאין לך גישה אליו.");
        let away = UserError::new(ErrorCode::Unavailable, "It is away.");
        check(&away, "It is away.", "It is away.");
        let away = UserError {
            trace_id: Some("0a1b2c3d4e5f60718293a4b5c6d7e8f9".to_owned()),
            ..away.because(ErrorReason::ModelAway)
        };
        let hebrew = "ספק המודל אינו זמין כרגע. אפשר לנסות שוב בעוד רגע. מספר לפנייה: 0a1b2c3d";
        check(&away, "It is away. Reference: 0a1b2c3d", hebrew);
        let limit = UserError::new(ErrorCode::RateLimited, "Wait.").because(ErrorReason::ModelLimit);
        let limit = UserError { retry_after: Some(9), ..limit };
        check(&limit, "Wait.", "ספק המודל מקבל כרגע יותר מדי בקשות. כדאי להמתין רגע ולנסות שוב.");
        let quota =
            UserError { retry_after: Some(3_600), ..UserError::new(ErrorCode::RateLimited, "You have used it.") };
        let hebrew = "המכסה היומית שלך נוצלה. היא מתחדשת בחצות לפי שעון UTC.";
        check(&quota.clone().because(ErrorReason::QuotaDay), "You have used it.", hebrew);
        let hebrew = "המכסה החודשית שלך נוצלה. היא מתחדשת בתחילת החודש הבא.";
        check(&quota.because(ErrorReason::QuotaMonth), "You have used it.", hebrew);
    }
}
