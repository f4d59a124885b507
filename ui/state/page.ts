import { watchEffect } from "vue";

/** Title of the tab, and of the page for screen readers. */
export function usePageTitle(title: () => string): void {
  watchEffect(() => {
    document.title = title() === "" ? "sessarc" : `${title()} · sessarc`;
  });
}

export async function copyLink(href = location.href): Promise<void> {
  await navigator.clipboard.writeText(new URL(href, location.href).href);
}
