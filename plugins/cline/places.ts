/** Where an assistant of the family keeps its sessions. */
import { join } from "node:path";
import type { AdapterEnv } from "sessarc/adapter";
import { editorFolders } from "./editor-folders.ts";
import type { Member, MemberName } from "./family.ts";

export interface ClineOptions {
  /** Read only below this folder: a home, a `<User>` folder of an editor, or the folder that holds `tasks` or `sessions`. */
  dir?: string;
  /** Which assistant of the family; default `cline`. */
  variant?: MemberName;
}

interface Places {
  /** One folder for each session. */
  sessions: string[];
  /** One folder for each task, the older store. */
  tasks: string[];
}

export function toPlaces(member: Member, dir: string | undefined, env: AdapterEnv): Places {
  const inEditor = (user: string) => join(user, "globalStorage", member.extension, "tasks");
  if (dir !== undefined) {
    const editors = (["linux", "darwin", "win32"] as const).flatMap((platform) =>
      editorFolders({ home: dir, platform, env: {} }, member.apps),
    );
    const data = [join(dir, ".cline", "data"), dir];
    return {
      sessions: member.hasSessions ? data.map((folder) => join(folder, "sessions")) : [],
      tasks: [
        ...new Set([
          ...[...editors, dir].map(inEditor),
          join(dir, "tasks"),
          ...(member.hasSessions ? data.map((folder) => join(folder, "tasks")) : []),
        ]),
      ],
    };
  }
  const tasks = editorFolders(env, member.apps).map(inEditor);
  if (!member.hasSessions) return { sessions: [], tasks };
  const data = dataFolder(env);
  return {
    sessions: [env.env.CLINE_SESSION_DATA_DIR || join(data, "sessions")],
    tasks: [...tasks, join(data, "tasks")],
  };
}

/** Cline's own folder for what all of its programs share. */
export const dataFolder = ({ home, env }: AdapterEnv) =>
  env.CLINE_DATA_DIR || join(env.CLINE_DIR || join(home, ".cline"), "data");
