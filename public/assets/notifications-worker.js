// The service worker that shows notifications, also while no page is open. It controls no page and stores nothing.
// crates/notifications/src/message.rs says what a message contains.

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => {
  const { title, body, tag, url } = event.data?.json() ?? { title: "Chatwright", url: "/" };
  event.waitUntil(self.registration.showNotification(title, { body, tag, icon: "/assets/favicon.svg", data: { url } }));
});

/** Opens the page, or the window that shows it already. */
const open = async (url) => {
  const target = new URL(url, self.location.origin).href;
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = windows.find((window) => window.url === target);
  return shown ? shown.focus() : self.clients.openWindow(target);
};

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.url));
});
