/** What the operating system refused, in words. */

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "it is not allowed",
  EPERM: "it is not allowed",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the disk takes no file of this size",
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of its path is a file",
  EISDIR: "it is a folder",
  EEXIST: "it exists already",
  ENOTEMPTY: "it is a folder with something in it",
  ENAMETOOLONG: "its name is too long",
  EINVAL: "its name is not valid there",
  ELOOP: "its links go in a circle",
  EBUSY: "another program has it open",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  EIO: "the disk reports an error",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "no address is known for it",
  EAI_AGAIN: "no address can be found for it now",
};

/** `there is no such file or folder`; undefined for an error that does not come from the system or has no text here. */
export function systemReason(error: unknown): string | undefined {
  // A folder that exists is no error of `mkdir -p`.
  if (
    error instanceof Error &&
    "syscall" in error &&
    error.syscall === "mkdir" &&
    "code" in error &&
    error.code === "EEXIST"
  )
    return "it is a file, not a folder";
  return error instanceof Error && "code" in error ? REASONS[String(error.code)] : undefined;
}
