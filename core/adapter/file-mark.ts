/** By what a log is known again. */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, readSync } from "node:fs";
import { openRegularSync } from "../utils/regular.ts";

const HEAD = 3840;
const BEFORE = 256;

/** What a file looked like up to `offset`: hashes of its first bytes and of those right before the offset; empty where it is shorter. */
export function toMark(fd: number, offset: number): { mark: string; bytes: number } {
  if (fstatSync(fd).size < offset) return { mark: "", bytes: 0 };
  const head = Math.min(offset, HEAD);
  const before = Math.min(offset - head, BEFORE);
  return { mark: `${head}:${toHash(fd, 0, head)}:${toHash(fd, offset - before, before)}`, bytes: head + before };
}

/** The mark of a compressed log: its size and what it looked like up to there. */
export function packedMark(path: string): string {
  const fd = openRegularSync(path);
  try {
    const { size } = fstatSync(fd);
    return `${size}:${toMark(fd, size).mark}`;
  } finally {
    closeSync(fd);
  }
}

/** Whether a compressed log is the one of `mark`: unchanged, or with more at its end. */
export function isGrown(path: string, mark: string): boolean {
  const [, size, rest] = /^(\d+):(.*)$/s.exec(mark) ?? [];
  if (size === undefined) return false;
  const fd = openRegularSync(path);
  try {
    return toMark(fd, Number(size)).mark === rest;
  } finally {
    closeSync(fd);
  }
}

function toHash(fd: number, position: number, length: number): string {
  if (length === 0) return "";
  const bytes = Buffer.alloc(length);
  const count = readSync(fd, bytes, 0, length, position);
  return createHash("sha1").update(bytes.subarray(0, count)).digest("base64url").slice(0, 16);
}
