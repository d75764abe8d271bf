// Turns notifications on and off in this browser, on the page /account/notifications (crates/notifications/src/page.rs). The texts are in the
// page; this script shows the one that holds.
const part = document.querySelector(".cw-notifications");
const WORKER = "/assets/notifications-worker.js";

const buttons = Object.fromEntries(["on", "off"].map((act) => [act, part.querySelector(`[data-act=${act}]`)]));

/** Shows the text of a state, and the button that changes it. */
const show = (state) => {
  for (const text of part.querySelectorAll("[data-state]")) text.hidden = text.dataset.state !== state;
  buttons.on.hidden = !["off", "failed"].includes(state);
  buttons.off.hidden = state !== "on";
};

const subscription = async () => {
  const registration = await navigator.serviceWorker.getRegistration(WORKER);
  return await registration?.pushManager.getSubscription();
};

/** The list item of this browser, if the server sends to it. */
const listed = (endpoint) => [...document.querySelectorAll("[data-endpoint]")].find((item) => item.dataset.endpoint === endpoint);

/** Registers the worker, and waits until it can receive messages. */
const worker = async () => {
  const registration = await navigator.serviceWorker.register(WORKER);
  const starting = registration.installing ?? registration.waiting;
  if (!registration.active && starting) {
    await new Promise((resolve, reject) => {
      starting.addEventListener("statechange", () => {
        if (starting.state === "activated") resolve();
        if (starting.state === "redundant") reject(new Error("the worker did not start"));
      });
    });
  }
  return registration;
};

const turnOn = async () => {
  if ((await Notification.requestPermission()) !== "granted") return show("denied");
  const registration = await worker();
  const options = { userVisibleOnly: true, applicationServerKey: part.dataset.key };
  let current = await registration.pushManager.getSubscription();
  // A subscription with another key, such as that of an earlier installation, gets no messages from this one.
  if (current && !listed(current.endpoint)) {
    await current.unsubscribe();
    current = null;
  }
  current ??= await registration.pushManager.subscribe(options);
  const response = await fetch("/api/notifications/browsers", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(current),
  });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  location.replace("/account/notifications");
};

const turnOff = async () => {
  const current = await subscription();
  if (current) {
    const form = listed(current.endpoint)?.querySelector("form");
    await current.unsubscribe();
    if (form) return form.requestSubmit();
  }
  location.replace("/account/notifications");
};

const guarded = (act) => async () => {
  for (const button of Object.values(buttons)) button.disabled = true;
  await act().catch((error) => {
    console.error(error);
    show("failed");
  });
  for (const button of Object.values(buttons)) button.disabled = false;
};

const begin = async () => {
  if (!window.isSecureContext) return show("insecure");
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) return show("unsupported");
  if (Notification.permission === "denied") return show("denied");
  const current = await subscription();
  show(current && listed(current.endpoint) ? "on" : "off");
};

buttons.on.addEventListener("click", guarded(turnOn));
buttons.off.addEventListener("click", guarded(turnOff));
begin().catch((error) => {
  console.error(error);
  show("failed");
});
