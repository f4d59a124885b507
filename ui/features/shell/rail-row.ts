/** Classes of a row of the rail, for links and buttons alike. */
export const railRow =
  "flex h-8 w-full min-w-0 items-center gap-2.5 rounded-control px-2 text-ink-2 hover:bg-hover hover:text-ink max-md:justify-center max-md:px-0 max-sm:h-12 max-sm:min-w-11 max-sm:flex-col max-sm:gap-0.5";
export const railWord =
  "word truncate max-sm:max-w-full max-sm:text-meta max-sm:[&:lang(ja)]:text-[0.625rem] max-sm:[&:lang(ja)]:tracking-tight sm:max-md:sr-only";
