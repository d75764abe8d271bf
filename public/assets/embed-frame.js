// In the inner frame of a chat on another site's page, before the app: adds to all requests who asks, and passes on what chat and site
// tell each other. See app/src/agent_chat/embedded.rs.
const door = parent === window ? undefined : parent.chatwright;
const { visitor, code, message } = document.currentScript.dataset;

if (door) {
  const themed = () => {
    const theme = door.theme();
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  themed();
  if (visitor) door.keep(visitor);
  if (code) door.tell({ type: "closed", code, message });

  window.hear = (told) => {
    if (told.type === "theme") return themed();
    dispatchEvent(new CustomEvent("chatwright-in", { detail: JSON.stringify(told) }));
  };
  addEventListener("chatwright-out", (event) => door.tell(JSON.parse(event.detail)));

  const isOurs = (url) => url.origin === location.origin && /^\/(api|ui)\//.test(url.pathname);
  const name = visitor ? ["x-chatwright-visitor", visitor] : undefined;
  const plain = window.fetch;
  const asked = async (request) => {
    const token = await door.token();
    if (!token) {
      if (name) request.headers.set(...name);
      return plain(request);
    }
    request.headers.set("authorization", `Bearer ${token}`);
    // Who is signed in here otherwise is not who the site means.
    return plain(new Request(request, { credentials: "omit" }));
  };
  window.fetch = async (resource, options) => {
    const request = new Request(resource, options);
    if (!isOurs(new URL(request.url))) return plain(request);
    const again = request.clone();
    const response = await asked(request);
    if (response.status === 401 && (await door.renew())) return asked(again);
    return response;
  };
  // Files are sent by the older kind of request. Its token may have ended: the next attempt has another.
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (body) {
    const token = door.now();
    if (token) this.setRequestHeader("authorization", `Bearer ${token}`);
    else if (name) this.setRequestHeader(...name);
    send.call(this, body);
  };

  // Pictures and links ask without a header, so what they are refused is fetched for them.
  const file = async (url) => {
    const response = await fetch(url);
    return response.ok ? URL.createObjectURL(await response.blob()) : undefined;
  };
  const isFile = (url) => url?.startsWith(`${location.origin}/api/files/`);
  addEventListener(
    "error",
    async ({ target }) => {
      if (!(target instanceof HTMLImageElement) || !isFile(target.src) || target.dataset.fetched) return;
      target.dataset.fetched = "";
      const picture = await file(target.src);
      if (!picture) return;
      target.addEventListener("load", () => URL.revokeObjectURL(picture), { once: true });
      target.src = picture;
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
      const copy = await file(link.href);
      if (!copy) return;
      Object.assign(document.createElement("a"), { href: copy, download: link.download || link.textContent.trim() || "file" }).click();
      setTimeout(() => URL.revokeObjectURL(copy), 60_000);
    },
    true,
  );

  addEventListener("keydown", (event) => {
    const isFree = event.key === "Escape" && !event.defaultPrevented && !document.querySelector(":popover-open, dialog[open]");
    if (isFree) door.tell({ type: "escape" });
  });
}
