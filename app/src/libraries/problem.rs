//! Why something could not be loaded.

use crate::api::ApiError;
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use wire::error::ErrorCode;

/// Says why something could not be loaded, with a button that tries again where that can help.
pub(super) fn problem_view(error: &ApiError, again: impl Fn() + Copy + Send + 'static) -> AnyView {
    let (text, can_retry) = match error.code() {
        ErrorCode::Unauthenticated => (t(Text::LibrariesNoRights).to_owned(), false),
        ErrorCode::NotFound => (t(Text::LibraryGone).to_owned(), false),
        ErrorCode::Forbidden => (error_text(&error.0), false),
        _ => (error_text(&error.0), true),
    };
    let button = can_retry.then(|| {
        view! { <button type="button" class="cw-link" on:click=move |_| again()>{t(Text::TryAgain)}</button> }
    });
    view! {
        <p class="cw-list-error" role="alert">
            {text}
            {button}
        </p>
    }
    .into_any()
}
