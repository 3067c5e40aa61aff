// Starts the laboratory, says so if it cannot, and has its files kept for when there is no network.
const service = serviceWorkers();
takeNewBuildOver();
try {
  const { default: init, mount } = await import("./deliver-twice-web.js");
  await init({ module_or_path: new URL("./deliver-twice-web_bg.wasm", import.meta.url) });
  mount();
  // A browser that refuses has the page as long as it has the network.
  service?.register(new URL("./offline.js", import.meta.url)).catch(() => {});
} catch (error) {
  document.querySelector(".start")?.classList.add("start--failed");
  document.querySelector("#start-error")?.append(String(error));
  throw error;
}

/** Only where the page is itself and not part of another's: a frame belongs to whoever shows it. */
function serviceWorkers() {
  try {
    return window.top === window ? navigator.serviceWorker : undefined;
  } catch {
    return undefined; // an opaque origin has none
  }
}

/** Asks a build that was kept since the last visit to take over. It does unless another window is open. */
async function takeNewBuildOver() {
  if (!service?.controller) return;
  service.addEventListener("controllerchange", () => location.reload());
  const registration = await service.getRegistration();
  registration?.waiting?.postMessage("take over");
}
