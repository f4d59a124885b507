/** A client of the live route over a real socket, and logs it can follow. */
import { type IncomingMessage, request } from "node:http";
import type { LiveFrame, SessionEvent } from "sessarc";
import { onTestFinished } from "vitest";

export interface Follower {
  frames: (LiveFrame & { id: string })[];
  /** What a client holds that obeys the frames. */
  events: SessionEvent[];
  lastId: string;
  comments: number;
  ended: Promise<void>;
  /** Resolves when `test` holds; checked after every frame. */
  until(test: (self: Follower) => boolean, what?: string): Promise<void>;
  /** Cuts the connection without a word. */
  vanish(): void;
}

export function follow(
  url: string,
  id: string,
  options: { lastId?: string | undefined; events?: SessionEvent[]; query?: string } = {},
): Promise<Follower> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (options.lastId) headers["last-event-id"] = options.lastId;
    const path = `${url.replace(/\/$/, "")}/api/sessions/${encodeURIComponent(id)}/live${options.query ?? ""}`;
    const req = request(path, { headers, agent: false });
    req.on("error", reject);
    req.on("response", (res: IncomingMessage) => {
      if (res.statusCode !== 200) return reject(new Error(`answered ${res.statusCode}`));
      let text = "";
      let check: (() => void)[] = [];
      let end: () => void = () => {};
      const self: Follower = {
        frames: [],
        events: options.events ?? [],
        lastId: options.lastId ?? "",
        comments: 0,
        ended: new Promise((done) => {
          end = done;
        }),
        until: (test, what = String(test)) =>
          new Promise((done, fail) => {
            const timer = setTimeout(
              () => fail(new Error(`never: ${what}\n${JSON.stringify(self.frames.slice(-4)).slice(0, 800)}`)),
              60_000,
            );
            const look = () => {
              if (!test(self)) return;
              clearTimeout(timer);
              check = check.filter((one) => one !== look);
              done();
            };
            check.push(look);
            look();
          }),
        vanish: () => req.destroy(),
      };
      onTestFinished(() => void req.destroy());
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => {
        text += chunk;
        for (let at = text.indexOf("\n\n"); at >= 0; at = text.indexOf("\n\n")) {
          take(self, text.slice(0, at));
          text = text.slice(at + 2);
        }
        for (const look of check) look();
      });
      res.on("error", () => end());
      res.on("close", () => {
        end();
        for (const look of check) look();
      });
      resolve(self);
    });
    req.end();
  });
}

function take(self: Follower, block: string): void {
  if (block.startsWith(":")) {
    self.comments++;
    return;
  }
  // U+2028 ends a line for a regular expression, not for a stream of events.
  const field = (name: string) =>
    block
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const id = field("id") ?? "";
  const frame = JSON.parse(field("data") ?? "null") as LiveFrame;
  self.frames.push({ ...frame, id });
  if (id) self.lastId = id;
  if (frame.type === "messages") self.events.push(...frame.events);
  else if (frame.from !== undefined) self.events = self.events.filter((event) => event.seq < (frame.from as number));
}

export const seqs = (events: readonly SessionEvent[]): number[] => events.map(({ seq }) => seq);
export const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

const line = (row: object) => `${JSON.stringify(row)}\n`;
/** When the conversation took place: of recent ones the archive keeps where the log's tail stands, of old ones not. */
export const clock = { start: Date.now() - 3_600_000 };
const time = (n: number) => new Date(clock.start + n * 1000).toISOString();

export const prompt = (n: number, text = `prompt ${n}`) =>
  line({ type: "user", uuid: `u${n}`, timestamp: time(n), cwd: "/w/app", message: { role: "user", content: text } });

export const reply = (n: number, text = `answer ${n}`) =>
  line({
    type: "assistant",
    uuid: `a${n}`,
    timestamp: time(n),
    cwd: "/w/app",
    requestId: `r${n}`,
    message: {
      id: `m${n}`,
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "text", text }],
      usage: { input_tokens: 10, output_tokens: n + 1 },
    },
  });
