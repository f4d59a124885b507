/** Serves the home of its environment with the built-in plugins but those that are named as arguments. */
import { defaultPlugins } from "../../dist/plugins.mjs";
import { loadConfig, serve } from "../../dist/serve.mjs";

const without = new Set(process.argv.slice(2).map((name) => `sessarc/plugins/${name}`));
const plugins = defaultPlugins().filter(({ specifier }) => !without.has(specifier));
const { kernel, url } = await serve({ config: await loadConfig({ flags: { port: 0, open: false } }), plugins });
process.send({
  url: url.replace(/\/$/, ""),
  problems: kernel.registry.problems.map(({ plugin, code }) => `${plugin}: ${code}`),
});
