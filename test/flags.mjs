/**
 * Tests run most code once or twice: what V8 spends on optimizing it is lost. Functions that take ten times as long to count as hot take
 * a sixth of the processor's time off what runs in process. The flag is Node 20's; later ones refuse its name, and have a cheaper compiler
 * between. Not for processes of `sessarc`: those run as users run them.
 */
export const V8_FLAGS = process.versions.node.startsWith("20.") ? ["--interrupt-budget=1000000"] : [];
