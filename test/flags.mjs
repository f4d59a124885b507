/**
 * Tests run most code once or twice: much of what V8 spends on optimizing it is lost. Functions that take longer to count as hot take a
 * tenth of the processor's time off tests in process, a quarter off the check of the dashboard's types. The flag is Node 20's; later ones
 * refuse its name, and have a cheaper compiler between. Not for processes of `sessarc`: those run as users run them.
 */
export const V8_FLAGS = process.versions.node.startsWith("20.") ? ["--interrupt-budget=1000000"] : [];
/** Of a script that is killed or ends within a second, as a command of `sessarc` has it: 0.37 s of a processor instead of 0.66. */
export const SCRIPT_FLAGS = V8_FLAGS.length > 0 ? [...V8_FLAGS, "--liftoff-only"] : [];
