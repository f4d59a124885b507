/** Keys of the configuration that take effect at once: each is sent as it is changed, and can be undone. */

import { useQuery, useQueryCache } from "@pinia/colada";
import { computed, ref } from "vue";
import { type Answer, api, type BodyOf } from "../../client.ts";
import { useService } from "../../state/service.ts";
import { failed, toast } from "../../state/toast.ts";
import { settingsText } from "./words/index.ts";

type Settings = Answer<"GET /settings">["settings"];
export type Key = Settings[number]["key"];
type Patch = NonNullable<BodyOf<"PATCH /settings">>;

export function useServiceSettings() {
  const cache = useQueryCache();
  const service = useService();
  const query = useQuery({ key: ["settings"], query: ({ signal }) => api("GET /settings", { signal }), staleTime: 0 });
  const byKey = computed(() => new Map(query.data.value?.settings.map((one) => [one.key, one])));
  /** Grows when a change is refused, so that its control shows the value in effect again. */
  const revision = ref(0);

  async function send(body: Patch): Promise<void> {
    const answer = await api("PATCH /settings", { body });
    cache.setQueryData(["settings"], answer);
    await service.refresh();
  }
  async function change(key: Key, value: unknown, name: string): Promise<void> {
    const before = byKey.value.get(key);
    await send({ [key]: value });
    const undo = () => send({ [key]: before?.value === before?.configured ? null : before?.value });
    toast(settingsText("changed", { name }), { action: { label: settingsText("undo"), run: undo } });
  }
  return {
    query,
    byKey,
    revision,
    inEffect: (key: Key) => byKey.value.get(key)?.value,
    change,
    send,
    set: (key: Key, value: unknown, name: string) =>
      change(key, value, name).catch((error: unknown) => {
        revision.value++;
        failed(error);
      }),
  };
}
export type ServiceSettings = ReturnType<typeof useServiceSettings>;

/** Values of the configuration in words. */
const WORDS = ["on", "off", "definite", "probable"] as const;

/** The configuration's own value in words, where another one is in effect. */
export function configuredOf({ byKey }: ServiceSettings, key: Key): string | undefined {
  const one = byKey.value.get(key);
  if (!one || one.value === one.configured) return undefined;
  if (typeof one.configured === "boolean") return settingsText(one.configured ? "on" : "off");
  const word = WORDS.find((known) => known === one.configured);
  return word ? settingsText(word) : String(one.configured || settingsText("off"));
}
