// Loads the chunks. What stands before it defines `getSharedImports`, the parts of the main module that chunks use,
// and `wrapAsyncCb`, which tells the main module whether its chunk was loaded.

const files = new Map();

// Loads a file once. A file that could not be loaded is tried again the next time.
function load(name) {
    if (!files.has(name)) {
        const loading = instantiate(name);
        loading.catch(() => files.delete(name));
        files.set(name, loading);
    }
    return files.get(name);
}

async function instantiate(name) {
    if (name.endsWith(".css")) {
        await style(name);
        return;
    }
    const answer = await fetch(new URL(`./${name}`, import.meta.url));
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    if (name.endsWith(".wasm")) {
        await WebAssembly.instantiateStreaming(answer, getSharedImports());
        return;
    }
    // A bundle: the number of its modules, the length of each, and the modules.
    const bytes = await answer.arrayBuffer();
    const lengths = new DataView(bytes);
    const count = lengths.getUint32(0, true);
    const modules = [];
    let from = 4 * (count + 1);
    for (let index = 1; index <= count; index += 1) {
        const to = from + lengths.getUint32(4 * index, true);
        modules.push(WebAssembly.instantiate(new Uint8Array(bytes, from, to - from), getSharedImports()));
        from = to;
    }
    await Promise.all(modules);
}

// Adds a style sheet, unless the page was rendered with it.
function style(name) {
    if (document.querySelector(`link[rel="stylesheet"][href$="/${name}"]`)) return undefined;
    return new Promise((resolve, reject) => {
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.href = new URL(`./${name}`, import.meta.url).href;
        link.onload = () => resolve();
        link.onerror = () => {
            link.remove();
            reject(new Error(name));
        };
        document.head.append(link);
    });
}

function chunk(...indices) {
    return wrapAsyncCb(() => Promise.all(indices.map((index) => load(FILES[index]))));
}
