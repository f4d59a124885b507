/** The command that resumes a session in its assistant, for a terminal. */
import { api } from "../client.ts";
import { t } from "../i18n/index.ts";
import { copyText } from "./page.ts";
import { failed, toast } from "./toast.ts";

export async function copyResume(id: string): Promise<void> {
  try {
    const { resume } = await api("GET /sessions/:id", { params: { id } });
    if (resume) await copyText(resume.command);
    else toast(t("action.noResume"), { bad: true });
  } catch (error) {
    failed(error);
  }
}
