// The package in Node.js: the module is read from beside this file.
import { readFile } from "node:fs/promises";

import { DeliverTwiceError, loader } from "./api.js";

export { DeliverTwiceError };
export const load = loader(() => readFile(new URL("./deliver-twice-web_bg.wasm", import.meta.url)));
