import { watchEffect } from "vue";
import { t } from "../i18n/index.ts";
import { toast } from "./toast.ts";

/** Title of the tab, and of the page for screen readers. */
export function usePageTitle(title: () => string): void {
  watchEffect(() => {
    document.title = title() === "" ? "sessarc" : `${title()} · sessarc`;
  });
}

export async function copyLink(href = location.href): Promise<void> {
  await navigator.clipboard.writeText(new URL(href, location.href).href);
}

/** Copies and says so. */
export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  toast(t("action.copied"));
}
