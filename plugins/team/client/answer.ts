/** The answer of a push: its report, or events as it goes on. */
import { type Kernel, toErrorBody, toEvents } from "sessarc";
import type { TeamClient } from "./client.ts";
import type { PushReport } from "./push.ts";

interface PushBody {
  server?: string | undefined;
  projects?: readonly string[] | undefined;
  sessions?: readonly string[] | undefined;
  since?: string | undefined;
  dryRun?: boolean | undefined;
  again?: boolean | undefined;
}

/** A client that disconnects ends its push; what was sent stays there. */
export async function answerPush(
  client: TeamClient,
  {
    kernel,
    event,
    body,
    signal,
  }: { kernel: Kernel; event: { readonly req: Request }; body: PushBody; signal: AbortSignal },
): Promise<PushReport | Response> {
  const { since, ...rest } = body;
  const wishes = { ...rest, since: since === undefined ? undefined : Date.parse(since) };
  if (event.req.headers.get("accept")?.includes("text/event-stream") !== true)
    return client.push(wishes, () => {}, signal);
  return toEvents(async ({ send, close, gone }) => {
    try {
      const report = await client.push(wishes, (frame) => send(frame), gone);
      send({ type: "done", ...report });
    } catch (error) {
      const errorId = crypto.randomUUID();
      const failed = toErrorBody(error, errorId);
      if (failed.code === "INTERNAL")
        await kernel.notify("request:error", error, { method: "POST", path: "/api/team/push", errorId });
      send({ type: "error", ...failed });
    }
    close();
  });
}
