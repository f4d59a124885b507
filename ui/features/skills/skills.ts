/** The stored skills, and linking them into the assistants. */

import { useQuery } from "@pinia/colada";
import { reactive } from "vue";
import { type Answer, api, type BodyOf } from "../../client.ts";
import { toolLabel } from "../../components/base/tools.ts";
import { useRefresh } from "../../state/refresh.ts";
import { failed, toast } from "../../state/toast.ts";
import { skillsText } from "./words/index.ts";

export type Skill = Answer<"GET /skills">["skills"][number];
export type SkillDetail = Answer<"GET /skills/:id">;
export type SkillLink = Skill["links"][number];
type LinkBody = BodyOf<"POST /skills/:id/link">;

export const useSkillList = () =>
  useQuery({ key: ["skills", "list"], query: ({ signal }) => api("GET /skills", { signal }) });

export type ScanEntry = Answer<"GET /skills/scan">["entries"][number];

export const useScan = () =>
  useQuery({ key: ["skills", "scan"], query: ({ signal }) => api("GET /skills/scan", { signal }) });

/** Whether an assistant's own folder of the skill's name has other files. */
export function differsFrom(skill: Skill, path: string, entries: readonly ScanEntry[]): boolean {
  const found = entries.find((one) => one.path === path);
  return found !== undefined && !(found.reason === "same-content" && found.duplicateOf === skill.id);
}

/** Reloads everything shown of skills. For use after any change. */
export function useSkillRefresh(): () => Promise<void> {
  const refresh = useRefresh();
  return () => refresh({ key: ["skills"] });
}

const target = ({ tool, scope, project }: SkillLink) => ({ tool, scope, ...(project !== null && { project }) });
const keyOf = (skill: Skill, link: SkillLink) => `${skill.id} ${link.tool} ${link.scope} ${link.project ?? ""}`;

export function useLinking() {
  const refresh = useSkillRefresh();
  const busy = reactive(new Set<string>());
  const send = (skill: Skill, link: SkillLink, on: boolean, body: Partial<LinkBody> = {}) =>
    on
      ? api("POST /skills/:id/link", { params: { id: skill.id }, body: { ...target(link), ...body } })
      : api("POST /skills/:id/unlink", { params: { id: skill.id }, body: target(link) });
  /** Links or unlinks and shows a notice with an undo. */
  async function set(skill: Skill, link: SkillLink, on: boolean, body: Partial<LinkBody> = {}): Promise<void> {
    const key = keyOf(skill, link);
    if (busy.has(key)) return;
    busy.add(key);
    try {
      await send(skill, link, on, body);
      await refresh();
      // A copy that was linked goes back as a copy.
      const back: Partial<LinkBody> = link.mode === "copy" ? { mode: "copy" } : {};
      toast(skillsText(on ? "linked" : "unlinked", { name: skill.name, tool: toolLabel(link.tool) }), {
        action: {
          label: skillsText("undo"),
          run: () => send(skill, link, !on, back).then(refresh),
        },
      });
    } catch (error) {
      failed(error);
    } finally {
      busy.delete(key);
    }
  }
  return { set, isBusy: (skill: Skill, link: SkillLink) => busy.has(keyOf(skill, link)) };
}
