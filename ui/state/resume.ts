/** Going on with a session in its assistant: the service opens the user's terminal, or the command is copied. */
import { useQuery } from "@pinia/colada";
import { type ComputedRef, computed } from "vue";
import { ApiError, api } from "../client.ts";
import { t } from "../i18n/index.ts";
import { offers } from "./offers.ts";
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

/** Opens a terminal with the session in it. Where the service has none after all, the command is copied. */
export async function openResume(id: string): Promise<void> {
  try {
    await api("POST /sessions/:id/resume", { params: { id } });
    toast(t("resume.opened"));
  } catch (error) {
    if (error instanceof ApiError && error.code === "NO_TERMINAL") await copyResume(id);
    else failed(error);
  }
}

/** Copies the command and says what to do with it. */
export async function copyResume(id: string): Promise<void> {
  try {
    const { resume } = await api("GET /sessions/:id", { params: { id } });
    if (!resume) return toast(t("action.noResume"), { bad: true });
    await navigator.clipboard.writeText(resume.command);
    const folder = resume.cwd?.split(/[\\/]/).findLast(Boolean);
    toast(folder === undefined ? t("resume.copied") : t("resume.copiedIn", { folder }), { ms: 8_000 });
  } catch (error) {
    failed(error);
  }
}
