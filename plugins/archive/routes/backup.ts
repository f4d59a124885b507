/** GET /backup: everything the archive keeps, as one tar. */
import { defineRoute, SessarcError } from "sessarc";
import "../errors.ts";

export const backupRoute = defineRoute({
  method: "GET",
  path: "/backup",
  summary: "Everything the archive keeps as one tar, consistent while others write; as secret as the archive itself",
  handler: async ({ kernel }): Promise<Response> => {
    if (kernel.config.storage.driver)
      throw new SessarcError("BACKUP_ELSEWHERE", { driver: kernel.config.storage.driver.name });
    const { backup } = await import("../backup/backup.ts");
    const { readers } = kernel.inject("archive/open");
    const pieces = backup(kernel, () => readers.begin());
    const name = `sessarc-${new Date().toISOString().slice(0, 10)}.tar`;
    // The first piece is made now: what is wrong with the archive is an answer, not a torn download.
    const first = await pieces.next();
    let head = first.done ? undefined : first.value;
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (kernel.closing.aborted) {
          await pieces.return(undefined); // a client that got an error does not cancel
          throw new SessarcError("SHUTTING_DOWN", {});
        }
        const step = head ? { done: false, value: head } : await pieces.next();
        head = undefined;
        if (step.done) controller.close();
        else controller.enqueue(step.value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    });
    return new Response(stream, {
      headers: {
        "content-type": "application/x-tar",
        "content-disposition": `attachment; filename="${name}"`,
        "cache-control": "no-store",
      },
    });
  },
});
