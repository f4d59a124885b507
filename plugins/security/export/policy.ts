/** What a page of a session may do. Apart from the page, whose parser a service need not load to serve a share. */
import { createHash } from "node:crypto";
import { STYLE } from "./style.ts";

/** What the page allows itself: the one style sheet in it, by its hash. */
export const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'`;
const HASH = "'sha256-[A-Za-z0-9+/]{43}='";
const OWN_POLICY = new RegExp(
  `^<!doctype html>\\n<html lang="en">\\n<head>\\n<meta charset="utf-8">\\n<meta http-equiv="Content-Security-Policy" content="(default-src 'none'; style-src ${HASH};(?: script-src ${HASH};)? base-uri 'none'; form-action 'none')">`,
);

/**
 * The policy for the header of a frozen page: its own, which an earlier version may have made with another style sheet; and who may frame
 * it, which a meta element cannot say. A page without sessarc's policy may load nothing.
 */
export function pagePolicy(page: string): string {
  return `${OWN_POLICY.exec(page.slice(0, 1_000))?.[1] ?? "default-src 'none'; base-uri 'none'; form-action 'none'"}; frame-ancestors 'none'`;
}
