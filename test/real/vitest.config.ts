/**
 * `npm run test:real`: the real assistants, one for each core at a time. The scenarios of `logs.real.ts` run once for each assistant, so
 * that no core waits for the other one's long file at the end.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { alias } from "../alias.ts";
import { isPicked } from "./picked.ts";
import { DRIVERS, nameOf } from "./tools/index.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whose scenarios `logs.real.ts` runs. */
    assistant: string;
  }
}

/** The longest first: files, and of the scenarios the assistants that take longest to start. */
const FIRST = ["guard", "replay", "kilo", "opencode", "hub", "rescue", "takeover", "statusline"];

class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const at = FIRST.findIndex((name) => project.name === name || moduleId.endsWith(`/${name}.real.ts`));
      return at < 0 ? FIRST.length : at;
    };
    return files.sort((a, b) => rank(a) - rank(b));
  }
}

const LOGS = "test/real/logs.real.ts";
const own = { testTimeout: 600_000, hookTimeout: 600_000 };

export default {
  test: {
    maxWorkers: 2,
    sequence: { sequencer: Sequencer },
    projects: [
      { resolve: { alias }, test: { ...own, name: "all", include: ["test/real/**/*.real.ts"], exclude: [LOGS] } },
      ...DRIVERS.filter(isPicked).map((driver) => {
        const name = nameOf(driver);
        return { resolve: { alias }, test: { ...own, name, include: [LOGS], provide: { assistant: name } } };
      }),
    ],
  },
};
