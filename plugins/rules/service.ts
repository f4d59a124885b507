/** The service "instructions": proposals of lines, and the lines that were accepted. */
import { type Kernel, SessarcError } from "sessarc";
import { countAgain, type Effect, toEffect, toSeeds } from "./effect.ts";
import { createEditor, type Removed, type Written } from "./instructions/editor.ts";
import { toReal } from "./instructions/place.ts";
import type { OpenProposal, Proposal } from "./proposal.ts";
import { readProposals, toTokens } from "./proposals.ts";
import { createProofs, type ProofPlan } from "./prove/prove.ts";
import type { ProofRequest } from "./prove/run.ts";
import { type ProjectReading, readProject } from "./read/project.ts";
import { createRuleStore } from "./store.ts";

/** A line that was accepted, and what became of the mistake. */
export interface AcceptedRule {
  id: string;
  project: { id: string; name: string };
  kind: Proposal["kind"];
  line: string;
  path: string;
  at: string;
  effect: Effect;
}

/** A line that is not proposed any more. */
export interface DismissedRule extends Pick<AcceptedRule, "id" | "project" | "kind" | "line" | "at"> {}

export interface RuleOverview {
  proposals: Proposal[];
  accepted: AcceptedRule[];
  /** The newest first. */
  dismissed: DismissedRule[];
  /** Sessions that were read, the newest of each project. */
  read: { projects: number; sessions: number; isCut: boolean };
}

/** A line that was written, or would be. */
export interface AcceptedLine extends Written {
  id: string;
  line: string;
}

export function createInstructions(kernel: Kernel) {
  const store = createRuleStore(kernel.storage.db);
  const archive = () => kernel.inject("archive");
  const editor = createEditor(kernel);
  const proofs = createProofs(kernel, store);

  async function named(id: string): Promise<{ id: string; name: string }> {
    const { name } = await archive().project(id);
    return { id, name };
  }

  /** The proposals of a project as its sessions are now. Cost: its newest 300 sessions of 90 days are read. */
  async function open(id: string, settled: Settled) {
    const project = await named(id);
    const reading = await readProject(kernel, id);
    return {
      open: await readProposals(kernel, store, project, reading, [...settled.accepted, ...settled.dismissed]),
      sessions: reading.sessions.length,
      isCut: reading.isCut,
    };
  }

  /** What the user decided, of a project or of all. */
  const readSettled = async (project?: string) => ({
    accepted: await store.accepted(project),
    dismissed: await store.dismissed(project),
  });
  type Settled = Awaited<ReturnType<typeof readSettled>>;

  async function accepted(rows: Settled["accepted"], ids: readonly string[] | undefined): Promise<AcceptedRule[]> {
    const rules: AcceptedRule[] = [];
    // The oldest line comes first: what is read for it holds the sessions of the project's others.
    const readings = new Map<string, ProjectReading>();
    for (const row of rows.filter(({ project_id }) => ids === undefined || ids.includes(project_id))) {
      const since = row.accepted_at;
      const reading = readings.get(row.project_id) ?? (await readProject(kernel, row.project_id, since));
      readings.set(row.project_id, reading);
      const { sessions } = reading;
      const begun = sessions.filter(({ startedAt }) => startedAt !== null && Date.parse(startedAt) >= since);
      const before = { times: row.times, sessions: row.sessions, tokens: row.tokens };
      rules.push({
        ...{ id: row.id, project: await named(row.project_id), kind: row.kind, line: row.line, path: row.path },
        at: new Date(row.accepted_at).toISOString(),
        effect: toEffect(before, countAgain(row, begun), toTokens(row.line)),
      });
    }
    return rules;
  }

  async function dismissed(rows: Settled["dismissed"], ids: readonly string[] | undefined): Promise<DismissedRule[]> {
    const wanted = rows.filter(({ project_id }) => ids === undefined || ids.includes(project_id));
    return Promise.all(
      wanted.map(async ({ id, project_id, kind, line, dismissed_at }) => {
        const project = await named(project_id);
        return { id, project, kind, line, at: new Date(dismissed_at).toISOString() };
      }),
    );
  }

  /** Throws PROPOSAL_NOT_FOUND. */
  async function find(id: string, project: string): Promise<OpenProposal & { sessions: number }> {
    const found = await open(project, await readSettled(project));
    const proposal = found.open.find(({ shown }) => shown.id === id);
    if (!proposal) throw new SessarcError("PROPOSAL_NOT_FOUND", { id });
    return { ...proposal, sessions: found.sessions };
  }

  return {
    /** Proposals and accepted lines of these projects, or of all; the proposals that happened most often first. */
    async overview(ids?: readonly string[]): Promise<RuleOverview> {
      const projects = ids ?? (await archive().projects()).map(({ id }) => id);
      const read = { projects: projects.length, sessions: 0, isCut: false };
      const settled = await readSettled();
      const proposals: Proposal[] = [];
      for (const id of projects) {
        const found = await open(id, settled);
        read.sessions += found.sessions;
        read.isCut ||= found.isCut;
        proposals.push(...found.open.map(({ shown }) => shown));
      }
      proposals.sort((a, b) => b.times - a.times || (a.id < b.id ? -1 : 1));
      return {
        proposals,
        accepted: await accepted(settled.accepted, ids),
        dismissed: await dismissed(settled.dismissed, ids),
        read,
      };
    },
    /**
     * Writes the line of a proposal into the project's instructions. Throws PROPOSAL_NOT_FOUND, RULE_NO_FOLDER, RULE_REFUTED, SETTINGS_UNUSABLE,
     * SETTINGS_CHANGED; nothing is changed then.
     */
    async accept(id: string, project: string, dryRun: boolean): Promise<AcceptedLine> {
      const { shown, finding, instructions, sessions } = await find(id, project);
      if (!instructions) throw new SessarcError("RULE_NO_FOLDER", { project: shown.project.name });
      if (shown.proof?.verdict === "refuted") throw new SessarcError("RULE_REFUTED", { line: shown.line });
      const written = await editor.add(await toReal(instructions), shown.line, dryRun);
      if (!dryRun)
        await store.accept({
          ...{ id, project_id: project, kind: shown.kind, line: shown.line, path: written.path },
          ...{ seeds: toSeeds(finding), times: shown.times, sessions, tokens: shown.wasted, accepted_at: Date.now() },
        });
      return { id, line: shown.line, ...written };
    },
    /** The line is not proposed any more, however often the mistake recurs. Throws PROPOSAL_NOT_FOUND. */
    async dismiss(id: string, project: string): Promise<{ id: string; line: string }> {
      const { shown, finding } = await find(id, project);
      const { kind, line } = shown;
      await store.dismiss({ id, project_id: project, kind, line, seeds: toSeeds(finding), dismissed_at: Date.now() });
      return { id, line };
    },
    /** Proposes a dismissed line again. Throws PROPOSAL_NOT_FOUND. */
    async proposeAgain(id: string): Promise<{ id: string; line: string }> {
      const row = (await store.dismissed()).find((one) => one.id === id);
      if (!row) throw new SessarcError("PROPOSAL_NOT_FOUND", { id });
      await store.proposeAgain(id);
      return { id, line: row.line };
    },
    /** Takes an accepted line out again. Throws PROPOSAL_NOT_FOUND, SETTINGS_UNUSABLE, SETTINGS_CHANGED. */
    async undo(id: string): Promise<Removed & { id: string; line: string }> {
      const row = (await store.accepted()).find((one) => one.id === id);
      if (!row) throw new SessarcError("PROPOSAL_NOT_FOUND", { id });
      const removed = await editor.remove(row.path, row.line);
      await store.forget(id);
      return { id, line: row.line, ...removed };
    },
    /** What a proof would run and cost, and the last one's result. Throws PROPOSAL_NOT_FOUND, RULE_NOT_PROVABLE. */
    proofPlan: async (id: string, project: string): Promise<ProofPlan> =>
      proofs.current(id) ?? proofs.plan(await find(id, project)),
    /** Begins a proof; `proofPlan` has the result. Throws before anything is run: RULE_PROOF_NOT_CONFIRMED, RULE_PROOF_RUNNING, RULE_NOT_PROVABLE. */
    startProof: async (id: string, project: string, request: ProofRequest) =>
      proofs.start(await find(id, project), request),
    stopProof: (id: string) => proofs.stop(id),
  };
}

export type Instructions = ReturnType<typeof createInstructions>;
