// Dictates over the server, tests the microphone, and reads answers aloud. Loaded with the first use of one of these; see
// app/src/agent_chat/composer/voice.rs.
//
// <cw-voice mode="dictate" agent="…" seconds="120"> records at once, and puts the recognised text at the cursor of the composer.
// <cw-voice mode="read" conversation="…" message="…"> plays the parts of an answer.
//
// The texts are the attributes `data-…`. An event "cw-voice-done" says that nothing is left to do; "cw-voice-failed" has the server's
// error as JSON, or nothing where the server was not reached.

/** The length of a test of the microphone, in milliseconds. */
const TEST_MS = 3_000;
/** How often the level and the time are shown, in milliseconds. */
const SHOWN_MS = 100;
/** Enough for speech, in bits per second. */
const BIT_RATE = 32_000;
/** The types of recordings, the best first; each browser supports one of them. */
const TYPES = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus"];
/** The loudness that fills the meter: that of a voice near the microphone. */
const LOUD = 0.25;

const aborted = (error) => error?.name === "AbortError";

/** Returns an address with the bytes, which the content security policy allows for audio. */
function dataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

/** A recording from the microphone. */
class Recording {
  #stream;
  #recorder;
  #pieces = [];
  #stopped;
  #context;
  #samples;
  #analyser;
  startedAt = performance.now();

  /** Asks for the microphone and begins. Fails as `getUserMedia` does. */
  static async start() {
    // There is none on pages without HTTPS.
    if (!navigator.mediaDevices) throw new DOMException("", "NotAllowedError");
    return new Recording(await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } }));
  }

  constructor(stream) {
    this.#stream = stream;
    const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type));
    this.#recorder = new MediaRecorder(stream, { ...(mimeType && { mimeType }), audioBitsPerSecond: BIT_RATE });
    this.#recorder.ondataavailable = ({ data }) => this.#pieces.push(data);
    this.#stopped = new Promise((resolve) => { this.#recorder.onstop = resolve; });
    this.#recorder.start();
    this.#listen();
  }

  /** Measures the loudness. Without it only the level is missing. */
  #listen() {
    try {
      this.#context = new AudioContext();
      this.#analyser = this.#context.createAnalyser();
      this.#samples = new Float32Array(this.#analyser.fftSize);
      this.#context.createMediaStreamSource(this.#stream).connect(this.#analyser);
      this.#context.resume().catch(() => {});
    } catch {
      this.#analyser = undefined;
    }
  }

  /** The loudness now, from 0 to 1. */
  get level() {
    if (!this.#analyser) return 0;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    const power = this.#samples.reduce((sum, sample) => sum + sample * sample, 0) / this.#samples.length;
    return Math.min(1, Math.sqrt(power) / LOUD);
  }

  get seconds() {
    return (performance.now() - this.startedAt) / 1_000;
  }

  /** Ends and returns the recording. */
  async finish() {
    this.cancel();
    await this.#stopped;
    return new Blob(this.#pieces, { type: this.#recorder.mimeType });
  }

  /** Ends, and gives the microphone back. */
  cancel() {
    if (this.#recorder.state !== "inactive") this.#recorder.stop();
    for (const track of this.#stream.getTracks()) track.stop();
    if (this.#context && this.#context.state !== "closed") this.#context.close().catch(() => {});
  }
}

class Voice extends HTMLElement {
  #life;
  #recording;
  #timer;
  #audio;
  #isPaused = false;

  connectedCallback() {
    this.#life = new AbortController();
    this.status = document.createElement("p");
    this.status.setAttribute("role", "status");
    this.clock = document.createElement("span");
    this.clock.setAttribute("role", "timer");
    this.meter = document.createElement("meter");
    // The status says it in words.
    this.meter.setAttribute("aria-hidden", "true");
    this.buttons = document.createElement("div");
    this.buttons.className = "cw-voice-buttons";
    this.replaceChildren(this.status, this.clock, this.meter, this.buttons);
    if (this.getAttribute("mode") === "read") this.#read();
    else this.#dictate();
  }

  disconnectedCallback() {
    this.#life.abort();
    this.#endRecording();
    this.#audio?.pause();
  }

  /** Shows a state: its text, and its buttons as pairs of label and action. The first button gets the focus. */
  #show(text, buttons, isRecording = false) {
    this.status.textContent = this.dataset[text] ?? "";
    this.dataset.state = text;
    this.clock.hidden = this.meter.hidden = !isRecording;
    const made = buttons.map(([label, act], index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = index === 0 ? "cw-button cw-primary" : "cw-button";
      button.textContent = this.dataset[label];
      button.addEventListener("click", act);
      return button;
    });
    this.buttons.replaceChildren(...made);
    made[0]?.focus();
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }

  #close = () => this.#tell("cw-voice-done");
  #startAgain = () => this.#dictate();

  /** Begins a recording, shows its time and level, and calls `end` after some seconds. */
  async #record(text, buttons, seconds, end) {
    this.#endRecording();
    this.#show("loading", [["cancel", this.#close]]);
    try {
      const recording = await Recording.start();
      // The panel was closed while the browser has asked.
      if (this.#life.signal.aborted) return recording.cancel();
      this.#recording = recording;
    } catch (error) {
      const known = { NotAllowedError: "denied", SecurityError: "denied" }[error.name] ?? "missing";
      if (!this.#life.signal.aborted) this.#show(known, [["retry", this.#startAgain], ["cancel", this.#close]]);
      return;
    }
    this.#show(text, buttons, true);
    const update = () => {
      const passed = this.#recording.seconds;
      this.meter.value = this.#recording.level;
      const shown = `${Math.floor(passed / 60)}:${String(Math.floor(passed % 60)).padStart(2, "0")}`;
      if (this.clock.textContent !== shown) this.clock.textContent = shown;
      if (passed >= seconds) end();
    };
    this.#timer = setInterval(update, SHOWN_MS);
    update();
  }

  #endRecording() {
    clearInterval(this.#timer);
    this.#recording?.cancel();
    this.#recording = undefined;
  }

  /** Ends and returns the recording. */
  async #finish() {
    clearInterval(this.#timer);
    const recording = this.#recording;
    this.#recording = undefined;
    return recording.finish();
  }

  #dictate() {
    const insert = () => this.#finish().then((recorded) => this.#write(recorded));
    const buttons = [["insert", insert], ["cancel", this.#close], ["test", () => this.#test()]];
    this.#record("listening", buttons, Number(this.getAttribute("seconds")), insert);
  }

  /** Has a recording written down by the server. A failed request can be repeated. */
  async #write(recorded) {
    this.#show("writing", [["cancel", this.#close]]);
    try {
      const query = new URLSearchParams({ agentId: this.getAttribute("agent") });
      const answer = await this.#ask(`/api/transcriptions?${query}`, { "content-type": recorded.type.split(";")[0] }, recorded);
      const { text } = await answer.json();
      if (text === "") return this.#show("nothing", [["retry", this.#startAgain], ["cancel", this.#close]]);
      this.#insert(text);
      this.#close();
    } catch (error) {
      this.#fail(error, [["retry", () => this.#write(recorded)], ["cancel", this.#close]]);
    }
  }

  /** Puts a text at the cursor of the composer. */
  #insert(text) {
    let field = null;
    for (let around = this.parentElement; around && !field; around = around.parentElement) {
      field = around.querySelector(".cw-composer textarea");
    }
    if (!field) return;
    const { selectionStart: start, selectionEnd: end, value } = field;
    const gap = start > 0 && !/\s$/.test(value.slice(0, start)) ? " " : "";
    const after = end < value.length && !/^\s/.test(value.slice(end)) ? " " : "";
    field.setRangeText(gap + text + after, start, end, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }

  /** Records some seconds and plays them. */
  #test() {
    this.#record("testing", [["cancel", this.#close]], TEST_MS / 1_000, async () => {
      const recorded = await this.#finish();
      this.#show("tested", [["dictate", this.#startAgain], ["test", () => this.#test()], ["cancel", this.#close]]);
      try {
        this.#audio?.pause();
        this.#audio = new Audio(await dataUrl(recorded));
        if (!this.#life.signal.aborted) await this.#audio.play();
      } catch (error) {
        this.#fail(error, [["retry", () => this.#test()], ["cancel", this.#close]]);
      }
    });
  }

  async #ask(path, headers, body) {
    const answer = await fetch(path, { method: "POST", headers, body, signal: this.#life.signal });
    if (!answer.ok) throw Object.assign(new Error(`status ${answer.status}`), { said: await answer.text() });
    return answer;
  }

  #fail(error, buttons) {
    if (this.#life.signal.aborted || aborted(error)) return;
    this.#show("failed", buttons);
    this.#tell("cw-voice-failed", error.said ?? "");
  }

  async #part(part) {
    const path = `/api/conversations/${encodeURIComponent(this.getAttribute("conversation"))}/speech`;
    const body = JSON.stringify({ messageId: this.getAttribute("message"), part });
    const answer = await this.#ask(path, { "content-type": "application/json" }, body);
    return { count: Number(answer.headers.get("speech-parts")), url: await dataUrl(await answer.blob()) };
  }

  /** Plays the parts of the answer; while one is heard, the next one is fetched. */
  async #read() {
    this.#isPaused = false;
    this.#show("loading", [["stop", this.#close]]);
    try {
      let next = this.#part(0);
      for (let part = 0, count = 1; part < count; part += 1) {
        const { url, count: parts } = await next;
        if (this.#life.signal.aborted) return;
        if (part === 0) this.#showReading();
        count = parts;
        next = part + 1 < count ? this.#part(part + 1) : undefined;
        // It is told when the part is needed.
        next?.catch(() => {});
        await this.#play(url);
      }
      this.#close();
    } catch (error) {
      this.#fail(error, [["retry", () => this.#read()], ["stop", this.#close]]);
    }
  }

  /** Plays to the end, however often it is paused. */
  #play(url) {
    return new Promise((resolve, reject) => {
      this.#audio = new Audio(url);
      this.#audio.onended = resolve;
      this.#audio.onerror = () => reject(new Error("the audio cannot be played"));
      if (!this.#isPaused) this.#audio.play().catch(reject);
    });
  }

  #showReading() {
    const toggle = () => {
      this.#isPaused = !this.#isPaused;
      if (this.#isPaused) this.#audio.pause();
      // Its end, or its failure, is heard by `#play`.
      else this.#audio.play().catch(() => {});
      this.#showReading();
    };
    this.#show(this.#isPaused ? "paused" : "reading", [[this.#isPaused ? "resume" : "pause", toggle], ["stop", this.#close]]);
  }
}

customElements.define("cw-voice", Voice);
