//! Scripts that are loaded when the first view needs them.

/// Loads a module of the site into the page, once.
#[cfg(not(feature = "ssr"))]
pub(crate) fn load_script(src: &'static str) {
    use leptos::prelude::document;
    use std::cell::RefCell;
    thread_local! {
        static LOADED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }
    let is_loaded = LOADED.with_borrow_mut(|loaded| {
        let is_known = loaded.contains(&src);
        if !is_known {
            loaded.push(src);
        }
        is_known
    });
    let script = document().create_element("script");
    if let (false, Ok(script), Some(head)) = (is_loaded, script, document().head()) {
        // Cannot fail: sets attributes of a new element. Without the script, only its additions are missing.
        let _ = script.set_attribute("type", "module");
        let _ = script.set_attribute("src", src);
        let _ = head.append_child(&script);
    }
}

#[cfg(feature = "ssr")]
pub(crate) fn load_script(_: &'static str) {}
