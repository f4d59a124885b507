/** The three-way table: what an entry of a file is to what the hub has, and to what it was when the hub took it. */

export type EntryClass = "New" | "Updated" | "Conflict" | "Unchanged";

/** An entry as it is now. `fp` is of all of it, `server` of all but its time limit, `efp` of where it leads alone. */
interface SeenEntry {
  key: string;
  slug: string;
  fp: string;
  server: string;
  efp: string;
}
export interface SeenService {
  id: string;
  fp: string;
  server: string;
  efp: string;
  sources: readonly { entryKey: string; baseFp: string }[];
}
export interface Verdict {
  class: EntryClass;
  /** `name`: another service has the name; `credentials`: a service leads there with others; `both`: both changed; `ambiguous`: another entry wants the name. */
  conflict: "name" | "credentials" | "both" | "ambiguous" | null;
  /** The service it is linked to, equal to or in conflict with. */
  service: string | null;
  /** Key of the entry it is equal to. */
  duplicateOf: string | null;
  /** The hub's side alone has changed since. */
  hubEdited: boolean;
}

const verdict = (of: EntryClass, more: Partial<Verdict> = {}): Verdict => ({
  class: of,
  conflict: null,
  service: null,
  duplicateOf: null,
  hubEdited: false,
  ...more,
});

/** Exactly one class for each entry. Entries come in their order of precedence. */
export function classify(entries: readonly SeenEntry[], services: readonly SeenService[]): Map<string, Verdict> {
  const found = new Map<string, Verdict>();
  const unlinked: SeenEntry[] = [];
  for (const entry of entries) {
    const linked = toLink(entry.key, services);
    if (linked) found.set(entry.key, threeWay(entry, linked.service, linked.baseFp));
    else {
      const known = twoWay(entry, services);
      if (known) found.set(entry.key, known);
      else unlinked.push(entry);
    }
  }
  for (const entry of unlinked) {
    const rivals = unlinked.filter(({ slug }) => slug === entry.slug);
    const first = unlinked.find(({ server }) => server === entry.server) ?? entry;
    if (rivals.some(({ server }) => server !== entry.server))
      found.set(entry.key, verdict("Conflict", { conflict: "ambiguous" }));
    else if (first === entry) found.set(entry.key, verdict("New"));
    else found.set(entry.key, verdict("Unchanged", { duplicateOf: first.key }));
  }
  for (const entry of entries) linkDuplicate(entry, entries, found);
  return found;
}

/** Equal entries that need the same decision are one choice: the later ones name the first. */
function linkDuplicate(
  { key, slug, server }: SeenEntry,
  entries: readonly SeenEntry[],
  found: ReadonlyMap<string, Verdict>,
): void {
  const own = found.get(key);
  if (own?.class !== "Conflict" && own?.class !== "Updated") return;
  const first = entries.find((one) => {
    const other = found.get(one.key);
    return one.slug === slug && one.server === server && other?.class === own.class && other.service === own.service;
  });
  if (first && first.key !== key) own.duplicateOf = first.key;
}

function toLink(key: string, services: readonly SeenService[]) {
  for (const service of services) {
    const source = service.sources.find(({ entryKey }) => entryKey === key);
    if (source) return { service, baseFp: source.baseFp };
  }
  return undefined;
}

function threeWay({ fp }: SeenEntry, service: SeenService, baseFp: string): Verdict {
  const known = { service: service.id };
  if (fp === service.fp) return verdict("Unchanged", known);
  if (fp === baseFp) return verdict("Unchanged", { ...known, hubEdited: true });
  return service.fp === baseFp ? verdict("Updated", known) : verdict("Conflict", { ...known, conflict: "both" });
}

function twoWay({ slug, server, efp }: SeenEntry, services: readonly SeenService[]): Verdict | undefined {
  const equal = services.find((service) => service.server === server);
  if (equal) return verdict("Unchanged", { service: equal.id, duplicateOf: equal.sources[0]?.entryKey ?? null });
  const named = services.find(({ id }) => id === slug);
  if (named) return verdict("Conflict", { service: named.id, conflict: named.efp === efp ? "credentials" : "name" });
  const alike = services.find((service) => service.efp === efp);
  return alike && verdict("Conflict", { service: alike.id, conflict: "credentials" });
}
