// The package in a browser: the module is fetched from beside this file.
import { DeliverTwiceError, loader } from "./api.js";

export { DeliverTwiceError };
export const load = loader(() => new URL("./deliver-twice-web_bg.wasm", import.meta.url));
