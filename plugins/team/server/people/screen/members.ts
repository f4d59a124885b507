/** Part of the screen People that owners see: who is in the team, and a dialog that removes a person. */
import type { DashboardHost, TableColumn } from "sessarc/dashboard";
import { Button, Failure, Section, Table } from "sessarc/kit";
import { h, nextTick, ref, type VNodeChild } from "vue";
import type { ScreenWords } from "./words.ts";

interface Named {
  id: string;
  name: string;
}
interface Member extends Named {
  machines: readonly string[];
  tokens: readonly string[];
  invitations: number;
}

/** What of a page's dialog is used: a server's types know no page. */
interface Dialog {
  showModal(): void;
  close(): void;
  ownerDocument: {
    querySelector(selector: string): { focus(): void } | null;
    /** Without `clipboard` where the page is neither over TLS nor of this machine. */
    defaultView: { navigator: { clipboard?: { writeText(text: string): Promise<void> } } } | null;
  };
}

export interface Members {
  load(): Promise<void>;
  /** Null for those who are no owners. */
  render(): VNodeChild;
}

export const createMembers = ({ css, toast }: Pick<DashboardHost, "css" | "toast">, words: ScreenWords): Members => {
  css(
    `.team-dialog { width: min(35rem, calc(100vw - 2rem)); max-height: 85vh; margin: auto; padding: 1rem; overflow-y: auto; overflow-wrap: anywhere; color: var(--ink); background: var(--surface); border: 1px solid var(--line-strong); border-radius: 10px; }
     .team-dialog::backdrop { background: rgb(0 0 0 / 0.45); }
     .team-dialog > * + * { margin-block-start: 0.75rem; }
     .team-dialog h2 { font-size: 1.125rem; font-weight: 600; }
     .team-dialog ul { padding-inline-start: 1.25rem; list-style: disc; }
     .team-dialog legend { font-weight: 600; }
     .team-dialog fieldset label { display: flex; align-items: center; gap: 0.5rem; min-height: 2rem; }
     .team-dialog select { min-height: 2rem; max-width: 100%; padding-inline: 0.5rem; color: var(--ink); background: var(--surface); border: 1px solid var(--line-strong); border-radius: 6px; }
     .team-dialog code { display: block; margin-block: 0.5rem; padding: 0.5rem; background: var(--sunken); border-radius: 6px; user-select: all; }
     .team-dialog [role=alert] { padding-inline-start: 0.75rem; border-inline-start: 2px solid var(--bad); }
     .team-dialog footer { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0.5rem; }`,
  );
  const everyone = ref<readonly Member[]>([]);
  const me = ref("");
  const failed = ref<unknown>();
  const leaving = ref<Member>();
  const choice = ref<"" | "delete" | "give">("");
  const heir = ref("");
  const problem = ref("");
  const busy = ref(false);
  let dialog: Dialog | undefined;

  const own = {
    async ask<T>(method: string, path: string, body?: object): Promise<T> {
      const answer = await fetch(`/team/api${path}`, {
        method,
        headers: { accept: "application/json", ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const said: unknown = await answer.json();
      if (answer.ok) return said as T;
      const { code, message = String(answer.status), fix = "" } = said as Record<string, string | undefined>;
      throw new Error(code === "TEAM_LAST_OWNER" ? words.lastOwner : `${message}. ${fix}`);
    },
    async load(): Promise<void> {
      try {
        const { person, scopes } = await own.ask<{ person: Named; scopes: string[] }>("GET", "/me");
        if (!scopes.includes("own")) return;
        const [{ people }, { devices }, { tokens }, { invites }] = await Promise.all([
          own.ask<{ people: Named[] }>("GET", "/people"),
          own.ask<{ devices: { name: string; person: string; revokedAt: string | null }[] }>("GET", "/devices"),
          own.ask<{ tokens: { name: string; person: Named }[] }>("GET", "/tokens"),
          own.ask<{
            invites: {
              person: string | null;
              madeBy: string | null;
              expiresAt: string;
              usedAt: string | null;
              revokedAt: string | null;
            }[];
          }>("GET", "/invites"),
        ]);
        const open = invites.filter(
          (one) => one.usedAt === null && one.revokedAt === null && new Date(one.expiresAt).getTime() > Date.now(),
        );
        me.value = person.id;
        everyone.value = people.map(({ id, name }) => ({
          id,
          name,
          machines: devices.flatMap((one) => (one.person === id && one.revokedAt === null ? one.name : [])),
          tokens: tokens.flatMap((one) => (one.person.id === id ? one.name : [])),
          invitations: open.filter((one) => one.madeBy === id || one.person === id).length,
        }));
        failed.value = undefined;
      } catch (reason) {
        failed.value = reason;
      }
    },
    open(member: Member) {
      leaving.value = member;
      choice.value = "";
      problem.value = "";
      heir.value = everyone.value.find(({ id }) => id !== member.id)?.id ?? "";
    },
    close() {
      dialog?.close();
    },
    named(text: string, name: string) {
      return text.split("{name}").join(name);
    },
    async remove(member: Member): Promise<void> {
      if (busy.value) return;
      busy.value = true;
      problem.value = "";
      try {
        await own.ask("DELETE", `/people/${member.id}`, { private: "delete" });
        const page = dialog?.ownerDocument;
        dialog?.close();
        toast(own.named(words.removed, member.name));
        await own.load();
        // The button that opened the dialog is gone with its row.
        await nextTick();
        page?.querySelector("h1")?.focus();
      } catch (reason) {
        problem.value = reason instanceof Error ? reason.message : String(reason);
      } finally {
        busy.value = false;
      }
    },
    option(value: "delete" | "give", label: string) {
      return h("label", [
        h("input", {
          type: "radio",
          name: "team-private",
          checked: choice.value === value,
          onChange() {
            choice.value = value;
          },
        }),
        label,
      ]);
    },
    handOver({ id }: Member) {
      // By id: a name may be that of two people, or hold what a shell obeys.
      const command = `sessarc team remove ${id} --give ${heir.value}`;
      const clipboard = dialog?.ownerDocument.defaultView?.navigator.clipboard;
      return h("div", [
        h("label", [
          words.heir,
          h(
            "select",
            {
              "aria-label": words.heir,
              onChange(event: { target: { value: string } }) {
                heir.value = event.target.value;
              },
            },
            everyone.value
              .filter((one) => one.id !== id)
              .map((one) => h("option", { value: one.id, selected: one.id === heir.value }, one.name)),
          ),
        ]),
        h("p", words.machineOnly),
        h("code", { tabindex: 0 }, command),
        clipboard
          ? h(
              Button,
              {
                icon: "copy",
                async onClick() {
                  try {
                    await clipboard.writeText(command);
                    toast(words.copied);
                  } catch (reason) {
                    problem.value = String(reason);
                  }
                },
              },
              () => words.copy,
            )
          : null,
      ]);
    },
    listed(all: readonly string[]) {
      return all.length === 0 ? words.nothing : all.join(", ");
    },
    dialog(member: Member) {
      return h(
        "dialog",
        {
          class: "team-dialog",
          "aria-labelledby": "team-remove-title",
          onVnodeMounted({ el }: { el: unknown }) {
            dialog = el as Dialog;
            dialog.showModal();
          },
          onClose() {
            leaving.value = undefined;
          },
          // Shortcuts of the page below stay out.
          onKeydown(event: { stopPropagation(): void }) {
            event.stopPropagation();
          },
        },
        [
          h("h2", { id: "team-remove-title" }, own.named(words.removeTitle, member.name)),
          member.id === me.value ? h("p", words.self) : null,
          h("p", words.ends),
          h("ul", [
            h("li", `${words.endMachines}: ${own.listed(member.machines)}`),
            h("li", `${words.endTokens}: ${own.listed(member.tokens)}`),
            h("li", `${words.endInvitations}: ${member.invitations}`),
            h("li", words.endSignIns),
          ]),
          h("p", words.stays),
          h("fieldset", [
            h("legend", words.private),
            own.option("delete", words.deletes),
            everyone.value.length > 1 ? own.option("give", words.gives) : null,
            choice.value === "give" ? own.handOver(member) : null,
          ]),
          problem.value === "" ? null : h("p", { role: "alert" }, problem.value),
          h("footer", [
            h(Button, { onClick: own.close }, () => words.cancel),
            choice.value === "give"
              ? null
              : h(
                  Button,
                  {
                    kind: "danger",
                    disabled: choice.value !== "delete" || busy.value,
                    onClick() {
                      return own.remove(member);
                    },
                  },
                  () => words.remove,
                ),
          ]),
        ],
      );
    },
    columns(): TableColumn<Member>[] {
      return [
        {
          title: words.person,
          value({ name }) {
            return name;
          },
        },
        {
          title: words.machines,
          value({ machines }) {
            return machines.join(", ");
          },
        },
        {
          title: words.remove,
          align: "end",
          value(member) {
            return h(
              Button,
              {
                kind: "quiet",
                "aria-label": own.named(words.removeWho, member.name),
                onClick() {
                  own.open(member);
                },
              },
              () => words.remove,
            );
          },
        },
      ];
    },
  };
  return {
    load: own.load,
    render() {
      if (failed.value !== undefined) return h(Failure, { error: failed.value, onRetry: own.load });
      if (everyone.value.length === 0) return null;
      return h(Section, { title: words.team }, () => [
        h(Table, { caption: words.members, columns: own.columns(), rows: everyone.value }),
        leaving.value === undefined ? null : own.dialog(leaving.value),
      ]);
    },
  };
};
