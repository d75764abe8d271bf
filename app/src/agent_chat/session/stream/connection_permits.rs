//! Permits for permanent connections. Over HTTP/1.1 a browser opens at most six connections to a
//! server, shared by all tabs: if each tab kept one for its answer, a seventh tab could not be
//! loaded. So the tabs share a few permits; a tab without one polls instead.
//!
//! A permit is a lock of the Web Locks API, which the browser releases when the tab is closed. The
//! API is available in secure contexts only: over HTTPS or on the same machine. Without it, every
//! visible tab has a permit.

use crate::ui::browser;
use futures::channel::oneshot;
use js_sys::{Function, Object, Promise, Reflect};
use leptos::prelude::window;
use leptos::web_sys::{BroadcastChannel, MessageEvent};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// Leaves two connections for all other requests.
const MAX_PERMITS: usize = 4;
/// The channel on which a visible tab announces that it found no free permit.
const CHANNEL: &str = "chatwright-places";

type PermitChannel = (BroadcastChannel, Closure<dyn Fn(MessageEvent)>);

thread_local! {
    static PERMIT_WANTED: Cell<bool> = const { Cell::new(false) };
    /// Receives the announcements of other tabs as long as the page exists.
    static PERMIT_CHANNEL: OnceCell<Option<PermitChannel>> = const { OnceCell::new() };
}

/// A permit; released when dropped.
pub(in crate::agent_chat::session) struct ConnectionPermit(Option<Function>);

impl ConnectionPermit {
    /// Whether this tab is hidden while a visible one needs a permit.
    pub(in crate::agent_chat::session) fn should_release(&self) -> bool {
        !browser::is_visible() && (self.0.is_none() || PERMIT_WANTED.get())
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        if let Some(free) = &self.0 {
            // The function is a native one that cannot fail.
            let _ = free.call0(&JsValue::UNDEFINED);
        }
    }
}

/// Returns a permit, if one is free.
pub(in crate::agent_chat::session) async fn acquire() -> Option<ConnectionPermit> {
    PERMIT_CHANNEL.with(|ear| ear.get_or_init(listen).is_some());
    let Some((locks, request)) = locks() else { return browser::is_visible().then_some(ConnectionPermit(None)) };
    for number in 0..MAX_PERMITS {
        match try_lock(&locks, &request, &format!("chatwright-place-{number}")).await {
            Ok(Some(free)) => {
                PERMIT_WANTED.set(false);
                return Some(ConnectionPermit(Some(free)));
            }
            Ok(None) => {}
            Err(LocksUnavailable) => return browser::is_visible().then_some(ConnectionPermit(None)),
        }
    }
    if let (true, Ok(channel)) = (browser::is_visible(), BroadcastChannel::new(CHANNEL)) {
        // Without other tabs, nothing receives it.
        let _ = channel.post_message(&JsValue::TRUE);
        channel.close();
    }
    None
}

fn listen() -> Option<PermitChannel> {
    let channel = BroadcastChannel::new(CHANNEL).ok()?;
    let heard = Closure::<dyn Fn(MessageEvent)>::new(|_| PERMIT_WANTED.set(true));
    channel.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    Some((channel, heard))
}

/// The lock manager and its `request` method, by name, because `web-sys` has no stable bindings for
/// them.
fn locks() -> Option<(JsValue, Function)> {
    let get = |of: &JsValue, name: &str| Reflect::get(of, &JsValue::from_str(name)).ok();
    let locks = get(&window().navigator(), "locks").filter(JsValue::is_object)?;
    let request = get(&locks, "request")?.dyn_into().ok()?;
    Some((locks, request))
}

/// The browser has locks but refuses them here, as in a frame with an opaque origin; treated as a
/// browser without locks.
struct LocksUnavailable;

/// Acquires a lock if it is free, and returns the function that releases it.
async fn try_lock(locks: &JsValue, request: &Function, name: &str) -> Result<Option<Function>, LocksUnavailable> {
    let (tell, told) = oneshot::channel();
    let tell = Rc::new(Cell::new(Some(tell)));
    let refuse = tell.clone();
    let granted = Closure::once(move |lock: JsValue| -> JsValue {
        let mut free = None;
        let held = Promise::new(&mut |resolve, _| free = Some(resolve));
        let is_told = tell.take().is_some_and(|tell| tell.send(free.filter(|_| !lock.is_null())).is_ok());
        // If the caller is gone, the lock is released at once.
        if is_told && !lock.is_null() { held.into() } else { JsValue::UNDEFINED }
    });
    // Makes the caller return at once.
    let refused = Closure::once(move |_: JsValue| drop(refuse.take()));
    let options = Object::new();
    Reflect::set(&options, &JsValue::from_str("ifAvailable"), &JsValue::TRUE).map_err(|_| LocksUnavailable)?;
    let asked =
        request.call3(locks, &JsValue::from_str(name), &options, granted.as_ref()).map_err(|_| LocksUnavailable)?;
    drop(asked.dyn_into::<Promise>().map_err(|_| LocksUnavailable)?.catch(&refused));
    told.await.map_err(|_| LocksUnavailable)
}
