/** Stands for a text that could not be looked at in time: nobody knows what it holds. */
export const NOT_CHECKED = "not-checked";
