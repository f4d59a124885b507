/** Public entry `sessarc/serve`: a kernel inside a program of one's own, and what a server is made of. Re-exports only. */
export { type ConfigFlags, isLoopback, resolveConfig } from "../config/config.ts";
export { loadConfig } from "../config/file.ts";
export { readSettings, type Settings, writeSettings } from "../config/settings.ts";
export type { ResolvedConfig } from "../contract/config.ts";
export type { Answered, Front } from "../contract/front.ts";
export type { PluginEntry } from "../contract/plugin.ts";
export { validate } from "../contract/schema.ts";
export { serviceUrl, toHostName } from "../http/address.ts";
export { messageIn, readBytes, readJson } from "../http/body.ts";
export { addSecurityHeaders } from "../http/guard.ts";
export { type ApiInfo, toOpenApi } from "../http/openapi.ts";
export type { KernelRoutes } from "../kernel/builtin.ts";
export { createKernel, type KernelOptions } from "../kernel/kernel.ts";
export { loadPlugin } from "../kernel/load.ts";
export { type Client, type ClientOptions, createClient, UnreachableError } from "../serve/client.ts";
export { linger, listenOn } from "../serve/listen.ts";
export { closeOnSignals, type Served, type ServeOptions, serve } from "../serve/serve.ts";
export { collectorAt, type OtlpSignal, sendOtlp } from "../utils/otlp.ts";
