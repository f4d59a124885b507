/**
 * Figures on disk: what a start would otherwise count anew from every row of the catalogue.
 *
 * File: "SESSARCE" | parts, each its length (4), checksum (4) and bytes. The first is JSON: names and counts; then for some thousand sessions at a
 * time their heads (JSON) and figures, then the sums by day. Numbers are those of the machine: elsewhere it is no such file.
 */
import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { Slices, writeFileAtomic } from "#internal";
import { CubeSession, KINDS } from "./cube-session.ts";
import { allNames, nameOf, numberOf } from "./names.ts";
import { endOf, type Packed } from "./packed.ts";
import { Rollup, type RollupLayout } from "./rollup.ts";

const MAGIC = Buffer.from("SESSARCE", "latin1");
/** Sessions of a part: some 3 ms of work. */
const TOGETHER = 1_000;

interface Contents {
  names: readonly string[];
  sessions: number;
  rollup: RollupLayout;
}

/** Numbers stand for kind, tool and project. */
type Head = [
  id: string,
  kind: number,
  tool: number,
  project: number,
  parent: string | null,
  /** Null: its own. */
  root: string | null,
  label: string | null,
  endedAt: number | null,
];

/** Writes the figures as they are at the call, in slices, to a folder that is there after `makeFolder`. */
export async function writeFigures(
  path: string,
  sessions: readonly CubeSession[],
  rollup: Rollup,
  makeFolder: () => Promise<unknown>,
): Promise<void> {
  const { layout, numbers } = rollup.packed();
  await makeFolder();
  const slices = new Slices();
  await writeFileAtomic(path, async (file) => {
    const put = async (bytes: Uint8Array) => {
      const head = Buffer.alloc(8);
      head.writeUInt32LE(bytes.length);
      head.writeUInt32LE(crc32(bytes), 4);
      await file.writeFile(head);
      await file.writeFile(bytes);
    };
    await file.writeFile(MAGIC);
    // Numbers are given to names as heads are made: all of them first.
    for (const { tool, project } of sessions) for (const name of [tool, project]) numberOf(name);
    const contents: Contents = { names: allNames(), sessions: sessions.length, rollup: layout };
    await put(Buffer.from(JSON.stringify(contents)));
    for (let i = 0; i < sessions.length; i += TOGETHER) {
      const some = sessions.slice(i, i + TOGETHER);
      await put(Buffer.from(JSON.stringify(some.map(toHead))));
      await put(Buffer.concat(some.map((session) => session.figures)));
      if (slices.due) await slices.turn();
    }
    await put(bytesOf(numbers));
  });
}

/** Reads what `writeFigures` wrote, in slices; sessions are to be attached to the sums before these change. Throws when any of it is damaged. */
export async function readFigures(path: string): Promise<{ sessions: CubeSession[]; rollup: Rollup }> {
  const file = await open(path, "r");
  try {
    const slices = new Slices();
    let at = 0;
    const read = async (length: number) => {
      const bytes = Buffer.from(new ArrayBuffer(length));
      for (let done = 0; done < length; ) {
        const { bytesRead } = await file.read(bytes, done, length - done, at + done);
        if (bytesRead === 0) throw new Error("it ends early");
        done += bytesRead;
      }
      at += length;
      return bytes;
    };
    const take = async () => {
      if (slices.due) await slices.turn();
      const head = await read(8);
      // A length is believed as far as there is a file behind it.
      const length = head.readUInt32LE();
      if (at + length > (await file.stat()).size) throw new Error("it ends early");
      const bytes = await read(length);
      if (crc32(bytes) !== head.readUInt32LE(4)) throw new Error("its checksum is wrong");
      return bytes;
    };
    if (!(await read(MAGIC.length)).equals(MAGIC)) throw new Error("it is no file of figures");
    const contents: Contents = JSON.parse((await take()).toString());
    const named = contents.names.map(numberOf);
    // The first to be read, they are the same.
    const numbers = named.every((number, i) => number === i) ? undefined : named;
    const sessions: CubeSession[] = [];
    while (sessions.length < contents.sessions) {
      const heads: Head[] = JSON.parse((await take()).toString());
      const bytes = new Uint8Array((await take()).buffer);
      let figures: Packed = { bytes, at: 0, numbers };
      for (const head of heads) {
        sessions.push(toSession(head, figures, named));
        figures = { bytes, at: endOf(figures), numbers };
      }
    }
    return { sessions, rollup: Rollup.of(contents.rollup, numbersOf(await take())) };
  } finally {
    await file.close();
  }
}

const toHead = ({ id, kind, tool, project, parent, root, label, endedAt }: CubeSession): Head => [
  id,
  KINDS.indexOf(kind),
  numberOf(tool),
  numberOf(project),
  parent,
  root === id ? null : root,
  label,
  endedAt,
];

function toSession(head: Head, figures: Packed, named: readonly number[]): CubeSession {
  const [id, kind, tool, project, parent, root, label, endedAt] = head;
  return new CubeSession(
    {
      id,
      kind: KINDS[kind] ?? "main",
      tool: nameOf(named[tool]),
      project: nameOf(named[project]),
      parent,
      label,
      endedAt,
    },
    figures,
    root ?? id,
  );
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array) => new Uint8Array(buffer, byteOffset, byteLength);
const numbersOf = ({ buffer, byteOffset, byteLength }: Buffer) => new Float64Array(buffer, byteOffset, byteLength / 8);
