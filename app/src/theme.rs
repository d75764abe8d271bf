//! The theme: the system's, light or dark. A choice is kept in the browser's storage; `public/assets/theme.js` applies it before the
//! first paint.

use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, t};

/// The key in the browser's storage; `theme.js` reads it too.
const STORAGE_KEY: &str = "theme";

/// Which colours the page has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Those that the system prefers.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// As it is stored and as the style sheet knows it; the system's is the absence of a choice.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }

    fn of_name(name: Option<&str>) -> Self {
        match name {
            Some("light") => Self::Light,
            Some("dark") => Self::Dark,
            _ => Self::System,
        }
    }

    /// The one that a click on the switch chooses.
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

/// A button that goes through the themes. Which icon shows is the style sheet's matter, so that it is right before the WASM has
/// loaded.
#[component]
pub fn ThemeSwitch() -> AnyView {
    let theme = RwSignal::new(Theme::System);
    // After hydration: the server does not know the choice.
    Effect::new(move |_| theme.set(stored()));
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
                <Icon of=Shape::Screen />
            </span>
            <span class="cw-theme-light">
                <Icon of=Shape::Sun />
            </span>
            <span class="cw-theme-dark">
                <Icon of=Shape::Moon />
            </span>
        </button>
    }
    .into_any()
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

fn stored() -> Theme {
    let name = storage().and_then(|storage| storage.get_item(STORAGE_KEY).ok().flatten());
    Theme::of_name(name.as_deref())
}

/// Shows a theme and remembers it. Where storage is forbidden it holds until the next load, which is why its errors are ignored.
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
    fn the_switch_goes_round_and_names_survive_storage() {
        for (theme, next) in [(Theme::System, Theme::Light), (Theme::Light, Theme::Dark), (Theme::Dark, Theme::System)]
        {
            assert_eq!(theme.next(), next);
            assert_eq!(Theme::of_name(theme.name()), theme);
        }
        assert_eq!(Theme::of_name(Some("sepia")), Theme::System);
    }
}
