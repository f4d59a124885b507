/** Replaces a text that could not be checked in time. */
export const NOT_CHECKED = "not-checked";
