/** What pages have asked for and not got yet: whoever waits for a page need not wait for a time without traffic. */
import type { BrowserContext, Page, Request } from "playwright-core";

interface Traffic {
  open: Set<Request>;
  /** Called with every end. */
  waiting: Set<() => void>;
}
const traffic = new WeakMap<Page, Traffic>();

/** Watches every page of the context from its beginning. */
export function watchTraffic(context: BrowserContext): void {
  context.on("page", (page) => {
    const { open, waiting } = trafficOf(page);
    // A stream of events is open as long as the page.
    page.on("request", (request) => request.resourceType() !== "eventsource" && open.add(request));
    const end = (request: Request) => {
      open.delete(request);
      for (const call of waiting) call();
    };
    page.on("requestfinished", end);
    page.on("requestfailed", end);
  });
}

function trafficOf(page: Page): Traffic {
  const known = traffic.get(page) ?? { open: new Set(), waiting: new Set() };
  traffic.set(page, known);
  return known;
}

/** True when the page was waiting for something; resolves when it is not any more. Throws after `limitMs`. */
export async function answered(page: Page, limitMs: number): Promise<boolean> {
  const { open, waiting } = trafficOf(page);
  if (open.size === 0) return false;
  await new Promise<void>((resolve, reject) => {
    const limit = setTimeout(() => done(new Error(`No answer: ${[...open].map((one) => one.url())}`)), limitMs);
    const look = () => open.size === 0 && done();
    const done = (error?: Error) => {
      clearTimeout(limit);
      waiting.delete(look);
      if (error) reject(error);
      else resolve();
    };
    waiting.add(look);
  });
  return true;
}
