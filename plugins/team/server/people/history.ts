/** Routes that read the history of a repository, on a server: a few at a time on a node, and with the server's own error. */
import { createLimit, isSessarcError, SessarcError } from "sessarc";

/** Questions of one node that run at once: each may start several processes. */
const AT_ONCE = 2;

interface Asked {
  handler(context: { event: { readonly req: Request } }): unknown;
}

/** Wraps the handlers of such routes. All of them share the places. */
export function createHistoryGate() {
  const limit = createLimit(AT_ONCE);

  return <R extends Asked>(route: R): R => ({
    ...route,
    async handler(context: Parameters<R["handler"]>[0]) {
      const leave = await limit.enter();
      try {
        context.event.req.signal.throwIfAborted();
        return await route.handler(context);
      } catch (error) {
        if (!isSessarcError(error) || error.code !== "NO_REPOSITORY" || !("project" in error.params)) throw error;
        throw new SessarcError("TEAM_NO_REPOSITORY", { project: error.params.project }, { cause: error });
      } finally {
        leave();
      }
    },
  });
}
