/** Going on with a session in its assistant: the service opens the user's terminal, or the command is copied. */
import { useQuery } from "@pinia/colada";
import { type ComputedRef, computed } from "vue";
import { ApiError, api } from "../client.ts";
import { t } from "../i18n/index.ts";
import { offers } from "./offers.ts";
import { copyText } from "./page.ts";
import { failed, toast } from "./toast.ts";

/** Whether the service can open a terminal on this machine's screen. */
export function useTerminal(): ComputedRef<boolean> {
  const query = useQuery({
    key: ["terminal"],
    enabled: offers("GET /terminal"),
    staleTime: Number.POSITIVE_INFINITY,
    query: ({ signal }) => api("GET /terminal", { signal }),
  });
  return computed(() => typeof query.data.value?.name === "string");
}

/** Opens a terminal with the session in it. Where there is none after all, or no folder for it, the command is copied. */
export async function openResume(id: string): Promise<void> {
  try {
    await api("POST /sessions/:id/resume", { params: { id } });
    toast(t("resume.opened"));
  } catch (error) {
    if (error instanceof ApiError && INSTEAD.has(error.code)) await copyResume(id);
    else failed(error);
  }
}
const INSTEAD: ReadonlySet<string> = new Set(["NO_TERMINAL", "NO_SUCH_FOLDER"]);

/** Copies the command and says what to do with it. */
export async function copyResume(id: string): Promise<void> {
  try {
    const { resume } = await api("GET /sessions/:id", { params: { id } });
    if (!resume) return toast(t("action.noResume"), { bad: true });
    const folder = resume.cwd?.split(/[\\/]/).findLast(Boolean);
    // A command that goes to a folder that is gone fails before it resumes.
    if (resume.folderGone)
      await copyText(resume.words.join(" "), t("resume.copiedGone", { folder: folder ?? "" }), LONG);
    else
      await copyText(
        resume.command,
        folder === undefined ? t("resume.copied") : t("resume.copiedIn", { folder }),
        LONG,
      );
  } catch (error) {
    failed(error);
  }
}
/** How long the notice stays: two steps are to be read. */
const LONG = 8_000;
