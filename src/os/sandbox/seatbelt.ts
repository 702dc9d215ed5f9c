import { inOrder, type SandboxPlace, type SandboxView } from "./view.ts";

/**
 * Rules besides those for files and the network. The last matching rule decides. A program must not reach the keychain, have
 * another program start something for it (launchd, `open`, Apple events), or see and signal processes outside.
 */
const BASE_RULES = [
  "(version 1)",
  "(allow default)",
  "(deny process-info* signal)",
  "(allow process-info* signal (target same-sandbox))",
  "(allow process-info* (target self))",
  "(deny job-creation lsopen appleevent-send)",
  '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))',
  '(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd"))',
  "(deny file-write*)",
  '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd"))',
];

/** Returns the profile for `sandbox-exec -p`. Pure. */
export function seatbeltProfile(view: SandboxView): string {
  return [...BASE_RULES, ...networkRules(view.network), ...inOrder(view.places).map(rule)].join("\n");
}

function rule({ path, isDirectory, access }: SandboxPlace): string {
  const where = `(${isDirectory ? "subpath" : "literal"} ${quoted(path)})`;
  if (access === "write") return `(allow file-read* file-write* ${where})`;
  return access === "read"
    ? `(allow file-read* ${where})\n(deny file-write* ${where})`
    : `(deny file-read* file-write* ${where})`;
}

function networkRules(network: SandboxView["network"]): string[] {
  if (network === "all") return [];
  const proxy = typeof network === "object" ? [`(remote ip "localhost:${network.proxyPort}")`] : [];
  return ["(deny network*)", ...proxy.map((where) => `(allow network-outbound ${where})`)];
}

/** Quotes a path as a string of the profile's language, which knows the escapes of C. */
function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}

/** Returns the arguments with which `sandbox-exec` runs a program. */
export function seatbeltArgs(view: SandboxView, program: readonly string[]): string[] {
  return ["-p", seatbeltProfile(view), "--", ...program];
}
