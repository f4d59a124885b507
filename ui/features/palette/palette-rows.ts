/** Contents of the palette: rows of actions, projects, tools and sessions, and what can be done with each. */

import type { Router } from "vue-router";
import { api, type RouteKey } from "../../client.ts";
import { inOrder, toolLabel } from "../../components/base/tools.ts";
import { compactTime, oneLine, projectName, titleOf } from "../../format.ts";
import { t } from "../../i18n/index.ts";
import { modelWords } from "../../model-names.ts";
import { foot, places, screens } from "../../nav.ts";
import { extensions } from "../../plugin.ts";
import { pageCommands } from "../../state/commands.ts";
import { isLocal, offered } from "../../state/offers.ts";
import { overlay } from "../../state/overlay.ts";
import { copyLink } from "../../state/page.ts";
import { copyResume } from "../../state/resume.ts";
import { useService } from "../../state/service.ts";
import { nextTheme, settings } from "../../state/settings.ts";
import { toast } from "../../state/toast.ts";
import type { Project, SearchAnswer } from "../../wire.ts";
import { isLine, linkOf, nameOf, type Place, writerOf } from "../code/places.ts";
import { codeText } from "../code/words/index.ts";
import type { SavedSearch } from "../notes/notes.ts";
import { isFullPath, linkToVersions } from "../undelete/versions.ts";
import { undeleteText } from "../undelete/words/index.ts";
import { toSynonyms } from "./synonyms/index.ts";
import { paletteText } from "./words/index.ts";

export interface PaletteRow {
  id: string;
  section: string;
  label: string;
  icon: string;
  hint?: string;
  tool?: string;
  keys?: string;
  href?: string;
  /** Other words by which it is found, between commas. */
  also?: string;
  run?(): unknown;
  /** Asks for a text first and hands it over. */
  ask?(text: string): Promise<unknown>;
  /** What → offers; the first is what Enter does. */
  actions?(): PaletteRow[];
  needs?: RouteKey;
}

/** Open, open in a new tab, copy the link: for every row that leads somewhere. */
function linkActions(row: PaletteRow, more: Omit<PaletteRow, "section">[] = []): PaletteRow[] {
  const { href = "" } = row;
  const section = paletteText("palette.rowActions", { name: row.label });
  return [
    { id: `${row.id}:open`, section, label: t("action.open"), icon: row.icon, keys: "Enter", href },
    {
      id: `${row.id}:tab`,
      section,
      label: paletteText("action.newTab"),
      icon: "external-link",
      keys: "mod+Enter",
      run: () => window.open(href, "_blank", "noopener"),
    },
    { id: `${row.id}:link`, section, label: t("action.copyLink"), icon: "link", run: () => copyLink(href) },
    ...offered(more).map((one) => ({ ...one, section })),
  ];
}
const linked = (row: PaletteRow, more?: () => Omit<PaletteRow, "section">[]): PaletteRow => ({
  ...row,
  actions: () => linkActions(row, more?.()),
});

export function actionRows(): PaletteRow[] {
  const section = paletteText("palette.actions");
  const go = (path: string, label: string, icon: string, keys?: string) =>
    linked({ id: `go:${path}`, section, label, icon, href: path, also: toSynonyms(path), ...(keys && { keys }) });
  return [
    ...pageCommands().map((one) => ({
      ...one,
      section: paletteText("palette.page"),
      icon: one.icon ?? "chevron-right",
    })),
    ...places.map((one) => go(one.path, t(one.label), one.icon, one.keys)),
    ...extensions.nav.map((one) => go(one.path, one.label, one.icon, one.keys)),
    ...[...foot, ...screens].map((one) => go(one.path, t(one.label), one.icon, one.keys)),
    ...offered<PaletteRow>([
      {
        id: "sync",
        section,
        label: t("sync.now"),
        icon: "refresh-cw",
        keys: "g y",
        needs: "POST /sync",
        run: () => useService().sync(),
      },
    ]),
    { id: "theme", section, label: t("keys.theme"), icon: "moon", keys: "t", run: nextTheme },
    {
      id: "rail",
      section,
      label: t("keys.rail"),
      icon: "panel-left",
      keys: "[",
      run: () => (settings.rail = !settings.rail),
    },
    { id: "help", section, label: t("keys.help"), icon: "keyboard", keys: "?", run: () => (overlay.help = true) },
    ...extensions.commands.map((one) => ({ ...one, section, icon: one.icon ?? "plug" })),
  ];
}

/** Screens without a key: only shown when they match what was typed. */
export function screenRows(): PaletteRow[] {
  const section = paletteText("screens");
  const rows: Omit<PaletteRow, "section">[] = [
    {
      id: "go:/compare",
      label: t("nav.compare"),
      icon: "file-diff",
      href: "/compare",
      also: toSynonyms("/compare"),
    },
    {
      ...{ id: "go:/files", label: undeleteText("gone"), hint: undeleteText("title"), icon: "undo-2" },
      ...{ href: "/files", also: toSynonyms("/files"), needs: "GET /files/history" },
    },
    { id: "go:/calls", label: t("nav.calls"), icon: "wrench", href: "/calls", also: toSynonyms("/calls") },
    {
      ...{ id: "why", label: codeText("action"), hint: paletteText("how"), icon: "git-commit-horizontal" },
      ...{ href: "/sessions#search", also: toSynonyms("why"), needs: "GET /git/find" },
    },
  ];
  return offered(rows).map((row) => linked({ section, ...row }));
}

/** A full path that is typed: the versions of that file, which need not exist any more. */
export function pathRows(typed: string): PaletteRow[] {
  const path = typed.trim();
  // `/word` looks for a word in the session.
  if (!isFullPath(path) || !/[/\\].*[/\\]/.test(path)) return [];
  const { query } = linkToVersions(path);
  return offered<PaletteRow>([
    {
      ...{ id: "path", section: undeleteText("title"), label: undeleteText("openOf", { path }), icon: "undo-2" },
      ...{ href: `/files?${new URLSearchParams(query)}`, needs: "GET /files/history" },
    },
  ]).map((row) => linked(row));
}

/** Models of the archive, by what people call them. */
export function modelRows(models: readonly string[]): PaletteRow[] {
  return models.map((model) =>
    linked(
      {
        ...{ id: `model:${model}`, section: paletteText("models"), label: modelWords(model), icon: "brain" },
        ...{ hint: paletteText("model.usage"), also: model, href: "/usage?by=model&days=all" },
      },
      () => [
        {
          ...{ id: `model:${model}:sessions`, label: paletteText("model.sessions"), icon: "message-square" },
          href: `/sessions?q=${encodeURIComponent(`model:${model}`)}`,
        },
      ],
    ),
  );
}

/** Lines that were asked for by `file:line` or their text, then files by their name, each with the session that changed it last. */
export function placeRows(places: readonly Place[]): PaletteRow[] {
  return places.flatMap((place) => [placeRow(place), ...(isLine(place) ? [] : [lastChangeRow(place)])]);
}

const placeRow = (place: Place): PaletteRow =>
  linked(
    {
      id: `place:${place.project.id}:${nameOf(place)}`,
      section: isLine(place) ? codeText("action") : paletteText("files"),
      label: nameOf(place),
      hint: toHint(place),
      icon: isLine(place) ? "git-commit-horizontal" : "file-text",
      href: linkOf(place),
    },
    () => [
      {
        ...{ id: `place:${place.path}:sessions`, label: paletteText("file.sessions"), icon: "search" },
        href: `/sessions?q=${encodeURIComponent(`path:"${place.path}"`)}`,
      },
    ],
  );

const lastChangeRow = ({ project, path, last }: Place): PaletteRow =>
  linked({
    ...{
      id: `place:${project.id}:${path}:last`,
      section: paletteText("files"),
      icon: "message-square",
      tool: last.tool,
    },
    label: paletteText("file.last", { title: oneLine(last.title ?? last.sessionId) }),
    hint: [path, compactTime(last.at)].join(" · "),
    href: `/sessions/${encodeURIComponent(last.sessionId)}?m=${last.seq}`,
  });

const toHint = (place: Place): string =>
  [
    projectName(place.project.name),
    place.text === null ? "" : place.path,
    isLine(place) ? oneLine(writerOf(place)) : paletteText("sessions", { n: place.sessions }),
  ]
    .filter(Boolean)
    .join(" · ");

const renamed = (name: string) => toast(paletteText("palette.renamed", { name }));

export function projectRows(projects: readonly Project[]): PaletteRow[] {
  return projects.map(({ id, name, path }) =>
    linked(
      {
        id,
        section: paletteText("palette.projects"),
        label: projectName(name),
        hint: path ?? "",
        icon: "folder-git-2",
        href: `/projects/${id}`,
      },
      () => [
        { id: `${id}:search`, label: paletteText("palette.findIn"), icon: "search", href: `/sessions?project=${id}` },
        {
          id: `${id}:rename`,
          label: t("action.rename"),
          icon: "pencil",
          needs: "PATCH /projects/:id",
          ask: async (text) => {
            await api("PATCH /projects/:id", { params: { id }, body: { name: text } });
            renamed(text);
          },
        },
        {
          id: `${id}:sync`,
          label: t("action.sync"),
          icon: "refresh-cw",
          needs: "POST /projects/:id/sync",
          run: async () => {
            const { imported } = await api("POST /projects/:id/sync", { params: { id } });
            toast(t("project.synced", { n: imported }));
          },
        },
      ],
    ),
  );
}

export function toolRows(projects: readonly Project[]): PaletteRow[] {
  return inOrder(projects.flatMap((one) => one.tools)).map((tool) =>
    linked({
      id: `tool:${tool}`,
      section: paletteText("palette.tools"),
      label: toolLabel(tool),
      icon: "bot",
      tool,
      href: `/sessions?tool=${tool}`,
    }),
  );
}

export function sessionRows(found: SearchAnswer | undefined, typed: string): PaletteRow[] {
  return (found?.results ?? []).map(({ session, project, matches: [match] }) => {
    const { id } = session;
    const place = match ? `?m=${match.seq}&q=${encodeURIComponent(typed.trim())}` : "";
    const last = session.endedAt ? compactTime(session.endedAt) : "";
    return linked(
      {
        id,
        section: found?.recent ? paletteText("palette.recent") : paletteText("palette.sessions"),
        label: titleOf(session),
        hint: match ? oneLine(match.snippet) : `${projectName(project.name)} · ${last}`,
        icon: "message-square",
        tool: session.tool,
        href: `/sessions/${encodeURIComponent(id)}${place}`,
      },
      () => [
        {
          id: `${id}:project`,
          label: projectName(project.name),
          icon: "folder-git-2",
          href: `/projects/${project.id}`,
        },
        ...(isLocal
          ? [{ id: `${id}:resume`, label: t("action.resume"), icon: "terminal", run: () => copyResume(id) }]
          : []),
        {
          id: `${id}:rename`,
          label: t("action.rename"),
          icon: "pencil",
          needs: "PATCH /sessions/:id",
          ask: async (text) => {
            await api("PATCH /sessions/:id", { params: { id }, body: { name: text } });
            renamed(text);
          },
        },
        {
          id: `${id}:sync`,
          label: t("action.sync"),
          icon: "refresh-cw",
          needs: "POST /sessions/:id/sync",
          run: async () => {
            const { outcome } = await api("POST /sessions/:id/sync", { params: { id } });
            toast(t(outcome === "imported" ? "session.synced" : "session.unchanged"));
          },
        },
      ],
    );
  });
}

export function searchRows(searches: readonly SavedSearch[]): PaletteRow[] {
  return searches.map(({ name, query }) =>
    linked({
      id: `search:${name}`,
      section: t("nav.savedSearches"),
      label: name,
      hint: query,
      icon: "search",
      href: `/sessions?q=${encodeURIComponent(query)}`,
    }),
  );
}

/** `/ words` in an open session. */
export function inSession(router: Router, words: string): PaletteRow[] {
  const { name, path, query } = router.currentRoute.value;
  if (name !== "session") return [];
  return [
    {
      id: "in-session",
      section: paletteText("palette.sessions"),
      label: paletteText("palette.inSession", { text: words }),
      icon: "search",
      href: router.resolve({ path, query: { ...query, q: words } }).href,
    },
  ];
}
