import { shallowRef } from "vue";

/** The Markdown renderer, once it is loaded; loading begins with the first session. */
export const markdown = shallowRef<(text: string) => string>();
void import("./markdown.ts").then((module) => {
  markdown.value = module.renderMarkdown;
});
