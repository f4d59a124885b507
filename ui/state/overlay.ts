import { reactive } from "vue";

/** Floating layers of the shell. Their code is loaded when first opened. `copy`: what the browser did not copy. */
export const overlay = reactive({ palette: false, help: false, menu: false, copy: "" });
