//! The bar at the top of a page.

use super::account::AccountMenu;
use super::drawer::{CONTENT_DRAWER, CONVERSATIONS_DRAWER};
use super::regions::RegionNames;
use crate::page_state::use_page_state;
use crate::palette::palette_button;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::theme::ThemeSwitch;
use crate::ui::icons::{Icon, Shape};

/// The bar of a page: the title, the buttons that open its drawers on a narrow screen, the theme
/// switch, and the account menu.
#[component]
pub fn Bar(
    /// The page's title.
    title: String,
    /// The regions that become drawers on a narrow screen.
    names: RegionNames,
) -> AnyView {
    let state = use_page_state();
    let changes = Memo::new(move |_| state.agent_writes().len());
    view! {
        <header class="cw-bar">
            {names.conversations.map(|name| view! { <DrawerButton drawer=CONVERSATIONS_DRAWER name icon=Shape::CONVERSATIONS /> })}
            <a class="cw-home" href="/" aria-label=t(Text::StartPage)>
                <Logo />
            </a>
            <h1 class="cw-bar-title">{title}</h1>
            {names.content.map(|name| view! { <DrawerButton drawer=CONTENT_DRAWER name icon=Shape::FORM changes /> })}
            {palette_button()}
            <ThemeSwitch />
            <AccountMenu />
        </header>
    }
    .into_any()
}

/// The button that opens and closes a drawer.
#[component]
fn DrawerButton(
    /// The drawer's id.
    drawer: &'static str,
    /// Its name.
    name: String,
    icon: Shape,
    /// The number of changes by the agent in the drawer, shown as a badge.
    #[prop(optional)]
    changes: Option<Memo<usize>>,
) -> AnyView {
    let badge = move || {
        let changes = changes?.get();
        (changes > 0).then(|| view! { <span class="cw-badge">{changes.to_string()}</span> }.into_any())
    };
    view! {
        <button type="button" class="cw-icon-button cw-drawer-button" popovertarget=drawer aria-label=name>
            <Icon of=icon />
            {badge}
        </button>
    }
    .into_any()
}

/// The logo: a speech bubble cut like a chisel.
#[component]
pub(crate) fn Logo() -> AnyView {
    view! {
        <svg class="cw-mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
            <path class="cw-mark-body" d="M5 3h14a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3h-6l-6 5v-5H5a3 3 0 0 1-3-3V6a3 3 0 0 1 3-3z" />
            <path class="cw-mark-line" d="M7 8.5h10M7 12h6" />
        </svg>
    }
    .into_any()
}
