/** Entry of `sessarc/test`: the suites adapters and plugins are held to, and a kernel to test against. Needs vitest. */
export * from "./adapter.ts";
export * from "./kernel.ts";
export * from "./plugin.ts";
