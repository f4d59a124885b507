/** Where the list of sessions is, for what is shown beside it. */
import { type ComputedRef, type InjectionKey, inject, provide, type Ref, type WritableComputedRef } from "vue";
import type { RouteLocationRaw } from "vue-router";

/** The parameter of a session's address that holds what the list beside it shows. */
export const LIST = "list";

export interface SessionsPlace {
  /** There is room for the list and a session beside each other. */
  isWide: Readonly<{ value: boolean }>;
  /** The list is out of the way, so that the session has the whole width. */
  isFolded: WritableComputedRef<boolean>;
  /** A pane of the session has the list's room until it is closed, or the list is shown again. */
  isAside: Ref<boolean>;
  /** The address of the list alone, with what it shows. */
  back: ComputedRef<RouteLocationRaw>;
  /** The session that was left for the list by a key: its row takes the focus, once. */
  left: Ref<string | undefined>;
}

const PLACE: InjectionKey<SessionsPlace> = Symbol("sessions");
export const providePlace = (place: SessionsPlace): void => provide(PLACE, place);
/** Undefined where a session stands alone. */
export const usePlace = (): SessionsPlace | undefined => inject(PLACE, undefined);
