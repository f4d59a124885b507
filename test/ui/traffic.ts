/** What pages have asked for and not got yet: a test that waits for a page need not wait for a time without traffic. */
import type { BrowserContext, Page, Request } from "playwright-core";

interface Traffic {
  open: Set<Request>;
  /** Called with every end. */
  waiting: Set<() => void>;
}
const traffic = new WeakMap<Page, Traffic>();

/** Answers that the page has begun to read and not used yet. */
type Reading = Window & { answersRead?: number };

/** Between the end of an answer and what the page makes of it lies reading it: on a busy machine longer than some frames. */
function countReading(): void {
  const page = window as Reading;
  page.answersRead = 0;
  // What waited for an answer goes on first. Timers are the tests' own: some hold them.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    page.answersRead = (page.answersRead ?? 0) - 1;
  };
  const counted = <T>(work: Promise<T>): Promise<T> => {
    page.answersRead = (page.answersRead ?? 0) + 1;
    const end = () => port2.postMessage(null);
    work.then(end, end);
    return work;
  };
  const { fetch } = window;
  window.fetch = (...request) => counted(fetch(...request));
  const { json, text } = Response.prototype;
  Response.prototype.json = function () {
    return counted(json.call(this));
  };
  Response.prototype.text = function () {
    return counted(text.call(this));
  };
}

/** True when the page was reading an answer; resolves when it is not any more. */
export const read = (page: Page): Promise<boolean> =>
  page.evaluate(async () => {
    const reading = () => ((window as Reading).answersRead ?? 0) > 0;
    const was = reading();
    while (reading()) await new Promise(requestAnimationFrame);
    return was;
  });

/** Watches every page of the context from its beginning. */
export async function watchTraffic(context: BrowserContext): Promise<void> {
  await context.addInitScript(countReading);
  context.on("page", (page) => {
    const { open, waiting } = toTraffic(page);
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

function toTraffic(page: Page): Traffic {
  const known = traffic.get(page) ?? { open: new Set(), waiting: new Set() };
  traffic.set(page, known);
  return known;
}

/** True when the page was waiting for something; resolves when it is not any more. Throws after `limitMs`. */
export async function answered(page: Page, limitMs: number): Promise<boolean> {
  const { open, waiting } = toTraffic(page);
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
