/** Look of the small links inside rows. */
export const pill =
  "inline-flex h-6 max-w-full items-center gap-1 rounded-full border border-line px-2 text-meta text-ink-2 hover:border-line-strong hover:text-ink";
