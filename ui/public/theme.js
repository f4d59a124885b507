// Runs before the first paint, so that a dark page never flashes light. Kept apart because the policy allows no inline script.
(() => {
  let settings = {};
  try {
    settings = JSON.parse(localStorage.getItem("sessarc:settings") ?? "{}");
  } catch {
    // Storage is switched off or holds something else: the defaults serve.
  }
  const root = document.documentElement;
  const wish = settings.theme ?? "system";
  const dark = wish === "dark" || (wish === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "dark" : "light";
  root.dataset.density = settings.density ?? "comfortable";
  root.dataset.size = settings.textSize ?? "m";
  if (settings.language) root.lang = settings.language;
  // The frame of the installed app has the page's ground, whichever theme is chosen later.
  const frame = document.createElement("meta");
  frame.name = "theme-color";
  const paint = () => {
    frame.content = root.dataset.theme === "dark" ? "#111214" : "#fbfbfa";
  };
  paint();
  document.head.append(frame);
  new MutationObserver(paint).observe(root, { attributeFilter: ["data-theme"] });
})();
