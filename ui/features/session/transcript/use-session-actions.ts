/** What can be done with a session as a whole: the entries of its menu, and the dialogs they open. */

import { computed, ref } from "vue";
import { useRouter } from "vue-router";
import { api, type RouteKey, urlOf } from "../../../client.ts";
import type { MenuItem } from "../../../components/base/MenuButton.vue";
import { t } from "../../../i18n/index.ts";
import { useCommands } from "../../../state/commands.ts";
import { isLocal, offered } from "../../../state/offers.ts";
import { copyLink, copyText } from "../../../state/page.ts";
import { useRefresh } from "../../../state/refresh.ts";
import { copyResume } from "../../../state/resume.ts";
import { saveFrom } from "../../../state/save.ts";
import { failed, toast } from "../../../state/toast.ts";
import { editing } from "../../notes/notes.ts";
import { notesText } from "../../notes/words/index.ts";
import { sessionText } from "../words/index.ts";
import type { useSession } from "./use-session.ts";

interface Action extends MenuItem {
  id: string;
  needs?: RouteKey;
}

export function useSessionActions(
  session: ReturnType<typeof useSession>,
  options: { print(): unknown; visible(): [number, number] | null },
) {
  const { id, detail } = session;
  const router = useRouter();
  const ask = useRefresh();
  /** What the dialog asks about. */
  const removing = ref<"copy" | "source" | null>(null);
  /** From the team's servers, too. */
  const withdraw = ref(false);
  const linking = ref(false);
  const sharing = ref(false);
  const refresh = () => ask({ key: ["session", id] });

  async function rename(name: string): Promise<void> {
    await api("PATCH /sessions/:id", { params: { id }, body: { name: name === "" ? null : name } });
    await refresh();
  }
  async function sync(): Promise<void> {
    try {
      const { outcome } = await api("POST /sessions/:id/sync", { params: { id } });
      toast(t(outcome === "imported" ? "session.synced" : "session.unchanged"));
      if (outcome !== "imported") return;
      session.pages.clear();
      await Promise.all([session.load(), refresh()]);
      const visible = options.visible();
      if (visible) await session.pages.ensure(...visible);
    } catch (error) {
      failed(error);
    }
  }
  /** The brief goes into the clipboard: it is pasted into the other assistant. */
  async function handOver(): Promise<void> {
    try {
      const { text } = await api("GET /sessions/:id/handoff", { params: { id }, query: {} });
      await copyText(text);
    } catch (error) {
      failed(error);
    }
  }
  async function remove(): Promise<void> {
    if (removing.value === "source") {
      const { deleted } = await api("DELETE /sessions/:id/source-file", { params: { id } });
      toast(sessionText("session.sourceDeleted", { path: deleted.join(", ") }));
      await refresh();
      return;
    }
    await api("DELETE /sessions/:id", { params: { id }, query: withdraw.value ? { withdraw: "1" } : {} });
    toast(sessionText("session.deleted"));
    void router.push({ name: "project", params: { id: detail.value?.project.id ?? "" } });
  }

  const actions = computed(() =>
    offered<Action>([
      {
        id: "share",
        needs: "POST /sessions/:id/share",
        label: sessionText("share.share"),
        icon: "share-2",
        run: () => {
          sharing.value = true;
        },
      },
      { id: "copy", label: t("action.copyLink"), icon: "link", run: () => copyLink() },
      ...(detail.value?.resume
        ? [
            {
              id: "resume",
              label: sessionText("resume"),
              icon: "terminal",
              run: () => copyResume(id),
            },
          ]
        : []),
      {
        id: "handoff",
        label: sessionText("handoff"),
        icon: "corner-down-right",
        needs: "GET /sessions/:id/handoff",
        run: handOver,
      },
      ...(isLocal
        ? [
            {
              id: "log",
              label: sessionText("logPath"),
              icon: "file-text",
              run: () => copyText(detail.value?.session.source.path ?? ""),
            },
          ]
        : []),
      {
        id: "note",
        needs: "PATCH /sessions/:id/notes",
        label: notesText("notes.edit"),
        icon: "bookmark",
        run: () => {
          editing.value = { session: id };
        },
      },
      {
        id: "sync",
        label: t("action.sync"),
        icon: "refresh-cw",
        needs: "POST /sessions/:id/sync",
        run: sync,
      },
      {
        id: "tail",
        needs: "GET /sessions/:id/live",
        label: sessionText(session.tail.value === "1" ? "live.stop" : "live.follow"),
        icon: "radio",
        run: () => {
          session.tail.value = session.tail.value === "1" ? "" : "1";
        },
      },
      {
        id: "export",
        needs: "GET /sessions/:id/export-redacted",
        label: sessionText("session.export"),
        icon: "download",
        run: () => saveFrom(urlOf("GET /sessions/:id/export-redacted", { params: { id } })),
      },
      {
        id: "replay",
        label: t("nav.replay"),
        icon: "play",
        needs: "GET /sessions/:id/replay-plan",
        run: () => router.push({ name: "replay", params: { id } }),
      },
      { id: "print", label: t("action.print"), icon: "file-text", keys: "mod+p", run: options.print },
      {
        id: "delete",
        needs: "DELETE /sessions/:id",
        label: sessionText("session.deleteCopy"),
        icon: "trash",
        danger: true,
        split: true,
        run: () => {
          removing.value = "copy";
        },
      },
      {
        id: "source",
        needs: "DELETE /sessions/:id/source-file",
        label: sessionText("session.deleteSource"),
        icon: "trash",
        danger: true,
        disabled: detail.value?.session.source.exclusive !== true || detail.value.session.source.missing,
        run: () => {
          removing.value = "source";
        },
      },
    ]),
  );
  useCommands(() => actions.value.map((one) => ({ ...one, id: `session:${one.id}` })));
  return { actions, removing, withdraw, linking, sharing, rename, remove };
}
