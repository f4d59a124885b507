/** The version contract between sessarc and plugins. */
import type { Plugin } from "../contract/plugin.ts";
import { SessarcError } from "../errors/error.ts";

/**
 * Version of what plugins see: the contract's interfaces, hooks and the exports of `sessarc`. Major: something a plugin may rely on went
 * or changed; minor: something was added.
 */
export const PLUGIN_API = "1.0";

/** Throws PLUGIN_INVALID for an invalid range, PLUGIN_INCOMPATIBLE for a range without this version. */
export function checkCompatibility({ name, compatibility }: Plugin, specifier: string): void {
  if (compatibility === undefined) return;
  const ranges = typeof compatibility === "string" ? compatibility.split("||").map((it) => it.trim()) : [""];
  const wanted = ranges.map((range) => /^\^(\d+)(?:\.(\d+))?(?:\.\d+)?$/.exec(range));
  if (wanted.some((match) => match === null)) {
    throw new SessarcError("PLUGIN_INVALID", {
      specifier,
      plugin: name,
      reason: `\`compatibility\` must be a range of versions, not ${JSON.stringify(compatibility)}`,
      remedy: `Write it like "^${PLUGIN_API}", or "^1 || ^2".`,
    });
  }
  const [major, minor] = PLUGIN_API.split(".").map(Number) as [number, number];
  const fits = wanted.some((match) => Number(match?.[1]) === major && Number(match?.[2] ?? 0) <= minor);
  if (!fits)
    throw new SessarcError("PLUGIN_INCOMPATIBLE", {
      plugin: name,
      specifier,
      needs: String(compatibility),
      has: PLUGIN_API,
    });
}
