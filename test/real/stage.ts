/** What every real test begins with: a picked assistant beside a model server, until the test ends. */
import { onTestFinished } from "vitest";
import { type Driven, type DriveOptions, drive } from "./drive.ts";
import { type ModelServer, startModelServer } from "./model/server.ts";
import { findVersion } from "./picked.ts";
import type { Driver } from "./tools/types.ts";

export interface Stage {
  model: ModelServer;
  tool: Driven;
}

/** Both are closed with the test. */
export async function stage(driver: Driver, options: Pick<DriveOptions, "files"> = {}): Promise<Stage> {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const version = findVersion(driver);
  const tool = await drive(driver, { url: model.url, ...(version !== undefined && { version }), ...options });
  onTestFinished(() => tool.close());
  return { model, tool };
}
