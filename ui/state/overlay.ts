import { reactive } from "vue";

/** Floating layers of the shell. Their code is loaded when first opened. */
export const overlay = reactive({ palette: false, help: false, menu: false });
