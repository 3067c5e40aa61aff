import { defineConfig } from "vitepress";

export default defineConfig({
  title: "Distributed systems",
  lang: "en-US",
  base: "/course/week-3/",
  head: [
    ["link", { rel: "icon", href: "data:," }],
    ["script", { type: "module", src: "https://lab.example/deliver-twice.js" }],
  ],
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag === "deliver-twice" } } },
});
