// The page's worker: the same module as the page, which is told here to search and not to show anything.
import init, { serveSearches } from "./deliver-twice-web.js";

await init({ module_or_path: new URL("./deliver-twice-web_bg.wasm", import.meta.url) });
serveSearches();
