/** Versions as programs spell them. */

const LONGEST = 60;

/** `1.2.3`, also `v1.2` and `1.2.3-beta.1`: its numbers. Undefined for what is not a version. */
export function versionNumbers(version: string): number[] | undefined {
  const [, numbers] = (version.length <= LONGEST && /^v?(\d{1,9}(?:\.\d{1,9})*)(?:[-+][\w.+-]*)?$/.exec(version)) || [];
  return numbers?.split(".").map(Number);
}
