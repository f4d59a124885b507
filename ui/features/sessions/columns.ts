/** Columns of the list that sort it; `hide`: where there is no room for one. */
export const SORTS = ["recent", "oldest", "messages", "active", "errors", "size", "cost"] as const;
export type Sort = (typeof SORTS)[number];

export const COLUMNS = [
  { sort: "messages", hide: "max-md:hidden" },
  { sort: "active", hide: "max-lg:hidden" },
  { sort: "errors", hide: "max-md:hidden" },
  { sort: "size", hide: "max-[1536px]:hidden" },
  { sort: "cost", hide: "" },
  { sort: "recent", hide: "" },
] as const;
