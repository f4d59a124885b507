/** Who follows a session: everybody gets what they lack, from where they stand, at their own pace. */

import { BoundedMap, type Kernel, type SessionEvent } from "sessarc";
import { inFrames } from "./backlog.ts";
import { Client } from "./client.ts";
import { HEARTBEAT, messagesFrame, statusFrame, toWire } from "./frames.ts";
import type { History } from "./history.ts";
import { formatId, NO_MARK, type Position } from "./position.ts";

const HEARTBEAT_MS = 15_000;
/** A client that took nothing for this many heartbeats is gone, whatever its connection says; a living one comes again. */
const STALLED = 8;
/** A message that is edited while it is written begins a lineage with every read. */
const LINEAGES = 500;

/** Why a stream is over. */
export type StopReason = "deleted" | "unreadable" | "removed" | "closing" | "idle";

export interface AudienceOptions {
  /** A comment is sent this often. Default 15,000. */
  heartbeatMs?: number | undefined;
}

export class Audience {
  readonly #kernel: Kernel;
  readonly #id: string;
  readonly #history: History;
  /** The log was read for the first time. */
  readonly #ready: Promise<void>;
  readonly #onEmpty: () => void;
  readonly #clients = new Set<Client>();
  readonly #heartbeat: NodeJS.Timeout;
  #lineage = newLineage();
  /** Earlier lineages: the seq up to which they hold. Of one that is no longer known the mark tells. */
  readonly #past = new BoundedMap<string, number>(LINEAGES);
  #ended = false;

  constructor(
    kernel: Kernel,
    id: string,
    history: History,
    ready: Promise<void>,
    options: AudienceOptions,
    onEmpty: () => void,
  ) {
    this.#kernel = kernel;
    this.#id = id;
    this.#history = history;
    this.#ready = ready;
    this.#onEmpty = onEmpty;
    this.#heartbeat = setInterval(() => {
      for (const client of [...this.#clients]) {
        if (client.hasRoom) client.send(HEARTBEAT);
        else if (++client.missed >= STALLED) client.drop();
      }
    }, options.heartbeatMs ?? HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  get size(): number {
    return this.#clients.size;
  }

  /** A new follower; its status frame is in the stream at once. `wanted`: what it has seen already. */
  join(wanted: Position | undefined): Client {
    const seq = wanted?.seq ?? this.#history.row.length;
    const id = formatId(wanted?.lineage ? wanted : { seq, mark: NO_MARK, lineage: this.#lineage });
    const first = statusFrame(id, { type: "status", status: "live", sessionId: this.#id });
    const client: Client = new Client(
      wanted,
      first,
      () => this.#pump(client),
      () => this.#leave(client),
    );
    client.busy = true; // until it has its place
    this.#clients.add(client);
    void this.#admit(client);
    return client;
  }

  /** Messages from `from` on are no longer what they were. */
  revise(from: number): void {
    for (const [lineage, seq] of [...this.#past]) if (seq > from) this.#past.set(lineage, from);
    this.#past.set(this.#lineage, from);
    this.#lineage = newLineage();
    for (const client of this.#clients) this.#rewind(client, from);
  }

  /** Sends everybody what is new. */
  deliver(): void {
    for (const client of this.#clients) this.#pump(client);
  }

  /** Tells everybody why it is over, and ends their streams. */
  end(reason: StopReason): void {
    this.#ended = true;
    clearInterval(this.#heartbeat);
    const frame = { type: "status", status: "stopped", sessionId: this.#id, reason } as const;
    for (const client of [...this.#clients]) {
      client.send(statusFrame(this.#idAt(client.position), frame));
      client.end();
    }
  }

  /** Tells a client to drop what it has from `from` on. */
  #rewind(client: Client, from: number): void {
    if (client.position <= from) return;
    client.position = from;
    const reason = from === 0 ? "restarted" : "revised";
    client.send(statusFrame(this.#idAt(from), { type: "status", status: "live", sessionId: this.#id, reason, from }));
  }

  /** Finds the place of a new client: after what it has seen, when that still holds. */
  async #admit(client: Client): Promise<void> {
    try {
      await this.#ready;
      if (client.closed || this.#ended) return;
      const { wanted } = client;
      const { row, agreed } = this.#history;
      client.position = wanted?.seq ?? row.length;
      const past = wanted && this.#past.get(wanted.lineage);
      if (past !== undefined) this.#rewind(client, past);
      else if (!wanted || wanted.mark === NO_MARK) {
        // It has what the archive has.
        const { next } = this.#history.backlog;
        if (agreed < row.length && client.position > agreed) this.#rewind(client, agreed);
        else if (client.position > Math.max(next, agreed)) this.#rewind(client, 0);
      } else if (wanted.lineage !== this.#lineage && !(await this.#history.holds(wanted.seq, wanted.mark))) {
        this.#rewind(client, 0);
      }
    } catch (error) {
      await this.#kernel.notify("listener:failed", error, { hook: `live ${this.#id}` });
      return client.end();
    }
    client.busy = false;
    this.#pump(client);
  }

  /** Sends what a client lacks and has room for. */
  #pump(client: Client): void {
    if (client.busy || client.closed || this.#ended) return;
    const { backlog } = this.#history;
    if (client.position < backlog.first) return void this.#catchUp(client);
    while (client.position < backlog.next && client.hasRoom) {
      const { bytes, end } = backlog.frameFrom(client.position, (seq) => this.#idAt(seq));
      client.position = end; // first: sending may ask for more at once
      client.send(bytes);
    }
  }

  /** Older messages than are kept, at the client's pace. One that cannot be served comes again with its last id. */
  async #catchUp(client: Client): Promise<void> {
    client.busy = true;
    const { backlog } = this.#history;
    try {
      for (let tries = 0; client.position < backlog.first && !client.closed && tries < 5; ) {
        const before = client.position;
        try {
          await this.#send(client, this.#history.between(client.position, backlog.first));
        } catch (error) {
          // The archive replaced the session under our hands, or the log moved.
          if (tries === 4) throw error;
          await this.#history.refresh();
        }
        if (client.position === before) tries++;
      }
    } catch (error) {
      await this.#kernel.notify("listener:failed", error, { hook: `live ${this.#id}` });
    }
    if (client.position < backlog.first) return client.end();
    client.busy = false;
    this.#pump(client);
  }

  async #send(client: Client, batches: AsyncIterable<SessionEvent[]>): Promise<void> {
    for await (const events of batches) {
      for (const part of inFrames(events)) {
        const last = part.at(-1);
        if (client.closed || !last || part[0]?.seq !== client.position) return;
        const position = { seq: last.seq + 1, mark: this.#history.markAfter(last), lineage: this.#lineage };
        client.position = position.seq;
        client.send(messagesFrame(formatId(position), part.map(toWire)));
        await client.room();
      }
    }
  }

  #idAt(seq: number): string {
    return formatId({ seq, mark: this.#history.markAt(seq), lineage: this.#lineage });
  }

  #leave(client: Client): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) this.#onEmpty();
  }
}

const newLineage = () => Math.random().toString(36).slice(2, 12);
