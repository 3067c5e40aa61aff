// The page's worker: the same module as the page, which finds out for itself that it has no document.
import init from "./deliver-twice-web.js";

await init({ module_or_path: new URL("./deliver-twice-web_bg.wasm", import.meta.url) });
