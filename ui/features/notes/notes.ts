/** Bookmarks, tags and notes; saved searches. */
import { useQuery } from "@pinia/colada";
import { shallowRef } from "vue";
import { type Answer, api } from "../../client.ts";

export type Mark = Answer<"GET /notes">[number];
export type SavedSearch = Answer<"GET /searches">[number];

export const useMarks = (session: string) =>
  useQuery({
    key: ["notes", session],
    query: ({ signal }) => api("GET /notes", { query: { session }, signal }),
  });

export const useSearches = () =>
  useQuery({ key: ["searches"], query: ({ signal }) => api("GET /searches", { signal }) });

/** What is being written on: one dialog serves the header, the messages and the list. */
export const editing = shallowRef<{ session: string; seq?: number }>();

export const linkOf = ({ session, seq }: Pick<Mark, "session" | "seq">) => ({
  name: "session",
  params: { id: session },
  ...(seq !== null && { query: { m: String(seq) } }),
});
