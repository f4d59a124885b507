/** What a shell may offer for a command: made from the command itself. */
import type { Command } from "../../contract/plugin.ts";
import { COMMON_HELP, COMMON_OPTIONS, COMMON_VALUES } from "../args.ts";

/** What may stand somewhere: words, files, folders, or anything (undefined: nothing is offered). */
export type Offer = readonly string[] | "file" | "folder" | undefined;

export interface CompletedCommand {
  name: string;
  summary: string;
  operands: Offer;
  flags: CompletedFlag[];
}
export interface CompletedFlag {
  name: string;
  short: string | undefined;
  text: string;
  /** Null: it takes no value. */
  value: { offer: Offer } | null;
}

export function toCompleted({ name, summary, options, help, operands, values }: Command): CompletedCommand {
  const all: Command["options"] = { ...options, ...COMMON_OPTIONS };
  const offers: Readonly<Record<string, Offer>> = { ...COMMON_VALUES, ...values };
  const flags = Object.entries(all).map(([flag, option]) => ({
    name: flag,
    short: option.short,
    text: help[flag] ?? COMMON_HELP[flag] ?? "",
    value: option.type === "string" ? { offer: offers[flag] } : null,
  }));
  return { name, summary, operands, flags };
}
