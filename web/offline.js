// The page without a network: keeps the files of one build, and hands out no other build beside it.
// The build writes the next line: the path of each file, and the SHA-256 of what is in it.
const FILES = {};

// Every course of a server has its own copies, and every build its own cache.
const OURS = `deliver-twice ${registration.scope} `;
const CACHE = OURS + JSON.stringify(FILES);
const KEPT = new Set(Object.keys(FILES).map(address));

addEventListener("install", (event) => event.waitUntil(keepFiles()));
addEventListener("activate", (event) => event.waitUntil(begin()));
addEventListener("message", (event) => {
  if (event.data === "take over") event.waitUntil(takeOver());
});
addEventListener("fetch", (event) => {
  const wanted = new URL(event.request.url);
  wanted.search = wanted.hash = "";
  if (event.request.method !== "GET" || !KEPT.has(wanted.href)) return;
  event.respondWith(file(event.request, wanted));
});

/** Where a file is served. Hosts send `index.html` away to its folder. */
function address(path) {
  return new URL(path === "index.html" ? "./" : path, registration.scope).href;
}

/** All or nothing: during a deploy a file of the other build has the wrong hash, and is refused. */
async function keepFiles() {
  // A development build keeps nothing, and frees its address from the build before.
  if (KEPT.size === 0) return skipWaiting();
  const cache = await caches.open(CACHE);
  const keep = async ([path, integrity]) => {
    const response = await fetch(address(path), { integrity, cache: "no-cache" });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    // A page must not be answered with a redirection's response.
    const { headers } = response;
    await cache.put(address(path), new Response(await response.blob(), { headers }));
  };
  await Promise.all(Object.entries(FILES).map(keep));
}

async function begin() {
  const others = (await caches.keys()).filter((name) => name.startsWith(OURS) && name !== CACHE);
  await Promise.all(others.map((name) => caches.delete(name)));
  await clients.claim();
}

/** A new build waits as long as a window besides the one that asks has the old one. */
async function takeOver() {
  const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const ours = windows.filter((window) => window.url.startsWith(registration.scope));
  if (ours.length < 2) await skipWaiting();
}

async function file(request, wanted) {
  const kept = await caches.match(wanted.href, { cacheName: CACHE, ignoreVary: true });
  return kept ?? fetch(request);
}
