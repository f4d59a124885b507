/** What can be done with a project, on the list and on its own page. */

import { nextTick, type Ref, reactive, ref } from "vue";
import { api, type RouteKey } from "../../client.ts";
import type { MenuItem } from "../../components/base/MenuButton.vue";
import { projectName } from "../../format.ts";
import { t } from "../../i18n/index.ts";
import { offered } from "../../state/offers.ts";
import { useRefresh } from "../../state/refresh.ts";
import { failed, toast } from "../../state/toast.ts";
import type { Project } from "../../wire.ts";
import { codeText } from "../code/words/index.ts";
import { projectsText } from "./words/index.ts";

interface ProjectActionsOptions {
  /** After the archive changed. */
  changed?(): unknown;
  /** Leaves a screen that is about one project, which is no more. */
  leave?(): Promise<unknown>;
  /** Where the focus goes when the field for the name closes. */
  focus?(project: Project): void;
}

export function useProjectActions(options: ProjectActionsOptions = {}) {
  const ask = useRefresh();
  const renaming = ref<string | null>(null);
  const draft = ref("");
  const removing = ref<Project | null>(null);
  /** From the team's servers, too. */
  const withdraw = ref(false);
  const linking = ref<Project | null>(null);
  const syncing = reactive(new Set<string>());

  const askAgain = () =>
    ask(...["projects", "project", "activity", "sessions", "insights"].map((name) => ({ key: [name] })));
  async function refresh(): Promise<void> {
    await askAgain();
    options.changed?.();
  }
  async function rename(project: Project): Promise<void> {
    draft.value = project.name;
    renaming.value = project.id;
    await nextTick();
    document.querySelector<HTMLInputElement>("#project-name")?.select();
  }
  async function leave(project: Project): Promise<void> {
    renaming.value = null;
    await nextTick();
    options.focus?.(project);
  }
  /** `blur` leaves the focus where it went. */
  async function save(project: Project, blur = false): Promise<void> {
    if (renaming.value !== project.id) return;
    if (blur) renaming.value = null;
    else await leave(project);
    const name = draft.value.trim();
    if (name === project.name) return;
    try {
      await api("PATCH /projects/:id", { params: { id: project.id }, body: { name } });
      await refresh();
    } catch (error) {
      failed(error);
      // What was typed stays where it was typed, unless another name is being typed by now.
      renaming.value ??= project.id;
    }
  }
  async function sync(project: Project): Promise<void> {
    if (syncing.has(project.id)) return;
    syncing.add(project.id);
    try {
      const report = await api("POST /projects/:id/sync", { params: { id: project.id } });
      toast(
        report.imported === 0
          ? projectsText("project.upToDate", { name: projectName(project.name) })
          : t("project.synced", { n: report.imported }),
      );
      await refresh();
    } catch (error) {
      failed(error);
    } finally {
      syncing.delete(project.id);
    }
  }
  async function unlink(project: Project): Promise<void> {
    try {
      await api("POST /projects/:id/unlink", { params: { id: project.id } });
      await refresh();
    } catch (error) {
      failed(error);
    }
  }
  async function remove(): Promise<void> {
    const project = removing.value;
    if (!project) return;
    await api("DELETE /projects/:id", { params: { id: project.id }, query: withdraw.value ? { withdraw: "1" } : {} });
    toast(projectsText("project.deleted", { name: projectName(project.name) }));
    if (!options.leave) return refresh();
    // Left first: the screen would ask for what is no more.
    await options.leave();
    await askAgain();
  }
  function open(dialog: Ref<Project | null>, project: Project): void {
    dialog.value = project;
  }
  const menu = (project: Project): MenuItem[] =>
    offered<MenuItem & { needs: RouteKey }>([
      {
        label: t("action.rename"),
        icon: "pencil",
        keys: "r",
        needs: "PATCH /projects/:id",
        run: () => rename(project),
      },
      {
        needs: "POST /projects/:id/sync",
        label: t("action.sync"),
        icon: "refresh-cw",
        keys: "y",
        disabled: syncing.has(project.id),
        run: () => sync(project),
      },
      ...(project.virtual
        ? [
            {
              label: codeText("project.associate"),
              icon: "link",
              needs: "POST /projects/:id/associate" as const,
              run: () => open(linking, project),
            },
          ]
        : []),
      ...(project.associatedFrom
        ? [
            {
              label: projectsText("project.unlink"),
              icon: "unlink",
              needs: "POST /projects/:id/unlink" as const,
              run: () => unlink(project),
            },
          ]
        : []),
      {
        needs: "DELETE /projects/:id",
        label: t("action.delete"),
        icon: "trash",
        danger: true,
        split: true,
        run: () => open(removing, project),
      },
    ]);
  return { renaming, draft, removing, withdraw, linking, syncing, refresh, rename, leave, save, sync, remove, menu };
}
export type ProjectActions = ReturnType<typeof useProjectActions>;
