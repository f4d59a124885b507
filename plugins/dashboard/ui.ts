/**
 * A plugin's part in the dashboard, as types: `sessarc/dashboard`. The plugin serves an ES module at `GET /plugins/<its name>/ui.js`
 * (mount "/"); its default export is a `DashboardModule`. It may import `vue` and `sessarc/kit`, which are the dashboard's own; these types need
 * the package `vue` as a development dependency.
 */

import type { ApiRoutes } from "sessarc";
import type { KernelRoutes } from "sessarc/serve";
import type * as Vue from "vue";
import type { Component, FunctionalComponent, VNodeChild } from "vue";

type Routes = ApiRoutes & KernelRoutes;
export type RouteKey = keyof Routes & string;
type Of<K extends RouteKey, F extends string> = Routes[K] extends { [P in F]: infer T } ? T : undefined;

/** What a route answers with JSON; a handler that may answer a stream as well is typed by its JSON form. */
export type Answer<K extends RouteKey> = Exclude<Of<K, "response">, Response>;
export type QueryOf<K extends RouteKey> = Of<K, "query">;
export type BodyOf<K extends RouteKey> = Of<K, "body">;

type Loose<T> = [T] extends [undefined]
  ? undefined
  : T extends object
    ? { [P in keyof T]: T[P] | (T[P] extends string | undefined ? number : never) | undefined }
    : T;
type ParamsPart<K extends RouteKey> = [keyof Of<K, "params">] extends [never]
  ? { params?: undefined }
  : { params: Of<K, "params"> };
export type Init<K extends RouteKey> = ParamsPart<K> & {
  query?: Loose<QueryOf<K>>;
  body?: BodyOf<K>;
  signal?: AbortSignal;
  headers?: Record<string, string>;
};
export type Args<K extends RouteKey> = [keyof Of<K, "params">] extends [never] ? [init?: Init<K>] : [init: Init<K>];

/** Calls the HTTP API: `api("GET /sessions/:id", { params: { id } })`. Rejects with an Error that has `status`, `code`, `message`, `fix`. */
export type Api = <K extends RouteKey>(key: K, ...args: Args<K>) => Promise<Answer<K>>;

type SessionDetail = Answer<Extract<RouteKey, "GET /sessions/:id">>;
type Message = Answer<Extract<RouteKey, "GET /sessions/:id/messages">> extends { messages: (infer M)[] } ? M : unknown;

export interface NavEntry {
  path: string;
  label: string;
  /** One of `host.icons`; an unknown one is logged on the console and drawn as a plug. */
  icon: string;
  /** The key sequence that opens it: `g w`. */
  keys?: string;
}
export interface DashboardPage {
  path: string;
  component: Component;
}
export interface DashboardCommand {
  id: string;
  label: string;
  icon?: string;
  keys?: string;
  run(): unknown;
}
export interface SessionPane {
  /** Names it in the address (`?pane=id`). Where an earlier plugin has the same: `?pane=plugin.id`. */
  id: string;
  label: string;
  /** Gets `session` (the answer of GET /sessions/:id) and `selected` (seq or null). */
  component: Component<{ session: SessionDetail; selected: number | null }>;
}

/** What a plugin adds; everything is optional. */
export interface DashboardUi {
  /** Places in the rail. */
  nav?: NavEntry[];
  routes?: DashboardPage[];
  /** What the palette (Ctrl K) can do. */
  commands?: DashboardCommand[];
  /** Beside a session. */
  sessionPanes?: SessionPane[];
  /** By tool name, as the log has it: draws the arguments of that tool's calls; of two plugins the first. Gets `message` and `result`. */
  messageRenderers?: Record<string, Component<{ message: Message; result: Message | undefined }>>;
}

export interface TableColumn<Row> {
  title: string;
  /** The cell's content: text, a number, or nodes made with `h`. */
  value(row: Row): VNodeChild;
  /** `end` is for numbers: aligned at the end, in figures of one width. */
  align?: "start" | "end";
  /** Paths, ids and the like. */
  mono?: boolean;
}

/** Parts that look and behave as the dashboard's own, for `h(kit.Page, { title: "Words" }, () => …)`. */
export interface DashboardKit {
  /** The frame of a page with its heading, which gets the focus when the page opens. Slot `actions`: beside the heading. */
  Page: FunctionalComponent<{ title: string; text?: string }>;
  /** A part of a page with its heading. Slot `actions` as above. */
  Section: FunctionalComponent<{ title: string; text?: string }>;
  /** A heading alone. `level` 2 (default) or 3. */
  Heading: FunctionalComponent<{ level?: 2 | 3 }>;
  /** `caption` is read out and not shown. The first column names its row. Wide tables scroll in themselves. */
  Table: FunctionalComponent<{ caption: string; columns: readonly TableColumn<unknown>[]; rows: readonly unknown[] }>;
  /** Nothing there yet: what it is and how it comes to be. */
  Empty: FunctionalComponent<{ title: string; text?: string }>;
  /** What went wrong, with code and remedy where it is the API's error, and a button when there is `onRetry`. */
  Failure: FunctionalComponent<{ error: unknown; onRetry?: () => unknown }>;
  Button: FunctionalComponent<{
    icon?: string;
    kind?: "plain" | "quiet" | "primary" | "danger";
    onClick?: () => unknown;
  }>;
  Icon: FunctionalComponent<{ name: string; size?: number }>;
  /** One of many, chosen from a list that opens. `value` is the chosen one; `onSelect` gets another one that the user chooses. */
  Select: FunctionalComponent<{
    label: string;
    value: string;
    options: readonly { value: string; label: string }[];
    onSelect(value: string): unknown;
  }>;
}

/** Colours of the page as CSS: `var(--ink)`. They follow the theme; each text colour is readable on each ground. */
export type DashboardToken =
  | "--bg"
  | "--surface"
  | "--sunken"
  | "--line"
  | "--line-strong"
  | "--ink"
  | "--ink-2"
  | "--ink-3"
  | "--accent"
  | "--on-accent"
  | "--ok"
  | "--warn"
  | "--bad"
  | "--select"
  | "--hover"
  | "--mark";

/** Of Vue: what a module may use or import from `vue`; what a compiled template needs is among it. It cannot bring a Vue of its own. */
export type DashboardVue = Pick<
  typeof Vue,
  | "Fragment"
  | "Teleport"
  | "computed"
  | "createBlock"
  | "createCommentVNode"
  | "createElementBlock"
  | "createElementVNode"
  | "createTextVNode"
  | "createVNode"
  | "defineComponent"
  | "h"
  | "inject"
  | "mergeProps"
  | "nextTick"
  | "normalizeClass"
  | "normalizeStyle"
  | "onMounted"
  | "onScopeDispose"
  | "onUnmounted"
  | "openBlock"
  | "provide"
  | "reactive"
  | "readonly"
  | "ref"
  | "renderList"
  | "renderSlot"
  | "resolveDynamicComponent"
  | "shallowReactive"
  | "shallowRef"
  | "toDisplayString"
  | "toRef"
  | "unref"
  | "useId"
  | "useTemplateRef"
  | "vModelText"
  | "vShow"
  | "watch"
  | "watchEffect"
  | "withCtx"
  | "withDirectives"
  | "withKeys"
  | "withModifiers"
>;

export interface DashboardHost {
  vue: DashboardVue;
  kit: DashboardKit;
  api: Api;
  /** A short notice at the bottom. */
  toast(text: string, options?: { bad?: boolean; action?: { label: string; run(): unknown } }): void;
  /** `currentRoute` follows the address. */
  router: {
    push(path: string): Promise<unknown>;
    readonly currentRoute: {
      readonly value: { readonly path: string; readonly query: Readonly<Record<string, unknown>> };
    };
  };
  /** Of the page when the module is loaded: `en`, `zh-CN` or `ja`. */
  language: string;
  /** Adds rules of CSS to the page; colours are `var(--ink)` and the like, see `DashboardToken`. */
  css(rules: string): void;
  /** Names of the icons there are. */
  icons: readonly string[];
}

export type DashboardModule = (host: DashboardHost) => DashboardUi;
