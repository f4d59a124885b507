/** A word of a POSIX shell's line that means just these characters. */
export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
