/** Rows that link a session with others, with pull requests and with folders. The last row of a kind replaces the ones before. */
import { isRecord, type JsonRecord, type SessionLink, type SessionSummary, toList, toNumber, toText } from "sessarc";

/** Links and the tag by the type of their row. */
interface Links {
  [type: string]: { links: SessionLink[]; tag?: string };
}

/** Pull requests and origins remembered of a session. */
const MOST = 50;

export function createLinks() {
  const state: Links = {};
  return {
    /** False for a row of another type. */
    row(row: JsonRecord): boolean {
      switch (row.type) {
        case "continued-in": {
          const key = toText(row.continuedInSessionId);
          if (key) state[row.type] = { links: [{ kind: row.type, key }] };
          return true;
        }
        case "derived-from": {
          const keys = toList(row.sessions).flatMap((one) => toText(isRecord(one) ? one.sessionId : one) ?? []);
          const kind = row.type;
          state[kind] = { links: [...new Set(keys)].slice(0, MOST).map((key) => ({ kind, key })) };
          return true;
        }
        case "pr-link": {
          const url = toText(row.prUrl);
          if (!url || !/^https?:\/\//i.test(url)) return true;
          const [number, repository] = [toNumber(row.prNumber), toText(row.prRepository)];
          state[row.type] = {
            links: [
              { kind: "pull-request", url, ...(number !== undefined && { number }), ...(repository && { repository }) },
            ],
          };
          return true;
        }
        case "relocated": {
          const path = toText(row.relocatedCwd);
          if (path) state[row.type] = { links: [{ kind: "relocated", path }] };
          return true;
        }
        case "worktree-state": {
          if (row.worktreeSession === null) delete state[row.type];
          if (!isRecord(row.worktreeSession)) return true;
          const { worktreePath, worktreeName, worktreeBranch, originalCwd } = row.worktreeSession;
          const path = toText(worktreePath);
          const [name, branch, from] = [toText(worktreeName), toText(worktreeBranch), toText(originalCwd)];
          const named = { ...(name && { name }), ...(branch && { branch }), ...(from && { from }) };
          if (path) state[row.type] = { links: [{ kind: "worktree", path, ...named }] };
          return true;
        }
        case "tag": {
          const tag = toText(row.tag);
          if (tag) state[row.type] = { links: [], tag };
          else delete state[row.type];
          return true;
        }
        default:
          return false;
      }
    },
    facts(): Pick<SessionSummary, "links" | "tags"> {
      const all = Object.values(state);
      const links = all.flatMap((one) => one.links);
      const tags = all.flatMap((one) => one.tag ?? []);
      return { ...(links.length > 0 && { links }), ...(tags.length > 0 && { tags }) };
    },
  };
}
