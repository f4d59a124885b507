/**
 * The page while the service is away: a service worker that keeps the files of one build. Answers of the API, what plugins and shares say,
 * and addresses with a token in them are none of its business: they never pass through it, so nothing of them is kept.
 *
 * - A page is asked of the service first, and taken from here only when that cannot be reached: an update is seen at once, and an old page
 *   never meets a new service. Files below `assets/` carry a hash of their content: from here first, whichever build they are of.
 * - Each build has a cache of its own, filled as a whole before the worker takes over. The one before it stays for pages that are still
 *   open; older ones go.
 * - Where another program answers on this port, it goes: a file `/sw.js` that is not ours ends it and what it kept.
 */
import { isPageAddress, type Shell } from "./shell.ts";

declare const self: ServiceWorkerGlobalScope;
/** Put in by the build. */
declare const SHELL: Shell;

const { version, entry, first, later, plain }: Shell = SHELL;
/** Of every cache, and so in the text of every version of this file: it is known by it. */
const NAME = "sessarc-shell-";
const CACHE = NAME + version;
const PAGE = "/";

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(clean(2)));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate") {
    if (isPageAddress(pathname)) event.respondWith(page(event));
  } else if (pathname.startsWith("/assets/")) event.respondWith(asset(event, pathname));
  else if (plain.includes(pathname)) event.respondWith(orKept(fetch(request), pathname));
});

/**
 * All or nothing: what fails (a page of another build than this file, a service that goes away) is tried again with the next load, and leaves
 * no half of a build, which would count as one. A build that comes back is the newest again.
 */
async function install(): Promise<void> {
  const answer = await fetch(PAGE, { cache: "no-store" });
  const isOurs = answer.ok && !answer.redirected && (await answer.clone().text()).includes(entry);
  if (!isOurs) throw new Error("The page is of another build");
  await caches.delete(CACHE);
  try {
    const cache = await caches.open(CACHE);
    await cache.addAll([...first, ...plain]);
    await cache.put(PAGE, answer);
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
  await self.skipWaiting();
}

async function page(event: FetchEvent): Promise<Response> {
  const answer = fetch(event.request);
  event.waitUntil(answer.then(leaveToOthers, () => undefined));
  return orKept(answer, PAGE);
}

/** Without the service what this build keeps; then the network's error is the answer where it keeps nothing. */
async function orKept(answer: Promise<Response>, path: string): Promise<Response> {
  try {
    return await answer;
  } catch (error) {
    const kept = await caches.match(path, { cacheName: CACHE });
    if (kept) return kept;
    throw error;
  }
}

async function asset(event: FetchEvent, path: string): Promise<Response> {
  const kept = await caches.match(path);
  if (kept) return kept;
  const answer = await fetch(event.request);
  if (answer.ok && later.includes(path)) {
    const copy = answer.clone();
    event.waitUntil(caches.open(CACHE).then((cache) => cache.put(path, copy)));
  }
  return answer;
}

/** Something answers on this port: is it sessarc? What it cannot say now (5xx) it is asked with the next page. */
async function leaveToOthers(): Promise<void> {
  const answer = await fetch("/sw.js", { cache: "no-store" }).catch(() => undefined);
  if (!answer || answer.status >= 500) return;
  const text = await answer.text();
  if (answer.ok ? text.includes(NAME) : answer.status === 401 && text.includes('"UNAUTHORIZED"')) return;
  await clean(0);
  await self.registration.unregister();
}

/** Removes our caches but the newest `keep`; they are named in the order in which they were made. */
async function clean(keep: number): Promise<void> {
  const own = (await caches.keys()).filter((name) => name.startsWith(NAME));
  await Promise.all(own.slice(0, own.length - keep).map((name) => caches.delete(name)));
}
