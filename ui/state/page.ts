import { watchEffect } from "vue";
import { t } from "../i18n/index.ts";
import { overlay } from "./overlay.ts";
import { toast } from "./toast.ts";

/** Title of the tab, and of the page for screen readers. Undefined while another part of the page names it. */
export function usePageTitle(title: () => string | undefined): void {
  watchEffect(() => {
    const name = title();
    if (name !== undefined) document.title = name === "" ? "sessarc" : `${name} · sessarc`;
  });
}

/** Copies the text and shows a notice. Where the browser refuses, the text is shown to be copied by hand. */
export async function copyText(text: string, said = t("action.copied"), ms?: number): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(said, ms === undefined ? {} : { ms });
  } catch {
    overlay.copy = text;
  }
}

export const copyLink = (href = location.href): Promise<void> => copyText(new URL(href, location.href).href);
