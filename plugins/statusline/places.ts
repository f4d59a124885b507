/** Where assistants show the line: what their adapters declare. */
import { type Kernel, SessarcError, unknownAssistant } from "sessarc";
import type { StatuslinePlace } from "./contract.ts";
import "./errors.ts";

export interface NamedPlace extends StatuslinePlace {
  /** The adapter's. */
  name: string;
  label: string;
}

export const toPlaces = ({ registry }: Kernel): NamedPlace[] =>
  [...registry.adapters.values()].flatMap(({ name, label, statusline }) =>
    statusline && !("none" in statusline) ? [{ label, ...statusline, name }] : [],
  );

/** Throws INVALID_INPUT, or STATUSLINE_TOOL_UNKNOWN with the reason where an adapter knows it. */
export function toPlace(kernel: Kernel, name: string | undefined): NamedPlace {
  const places = toPlaces(kernel);
  const place = name === undefined ? places[0] : places.find((one) => one.name === name);
  if (place) return place;
  const known = places.map((one) => one.name);
  if (name !== undefined && !kernel.registry.adapters.has(name)) throw unknownAssistant(name, known);
  const declared = name === undefined ? undefined : kernel.registry.adapters.get(name)?.statusline;
  const reason = declared && "none" in declared ? declared.none : "it runs no command for one, as far as is known";
  throw new SessarcError("STATUSLINE_TOOL_UNKNOWN", {
    tool: name ?? "This sessarc",
    reason,
    known,
  });
}
