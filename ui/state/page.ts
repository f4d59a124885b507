import { watchEffect } from "vue";
import { t } from "../i18n/index.ts";
import { failed, toast } from "./toast.ts";

/** Title of the tab, and of the page for screen readers. Undefined while another part of the page names it. */
export function usePageTitle(title: () => string | undefined): void {
  watchEffect(() => {
    const name = title();
    if (name !== undefined) document.title = name === "" ? "sessarc" : `${name} · sessarc`;
  });
}

/** Copies the text and shows a notice. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("action.copied"));
  } catch (error) {
    failed(error);
  }
}

export const copyLink = (href = location.href): Promise<void> => copyText(new URL(href, location.href).href);
