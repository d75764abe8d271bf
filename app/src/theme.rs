//! The theme: the system's, light or dark. The choice is kept in the browser's local storage;
//! `public/assets/theme.js` applies it before the first paint.

use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};

/// The key in local storage; `theme.js` reads it too.
const STORAGE_KEY: &str = "theme";

/// The colour theme of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The system's theme.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// Returns the name in local storage and in the style sheet; none for the system's theme, which
    /// is the absence of a choice.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }

    fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("light") => Self::Light,
            Some("dark") => Self::Dark,
            _ => Self::System,
        }
    }

    /// Returns the theme that a click on the switch selects.
    fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::System => t(Text::ThemeSystem),
            Self::Light => t(Text::ThemeLight),
            Self::Dark => t(Text::ThemeDark),
        }
    }
}

/// A button that cycles through the themes. The style sheet selects the icon, so that it is right
/// before the WASM has loaded.
#[component]
pub fn ThemeSwitch() -> AnyView {
    let theme = RwSignal::new(Theme::System);
    // After hydration: the server does not know the choice.
    Effect::new(move |_| theme.set(stored_theme()));
    let switch = move |_| {
        theme.update(|theme| *theme = theme.next());
        apply(theme.get_untracked());
    };
    let label = move || Some(theme.get().label().to_owned());
    view! {
        <button
            type="button"
            class="cw-icon-button cw-theme"
            aria-label=label
            title=label
            on:click=switch
        >
            <span class="cw-theme-system">
                <Icon of=Shape::SCREEN />
            </span>
            <span class="cw-theme-light">
                <Icon of=Shape::SUN />
            </span>
            <span class="cw-theme-dark">
                <Icon of=Shape::MOON />
            </span>
        </button>
    }
    .into_any()
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

fn stored_theme() -> Theme {
    let name = storage().and_then(|storage| storage.get_item(STORAGE_KEY).ok().flatten());
    Theme::from_name(name.as_deref())
}

/// Applies a theme and stores it. Errors are ignored: where storage is forbidden, the theme lasts
/// until the next load.
fn apply(theme: Theme) {
    let root = document().document_element();
    if let Some(root) = &root {
        let _ = match theme.name() {
            Some(name) => root.set_attribute("data-theme", name),
            None => root.remove_attribute("data-theme"),
        };
    }
    if let Some(storage) = storage() {
        let _ = match theme.name() {
            Some(name) => storage.set_item(STORAGE_KEY, name),
            None => storage.remove_item(STORAGE_KEY),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::Theme;

    #[test]
    fn switch_cycles_and_names_round_trip() {
        for (theme, next) in [(Theme::System, Theme::Light), (Theme::Light, Theme::Dark), (Theme::Dark, Theme::System)]
        {
            assert_eq!(theme.next(), next);
            assert_eq!(Theme::from_name(theme.name()), theme);
        }
        assert_eq!(Theme::from_name(Some("sepia")), Theme::System);
    }
}
