/**
 * Error messages of programs to which the sandbox refuses something: of the C library (errno 1, 13, 30, 101, -3),
 * bubblewrap, git and browsers. The system reports a lack of space if no more namespaces are allowed.
 */
const REFUSALS =
  /Read-only file system|EROFS|Operation not permitted|EPERM|Permission denied|EACCES|Device or resource busy|EBUSY|Network is unreachable|ENETUNREACH|Could not resolve host|Temporary failure in name resolution|EAI_AGAIN|ENOTFOUND|Name or service not known|Connection refused|ECONNREFUSED|gpg failed to sign|(?:unshare|clone|namespaces?)\b.*(?:No space left on device|ENOSPC)|No usable sandbox|teams\.sandbox\.network|^bwrap: /im;

/** Shown to a model with the output of a command that failed in the sandbox. */
const HINT =
  "(The command ran in the sandbox, which may have caused the failure. If the command needs more access, run it with dangerouslyDisableSandbox: the user is asked.)";

/** Returns a hint if the output of a failed command suggests that the sandbox prevented something; else undefined. */
export function sandboxHint(output: string): string | undefined {
  return REFUSALS.test(output) ? HINT : undefined;
}
