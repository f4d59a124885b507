/** The pool's worker: imports the task's module once and calls its function. */
interface Call {
  specifier: string;
  export: string;
  args: unknown[];
}

const modules = new Map<string, Promise<Record<string, unknown>>>();

export default async function run(call: Call): Promise<unknown> {
  let module = modules.get(call.specifier);
  if (!module) {
    module = import(call.specifier);
    modules.set(call.specifier, module);
  }
  const fn = (await module)[call.export];
  if (typeof fn !== "function") throw new TypeError(`${call.specifier} exports no function ${call.export}`);
  try {
    return await fn(...call.args);
  } catch (error) {
    const { toCarried } = await import("./carry.ts");
    throw toCarried(error);
  }
}
