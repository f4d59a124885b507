/** Failures with what fixed them, which is what a question about an error is for. */
import type { Kernel } from "sessarc";
import { factsAmong, maskFacts } from "../facts/facts.ts";
import type { Evidence } from "./contract.ts";
import { clean, cleanPaths } from "./show.ts";

/** Adds the fix to each failure whose fix is not a line of the answer. Cost: one read of the table for each of them. */
export const withFixes = (kernel: Kernel, evidence: readonly Evidence[]): Promise<Evidence[]> => {
  const own = new Set(evidence.flatMap(({ kind, session, seq }) => (kind === "fixed" ? [`${session} ${seq}`] : [])));
  return Promise.all(
    evidence.map(async (one) => {
      const { kind, session, other } = one;
      if (kind !== "failed" || other === undefined || own.has(`${session} ${other}`)) return one;
      const { facts } = await factsAmong(kernel, session, other, other);
      const fixes = facts.filter((fact) => fact.kind === "fixed");
      const [fix] = await maskFacts(kernel, fixes);
      if (!fix) return one;
      return { ...one, fix: { text: await clean(kernel, fix.text), files: await cleanPaths(kernel, fix.files) } };
    }),
  );
};
