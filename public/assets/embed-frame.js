// Runs in the inner frame of an embedded chat, before the app. It adds the user's token or the visitor's id to all requests to the server,
// and passes messages between the chat and the host page through the outer frame (embed-door.js). See app/src/agent_chat/embedded.rs.
const outer = parent === window ? undefined : parent.chatwright;
const { visitor, code, message } = document.currentScript.dataset;

if (outer) {
  const applyTheme = () => {
    const theme = outer.theme();
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  applyTheme();
  if (visitor) outer.keep(visitor);
  if (code) outer.tell({ type: "closed", code, message });

  window.hear = (data) => {
    if (data.type === "theme") return applyTheme();
    dispatchEvent(new CustomEvent("chatwright-in", { detail: JSON.stringify(data) }));
  };
  addEventListener("chatwright-out", (event) => outer.tell(JSON.parse(event.detail)));

  const isOurs = (url) => url.origin === location.origin && /^\/(api|ui)\//.test(url.pathname);
  const visitorHeader = visitor ? ["x-chatwright-visitor", visitor] : undefined;
  const nativeFetch = window.fetch;
  const fetchWithCredentials = async (request) => {
    const token = await outer.token();
    if (!token) {
      if (visitorHeader) request.headers.set(...visitorHeader);
      return nativeFetch(request);
    }
    request.headers.set("authorization", `Bearer ${token}`);
    // Without cookies: the session of a user who is signed in on this server must not take the place of the token.
    return nativeFetch(new Request(request, { credentials: "omit" }));
  };
  window.fetch = async (resource, options) => {
    const request = new Request(resource, options);
    if (!isOurs(new URL(request.url))) return nativeFetch(request);
    // A request can be sent only once, so a retry needs a copy.
    const copy = request.clone();
    const response = await fetchWithCredentials(request);
    if (response.status === 401 && (await outer.renew())) return fetchWithCredentials(copy);
    return response;
  };
  // File uploads use XMLHttpRequest. `send` is synchronous, so an expired token cannot be renewed first; the next attempt has a new one.
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (body) {
    const token = outer.now();
    if (token) this.setRequestHeader("authorization", `Bearer ${token}`);
    else if (visitorHeader) this.setRequestHeader(...visitorHeader);
    send.call(this, body);
  };

  // Images and links send no authorization header. A file that was refused to an image, or that a link points to, is fetched here instead.
  const fetchFile = async (url) => {
    const response = await fetch(url);
    return response.ok ? URL.createObjectURL(await response.blob()) : undefined;
  };
  const isFile = (url) => url?.startsWith(`${location.origin}/api/files/`);
  addEventListener(
    "error",
    async ({ target }) => {
      if (!(target instanceof HTMLImageElement) || !isFile(target.src) || target.dataset.fetched) return;
      target.dataset.fetched = "";
      const blobUrl = await fetchFile(target.src);
      if (!blobUrl) return;
      target.addEventListener("load", () => URL.revokeObjectURL(blobUrl), { once: true });
      target.src = blobUrl;
    },
    true,
  );
  addEventListener(
    "click",
    async (event) => {
      const link = event.target instanceof Element ? event.target.closest("a[href]") : undefined;
      if (!link || !isFile(link.href)) return;
      event.preventDefault();
      event.stopPropagation();
      const copy = await fetchFile(link.href);
      if (!copy) return;
      Object.assign(document.createElement("a"), { href: copy, download: link.download || link.textContent.trim() || "file" }).click();
      setTimeout(() => URL.revokeObjectURL(copy), 60_000);
    },
    true,
  );

  // Escape closes the host's drawer, unless something in the chat has used it.
  addEventListener("keydown", (event) => {
    const isUnused = event.key === "Escape" && !event.defaultPrevented && !document.querySelector(":popover-open, dialog[open]");
    if (isUnused) outer.tell({ type: "escape" });
  });
}
