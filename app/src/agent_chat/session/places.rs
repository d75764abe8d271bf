//! Who may keep a connection open. Over HTTP/1.1 a browser opens six to a server, for all its tabs together: if each tab kept one for its
//! answer, the seventh could not even be loaded. So the tabs share a few places; a tab that has none looks again and again instead.
//!
//! A place is a lock of the browser, which frees it when its tab ends. Browsers have locks on pages that came by HTTPS or from the same
//! machine. Without them every tab has a place that is seen.

use crate::agent_chat::browser;
use futures::channel::oneshot;
use js_sys::{Function, Object, Promise, Reflect};
use leptos::prelude::window;
use leptos::web_sys::{BroadcastChannel, MessageEvent};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// Two connections stay for everything else.
const PLACES: usize = 4;
/// Where a tab that is seen says that it has found no place.
const CHANNEL: &str = "chatwright-places";

type Ear = (BroadcastChannel, Closure<dyn Fn(MessageEvent)>);

thread_local! {
    static WANTED: Cell<bool> = const { Cell::new(false) };
    /// Hears the others, as long as the page is there.
    static EAR: OnceCell<Option<Ear>> = const { OnceCell::new() };
}

/// A place; free again when it is dropped.
pub(super) struct Place(Option<Function>);

impl Place {
    /// Whether this tab is not seen, and one that is wants the place.
    pub(super) fn is_wanted(&self) -> bool {
        !browser::is_visible() && (self.0.is_none() || WANTED.get())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(free) = &self.0 {
            // What it calls is the browser's own, which cannot fail.
            let _ = free.call0(&JsValue::UNDEFINED);
        }
    }
}

/// A place, if one is free.
pub(super) async fn take() -> Option<Place> {
    EAR.with(|ear| ear.get_or_init(listen).is_some());
    let Some((locks, request)) = locks() else { return browser::is_visible().then_some(Place(None)) };
    for number in 0..PLACES {
        match lock(&locks, &request, &format!("chatwright-place-{number}")).await {
            Ok(Some(free)) => {
                WANTED.set(false);
                return Some(Place(Some(free)));
            }
            Ok(None) => {}
            Err(Refused) => return browser::is_visible().then_some(Place(None)),
        }
    }
    if let (true, Ok(channel)) = (browser::is_visible(), BroadcastChannel::new(CHANNEL)) {
        // Without other tabs nobody hears it.
        let _ = channel.post_message(&JsValue::TRUE);
        channel.close();
    }
    None
}

fn listen() -> Option<Ear> {
    let channel = BroadcastChannel::new(CHANNEL).ok()?;
    let heard = Closure::<dyn Fn(MessageEvent)>::new(|_| WANTED.set(true));
    channel.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    Some((channel, heard))
}

/// The browser's locks, and how one is asked for. By name: web-sys does not have them yet.
fn locks() -> Option<(JsValue, Function)> {
    let get = |of: &JsValue, name: &str| Reflect::get(of, &JsValue::from_str(name)).ok();
    let locks = get(&window().navigator(), "locks").filter(JsValue::is_object)?;
    let request = get(&locks, "request")?.dyn_into().ok()?;
    Some((locks, request))
}

/// The browser has locks and gives none here, as in a frame without an origin: it is as if it had none.
struct Refused;

/// What frees a lock again, if nobody had it.
async fn lock(locks: &JsValue, request: &Function, name: &str) -> Result<Option<Function>, Refused> {
    let (tell, told) = oneshot::channel();
    let tell = Rc::new(Cell::new(Some(tell)));
    let refuse = tell.clone();
    let granted = Closure::once(move |lock: JsValue| -> JsValue {
        let mut free = None;
        let held = Promise::new(&mut |resolve, _| free = Some(resolve));
        let is_told = tell.take().is_some_and(|tell| tell.send(free.filter(|_| !lock.is_null())).is_ok());
        // Whoever asked may be gone: then the lock is, too.
        if is_told && !lock.is_null() { held.into() } else { JsValue::UNDEFINED }
    });
    // Whoever asked hears of it at once.
    let refused = Closure::once(move |_: JsValue| drop(refuse.take()));
    let options = Object::new();
    Reflect::set(&options, &JsValue::from_str("ifAvailable"), &JsValue::TRUE).map_err(|_| Refused)?;
    let asked = request.call3(locks, &JsValue::from_str(name), &options, granted.as_ref()).map_err(|_| Refused)?;
    drop(asked.dyn_into::<Promise>().map_err(|_| Refused)?.catch(&refused));
    told.await.map_err(|_| Refused)
}
