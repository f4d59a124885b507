/** Versions as programs spell them, compared by their numbers. */

const LONGEST = 60;

/** `1.2.3`, also `v1.2` and `1.2.3-beta.1`: its numbers. Undefined for what is not a version. */
export function versionNumbers(version: string): number[] | undefined {
  const [, numbers] = (version.length <= LONGEST && /^v?(\d{1,9}(?:\.\d{1,9})*)(?:[-+][\w.+-]*)?$/.exec(version)) || [];
  return numbers?.split(".").map(Number);
}

/** Whether `version` has larger numbers than `other`. What follows the numbers does not count; false where one of them is not a version. */
export function isNewerVersion(version: string, other: string): boolean {
  const [a, b] = [versionNumbers(version), versionNumbers(other)];
  if (!a || !b) return false;
  const at = Array.from({ length: Math.max(a.length, b.length) }).findIndex(
    (_, place) => (a[place] ?? 0) !== (b[place] ?? 0),
  );
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0);
}
