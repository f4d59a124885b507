import { watchEffect } from "vue";
import { t } from "../i18n/index.ts";
import { failed, toast } from "./toast.ts";

/** Title of the tab, and of the page for screen readers. */
export function usePageTitle(title: () => string): void {
  watchEffect(() => {
    document.title = title() === "" ? "sessarc" : `${title()} · sessarc`;
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
