/** The sample service: `sessarc serve --demo` as a process of its own, which the dashboard of an empty archive opens. It shares nothing with the archive. */
import { createInterface } from "node:readline";
import { type Kernel, SessarcError } from "sessarc";
import { cliFile, endProcess, startProcess } from "sessarc/files";
import * as v from "valibot";

/** A start writes the sample logs and imports them: seconds, on a busy machine more. */
const START_MS = 60_000;
/** Its input has ended: it removes its folder and ends. */
const END_MS = 10_000;

export interface Sample {
  /** Starts the service, or returns the address of the one that runs. Throws SAMPLE_NOT_STARTED. */
  start(): Promise<{ url: string }>;
  /** Ends it and removes its data; false if none runs. */
  end(): Promise<{ ended: boolean }>;
}

/** The line that it prints once it answers. */
const readyLine = v.pipe(v.string(), v.parseJson(), v.object({ url: v.pipe(v.string(), v.url()) }));

export function createSample(kernel: Kernel): Sample {
  let running: { url: Promise<string>; end(): Promise<void> } | undefined;

  function run(of: string) {
    const words = ["serve", "--demo", "--no-open", "--host", "127.0.0.1", "--port", "0", "--sample-of", of];
    if (kernel.access.required) words.push("--auth");
    const child = startProcess(process.execPath, [cliFile(), ...words], {
      env: kernel.env.env,
      cwd: kernel.storage.dataDir,
    });
    let lastWords = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      lastWords = `${lastWords}${text}`.slice(-2_000);
    });
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const killAfter = (ms: number) => {
      const timer = setTimeout(() => endProcess(child), ms);
      void closed.then(() => clearTimeout(timer));
      return timer;
    };
    const tooLate = killAfter(START_MS);
    const url = new Promise<string>((resolve, reject) => {
      const fail = (reason: string) => reject(new SessarcError("SAMPLE_NOT_STARTED", { reason }));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const ready = v.safeParse(readyLine, line);
        if (!ready.success) return;
        clearTimeout(tooLate);
        resolve(ready.output.url);
      });
      child.once("error", (error) => fail(error.message));
      void closed.then(() => fail(lastWords.trim().split("\n").at(-1) || "it did not answer in time"));
    });
    const started = {
      url,
      async end() {
        child.stdin.end();
        killAfter(END_MS);
        await closed;
      },
    };
    void closed.then(() => {
      if (running === started) running = undefined;
    });
    return started;
  }

  return {
    async start() {
      const of = kernel.address?.url;
      if (of === undefined) throw new SessarcError("SAMPLE_NOT_STARTED", { reason: "no service runs" });
      running ??= run(of);
      return { url: await running.url };
    },
    async end() {
      const ended = running !== undefined;
      await running?.end();
      return { ended };
    },
  };
}
